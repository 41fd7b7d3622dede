"""The rules for cookies as browsers keep them: objects with a name and a value, and the lines of curl's cookie jar.

Neither says that it is a secret, but whoever has the cookie of a session is logged in. The place tells, and the value
must look random.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import Promise
from collector.redact.words.values import Notation, is_secret

_NEAR = 600  # how far from the value an object is read
_QUOTE = r"\\{0,7}\""
_BLANKS = r"(?:\s|\\{1,3}[nrt]){0,24}"
_TAB = r"(?:\t|\\{1,3}t)"
_is_cookie, _are_cookies = (
    regex(rf"{_QUOTE}(?:{names}){_QUOTE}{_BLANKS}:".encode(), re.IGNORECASE)
    for names in ("httponly|samesite", "httponly|samesite|cookies")
)
_value = regex(rb"[^\s\"'\\\x90\x91]{0,4096}")  # browsers keep no longer ones


def _kept(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The value, if the rest of its object, or what is before it in its list, says that it is a cookie's. In a HAR
    file, lists of headers and of cookies follow each other."""
    first, last = _value.match(text, match.end(), stop).span()  # type: ignore[union-attr]  # it always matches
    low = max(start, match.start() - (_NEAR if match["by_name"] else 60))
    high = min(stop, last + _NEAR)
    low = max(low, text.rfind(b"]", low, match.start()))
    end = text.find(b"}", last, high)
    if not _are_cookies.search(text, low, first) and not _is_cookie.search(text, last, end if end >= 0 else high):
        return []
    return _random(text, first, last)


def _in_jar(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    return _random(text, *_value.match(text, match.end(), stop).span())  # type: ignore[union-attr]


def _random(text: bytes, first: int, last: int) -> Spans:
    value = text[first : min(last, first + 768)].decode("latin-1")
    return [(first, last)] if len(value) >= 16 and is_secret(value, Promise.KEY, Notation.QUOTED) else []


KEPT_COOKIE_RULES = (
    Rule(
        "structure",
        "kept-cookie",
        rf"{_QUOTE}(?:name{_QUOTE}{_BLANKS}:{_BLANKS}{_QUOTE}[^\"\\\x90\x91]{{1,100}}{_QUOTE}"
        rf"|(?P<by_name>sameSite|secure|session|storeId){_QUOTE}{_BLANKS}:{_BLANKS}"
        rf"(?:true|false|null|{_QUOTE}[\w.-]{{0,40}}{_QUOTE})){_BLANKS},{_BLANKS}"
        rf"{_QUOTE}value{_QUOTE}{_BLANKS}:{_BLANKS}{_QUOTE}",
        locate=_kept,
        around=(_NEAR, 5_000),
        before="",
        after="",
        about="the value of a cookie that a browser keeps",
        examples=(
            '{{"cookies":[{{"name":"sid","value":"{A-Za-z0-9:32}","domain":"app.internal","path":"/"}}]}}',
            '{{"name": "cid", "value": "{A-Za-z0-9:32}", "path": "/", "httpOnly": true}}',
            '{{"httpOnly": true, "name": "sid", "path": "/", "storeId": "0", "value": "{A-Za-z0-9:32}", "id": 1}}',
        ),
        near_misses=(
            '{{"name": "cid", "value": "{A-Za-z0-9:32}", "path": "/"}}',
            '{{"cookies":[{{"name":"lang","value":"de-DE","domain":"app.internal","path":"/"}}]}}',
            '{{"httpOnly": true, "name": "lang", "path": "/", "storeId": "0", "value": "de-DE", "id": 1}}',
            '{{"name": "door", "secure": true, "value": "{A-Za-z0-9:32}"}}',
        ),
    ),
    Rule(
        "structure",
        "cookie-jar",
        rf"(?:TRUE|FALSE){_TAB}/[^\s\\\x90\x91]{{0,200}}{_TAB}(?:TRUE|FALSE){_TAB}[0-9]{{1,17}}{_TAB}[^\s\\\x90\x91]{{1,100}}{_TAB}",
        locate=_in_jar,
        around=(0, 5_000),
        after="",
        about="a cookie in the jar of a command-line client",
        examples=(".app.internal\tTRUE\t/\tTRUE\t1790000000\tsid\t{A-Za-z0-9:32}\n",),
        near_misses=(".app.internal\tTRUE\t/\tFALSE\t0\tlang\tde\n",),
    ),
)
