"""The rules for credentials whose place gives them away: after authorization schemes, beside a user, in SQL.

Also JWTs and password hashes. Where a pattern cannot say how long the secret is, `locate` follows it to its end.
"""

from __future__ import annotations

import base64
import binascii
import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.cookies import cookie_spans
from collector.redact.words.code import is_code_word
from collector.redact.words.labels import is_joined, is_label
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import Promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, entropy, is_secret, looks_random

WIDEST_JUDGED = 2048  # characters of a token that are judged; it may be longer
_token_run = regex(rb"[A-Za-z0-9_.~+/=-]*")
_header = regex(rb"(?i)authorization\\{0,7}[\"'\])]{0,2}\s{0,3}[:=,>]{1,2}\s{0,3}\\{0,7}[fb]?[\"'`]?(?:[a-z-]{3,12})\s")
_jwt_run = regex(rb"[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,4}")
_machine = regex(rb"(?:machine(?:\s|\\{1,3}[nrt])+\S{1,100}|default)(?:\s|\\{1,3}[nrt])+$|(?:\n|\\n)\s*$")
_account = regex(rb"(?i)\b(?:create|alter|grant|set|drop)\s")


def _to_end_of_token(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    first = match.start("secret")
    run = _token_run.match(text, first, stop)
    end = run.end() if run else match.end()
    while end > first and text[end - 1] in b".-~/":
        end -= 1
    value = text[first : min(end, first + WIDEST_JUDGED)].decode("latin-1")
    if _header.search(text, max(start, match.start() - 40), match.end()):
        is_word = value.isalpha() and value.islower() and len(value) < 16 and reads_like_words(value)
        is_token = not is_word and is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT)
    else:
        is_token = len(value) >= 16 and not is_placeholder(value) and looks_random(value)
        is_token = is_token and not is_joined(value) and not is_label(value)
    return [(first, end)] if is_token else []


def _whole_jwt(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    run = _jwt_run.match(text, match.start(), stop)
    end = run.end() if run else match.end()
    while text[end - 1 : end] == b".":
        end -= 1
    return [(match.start(), end)]


def is_basic(value: str) -> bool:
    """Whether a value is base64 of user:password."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    _, colon, password = decoded.partition(b":")
    return (
        bool(colon and password)
        and all(32 <= byte < 127 or byte > 0xA0 for byte in decoded)
        and not is_placeholder(password.decode("latin-1"))
    )


def chosen(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The group `secret`, if it may be a password."""
    value = match["secret"].decode("latin-1")
    return [match.span("secret")] if is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT) else []


