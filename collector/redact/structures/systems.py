"""The rules for passwords as systems take or show them: chpasswd, routers, wireless profiles, Redis, Terraform's state.

`echo root:X | chpasswd`, `enable secret 0 X`, `Key Content : X`, `AUTH X` at the Redis prompt. A mere word counts only
where nothing else can stand.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.credentials import chosen
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.letter_pairs import is_made_of_words
from collector.redact.words.names import Promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_salt, is_secret, looks_random

_VALUE = r"""[^\s"'`<>\\|;&\x90\x91]"""
_QUOTE = r"\\{0,7}[\"']"
_BREAK = r"(?:\r?\n|\\{1,3}n)"
_USER = "[A-Za-z_][A-Za-z0-9_.-]{0,40}"
_SET = 600  # how far the users given to `chpasswd` are read
_LICENCE = r"(?:_LICEN[CS]E(?:_KEY|_DATA|_BLOB)?[\"']?[ ]?[=:][ ]?|[rR]egisterLicense\()[\"']?"
_OF_A_PRODUCT = r"(?:[Ss]erial|SERIAL|[Ll]icen[cs]e|LICENSE|[Pp]roduct[ _-]?[Kk]ey|[Aa]ctivation|/ipk)[^\n\x90\x91]"
_account = regex(
    rf"(?:[\s\"'{{,|]|\\{{1,3}}n){_USER}:(?P<secret>[^\s\"'`<>\\|,:/\x90\x91][^\s\"'`<>\\|,\x90\x91]{{2,100}})".encode()
)
_list_ends = regex(rb"(?:\n|\\n)(?:\S|\s{0,8}(?!list|users|expire|name|password|type)[a-z_]{2,20}:\s)|EOF\b|\x90|\x91")
_of_user = regex(rb"password:[ \t]{1,4}[\"']?(?P<secret>[^\s\"'\\\x90\x91]{4,100})")
_result = regex(rf"{_QUOTE}result{_QUOTE}:\s{{0,4}}{_QUOTE}(?P<secret>(?:(?!{_QUOTE}).){{4,200}}){_QUOTE}".encode())
_next_resource = regex(rb"[\"']type\\{0,7}[\"']\s{0,2}:")
_line_end = regex(rb"[ \t]{0,40}(?:[\r\n\x90\x91]|\\+[nr\"']|[\"']|\Z)")
_type_before = regex(rb" [0-9]{1,2} [\"']?\Z")


def _of_accounts(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The passwords that `chpasswd` is given as `user:password`, each on its own line or in its own item."""
    limit = min(stop, match.end() + _SET)
    ends = _list_ends.search(text, match.end(), limit)
    end = ends.start() if ends and match["here"] is None else limit
    found = [*_account.finditer(text, match.end() - 1, end), *_of_user.finditer(text, match.end() - 1, end)]
    return [span for one in found for span in chosen(text, one, 0, stop) if one["secret"] not in (b"RANDOM", b"R")]


def _results(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The passwords that Terraform generated and keeps in its state."""
    limit = min(stop, match.end() + _SET)
    following = _next_resource.search(text, match.end(), limit)
    found = _result.search(text, match.end(), following.start() if following else limit)
    return [found.span("secret")] if found and not is_placeholder(found["secret"].decode("latin-1")) else []


def _of_device(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """What a router command sets. Without the number of its type it must look chosen, as people write about such
    commands."""
    is_told = match["sure"] or bool(_type_before.search(text, match.start(), match.start("secret")))
    if is_told:
        return chosen(text, match, start, stop) if _line_end.match(text, match.end("secret"), stop) else []
    is_one = is_secret(match["secret"].decode("latin-1"), Promise.PASSWORD, Notation.BARE)
    return [match.span("secret")] if is_one else []


def _to_line_end(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The rest of the line: a passphrase may have blanks."""
    value = match["secret"].rstrip()
    first = match.start("secret")
    is_one = not is_placeholder(value.decode("latin-1")) and _line_end.match(text, first + len(value), stop)
    return [(first, first + len(value))] if is_one else []


def _at_prompt(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    return chosen(text, match, start, stop) if _line_end.match(text, match.end("secret"), stop) else []


def _product_key(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    is_drawn = has_digit_and_letter(match["secret"].decode("latin-1")) and len(set(match["secret"])) >= 8
    return [match.span("secret")] if is_drawn else []


def _is_application_salt(value: str) -> bool:
    is_drawn = " " not in value and looks_random(value) and not is_made_of_words(value)
    return is_salt(value) or (is_drawn and len(set(value)) >= 10 and not is_placeholder(value))


def _is_licence(value: str) -> bool:
    return looks_random(value) and not is_made_of_words(value)


SYSTEM_RULES = (
    Rule(
        "structure",
        "account-password",
        r"chpasswd(?:(?P<here>[^\n\x90\x91]{0,40}<<)|\\{0,7}[\"']?:)",
        trigger="chpasswd",
        locate=_of_accounts,
        around=(0, _SET),
        after="",
        about="a password given to chpasswd",
        examples=(
            "chpasswd <<EOF\nroot:{A-Za-z0-9:12}\nEOF",
            'chpasswd: {{list: "root:{A-Za-z0-9:12}", expire: false}}',
            "chpasswd:\n  list: |\n    root:{A-Za-z0-9:12}\n",
        ),
        near_misses=(
            'chpasswd <<< "root:$PASSWORD"',
            "chpasswd:\n  expire: false\n",
            "chpasswd:\n  list: |\n    root:RANDOM\n",
        ),
    ),
    Rule(
        "structure",
        "account-password-piped",
        rf"(?:echo|printf)\s(?:-[en]{{1,2}}\s)?{_QUOTE}?{_USER}:(?P<secret>{_VALUE}{{3,100}}?)(?:\\{{1,3}}n)?{_QUOTE}?"
        r"\s?\|\s?(?:sudo\s(?:-[A-Za-z]\s)?)?(?:/usr/sbin/)?chpasswd",
        trigger="chpasswd",
        reach_back=240,
        locate=chosen,
        around=0,
        after="",
        about="a password piped into chpasswd",
        examples=("echo 'ci:{A-Z:1}{a-z:9}3' | sudo chpasswd",),
        near_misses=("echo root:$PASSWORD | chpasswd",),
    ),
    Rule(
        "structure",
        "client-login-comma",
        rf"(?:lftp\s[^\n|\x90\x91]{{0,100}}?(?:-u|--user)|open -u)[ =]?{_QUOTE}?[A-Za-z0-9_.@-]{{1,60}}"
        rf"{_QUOTE}?,{_QUOTE}?(?P<secret>{_VALUE}{{3,100}})",
        trigger=r"lftp\s|open -u",
        locate=chosen,
        around=0,
        after="",
        about="a login given to lftp",
        examples=("lftp -u ci,{A-Za-z0-9:12} sftp://files.internal",),
        near_misses=("lftp -u ci,$PASSWORD files.internal", "lftp -u ci files.internal"),
    ),
    Rule(
        "structure",
        "device-password",
        rf"(?:enable (?:secret|password)|username {_USER} (?:privilege [0-9]{{1,2}} )?(?:secret|password)"
        r"|(?:tacacs|radius)-server(?: host [^\s]{1,60})? key|isakmp key|ppp chap password"
        r"|neighbor [^\s]{1,60} password|wpa-psk ascii"
        r"|ip (?:ftp|http client) password|key-string|authentication-key|simple-password"
        r"|(?P<sure>plain-text-password-value|pre-shared-key ascii-text|(?:wifi-sec|wireless-security)\.psk"
        r"|set (?:password|passwd|psksecret) ENC|pre-shared-secret|: (?:EAP|XAUTH|NTLM)))"
        rf"(?: (?:level )?[0-9]{{1,2}})? {_QUOTE}?(?P<secret>{_VALUE}{{4,100}})",
        locate=_of_device,
        around=(0, 48),
        after="",
        about="a password in the configuration of a router or a switch",
        examples=(
            "enable secret 0 {a-z:8}{0-9:2}X",
            "username ops privilege 15 secret 0 {a-z:8}{0-9:2}X",
            "tacacs-server key 7 {0-9A-F:14}",
            'set vpn pre-shared-key ascii-text "{A-Z:1}{a-z:9}3"',
            "set psksecret ENC {A-Za-z0-9+/:38}==\n",
        ),
        near_misses=("enable secret scanning", "enable password authentication", "enable secret 0 <password>"),
    ),
    Rule(
        "structure",
        "wireless-key",
        r"(?:Key Content|Schl[^\s]{1,2}sselinhalt|Contenu de la cl[^\s]{1,2}|Contenido de la clave)[ \t]{0,30}: "
        r"(?P<secret>[^\s<>\x90\x91][^\n\r\"<>\\\x90\x91]{6,62})",
        locate=_to_line_end,
        around=(0, 48),
        after="",
        about="the key of a wireless profile, as Windows shows it",
        examples=("    Key Content            : {a-z:12}\n", "Contenu de la cl\xe9 : {a-z:12}\n"),
        near_misses=("Key Content            : <hidden>", "Key Content            : Absent"),
    ),
    Rule(
        "Redis",
        "redis-password",
        rf"(?:[0-9](?:\[[0-9]{{1,2}}\])?> |redis-cli (?:-[a-z] [^\s]{{1,60}} ){{0,4}})(?:AUTH|auth) (?:{_USER} )?"
        rf"{_QUOTE}?(?P<secret>{_VALUE}{{4,200}})",
        trigger=r"> (?:AUTH|auth) |redis-cli [^\n\x90\x91]{0,260}(?:AUTH|auth) ",
        reach_back=300,
        locate=_at_prompt,
        around=(0, 48),
        before="",
        after="",
        about="a login at the Redis prompt",
        examples=("127.0.0.1:6379> AUTH {A-Za-z0-9:16}\nOK", "redis-cli -h cache AUTH worker {A-Za-z0-9:16}"),
        near_misses=("127.0.0.1:6379> AUTH <password>", "127.0.0.1:6379> AUTH $PASS and then", "> AUTH failed"),
    ),
    Rule(
        "Redis",
        "redis-password-shown",
        rf"(?:requirepass|masterauth){_QUOTE}{_BREAK}[ \t]{{0,8}}2\) {_QUOTE}(?P<secret>[^\"'\\\n\x90\x91]{{3,200}})",
        locate=chosen,
        around=0,
        after="",
        about="the password in an answer from Redis",
        examples=('1) "requirepass"\n2) "{A-Za-z0-9:16}"',),
        near_misses=('1) "requirepass"\n2) ""', '1) "requirepass"\n2) "<hidden>"'),
    ),
    Rule(
        "Redis",
        "redis-user",
        rf"(?:(?:ACL SETUSER|acl setuser) {_USER}|user {_USER} on) [^\n\x90\x91]{{0,120}}?>"
        rf"(?P<secret>{_VALUE}{{4,200}})",
        trigger=rf"(?:ACL SETUSER|acl setuser) |user {_USER} on [^\n\x90\x91]{{0,120}}>",
        locate=chosen,
        around=0,
        after="",
        about="the password of a Redis user",
        examples=("ACL SETUSER worker on >{A-Za-z0-9:16} ~* +@all", "user worker on ~jobs:* +@all >{A-Za-z0-9:16}\n"),
        near_misses=("ACL SETUSER worker on >$PASSWORD ~*", "ACL SETUSER worker off", "the user ada on a > b"),
    ),
    Rule(
        "HashiCorp Terraform",
        "drawn-password",
        rf"{_QUOTE}random_password{_QUOTE}",
        locate=_results,
        around=(0, _SET),
        before="",
        after="",
        about="a password that Terraform generated and keeps in its state",
        examples=(
            '"type": "random_password", "name": "db", "instances": [{{"attributes": {{"result": "{A-Za-z0-9:20}"',
        ),
        near_misses=('"type": "random_password", "name": "db"', '"random_password", "result": "<sensitive>"'),
    ),
    Rule(
        "structure",
        "product-key",
        rf"{_OF_A_PRODUCT}{{0,40}}?[^A-Z0-9-]"
        r"(?P<secret>(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5})",
        trigger=rf"{_OF_A_PRODUCT}{{0,42}}[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-",
        locate=_product_key,
        around=0,
        before="",
        after="0-9A-Za-z-",
        about="a product key",
        examples=("<serial>{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}-A7{A-Z0-9:3}</serial>",),
        near_misses=("serial number 12345-12345-12345-12345-12345", "license XXXXX-XXXXX-XXXXX-XXXXX-XXXXX"),
    ),
    Rule(
        "WordPress",
        "application-salt",
        rf"(?:(?:AUTH|LOGGED_IN|NONCE|CACHE_KEY)_SALT|(?:LOGGED_IN|NONCE)_KEY){_QUOTE}?[ ]?[,=][ ]{{0,24}}"
        rf"{_QUOTE}(?P<secret>[^'\"\\\n\x90\x91]{{32,160}})",
        check=_is_application_salt,
        before="0-9A-Za-z",
        after="",
        about="a salt or key that a web application signs with",
        examples=(
            "define( 'SECURE_AUTH_SALT', '{A-Za-z0-9:64}' );",
            "define('WP_CACHE_KEY_SALT', '{0-9a-f:64}');",
        ),
        near_misses=(
            "define('AUTH_SALT', 'put your unique phrase here');",
            "define('WP_CACHE_KEY_SALT', 'www.shop-in-many-places.internal.acme.test:');",
        ),
    ),
    Rule(
        "structure",
        "licence-text",
        rf"{_LICENCE}(?P<secret>[A-Za-z0-9+/=_-]{{32,2000}})",
        trigger=rf"{_LICENCE}[A-Za-z0-9+/=_-]{{32}}",
        check=_is_licence,
        before="",
        after="0-9A-Za-z+/=_-",
        about="a licence text in a variable",
        examples=('ACME_LICENSE="{A-Za-z0-9+/:72}"',),
        near_misses=("ACME_LICENSE=Apache-2.0", "ACME_LICENSE=licenses_for_all_packages_in_use_here"),
    ),
)
