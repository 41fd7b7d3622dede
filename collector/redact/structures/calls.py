"""The rules for passwords that a well-known call takes by position: `mysqli("host", "user", X)`.

Nothing beside such a value tells; which argument it is depends on the call. Only a literal counts, and not one that a
program would put in place of a password: the same as the user, or a word for a password.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.phrases import is_in_place

_REACH = 400  # how far a call is read
# Which argument is the password: the calls, and how many arguments come before it.
_FIRST = (
    r"b?crypt|bcrypt\.(?:hash|hashSync|compare|compareSync|hashpw|checkpw)|Hash::(?:make|check)|password_(?:hash|verify)"
    r"|argon2\.hash|generate_password_hash|make_password|BCrypt\.(?:hashpw|HashPassword)|(?:redis|jedis)\.auth"
)
_SECOND = (
    r"NetworkCredential|UsernamePasswordCredentials|PasswordAuthentication|[Ss]et_?[Bb]asic_?[Aa]uth|HTTPDigestAuth"
    r"|[bB]asicAuthentication|BasicAuth|AuthTokens\.basic|withCredentials|withAuthCredentials|UsernamePasswordToken"
    r"|UsernamePasswordAuthenticationToken|ClientCredential|BasicAWSCredentials|AwsBasicCredentials\.create"
    r"|NewStaticCredentials(?:Provider)?|oci_p?connect|PlainTextAuthProvider|(?:cx_Oracle|oracledb)\.connect|DigestAuth"
    r"|WiFi\.begin|wlan\.connect|db\.auth|changeUserPassword"
    r"|digest_auth|login|auth\.basic|HttpAuthenticationFeature\.basic|simple_bind(?:_s)?|SqlCredential|PlainCredentials"
)
_THIRD = (
    r"(?:mysqli|PDO)(?:->__construct)?|mysqli?(?:->real_|_real_|_p?)connect|(?:MySQLdb|pymysql)\.[Cc]onnect"
    r"|create_superuser|objects\.create_user|ClientSecretCredential|ftp_login|ssh2_auth_password|ldap_bind|imap_open|odbc_connect|FTP(?:_TLS)?"
    r"|(?:smtp\.)?PlainAuth|DBI->connect|DriverManager\.getConnection|MongoCredential(?:\.create[A-Za-z0-9]{0,20}Credential)?"
)
_FOURTH = r"UsernamePasswordCredential|InfluxDBClient|ssh\.connect"
_CALLS = ((_FIRST, 0), (_SECOND, 1), (_THIRD, 2), (_FOURTH, 3))
_NAMES = "|".join(names for names, _ in _CALLS)
_LITERAL = r"(?:[fbrLuU@]{0,2}\\{0,3}[\"'](?P<%s>[^\"'\\\n\x90\x91]{0,200})\\{0,3}[\"'])"
_VARIABLE = r"(?:[^\s\"'(),;\\\x90\x91][^\"'(),;\\\n\x90\x91]{0,60}(?:\([^()\n\x90\x91]{0,60}\))?)"
_USER = r"[A-Za-z_.\"'@-]{1,60}, ?\\{0,3}[\"']"  # then a literal: `login(` is everywhere
_BETWEEN = r"(?:\s|\\{1,3}[nrt]){0,24}"
_string = regex(_LITERAL.encode() % b"value")
_variable = regex(_VARIABLE.encode())
_next = regex(f"{_BETWEEN},{_BETWEEN}".encode())
_user = regex(_USER.encode())
_begin = regex(_BETWEEN.encode())
_calls = tuple((regex(names.encode()), before) for names, before in _CALLS)


def _by_place(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The argument of a call that is its password."""
    stop = min(stop, match.end() + _REACH)
    if match["call"] == b"login" and not _user.match(text, match.end()):
        return []
    wanted = next((before for calls, before in _calls if calls.fullmatch(match["call"])), 1)
    at = _begin.match(text, match.end(), stop).end()  # type: ignore[union-attr]  # it always matches
    given: list[bytes | None] = []
    while len(given) < wanted:
        argument = _string.match(text, at, stop) or _variable.match(text, at, stop)
        between = _next.match(text, argument.end(), stop) if argument else None
        if not argument or not between:
            return []
        given.append(argument.groupdict().get("value"))
        at = between.end()
    secret = _string.match(text, at, stop)
    if not secret or secret["value"] in given:
        return []
    first, last = secret.span("value")
    if text.endswith(b"...", first, last):  # how a stack trace cuts a long one
        last -= 3
    return [(first, last)] if is_in_place(text[first:last].decode("latin-1")) else []


CALL_RULES = (
    Rule(
        "structure",
        "positional-password",
        rf"(?P<call>(?:{_NAMES})(?=\()|basic_auth)[( ]",
        trigger=rf"(?:{_NAMES.replace('|login|', '|')})\(|login\({_USER}|basic_auth[( ][\"']",
        locate=_by_place,
        around=(0, _REACH),
        before="0-9A-Za-z_",
        after="",
        about="the argument of a call that takes a password in that position",
        examples=(
            'new mysqli("db.internal", "shop", "{A-Za-z0-9:12}", "shop")',
            'smtp.PlainAuth("", user, "{A-Za-z0-9:16}", host)',
            'new UsernamePasswordToken(user, "{A-Za-z0-9:12}")',
            'new ClientSecretCredential(tenant, "8f0a", "{A-Za-z0-9:32}")',
            "PDO->__construct('mysql:host=db...', 'shop', '{A-Za-z0-9:12}...')",
            "request.basic_auth 'ci', '{A-Za-z0-9:12}'",
            "await bcrypt.hash('{A-Z:1}{a-z:7}!4', 10)",
            "crypt('{A-Z:1}{a-z:7}!4', gen_salt('bf'))",
        ),
        near_misses=(
            'new mysqli("localhost", "user", "password", "db")',
            'new mysqli($host, $user, $password, "shop")',
            'smtp.PlainAuth("", user, password, "{a-z:8}.example.com")',
            "new PDO('sqlite::memory:')",
            'new NetworkCredential("tester", "tester")',
            "bcrypt.hash('password', 10)",
            "bcrypt.compare(password, user.password)",
        ),
    ),
)
