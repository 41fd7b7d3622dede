"""The rules for values beside a telling name: assignments, JSON, YAML, flags, headers, tables, tags, prose.

The pattern finds a telling word and a separator; `locate` reads the whole name and the value in its notation (quoted at
any level of escaping, bare, or the value of a key) and asks `values` whether it is a secret. Linear in the text: a name
has at most 80 characters, a value at most WIDEST_VALUE.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.marker import SHIELDED, is_shielded
from collector.redact.rule import AT_KEYS, Rule, Spans
from collector.redact.structures.cookies import cookie_spans
from collector.redact.structures.not_a_name import (
    closes_a_string,
    is_code_or_prose,
    is_its_own_name,
    is_no_assignment,
    is_no_name,
    is_of_a_template,
    is_one_of_several,
    is_report,
    is_taken_out,
    stands_for_itself,
)
from collector.redact.structures.notation import Sign, notation_of, read_sign
from collector.redact.structures.separators import FAR, FIRST, FLAG, KEYED, NAMED, NEAR
from collector.redact.structures.value_end import (
    WIDEST_VALUE,
    bare_span,
    cut_end,
    listed,
    listed_below,
    quoted_end,
    several_words,
    whole_end,
)
from collector.redact.structures.whole_name import Name, whole_name
from collector.redact.words.asked import asks_for_a_secret, is_one_secret
from collector.redact.words.labels import is_result, is_translated
from collector.redact.words.names import Promise, hands_over, promise, split_name, word_set
from collector.redact.words.phrases import is_worded
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import (
    Notation,
    is_key_in_hex,
    is_secret,
)

AROUND = (128, WIDEST_VALUE + 100)  # what `locate` reads: the name before, a scheme and the value

_SCHEMES = rb"(?i:bearer|basic|token|api-?key|key|bot|oauth|jwt|ssws|geniekey|splunk|apitoken|negotiate)[ +:=]"
_scheme = regex(_SCHEMES + rb"\s{0,60}")
# How a bare value begins if there is more to it than one piece: a scheme, an escaped quote, several words.
_begins_more = regex(_SCHEMES + rb"|[&%\\-]|[a-z]{4}[ -][a-z]{4}[ -]|(?:[a-z]{3,8} ){4}")
_in_brackets = regex(rb"(?=.*[A-Za-z])(?=.*\d)[^-#]{6,}")
_escaped_quote = regex(rb"&(?:quot|#34|#39|apos);|%22|%27|\\{1,4}u002[27]|\\\((?:aq|dq)")
_element = regex(rb"([^<>\x8f-\x91]{3,%d}?)(?:\s|\\{1,3}[nrt]){0,24}(?:<|\\{1,4}u003c|&lt;)\\{0,3}/" % WIDEST_VALUE)
_element_part = regex(rb"(?:(?!\\[nrt])[^\s{}\"'`;])+")
_parts = regex(rb"[^\x8f\x90\x91]+")
_hash_or_uuid = regex(r"[0-9a-fA-F-]+")
_pair = regex(r"[A-Za-z_][\w.-]{0,40}=[^=]")
_key_follows = regex(rb"[\"']\s?:")
_changed = regex(rb"[\\\"']{1,8} ?-> ?[\\\"']{1,8}")
_said = regex(rb"[a-z]{5,16}-[0-9]{2,4}")  # the passphrase is "otter-88"
_SETTERS = word_set("set with put add define use password passwd secret token new basic setenv credentials")


def locate(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The spans of the secrets beside the telling name of a match. Nearly all values are plainly no secrets, whatever
    surrounds them: so values are judged first, and only then what else may speak against them."""
    begin, last = match.span("name")
    name = whole_name(text, begin, last, start)
    if name.promised is Promise.NOTHING:
        return []
    if name.promised is Promise.COOKIE:
        first = match.start("first")
        spans = cookie_spans(text, first, min(stop, first + 4096))
    elif match["open"]:
        spans = _quoted(text, match, stop, name)
    else:
        spans = _bare(text, match, stop, name)
    return [] if spans and is_no_name(text, match, len(name.text)) else spans


def _bare(text: bytes, match: re.Match[bytes], stop: int, name: Name) -> Spans:
    """The value beside a name, without quotes."""
    sign, first = read_sign(match["sep"]), match.start("first")
    if sign.is_comparison:
        return []
    if sign.is_blank:
        spans = _adjacent(text, first, stop, name.promised, name.text)
    elif sign.opens_element:
        spans = _in_element(text, first, stop, name.promised)
    else:
        spans = _assigned(text, match, first, stop, name, sign)
        if spans and (text.startswith((SHIELDED, b"]"), first) or is_no_assignment(text, match, name.text)):
            return []
    return [] if spans and is_of_a_template(text, match, match.start("name"), len(name.text)) else spans