def _dsn_password(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The password before the host, unless the colon is part of `${USER:-app}:${PASSWORD}`."""
    is_template = b"${" in match["secret"] or (b"{" in match["secret"] and b"}" in match["secret"])
    return [] if is_template else chosen(text, match, start, stop)


def _of_login(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """A password after an account. In prose about accounts and passwords, a word follows instead."""
    word = match["secret"].decode("latin-1").rstrip(".,;:)")
    before = text[max(start, match.start() - 100) : match.start()]
    is_netrc = match[0].startswith(b"login") and (not before.strip() or bool(_machine.search(before)))
    is_prose = not is_netrc and word.isalpha() and word.islower()
    is_flag = word.startswith("--")  # the next line in the help of a program
    return [] if is_prose or is_flag else chosen(text, match, start, stop)


def _of_pgpass(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The last field of `host:port:database:user:password`; two numbers before it are ids, as in /etc/passwd."""
    _, _, database, user, _ = match[0].split(b":", 4)
    return [] if database.isdigit() and user.isdigit() else chosen(text, match, start, stop)


def _of_sql(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """A password in SQL; in prose, `identified by` may be followed by a word in quotes."""
    word = match["secret"].decode("latin-1")
    is_vague = match[0][:13].lower() == b"identified as" or is_code_word(word)
    is_prose = match[0][:10].lower() == b"identified" and is_vague
    if is_prose and not _account.search(text, max(start, match.start() - 160), match.start()):
        return []
    return chosen(text, match, start, stop)


def _cookies(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    return cookie_spans(text, match.start("first"), min(stop, match.end() + 4096))


def _is_drawn(value: str) -> bool:
    # Without its first character: `$y` and `$argon2id` would be references to variables.
    return entropy(value) >= 3.0 and not is_placeholder(value[1:])


BARE = r"""[^\s"'`<>\\\x91\x90]"""

CREDENTIAL_RULES = (
    Rule(
        id="authorization",
        provider="structure",
        pattern=r"(?i:bearer|ntlm|negotiate|authorization\\{0,7}[\"']?\s?[:=]\s?\\{0,7}[\"']?token|ssws|geniekey)(?:\s|%20|\+)(?P<secret>[A-Za-z0-9_.~+/=-]{8})",
        locate=_to_end_of_token,
        around=WIDEST_JUDGED + 100,
        after="",
        examples=("Authorization: Bearer {A-Za-z0-9:40}",),
        near_misses=("Authorization: Bearer <your-token>", "Bearer authentication-is-required"),
    ),
    Rule(
        id="basic-authorization",
        provider="structure",
        pattern=r"(?i:basic)(?:\s|%20)(?P<secret>[A-Za-z0-9+/]{8,512}={0,2})",
        check=is_basic,
        after="0-9A-Za-z+/=",
        examples=(
            lambda chance: "Authorization: Basic " + base64.b64encode(b"ci:%x" % chance.getrandbits(64)).decode(),
        ),
        near_misses=("Basic authentication", "basic understanding"),
    ),
    Rule(
        id="jwt",
        provider="structure",
        pattern=r"eyJ[A-Za-z0-9_-]{10,2000}\.(?:eyJ|e30\.|[A-Za-z0-9_-]{3})[A-Za-z0-9_-]{8}",
        locate=_whole_jwt,
        after="",
        examples=("eyJ{A-Za-z0-9:33}.eyJ{A-Za-z0-9:60}.{A-Za-z0-9_-:43}", "eyJ{A-Za-z0-9:17}.e30.{A-Za-z0-9_-:43}"),
        near_misses=("eyJ.eyJ.sig", "eyJhbGciOi"),
    ),
    Rule(
        id="cookie-argument",
        provider="structure",
        pattern=r"(?:-b|--cookie)[ =]{1,2}\\{0,7}[\"'](?P<first>[A-Za-z0-9_.-]{1,60}=)",
        locate=_cookies,
        around=4200,
        before="0-9A-Za-z-",
        after="",
        about="a cookie on a command line",
        examples=("curl -b 'session={A-Za-z0-9:32}' https://host/",),
        near_misses=("curl -b cookies.txt https://host/",),
    ),
    Rule(
        id="login-pair",
        provider="structure",
        pattern=(
            r"(?:(?i:auth\s?=\s?|login|credentials?|basic_?auth|httpbasicauth|authenticate|authenticationtoken)\("
            r"|(?i:getconnection|pdo|sequelize)\([^()\n\x91\x90]{3,160},)"
            r"\s?\\{0,3}[\"'][^\"'\\\s\x91\x90]{1,80}\\{0,3}[\"']\s?,\s?(?:Some\()?"
            rf"\\{{0,3}}[\"'](?P<secret>{BARE}{{4,200}})\\{{0,3}}[\"']"
        ),
        locate=chosen,
        around=0,
        before="",
        after="",
        about="the password of a user and password pair in code",
        examples=(
            'auth=("ci", "{A-Za-z0-9:12}")',
            'DriverManager.getConnection("jdbc:mysql://db/app", "ci", "{A-Za-z0-9:12}")',
            '.basic_auth("ci", Some("{A-Za-z0-9:12}"))',
        ),
        near_misses=('auth=("user", "password")', 'new PDO("sqlite:a.db", "x", "")'),
    ),
    Rule(
        id="dsn-password",
        provider="structure",
        pattern=rf"(?:jdbc:oracle:[a-z]{{2,5}}:[A-Za-z0-9_]{{1,40}}/(?P<secret>{BARE}{{3,100}}?)@)",
        locate=chosen,
        around=0,
        after="",
        about="a connection string for Oracle's driver",
        examples=("jdbc:oracle:thin:app/{A-Za-z0-9:12}@db:1521:xe",),
        near_misses=("jdbc:oracle:thin:@db:1521:xe",),
    ),
    Rule(
        id="go-dsn-password",
        provider="structure",
        pattern=rf"[A-Za-z0-9_.-]{{1,60}}:(?P<secret>{BARE}{{3,100}}?)@(?:(?:tcp|unix|udp)\(|(?:10|127|172|192)\.[0-9])",
        trigger=r"@(?:(?:tcp|unix|udp)\(|(?:10|127|172|192)\.[0-9])",
        reach_back=180,
        locate=_dsn_password,
        around=0,
        after="",
        about="a connection string user:password@tcp(host)",
        examples=("app:{A-Za-z0-9:12}@tcp(db:3306)/main",),
        near_misses=("app:${PASSWORD}@tcp(db:3306)/main",),
    ),
    Rule(
        id="netrc-password",
        provider="structure",
        pattern=r"(?:login|user|account)(?:\s|\\{1,3}[nrt]){1,9}[^\s\\\x91\x90]{1,80}(?:\s|\\{1,3}[nrt]){1,9}(?:password|passwd)(?:\s|\\{1,3}[nrt]){1,9}(?P<secret>[^\s\"'\\\x91\x90]{4,200})",
        locate=_of_login,
        around=(100, 0),
        after="",
        examples=("machine host login ci password {A-Za-z0-9:16}",),
        near_misses=(
            "the login form password field",
            "of the account whose password gets",
            "user mails, password resets,",
        ),
    ),
    Rule(
        id="pgpass-password",
        provider="structure",
        pattern=r"[A-Za-z0-9_.*-]{1,80}:(?:5432|5433|6432|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z0-9_*-]{1,60}:(?P<secret>[^\s\"'\\\x91\x90]{4,200})",
        locate=_of_pgpass,
        around=0,
        before="0-9A-Za-z_.:*/-",
        after="",
        examples=("db.internal:5432:main:app:{A-Za-z0-9:16}",),
        near_misses=("http://db.internal:5432/main", "app:*:1947:8687:identity user:/var/empty:/usr/bin/false"),
    ),
    Rule(
        id="sql-password",
        provider="structure",
        pattern=(
            r"(?i:identified (?:with \\{0,7}['\"]?[a-z0-9_]{1,40}\\{0,7}['\"]? )?(?:by|as)"
            r"|with password|set password\s?=|encrypted password"
            r"|(?:alter|create) (?:role|user|login)\s[^\n;\x91\x90]{1,120}?password|password for [^\n]{1,40}(?:=|to))"
            r"\s{1,4}(?i:password\s?\()?\\{0,7}['\"](?P<secret>[^'\"\\\x91\x90]{4,200})"
        ),
        locate=_of_sql,
        around=(160, 0),
        after="",
        examples=(
            "CREATE USER app IDENTIFIED BY '{A-Za-z0-9:16}'",
            "create user app identified with mysql_native_password by '{A-Za-z0-9:16}'",
            "ALTER ROLE app LOGIN PASSWORD '{A-Za-z0-9:16}'",
        ),
        near_misses=("CREATE USER app IDENTIFIED BY '<password>'",),
    ),
    Rule(
        id="sql-bare-password",
        provider="structure",
        pattern=(
            r"(?i:(?:user|role) [^\s]{1,60} identified by)\s{1,4}"
            r"(?P<secret>[A-Za-z_@#!-]{0,30}[0-9][^\s'\"\\;()\x91\x90]{2,100})"
        ),
        locate=chosen,
        around=0,
        after="",
        about="an unquoted password in SQL",
        examples=("ALTER USER app IDENTIFIED BY {A-Z:1}{a-z:7}{0-9:4};",),
        near_misses=("rows of a user as identified by 2 columns", "ALTER USER app IDENTIFIED BY changeme;"),
    ),
    Rule(
        id="secure-string",
        provider="structure",
        pattern=(
            r"(?i:convertto-securestring)(?:\s{1,3}-(?i:string|force|asplaintext)){0,3}\s{1,3}"
            r"\\{0,7}[\"']?(?P<secret>[^\s\"'\\$()-][^\s\"'\\()\x91\x90]{3,200})"
        ),
        locate=chosen,
        around=0,
        after="",
        about="a value that PowerShell turns into a secure string",
        examples=('ConvertTo-SecureString -String "{A-Za-z0-9:14}" -AsPlainText -Force',),
        near_misses=("ConvertTo-SecureString $Password -AsPlainText -Force",),
    ),
    Rule(
        id="web-key",
        provider="structure",
        pattern=r"\\{0,7}[\"'](?:d|k|p|q|dp|dq|qi)\\{0,7}[\"']\s{0,2}:\s{0,2}\\{0,7}[\"'](?P<secret>[A-Za-z0-9_-]{20,1400})",
        keywords=("kty",),
        reach=2000,
        check=looks_random,
        about="a private member of a JSON Web Key",
        examples=('{{"kty": "oct", "k": "{A-Za-z0-9:43}"',),
        near_misses=('{{"kty": "oct", "kid": "{A-Za-z0-9:43}"', '"k": "{A-Za-z0-9:43}"'),
    ),
    Rule(
        id="password-hash",
        provider="structure",
        # Docker Compose doubles each dollar.
        pattern=r"\$(?:2[abxy]?\${1,2}\d\d\${1,2}[A-Za-z0-9./]{53}|[789]\$[A-Za-z0-9./]{10,44}\$[A-Za-z0-9./]{40,50}|[156y]\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./$]{1,40}\$[A-Za-z0-9./]{22,86}|argon2(?:id|i|d)\$[A-Za-z0-9+/=,$]{30,300}|apr1\${1,2}[A-Za-z0-9./]{1,8}\${1,2}[A-Za-z0-9./]{22})",
        check=_is_drawn,
        after="0-9A-Za-z./",
        examples=(
            "$2b$12${A-Za-z0-9:53}",
            "auth.users=ops:$$apr1$${A-Za-z0-9:8}$${A-Za-z0-9:22}",
            "$7${A-Za-z0-9:22}${A-Za-z0-9:43}",
            "$y$j9T${A-Za-z0-9:22}${A-Za-z0-9:43}",
            "$argon2id$v=19$m=65536,t=3,p=4${A-Za-z0-9:22}${A-Za-z0-9:43}",
        ),
        near_misses=("$2b$12$short", "$y$j9T$short", "$argon2id$v=19$m=65536,t=3,p=4"),
    ),
)
