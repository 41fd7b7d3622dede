"""Which names give away that the value beside them is a secret: `DB_PASSWORD`, `x-api-key`, `clientSecret`.

In: a key, a variable, a header or a flag. Out: what it promises about its value. Names that only count, measure or
describe secrets (`max_tokens`, `token_url`, `passwordField`, `nextPageToken`) promise nothing.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from collector.redact.lazy import regex


class Promise(IntEnum):
    """What a name says about its value."""

    NOTHING = 0
    WEAK = 1  # a key or an authorization: only what looks like one is a secret
    OWNED = 2  # the key of something with a name: a hash or a uuid beside it counts too
    KEY = 3  # a token or an API key: random-looking values are secrets
    COOKIE = 4
    PASSWORD = 5  # anything but a placeholder is a secret


# Where a telling name may be in a text; `promise` then decides. By first letter, so that `re` can skip to one, and in
# lower case, for lower-case copies of texts.
LONGEST = 160
_BEGINNINGS = (
    "p(?:ass(?:word|wd|phrase|code|wort)|wd?|sw|sk|rivate[-_ ]?key|rojectkey)",
    "s(?:ecret(?: key)?|enha|eed[-_ ]phrase|alt|(?:igning|hared|ervice|torage|ubscription)[-_ ]?key|torepass)",
    "sess(?:ion)?",
    "token",
    "k(?:ennwort|eypass)",
    "heslo|salasana|sifre|adgangskode|jelszo|losenord",
    "c(?:ontrase(?:\\\\{1,3}u00f1|[^ -~])?|red(?:ential|s)?|ookie|onnection[-_ ]?string|onsumer[-_ ]?key)",
    "m(?:nemonic|aster[-_ ]?key)",
    "a(?:(?:pi|ccess|ccount|uth|pp)[-_. ]{0,2}key|uth(?:orization|[-_]))",
    "encryption[-_ ]?key",
    "li[cs]en[cs]e[-_ ]?key",
    "bearer",
    "jwt",
    "w(?:ebhook|achtwoord)",
    "fernet[-_ ]?key",
    "hmac[-_ ]?key",
    "dsn",
    "_(?:key|auth)",
    "-(?:key|auth)",
    r"\?(?:key|sig)",
    "&(?:key|sig)",
    '"auth["\\\\]',
    "'auth['\\\\]",
)
# `passed`, `passes` and `passing` are in every report: `pass` is not followed by such letters.
_SHORT_NAME = "pass(?:[b-df-hj-z][a-z0-9_-]{0,23}|e?(?:[0-9_-][a-z0-9_-]{0,23})?)"
TELLING = f"(?:{'|'.join(f'{beginning}[a-z0-9_-]{{0,24}}' for beginning in _BEGINNINGS)}|{_SHORT_NAME}|_pat|-pat)"


def word_set(text: str) -> frozenset[str]:
    """The set of words in a text."""
    return frozenset(text.split())


_escaped_n = regex(r"\\+u00f1")  # the tilde of contrase\u00f1a, in JSON
_camel = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_split = regex(r"[^a-z0-9]+|(?<=[a-z])(?=\d+$)")

_PASSWORDS = word_set(
    """
    password passwd passwort pwd passphrase passcode passwords pass pw psw psswd secret secrets kennwort senha
    contrasena contrasenia mnemonic passw passwrd privatekey secretkey userpass contrase passe wachtwoord psk
    pswd pswrd psword psswrd pssword heslo salasana sifre adgangskode jelszo losenord
    paswd paswrd pasword passowrd secrete
    """
)
_PASSWORD_ENDS = regex(
    r"(?:password|passwd|passphrase|passwort|pswd|(?<!o|y)pwd|secret|secretkey|privatekey"
    r"|(?:db|user|admin|root|mysql|pg|sql|ssh|smtp|mail|ftp|redis|my|rabbitmq|ldap|key|store|remote|login|imap)pass)$"
)
_KEY_WORDS = word_set(
    """
    token tokens apikey apikeys accesskey jwt pat credential credentials creds cred accountkey authtoken accesstoken
    refreshtoken idtoken bearertoken apitoken bearer skey
    """
)
_KEY_ENDS = regex(r"(?:token|apikey|accesskey|authkey|accountkey|storagekey|tokenkey)$")
_SECRET_KEYS = word_set(
    """
    secret private signing encryption master crypt cipher decryption fernet hmac aes des rsa ssh jwt session cookie
    """
)
_KEYS = word_set(
    """
    api access account auth app application shared service deploy consumer storage license licence subscription
    admin client server root ingest integration webhook write read rest publishable project personal developer
    user security authorization host host2 node bot stream data partner merchant license sdk live test prod
    ingestion instrumentation insights report tunnel sas primary secondary maps search query
    """
)
# A product's name in front (LABEL_STUDIO_API_KEY) does not change what these mean; only a word for what is done to one
# does.
_PAIRS = frozenset((one, two) for one in ("api", "access", "auth", "bot", "refresh") for two in ("key", "token"))
# A value given under such a name was drawn at random, even if it looks like a hash: `api key 1f0c...`.
_CREDENTIAL_PAIRS = _PAIRS | {
    ("secret", "key"), ("private", "key"), ("client", "secret"), ("secret", "id"), ("secret", "token"),
    ("personal", "token"), ("master", "key"), ("encryption", "key"), ("session", "token"), ("reset", "token"),
}  # fmt: skip
# Tokens and secrets of these are numbers that identify requests and locks.
_PASSING = word_set("request csrf xsrf cancel cancellation sync state lock fencing page next continuation resume id")
_MEASURES = word_set(
    "count counts counter max min num number total hash hashed digest fingerprint checksum public cache"
)
_CREDENTIALS = frozenset(["credential", "credentials", "cred", "creds"])
_COOKIES = frozenset(["cookie", "cookies", "setcookie"])
_WEAK = word_set(
    """
    key auth authorization authentication sig sas salt dsn webhook sid session sessionid otp phpsessid jsessionid sessid
    """
)
_QUALIFIERS = word_set(
    """
    prod production dev development test testing stage staging live local value val plaintext plain text clear
    cleartext b64 base64 raw str string old new current default main primary secondary backup env envvar v id2
    dec decoded encoded enc encrypted confirm confirmation again repeat verify check temp tmp real ci qa uat eu
    us one two a b x super secure any fallback override data base header bytes
    """
)
_DESCRIBERS = word_set(
    """
    count counts counter usage used limit limits max min num number total input output cached budget type types
    url uri endpoint name names expires expiry expiration expire length len size index public foreign partition
    sort next page continuation cursor continue sync stop eos bos pad unk sep mask special cls vocab design per
    price cost rate ratio estimate estimated remaining window context thinking prompt completion reasoning
    placeholder label hint rule rules policy field column regex pattern format prefix suffix ref arn path file
    filename dir image idempotency cache hash hashed digest fingerprint checksum primary_key first second third
    by compass bypass surpass object device routing row hot shortcut keyboard press code event websocket
    dedupe dedup lookup verifier verifying
    """
)
# Keys of these are places in a structure, in a program or on a keyboard, and open no door.
_PLACES = word_set(
    """
    lock kernel group dedupe dedup map dict item row entry record tree node lookup param query config setting settings
    storage state translation i18n message locale redis memcache memcached queue topic job task build artifact asset
    s3 bucket blob content chunk segment commit git image layer trace span metric feature flag test fixture snapshot
    version release package dep dependency module import component react list array enum const prop attr attribute
    table schema composite natural surrogate unique candidate alternate order rank shard ring registry root parent
    child own other left right start end prev last min from this that any each every some which the a an is has no
    up down ctrl alt shift meta cmd arrow enter tab function modifier pub gpg pgp gnupg trust trusted peer remote
    known host ecdsa ed25519 verification verify validator fetch source target dest destination src dst memo memoize
    request response http url path data json yaml option category kind status draft theme ui i18next translate lang
    language wheel debounce throttle rate limiter counter semaphore mutex lease leader election actor swr
    rowgroup join bloom hll geo zset hset stream subscription namespace resource entity model doc document property
    symbol cell sheet pivot facet filter lru weak strong cert certificate x509 ca thumbprint
    action sccache ccache gradle bazel turbo turborepo nx gems dedup idempotency sstable s3 block compaction upload
    """
)
_END_IN_KEY = word_set("monkey donkey turkey whiskey hockey jockey hotkey passkey lackey smokey mickey rickey dickey")
# Only these turn the name of a password into something else: `max_password` is no password, but `first_password` is.
_PASSWORD_DESCRIBERS = word_set(
    """
    count limit max min num number type types name names expires expiry expiration length len
    label hint rule rules policy field column regex pattern format ref arn filename hash hashed
    digest placeholder show hide toggle reveal lost recover reset forgot forgotten strength required bypass ask override
    """
)


# The endings of file names; a name with one of them promises nothing.
_FILE_ENDINGS = word_set(
    """
    py pyi ipynb js jsx mjs cjs ts tsx vue svelte css scss html htm svg png jpg gif json jsonl yaml yml toml ini cfg
    conf xml csv md mdx rst txt log sh bash c h cc cpp hpp cs go rs java kt swift rb php ex exs lua sql proto lock
    """
)


def split_name(name: str) -> list[str]:
    """A name as its words: `x-apiKey2` is x, api, key, 2."""
    return [word for word in _split.split(_camel.sub("_", name).lower()) if word]


def is_file_name(name: str) -> bool:
    """Whether a name is surely that of a file, so that `promise`, which takes ten times as long, need not be asked."""
    return name.rpartition(".")[2] in _FILE_ENDINGS


def promise(name: str) -> Promise:
    """What a name says about its value. Of a long one only the end is looked at, and remembered."""
    return _promise(name[-LONGEST:])


@lru_cache(maxsize=20_000)
def _promise(name: str) -> Promise:
    parts = split_name(_escaped_n.sub("n", name))
    while len(parts) > 1 and (parts[-1] in _QUALIFIERS or parts[-1].isdigit()):
        parts.pop()
    if not parts or parts[-3:] == ["web", "socket", "key"] or parts == ["1", "password"]:  # a nonce, a program
        return Promise.NOTHING
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if _is_password(last, before, parts):
        return Promise.PASSWORD
    if last in _COOKIES and before not in {"same", "http", "no"}:
        return Promise.COOKIE
    described = _DESCRIBERS.intersection(parts[:-1])
    if (before, last) in _PAIRS:
        described = described & _MEASURES
    if described == {"public"} and last == "token" and before != "key":
        described = frozenset()
    if last not in _CREDENTIALS and (described or last in _DESCRIBERS):
        return Promise.NOTHING
    if (
        last == "authorization"
        or (last == "key" and parts[0] == "x")
        or last in _KEY_WORDS
        or _KEY_ENDS.search(last)
        or (last in ("key", "keys") and before in _KEYS)
    ):
        return Promise.KEY
    if before + last in ("connectionstring", "basicauth"):
        return Promise.KEY
    if last == "key" and len(before) > 2 and before not in _PLACES:
        return Promise.OWNED
    is_weak = last in _WEAK or parts[-3:] == ["access", "key", "id"]
    is_weak = is_weak or (last.endswith("key") and last not in _END_IN_KEY)
    return Promise.WEAK if is_weak else Promise.NOTHING


def _is_password(last: str, before: str, parts: list[str]) -> bool:
    if _PASSWORD_DESCRIBERS.intersection(parts):
        return False
    if last == "pass":
        return before not in {"first", "single", "by", "one", "two", "render", "test", "will", "to", "multi", "pre"}
    if last in _PASSWORDS or _PASSWORD_ENDS.search(last):
        return True
    if last in ("key", "keys") and before in _SECRET_KEYS and "public" not in parts:
        return True
    if (before, last) in {("secret", "id"), ("seed", "phrase"), ("recovery", "phrase"), ("de", "passe")}:
        return True
    return last == "key" and parts[-3:-1] in (["secret", "access"], ["key", "encryption"], ["pre", "shared"])


@lru_cache(maxsize=5_000)
def hands_over(name: str) -> bool:
    """Whether a value that follows a name with no sign in between, and looks like a hash, is what the name says."""
    parts = split_name(name)
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if _PASSING.intersection(parts[:-1]) or before == "signing":
        return False
    is_variable = last == "token" and before and name.lower().endswith(("_token", "-token"))
    return last in ("secret", "apikey") or (before, last) in _CREDENTIAL_PAIRS or bool(is_variable)
