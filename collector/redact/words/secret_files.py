"""Which files hold one secret and nothing else, judging by path: `config/master.key`, `~/.vault_pass`; and which hold
settings, where an edit may replace a value without its name: `.env`."""

from __future__ import annotations

from collector.redact.lazy import regex
from collector.redact.words.distinctive import is_distinctive
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.letter_pairs import is_made_of_words
from collector.redact.words.names import Promise
from collector.redact.words.values import Notation, is_secret

NAMES = (
    r"(?:vault-token|pgpass|token|secret|passwd|password|passphrase|passwort|credentials?|(?:api|private)[-_]?key|\.pw"
    r"|(?<![a-z])(?:pass|pw|pwd)(?=\.(?:txt|key|enc))|vault_pass|master(?=\.key)|config/credentials/[a-z]{2,20}(?=\.key)|initialAdminPassword)"
)
# Whatever NAMES or `_holds_one` match contains one of these: looking for them costs a tenth of a match, and most texts
# have none.
_SIGNS = ("secret", "token", "pass", "pw", "credential", "api", "private", "master", "Password")
_holds_one = regex(
    rf"\S{{0,100}}/(?:run/secrets|\.?secrets)/\S{{1,80}}|\S{{0,100}}{NAMES}(?:\.(?:txt|key|secret|enc|dat))?"
)
_holds_settings = regex(
    r"(?:.{0,200}[/\\])?[\w-]{0,40}\.env(?![a-z.]*\.(?:example|sample|template|dist|defaults?)\b)(?:\.[a-z]{2,16}){0,2}"
)
_SHORTEST_TOKEN, _LONGEST_TOKEN = 16, 400
_name_or_place = regex(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|.*[\w.+-]+@[\w-]+\..*|.*://.*|[\w-]+(?:\.[\w-]+)+(?::\d+)?"
    r"|[^,]*,.*|0x[0-9a-fA-F]{1,40}|[a-z]{1,8}-[0-9a-f]{8,17}|[a-z]{3,6}_1[0-9A-Za-z]{13,24}"
    r"|[A-Za-z_][\w.-]{0,60}=[^=].*|(?:[A-Za-z]+|v?\d+)(?:[-_.:/](?:[A-Za-z]+\d?|v?\d{1,8}))+"
)


def may_name_one(text: str) -> bool:
    """Whether a text may contain the name of such a file at all."""
    return any(map(text.__contains__, _SIGNS))


def holds_a_secret(path: str) -> bool:
    """Whether a file holds nothing but a secret."""
    return len(path) <= 250 and may_name_one(path) and _holds_one.fullmatch(path) is not None


def holds_settings(path: str) -> bool:
    """Whether a file holds the settings of an environment, and is not a sample of one."""
    return ".env" in path and len(path) <= 250 and _holds_settings.fullmatch(path) is not None


def is_lone_token(text: str) -> bool:
    """Whether a text is one token drawn at random: not a word, number, address, path, id or name with a number."""
    value = text.strip()
    if not _SHORTEST_TOKEN <= len(value) <= _LONGEST_TOKEN or any(map(str.isspace, value)):
        return False
    if not has_digit_and_letter(value) or _name_or_place.fullmatch(value) or is_made_of_words(value):
        return False
    return is_distinctive(value) and is_secret(value, Promise.KEY, Notation.BARE)
