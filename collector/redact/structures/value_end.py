"""How far a value reaches in any notation: quoted at any level of escaping, bare, in a list, or very long.

In: a text, and where in it a value begins. Out: where it ends. At most WIDEST_VALUE characters are read to judge a
value; the whole of it is taken out.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Spans
from collector.redact.words.names import Promise
from collector.redact.words.values import app_password

WIDEST_VALUE = 768
MOST_LISTED = 50

_phrase_name = regex("(?i)phrase|mnemonic|seed")
_phrase = regex(rb"(?:[a-z]{3,8} ){11,23}[a-z]{3,8}")
_bare = regex(rb"[^\s\"'`<>\x00\x8f-\x91]*")
_number_in_json = regex(rb"\d{1,40}(?=[}\]]{1,16},[{\[]{0,8}\\{0,7}\")")  # 12345678}},{"name"
_SIGNS = b"\\&;,%\x1b"  # how anything that may end a bare value begins
_bare_without_signs = regex(rb"[^\s\"'`<>\x00\x8f-\x91\\&;,%\x1b]*")
_BARE_END = (
    rb"\\+(?:[nrt\"'`]|\((?:aq|dq)|f[A-Z]|u00(?:0a|0d|22|27(?![0-9A-Za-z])|26|3c|3e))"
    rb"|[&;,](?=[A-Za-z_][\w .-]{0,40}=)|,(?=[A-Za-z_]{1,40}:)"
    rb"|&(?:amp|quot|#34|[lr][sd]quo|nbsp|[lg]t);|\x1b"
)
_bare_end = regex(_BARE_END)
# In a query inside a query, a value ends before the next escaped sign; elsewhere `%26` is just a letter of it.
_end_in_query = regex(_BARE_END + rb"|%26")
_end_in_quotes = {sign: regex(_BARE_END + b"|" + sign) for sign in (b"%22", b"%27")}
_long_run = regex(rb"[A-Za-z0-9+/=_.~%%-]{%d}" % WIDEST_VALUE)
_rest = regex(rb"[A-Za-z0-9+/=_.~%-]+")
_next_item = regex(
    rb"[\"']?[ \t]{0,8}(?:\r?\n|\\{1,3}n)[ \t]{0,40}- [\"']?(?P<item>[A-Za-z0-9+/=_.~-]{16,%d})" % WIDEST_VALUE
)
_line_end = regex(rb"[\n\r\"'\x91\x90]|\\+[nr\"']")


def quoted_end(text: bytes, first: int, stop: int, quote: bytes) -> int:
    """Where a quoted value ends: before a quote at the same level of escaping. -1 if it is too long.

    At level L a quote has 2**L - 1 backslashes before it; an escaped backslash adds 2**(L+1).
    """
    slashes = len(quote) - len(quote[:-1].rstrip(b"\\")) - 1
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


def bare_span(text: bytes, first: int, stop: int) -> tuple[int, int]:
    """A value without quotes: it ends at a blank, a bracket, an escape or the next parameter."""
    opening = text[first : first + 1]
    if opening == b",":
        return first, first
    if opening.isdigit() and (number := _number_in_json.match(text, first, stop)):
        return number.span()
    limit = min(stop, first + WIDEST_VALUE)
    run = _bare_without_signs.match(text, first, limit)
    end = run.end() if run else first
    if end < limit and (sign := text[end]) in _SIGNS:
        if sign in b",;" and text[end + 1 : end + 2].isspace():
            end += 1
        else:
            whole = _bare.match(text, end, limit)
            last = whole.end() if whole else end
            before = text[max(0, first - 3) : first]
            ending = _end_in_quotes.get(before) or (_end_in_query if before[:1] == b"%" else _bare_end)
            cut = ending.search(text, end, last + 1)
            end = cut.start() if cut else last
    elif (changed := text.find(b"-]{+", first, end)) > first and opening != b"-":  # by `git diff --word-diff`
        end = changed
    if opening == b"-" and text[end - 1 : end] == b"}":
        return first + 1, end - 1  # ${NAME:-default}
    while end > first and text[end - 1] in b",;.)]}:|?\\\xbb":
        end -= 1
    if text.endswith(b"{{", first, end):  # what a template adds
        end -= 2
    return first, end


def cut_end(text: bytes, first: int, stop: int) -> int:
    """Where to stop reading a quoted value that is too long to see its end; -1 if it is not a token."""
    run = _long_run.match(text, first, stop)
    return run.end() if run else -1


def whole_end(text: bytes, first: int, end: int, stop: int) -> int:
    """Where a value that was judged by the text before `end` really ends: there, or far beyond if it was cut."""
    rest = _rest.match(text, end, stop) if end - first >= WIDEST_VALUE - 1 else None
    return rest.end() if rest else end


def listed(text: bytes, end: int, stop: int, quote: bytes) -> Spans:
    """The other strings of a list, or of an object, that begins with a secret."""
    spans: Spans = []
    mark = re.escape(quote)
    key = mark + rb"[A-Za-z0-9_.@ -]{1,40}" + mark + rb"\s?(?::|=>)\s?"
    next_item = re.compile(rb"\s{0,4}" + mark + rb"\s{0,4},(?:\s|\\{1,7}[nrt]){0,40}(?:" + key + rb")?" + mark)
    for _ in range(MOST_LISTED):
        following = next_item.match(text, end, stop)
        if not following or (end := quoted_end(text, following.end(), stop, quote)) < 0:
            break
        spans.append((following.end(), end))
    return spans


def listed_below(text: bytes, end: int, stop: int) -> Spans:
    """The other items of a YAML list that begins with a secret, each on a line of its own."""
    spans: Spans = []
    for _ in range(MOST_LISTED):
        item = _next_item.match(text, end, stop)
        if not item:
            break
        spans.append(item.span("item"))
        end = item.end()
    return spans


def several_words(text: bytes, first: int, stop: int, promised: Promise, name: str) -> Spans:
    """A password of four groups of four letters, or a phrase of words that stands for a key."""
    if promised is Promise.PASSWORD and (groups := app_password(text, first, stop)):
        return [groups]
    phrase = _phrase.match(text, first, stop) if _phrase_name.search(name) else None
    return [phrase.span()] if phrase else []
