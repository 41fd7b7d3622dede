"""The rules for values beside a telling name: assignments, JSON, YAML, flags, headers, tables, tags, prose.

The pattern finds a telling word and a separator; `locate` reads the whole name and the value as it is written (quoted
at any level of escaping, bare, or the value of a key) and asks `values` whether it is a secret. Linear in the text:
a name is at most 80 characters, a value at most WIDEST_VALUE.
"""

from __future__ import annotations

import re

from collector.redact.cookies import cookie_spans
from collector.redact.names import TELLING, Promise, promise, words, words_of
from collector.redact.rule import Rule, Spans
from collector.redact.values import Written, is_secret

WIDEST_VALUE = 2048
SHIELDED = b"[\x8f"  # how a marker looks to a rule

_QUOTE = r"""(?:[fbrul]{1,2}|@|\$)?\\{0,7}["'`]"""
_BREAK = r"(?:\s|\\{1,3}[nrt])"
_NAMED = rf"""(?P<name>{TELLING})\\{{0,7}}["'`\])*_]{{0,4}}(?: ?\[[^\]\s]{{1,20}}\])?"""
_FIRST = r"(?P<first>[^\s\x91\x90])"
# The value follows, quoted or bare: NAME=x, "name": "x", name => x, | name | x |, <name>x, the name is x
_DIRECT = (
    rf"(?P<sep>:[ \t]?[|>][-+]?{_BREAK}{{1,20}}|[ \t]{{0,20}}(?:=>|:=|={{1,3}}|!==?|\?=|\+=|:{{1,2}}|\|)[ \t*_]{{0,20}}"
    r"|\s(?:is|was|to|are):?\s|>)"
    rf"(?P<open>{_QUOTE})?(?P<opened>)"
)
# The value is quoted, and something stands between: a type, a comma, a bracket, a word (name: string = "x")
_LITERAL = (
    r"(?P<sep>[ \t]?:[ \t]{0,2}[&a-z'\[\]<>_.|?]{2,24}[ \t]?=[ \t]?|[ \t](?:string|str|&str|text|varchar)[ \t]?=[ \t]?"
    r"|[ \t]{0,3},[ \t]{0,8}|\s?\(\s{0,3})"
    rf"(?P<open>)(?P<opened>{_QUOTE})"
)
# The value follows in a field of its own: name: NAME, value: x
_SIBLING = (
    r"(?P<sep>[,;]?[ \t]?\{?\s{0,20}(?:\\{1,3}[nrt]\s{0,20}){0,2}(?:- )?(?:\\{0,7}[\"'])?"
    r"(?:value|default)(?:\\{0,7}[\"'])?\s?[:=]\s?)"
    rf"(?P<open>{_QUOTE})?(?P<opened>)"
)
_FLAG = (
    r"(?P<name>(?:--?|/)(?:[a-z][a-z-]{0,30})?(?:password|passwd|passphrase|pass|pwd|secret|token|key|auth)[a-z0-9-]{0,16}"
    r"|(?:\#define|env|arg|setenv|setx|export -x|set -[gxu]{1,3}|config set|secret put|putenv)[ \t]{1,3}"
    r"[a-z0-9_.:/-]{0,60}"
    rf"(?:{TELLING}))"
    rf"""["'`]?[ \t]{{1,4}}(?P<sep>)(?P<open>{_QUOTE})?(?P<opened>)(?P<first>[^\s\x91\x90-])"""
)

_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_spaced_name = re.compile(rb"(?i)(?:api|access|secret|auth|private|account|client|bot|master|encryption|signing)[ _-]$")
_bare = re.compile(rb"[^\s\"'`<>\x8f-\x91]*")
_bare_end = re.compile(
    rb"\\+(?:[nrt\"'`]|u00(?:0a|0d|22|27|26|3c|3e))|[&;,](?=[A-Za-z_][\w .-]{0,40}=)|,(?=[A-Za-z]+:)|&amp;|\x1b"
)
_line_end = re.compile(rb"[\n\r\"'\x91\x90]|\\+[nr\"']")
_scheme = re.compile(
    rb"(?i)(?:bearer|basic|token|api-?key|key|bot|oauth|jwt|ssws|geniekey|splunk|apitoken|negotiate)[ +:=]\s*"
)
_whole_line = re.compile(rb"[^\s\"'`<>(){},;]+(?=[ \t]*(?:[\n\r]|\\+[nr]|\Z))")
_parts = re.compile(rb"[^\x8f\x90\x91]+")
_compound = re.compile("[a-z][_.-][a-z]")
_in_list = re.compile(rb"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|.*[\s(){}].*|\\.*", re.DOTALL)  # another name, or code
_SETTERS = words_of(
    """
    set with put add define use password passwd secret token new basic setenv credentials
    """
)