def _assigned(text: bytes, match: re.Match[bytes], first: int, stop: int, name: Name, sign: Sign) -> Spans:
    """The value after a sign, if it is a secret."""
    begin, end = match.span("name")
    promised = name.promised
    is_alone = not _begins_more.match(text, first, stop)
    if not is_alone and (several := several_words(text, first, stop, promised, name.text)):
        return several
    notation = notation_of(text, end, first, stop, name, sign)
    if name.text == "PASS" and is_report(text, match, name.text):
        promised = min(promised, Promise.OWNED)
    elif not sign.trimmed and is_taken_out(text, match):
        promised = min(promised, Promise.KEY)
    if not is_alone:
        escaped = _escaped_quote.match(text, first, stop)
        first = escaped.end() if escaped else first
        scheme = _scheme.match(text, first, stop)
        first = scheme.end() if scheme else first
        promised = max(promised, Promise.KEY) if scheme else promised
    first, last = bare_span(text, first, stop)
    is_argument = sign.trimmed == b"(" and not _in_brackets.fullmatch(text[first:last])
    if is_argument or sign.is_vague or text[begin] == 0x2F:
        promised = min(promised, Promise.KEY)
    if is_alone:
        value = text[first:last].decode("latin-1")
        is_one = is_secret(value, promised, notation)
        if not (is_one or (promised is Promise.PASSWORD and is_worded(value, notation, name.text))):
            return []
    spans = _judge(text, first, last, promised, notation, stop, name.text)
    if spans and is_code_or_prose(text, match, first, last, notation):
        return []
    return spans + _below(text, last, stop, name, promised) if spans and sign.is_list else spans


def _below(text: bytes, end: int, stop: int, name: Name, promised: Promise) -> Spans:
    """The other items of a YAML list."""
    promised = min(promised, Promise.KEY)
    items = [_judge(text, *item, promised, Notation.BARE, stop, name.text) for item in listed_below(text, end, stop)]
    return [span for spans in items for span in spans]


def _in_element(text: bytes, first: int, stop: int, promised: Promise) -> Spans:
    """The content of an element: one value, or every part that is not a word in `{folder AQAAABAAA... rest}`."""
    content = _element.match(text, first, min(stop, first + WIDEST_VALUE))
    if not content:
        end = cut_end(text, first, stop)
        return _judge(text, first, end, promised, Notation.ENVIRONMENT, stop) if end > 0 else []
    parts = list(_element_part.finditer(text, first, content.end(1)))
    if len(parts) == 1 and not is_placeholder(parts[0][0].rstrip(b":?0123456789").decode("latin-1")):
        return _judge(text, *parts[0].span(), promised, Notation.ENVIRONMENT)
    return [part.span() for part in parts if is_secret(part[0].decode("latin-1"), Promise.KEY, Notation.BARE)]


def _adjacent(text: bytes, first: int, stop: int, promised: Promise, name: str) -> Spans:
    """What follows a name without any separator: only what nobody would write as a word, and rarely a hash."""
    first, last = bare_span(text, first, stop)
    value = text[first:last].decode("latin-1")
    if _hash_or_uuid.fullmatch(value) and not (hands_over(name) and is_key_in_hex(value)):
        return []
    if value.isalpha() and (value.islower() or value.istitle()):  # a long word, in whatever language
        return []
    if _pair.match(value) or name.lower() in ("session", "sid"):  # `type=session id=1f0c...`, `session 4kfh5... ended`
        return []
    return _judge(text, first, last, min(promised, Promise.KEY), Notation.BARE)