def locate(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The spans of the secrets beside the telling name of a match."""
    begin, first = match.start("name"), match.start("first")
    name = _name(text, begin, match.end("name"), start)
    promised = promise(name)
    if promised is Promise.NOTHING or _is_part_of_a_path(text, match, len(name)):
        return []
    if promised is Promise.COOKIE:
        end = _line_end.search(text, first, min(stop, first + 4096))
        return cookie_spans(text, first, end.start() if end else min(stop, first + 4096))
    if match["open"] or match["opened"]:
        return _quoted(text, match, stop, name, promised)
    if b"==" in match["sep"] or b"!=" in match["sep"]:
        return []
    written = _written(text, name, begin, match, stop)
    scheme = _scheme.match(text, first, stop)
    first = scheme.end() if scheme else first
    promised = max(promised, Promise.KEY) if scheme else promised
    first, last = _bare_span(text, first, stop, match["sep"])
    if text[last : last + 1] in (b"(", b"[") and written is Written.BARE:
        return []
    return _judge(text, first, last, promised, written)


def _is_part_of_a_path(text: bytes, match: re.Match[bytes], length: int) -> bool:
    """`arn:aws:secretsmanager:eu:1:secret:name` and `AWS::ApiGateway::ApiKey` name things, they do not hold them."""
    before = text[max(0, match.end("name") - length - 2) : match.end("name") - length]
    return before == b"::" or (before[-1:] == b":" and match["sep"] == b":")


def locate_key_value(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The value of a dict key: all of it, however long."""
    first = match.start("first")
    promised = promise(text[start : text.rfind(b"\x91", start, first)].decode("latin-1"))
    if promised is Promise.NOTHING:
        return []
    if promised is Promise.COOKIE:
        return cookie_spans(text, first, stop)
    return [
        span
        for part in _parts.finditer(text, first, stop)
        for span in _judge(text, part.start(), part.end(), promised, Written.KEY)
    ]


def _quoted(text: bytes, match: re.Match[bytes], stop: int, name: str, promised: Promise) -> Spans:
    group = "open" if match["open"] else "opened"
    separator = match["sep"]
    end = quoted_end(text, match.end(group), stop, match[group])
    if end < 0 or (group == "opened" and not _may_follow(separator, name)):
        return []
    is_vague = (group == "opened" and b"=" not in separator) or b"==" in separator or b"!=" in separator
    if is_vague and (
        promised is Promise.WEAK or name.lower() == "pass" or _in_list.fullmatch(text[match.end(group) : end])
    ):
        return []
    return _judge(text, match.end(group), end, promised, Written.BARE if is_vague else Written.QUOTED)


def _name(text: bytes, begin: int, last: int, start: int) -> str:
    """The whole name of which the telling word is a part."""
    low = max(start, begin - 64)
    at = low + len(text[low:begin].rstrip(_NAME))
    if at > low and text[at - 1] == 0x5C and text[at : at + 1] in (b"n", b"r", b"t"):
        at += 1  # the n of an escaped newline
    if at == begin and (spaced := _spaced_name.search(text[low:begin])):
        at = low + spaced.start()
    return text[at:last].decode("latin-1")


def _judge(text: bytes, first: int, end: int, promised: Promise, written: Written) -> Spans:
    scheme = _scheme.match(text, first, end)
    if scheme and scheme.end() < end:
        first, promised = scheme.end(), max(promised, Promise.KEY)
    value = text[first:end].decode("latin-1")
    return [(first, end)] if SHIELDED not in text[first:end] and is_secret(value, promised, written) else []


def quoted_end(text: bytes, first: int, stop: int, quote: bytes) -> int:
    """Where a quoted value ends: before a quote at the same level of escaping. -1 where it is too long.

    At level L a quote has 2**L - 1 backslashes before it; an escaped backslash adds 2**(L+1).
    """
    slashes = quote.count(b"\\")
    limit = min(stop, first + WIDEST_VALUE)
    at = first
    while (at := text.find(quote[-1:], at, limit)) >= 0:
        run = at
        while run > first and text[run - 1] == 0x5C:
            run -= 1
        if (at - run) % (2 * slashes + 2) == slashes:
            return at - slashes
        at += 1
    if limit < stop:
        return -1
    end = _line_end.search(text, first, limit)
    return end.start() if end else limit


def _bare_span(text: bytes, first: int, stop: int, separator: bytes) -> tuple[int, int]:
    found = _bare.match(text, first, min(stop, first + WIDEST_VALUE))
    end = found.end() if found else first
    cut = _bare_end.search(text, first, end + 1)
    if cut:
        end = cut.start()
    if text[first : first + 1] == b"-" and text[end - 1 : end] == b"}":
        return first + 1, end - 1  # ${NAME:-default}
    if separator.startswith(b">") and text[end : end + 2] != b"</":
        return first, first
    while end > first and text[end - 1] in b",;.)]}:|?\\":
        end -= 1
    return first, end


def _may_follow(separator: bytes, name: str) -> bool:
    """Whether a quoted value after a comma or a bracket can be the value of the name."""
    return b"(" not in separator or words(name.rpartition(".")[2])[0] in _SETTERS


def _written(text: bytes, name: str, begin: int, match: re.Match[bytes], stop: int) -> Written:
    """How a bare value stands beside its name."""
    separator = match["sep"]
    if separator in (b"", b">") or separator.strip().lower().endswith((b"value:", b"value=", b"default=")):
        return Written.ENVIRONMENT
    is_constant = name.upper() == name
    if separator == b"=":
        before = text[match.end("name") - len(name) - 1 : begin][:1]
        is_parameter = before in (b";", b"?", b"&") or name.startswith("-")
        is_line = before in (b"", b"\n", b"\r", b"\x90") and _whole_line.match(text, match.start("first"), stop)
        return Written.ENVIRONMENT if is_constant or is_parameter or is_line else Written.BARE
    is_compound = bool(_compound.search(name)) and b"=" not in separator
    return Written.CONFIGURATION if (is_constant or is_compound) and separator.strip() in (b":", b"=") else Written.BARE


def _assigned(rule_id: str, pattern: str, about: str, examples: tuple[str, ...], near_misses: tuple[str, ...]) -> Rule:
    return Rule(
        id=rule_id,
        provider="structure",
        pattern=pattern,
        locate=locate,
        folds=True,
        before="0-9A-Za-z-" if pattern is _FLAG else "",
        after="",
        about=about,
        examples=examples,
        near_misses=near_misses,
    )


ASSIGNED_RULES = (
    _assigned(
        "named-secret",
        _NAMED + _DIRECT + _FIRST,
        "a value beside a name that tells that it is a secret",
        ("DB_PASSWORD={a-z:8}{0-9:3}", '{"password": "{a-z:8}{0-9:3}"}', "X-Api-Key: {0-9a-f:32}"),
        ("const token = getToken()", "password: string", "max_tokens: 4096", "password=${DB_PASSWORD}"),
    ),
    _assigned(
        "named-literal",
        _NAMED + _LITERAL + _FIRST,
        "a literal given to something whose name tells that it is a secret",
        ('let apiKey: string = "{A-Za-z0-9:32}"', "define('DB_PASSWORD', '{a-z:8}{0-9:3}')"),
        ("['username', 'password', 'email']", 'getPassword("prompt")'),
    ),
    _assigned(
        "named-sibling",
        _NAMED + _SIBLING + _FIRST,
        "the value of a field whose name tells that it is a secret",
        ("- name: DB_PASSWORD\n  value: {a-z:8}{0-9:3}", '<add key="ApiKey" value="{A-Za-z0-9:32}"/>'),
        ("- name: DB_PASSWORD\n  valueFrom: x", '<input name="password" value=""/>'),
    ),
    _assigned(
        "secret-argument",
        _FLAG,
        "the argument of a flag or a directive whose name tells that it is a secret",
        ("tool --password {a-z:8}{0-9:3}", "ENV API_TOKEN {A-Za-z0-9:32}"),
        ("mysql --password", "--token-file token.txt", "--max-tokens 4096"),
    ),
    Rule(
        id="telling-key",
        provider="structure",
        pattern=rf"(?:{TELLING})[^\x91\x90]{{0,60}}\x91\s{{0,20}}{_FIRST}",
        locate=locate_key_value,
        folds=True,
        before="",
        after="",
        about="the value of a key whose name tells that it is a secret",
        examples=("password\x91{a-z:8}{0-9:3}", "x-api-key\x91{A-Za-z0-9:24}"),
        near_misses=("input_tokens\x914096", "password\x91${DB_PASSWORD}"),
    ),
)