def locate_key_value(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The value of a dict key, the whole of it, however long."""
    first = match.start("first")
    end = text.rfind(b"\x91", start, first)
    name = text[max(start, end - 161) : end].decode("latin-1")  # `promise` looks at the last 160
    promised = promise(name)
    if promised is Promise.NOTHING:
        return _answer(text, first, stop) if name.endswith("?") and asks_for_a_secret(name) else []
    if promised is Promise.COOKIE:
        return cookie_spans(text, first, stop)
    spans: Spans = []
    for part in _parts.finditer(text, first, stop):
        spans += _judge(text, part.start(), part.end(), promised, Notation.DICT_VALUE, name=name)
    return [*spans, (stop, stop)]


def _answer(text: bytes, first: int, stop: int) -> Spans:
    """The answer to a question for a secret, if it is only that."""
    return [(first, stop)] if is_one_secret(text[first:stop].decode("latin-1")) else [(stop, stop)]


def _quoted(text: bytes, match: re.Match[bytes], stop: int, whole: Name) -> Spans:
    name, promised = whole.text, whole.promised
    separator, first, quote = match["sep"], match.end("open"), match["open"].rstrip()
    end = quoted_end(text, first, stop, quote)
    if end < 0 and (end := cut_end(text, first, stop)) < 0:
        return []
    sign = read_sign(separator)
    if sign.is_call and split_name(name.rpartition(".")[2])[0] not in _SETTERS:
        promised = min(promised, Promise.KEY)
    is_vague = sign.is_vague_before_string or (sign.may_be_choice and is_one_of_several(text, match, name))
    spans = _judge(text, first, end, promised, Notation.BARE if is_vague else Notation.QUOTED, stop, name)
    is_said = promised is Promise.PASSWORD and separator.strip() == b"is" and _said.fullmatch(text, first, end)
    spans = spans or ([(first, end)] if is_said else [])
    if change := _changed.match(text, end, stop):  # "old" -> "new", as plans of changes print it
        last = quoted_end(text, change.end(), stop, quote)
        is_near = 0 <= last <= first + WIDEST_VALUE
        spans += _judge(text, change.end(), last, promised, Notation.QUOTED) if is_near else []
    if not spans or closes_a_string(text, match, stop) or (separator[:1] == b">" and b"\n" in separator):
        return []
    if b"\n" in separator and _key_follows.match(text, end, stop):
        return []
    if is_vague and not is_said and stands_for_itself(text[first:end], name, promised):
        return []
    if b"[" in separator or (b"{" in separator and is_vague):
        for further, last in listed(text, end, stop, quote):
            spans += _judge(text, further, last, promised, Notation.QUOTED)
    return spans + _below(text, end, stop, whole, promised) if sign.is_list else spans


def _judge(
    text: bytes, first: int, end: int, promised: Promise, notation: Notation, stop: int = 0, name: str = ""
) -> Spans:
    """The value, if it is a secret; if it is longer than what is judged, all the rest of it up to `stop`."""
    while first < end and text[first] == 0x20:
        first += 1
    while first < end and text[end - 1] in b" \r":
        end -= 1
    scheme = _scheme.match(text, first, end)
    if scheme and scheme.end() < end:
        first, promised = scheme.end(), max(promised, Promise.KEY)
    value = text[first:end].decode("latin-1")
    is_one = is_secret(value, promised, notation)
    is_one = is_one or (promised is Promise.PASSWORD and is_worded(value, notation, name))
    if not is_one or is_shielded(text, first, end) or is_its_own_name(value, name):
        return []
    if is_translated(value, split_name(name)):
        return []
    if name.lower() == "pass" and is_result(value, is_reported=name == "PASS" and notation is Notation.CONFIGURATION):
        return []
    return [(first, whole_end(text, first, end, stop))]


ASSIGNED_RULES = (
    Rule(
        id="named-secret",
        provider="structure",
        pattern=NAMED,
        locate=locate,
        around=AROUND,
        folds=True,
        trigger=FAR,
        near=NEAR,
        before="",
        after="",
        about="a value beside a name that says it is a secret",
        examples=(
            "DB_PASSWORD={a-z:8}{0-9:3}",
            '{"password": "{a-z:8}{0-9:3}"}',
            "X-Api-Key: {0-9a-f:32}",
            'let apiKey: string = "{A-Za-z0-9:32}"',
            "define('DB_PASSWORD', '{a-z:8}{0-9:3}')",
            "- name: DB_PASSWORD\n  value: {a-z:8}{0-9:3}",
            '<add key="ApiKey" value="{A-Za-z0-9:32}"/>',
            "the token {A-Za-z0-9:32} works",
        ),
        near_misses=(
            "const token = getToken()",
            "password: string",
            "max_tokens: 4096",
            "password=${DB_PASSWORD}",
            "['username', 'password', 'email']",
            'getPassword("prompt")',
            "- name: DB_PASSWORD\n  valueFrom: x",
            '<input name="password" value=""/>',
            "the token authentication-middleware",
            "token {0-9a-f:40}",
        ),
    ),
    Rule(
        id="named-key",
        provider="structure",
        pattern=KEYED,
        locate=locate,
        around=AROUND,
        folds=True,
        before="",
        after="",
        about="something that looks like a key, beside a name that ends in key",
        examples=('acmeKey = "{A-Za-z0-9:32}"', "acmeKey={a-z0-9:40}", '"acmeKey": "{A-Za-z0-9:32}"'),
        near_misses=('cacheKey = "users/profile/settings/page"', "cache key: {0-9a-f:64}", "monkey={a-z0-9:40}"),
    ),
    Rule(
        id="secret-argument",
        provider="structure",
        pattern=FLAG,
        locate=locate,
        around=AROUND,
        folds=True,
        before="0-9A-Za-z-",
        after="",
        about="the argument of a flag or a directive whose name says it is a secret",
        examples=("tool --password {a-z:8}{0-9:3}", "ENV DB_PASSWORD {a-z:8}{0-9:3}"),
        near_misses=("mysql --password", "--token-file token.txt", "--max-tokens 4096"),
    ),
    Rule(
        id="telling-key",
        provider="structure",
        pattern=rf"[^\x90\x91]{{1,160}}\x91\s{{0,20}}{FIRST}",
        locate=locate_key_value,
        around=180,
        folds=True,
        trigger=AT_KEYS,
        reach_back=162,
        before="",
        after="",
        about="the value of a key whose name says it is a secret",
        examples=("password\x91{a-z:8}{0-9:3}", "x-api-key\x91{A-Za-z0-9:24}"),
        near_misses=("input_tokens\x914096", "password\x91${DB_PASSWORD}"),
    ),
)
