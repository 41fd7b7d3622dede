"""Tokens in pieces, and texts encoded as a whole: what the scanner looks for, and how each is put back together.

`"ghp_" + "..."` and its equivalents in other languages; a token that a terminal wrapped; a name and its value on lines
that begin with their numbers, or with the signs of a diff; base64 of a text, one level deep. A disguise is a rule like
any other, except that what it finds are not secrets but views to be scanned.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from collector.redact.disguises.view import View
from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.letter_pairs import is_made_of_words

CONTEXT = 80  # characters before a literal that may name it
WIDEST_ENCODED = 65_536
MOST_LINES = 24

_QUOTE = r"\\{0,3}[\"']"
_PIECE = r"[A-Za-z0-9_.+/=-]"
_JOINERS = r"(?:\s{0,3}(?:\+{1,2}|\.{1,2}|&|\|\||<>|~|\^|\\|_)\s{0,16}|\s{1,16})"
_CALLS = r"(?:join|concat|concat_ws|strcat|sprintf|format|paste0?|str_c|fmt\.Sprint|os\.path\.join|String\.Concat)"
_literal = regex(r"\\{0,3}([\"'])([A-Za-z0-9_.+/=-]{1,300})\\{0,3}\1")
_opening = regex(r"([^\n]{1,80}[=:])[ ]?[(\[{+\\]?[ ]?\r?\n[ \t]*\Z")  # NAME = (, and the literal below
_piece_before = regex(rb"\\{0,3}[\"'][A-Za-z0-9_.+/=-]{1,200}\Z")
_next_piece = regex((_JOINERS + rf"{_QUOTE}{_PIECE}{{1,300}}{_QUOTE}").encode())
_variable = regex(r"([A-Za-z_]\w{0,30})=([\"']?)([A-Za-z0-9_.+/=-]{2,100})\2")
_use = regex(r"\$\{?([A-Za-z_]\w{0,30})\}?([\"']{0,2})([A-Za-z0-9_.+/=-]{6,300})")
# How tokens begin that are long enough for a terminal to wrap.
_LONG = (
    r"(?:sk-|sk_live_|rk_live_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|xapp-|eyJ|hv[sbr]\.|pypi-|npm_|ya29\.|1//0|SG\."
    r"|dop_v1_|hf_|gsk_|shp(?:at|ca|ss|pa)_|sq0|EAA[A-Za-z0-9]|AIza|A21AA|figd_|AT[ACB]TT|lin_api_|NRAK-|pscale_|ops_eyJ|sgp_|sgamp_"
    r"|r8_|tskey-|dckr_|FwoG|IQoJ|glsa_|glc_|dp\.(?:pt|st)\.|ntn_|secret_|rpa_|AGE-SECRET-KEY-"
    r"|v1\.[a-f0-9]|pat[A-Za-z0-9]|whsec_|key-|nvapi-|pplx-)"
)
# The end of one line and the start of the next: with continuation signs, table frames and line numbers.
_FRAME = "?\u2192\u2500-\u257f"  # arrows and box-drawing lines; the scanner sees them as question marks


def _break(frame: str) -> str:
    return rf"(?:\\{{1,4}}|[\^`=]|[|>][-+]?)?(?:[ ]{{0,100}}[|{frame}])?[ ]?(?:\r?\n|\\{{1,3}}r\\{{1,3}}n|\\{{1,3}}n)"


def _margin(frame: str) -> str:
    return rf"(?:[ ]{{0,8}}[0-9]{{1,6}}(?:\t|[|:{frame}]))?[ \t>|\#*+{frame}]{{0,16}}"


_BREAK, _MARGIN = _break("?"), _margin("?")
_line_break = regex(_break(_FRAME) + _margin(_FRAME))
_continued = regex((_BREAK + _MARGIN + rf"({_PIECE}{{2,400}})(?=[\"'`,;)\]}}^]{{0,3}}(?:\s|\\|\Z|\x90))").encode())
# A name whose value may be on one of the next lines, and headings of rows. As tools show files, every line begins with
# its number or a sign, so that no rule would see that the two belong together.
_NAMES_ONE = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|[a-z_-]key)s?(?:[_-][a-z0-9_-]{0,24})?[\"'`]{0,3}"
)
_HEADING = (
    r"kind:[ ]secret|insert[ ]into[ ][^\n\x90\x91]{1,200}"
    rf"|[,;|][ \"]{{0,2}}{_NAMES_ONE}[ ]?(?:[,;|][a-z0-9_ .,;|\"-]{{0,100}})?"
)
_LEADS = (
    rf"(?:{_NAMES_ONE}[ ]?[:=]{{1,2}}[ ]?[|>\[{{]?[+-]?|name[\"']?:[ ][\"']?[a-z0-9_.-]{{0,60}}{_NAMES_ONE},?"
    rf"|(?P<heading>{_HEADING}))[ ]?\r?\n(?:[ ]{{0,8}}[0-9]{{1,6}}[\t?:-]|[+-])"
)
# What may be the value, alone on a line but for a label: neither a word nor code.
_value_below = regex(
    rb"\n(?:[ ]{0,8}[0-9]{1,6}[\t?:-]|[+-])[ \t]*(?:- )?(?:[\"']?[A-Za-z_]{1,24}[\"']?[ ]?[:=][ ]?)?[\"'`]?"
    rb"(?=[A-Za-z]*[^A-Za-z\s\"'`])[^\s\"'`()]{5,}[\"'`]?[,;\])]{0,2}\r?(?=\n|\Z)"
)
_line_begin = regex(rb"(?:(?P<number>[ ]{0,8}[0-9]{1,6}[\t?:-])|[+-])")
_line_number = regex(r"(?m)^(?:[ ]{0,8}[0-9]{1,6}[\t\u2192:-]|[+-])")
_rows, _few_lines = regex(rb"(?:\n[^\n]+){0,200}"), regex(rb"(?:\n[^\n]*){0,5}")
_lines_below = regex(r"(?:\n[^\n]*){0,5}")
WIDEST_BELOW, WIDEST_ROWS = 1_000, 16_000
_long_beginning = regex(_LONG.encode())
_run = regex(rb"[A-Za-z0-9+/_-]*={0,2}")
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
SHORTEST_ENCODED = 28
# What is in encoded texts that hold secrets: telling words, and how tokens begin.
_TELLING = "password Password PASSWORD passwd PASSWD secret Secret SECRET token Token TOKEN _key _KEY apiKey api-key"
_TOKENS = (
    "ghp_ gho_ ghs_ github_pat_ sk-ant- sk-proj- sk_live_ rk_live_ xoxb- xoxp- npm_ glpat- AKIA hf_ gsk_ dop_v1_ SG.x "
    "pypi- hvs. shpat_ eyJhbGci"
)
_text_bytes = bytes([9, 10, 13, *range(32, 127)])


class Disguise(NamedTuple):
    """What the scanner looks for, and what removes the disguise from a find: given its segment, the string and the
    span."""

    rule: Rule
    view: Callable[[int, str, int, int], View | None]


def _literals(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """All literals joined with the one that ends where the match begins."""
    before = _piece_before.search(text, max(start, match.start() - 210), match.start() + 1)
    if not before:
        return []
    end = match.start() + 1
    while text[end : end + 1] == b"\\":
        end += 1
    end += 1
    for _ in range(8):
        further = _next_piece.match(text, end, stop)
        if not further:
            break
        end = further.end()
    return [(before.start(), end)]


def _whole(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    return [match.span()]


def _joined_view(index: int, text: str, start: int, end: int) -> View | None:
    """The literals of a span as one, after the text before them on their line."""
    literals = list(_literal.finditer(text, start, end))
    if len(literals) < 2:
        return None
    view = View(index)
    line = text.rfind("\n", max(0, start - CONTEXT), literals[0].start()) + 1
    low = max(line, literals[0].start() - CONTEXT, 0)
    before = text[low : literals[0].start()]
    if not before.strip() and (opening := _opening.search(text, max(0, low - CONTEXT), literals[0].start())):
        low, before = opening.start(), opening[1]
    view.add(before, low, low + len(before))
    view.add('"', literals[0].start(), literals[0].start() + 1)
    for literal in literals:
        view.add(literal[2], *literal.span(2))
    view.add('"', end - 1, end)
    return view


def _used_view(index: int, text: str, start: int, end: int) -> View | None:
    """The value of a variable, followed by what comes after the variable where it is used."""
    uses = {use[1]: use for use in _use.finditer(text, start, end)}
    for given in _variable.finditer(text, start, end):
        use = uses.get(given[1])
        if use and use.start() >= given.end():
            view = View(index)
            view.add(given[3], *given.span(3))
            view.add(use[3], *use.span(3))
            return view
    return None


def _wrapped(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """A token and the lines that continue it: all as wide as the first of these, except that the last may be
    shorter."""
    end = match.start("break")
    if "first" in match.re.groupindex and not _looks_drawn(match["first"].decode("latin-1")):
        return []
    widest = 0
    for _ in range(MOST_LINES):
        line = _continued.match(text, end, stop)
        if not line or (widest and len(line[1]) > widest) or not _continues(line[1], is_first=not widest):
            break
        end = line.end(1)
        is_full = len(line[1]) == widest or not widest
        widest = widest or len(line[1])
        if not is_full:
            break
    return [(match.start(), end)] if widest else []


def _continues(line: bytes, *, is_first: bool) -> bool:
    """Whether a line may be part of a token: not a token of its own, not words, not a name with its own value."""
    if _long_beginning.match(line) or b"=" in line.rstrip(b"="):
        return False
    decoded = line.decode("latin-1")
    if is_first or len(decoded) >= 12:
        return len(decoded) >= 12 and _looks_drawn(decoded)
    return not (decoded.isalpha() and decoded.islower())


def _looks_drawn(line: str) -> bool:
    return has_digit_and_letter(line) and not is_made_of_words(line)


def _unwrapped_view(index: int, text: str, start: int, end: int) -> View | None:
    """A token in one piece, after the text before it on its line."""
    view = View(index)
    low = max(0, start - CONTEXT, text.rfind("\n", max(0, start - CONTEXT), start) + 1)
    at = low
    for line_break in _line_break.finditer(text[start:end]):
        view.add(text[at : start + line_break.start()], at, start + line_break.start())
        at = start + line_break.end()
        if line_break.start() and text[start + line_break.start() - 1] in ":= ":
            view.add(" ", at - 1, at)
    view.add(text[at:end], at, end)
    return view


def _leading_lines(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The line of a name and some lines below it, if both begin with a number or with a sign."""
    low = max(text.rfind(b"\n", start, match.start()) + 1, start)
    end = text.index(b"\n", match.start())
    own, below = _line_begin.match(text, low, stop), _line_begin.match(text, end + 1, stop)
    if not own or not below or bool(own["number"]) != bool(below["number"]):
        return []
    if match["heading"] is not None:
        return [(low, _rows.match(text, end, min(stop, end + WIDEST_ROWS)).end())]  # type: ignore[union-attr]
    few = _few_lines.match(text, end, min(stop, end + WIDEST_BELOW))
    return [(low, end)] if few and _value_below.search(text, end, few.end()) else []


def _unnumbered_view(index: int, text: str, start: int, end: int) -> View:
    """The lines without what each begins with, and a few more: the last of them may name something, too."""
    view = View(index)
    stop = _lines_below.match(text, end, end + WIDEST_BELOW).end()  # type: ignore[union-attr]
    at = start
    for number in _line_number.finditer(text, start, stop):
        view.add(text[at : number.start()], at, number.start())
        at = number.end()
    view.add(text[at:stop], at, stop)
    return view


def _in_base64(word: str) -> set[str]:
    """The base64 letters that depend on a word alone, at each of the three positions it may have in a group."""
    found = set()
    for shift in range(3):
        letters = base64.b64encode(b"\0" * shift + word.encode() + b"\0\0").decode()
        found.add(letters[-(-shift * 8 // 6) : (shift + len(word)) * 8 // 6])
    return found


def _of_encoded_texts() -> str:
    """What base64 of a text with a secret contains, as one alternation of literals."""
    literals = {part for word in _TELLING.split() for part in _in_base64(word)}
    literals |= {base64.b64encode(word.encode()).decode()[: len(word) * 8 // 6] for word in _TOKENS.split()}
    return "|".join(map(re.escape, sorted(literals)))


def _encoded(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The whole run of base64 around the match."""
    low = max(start, match.start() - WIDEST_ENCODED)
    first = low + len(text[low : match.start()].rstrip(_ALPHABET))
    if text[first - 1 : first] == b"\\" and text[first : first + 1] in (b"n", b"r", b"t"):
        first += 1
    run = _run.match(text, match.start(), min(stop, match.start() + WIDEST_ENCODED))
    last = run.end() if run else match.end()
    return [(first, last)] if last - first >= SHORTEST_ENCODED else []


def _decoded_view(index: int, text: str, start: int, end: int) -> View | None:
    """The text that base64 stands for, if it is text; anything found in it stands for the whole."""
    encoded = text[start:end].rstrip("=").replace("-", "+").replace("_", "/")
    encoded = encoded[: len(encoded) - 1] if len(encoded) % 4 == 1 else encoded
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return None
    if len(decoded.translate(None, _text_bytes)) * 50 > len(decoded):
        return None
    view = View(index, (start, end))
    view.add(decoded.decode("latin-1"), start, end)
    return view


DISGUISES: tuple[Disguise, ...] = (
    Disguise(
        Rule(
            "disguise",
            "joined-literals",
            rf"[A-Za-z0-9_.+/=-]{_QUOTE}{_JOINERS}{_QUOTE}{_PIECE}{{8}}",
            locate=_literals,
            around=None,
            before="",
            after="",
        ),
        _joined_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "joined-arguments",
            rf"{_CALLS}\s?\([^\n\x90\x91]{{0,40}}?{_QUOTE}{_PIECE}{{2,120}}{_QUOTE}"
            rf"(?:\s?,\s?{_QUOTE}{_PIECE}{{1,200}}{_QUOTE}){{1,4}}",
            trigger=rf"{_CALLS}\s?\([^\n\x90\x91]{{0,40}}{_QUOTE}{_PIECE}{{2,120}}{_QUOTE}\s?,\s?{_QUOTE}",
            locate=_whole,
            around=0,
            before="",
            after="",
        ),
        _joined_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "joined-list",
            rf"{_QUOTE}{_PIECE}{{2,120}}{_QUOTE}(?:\s?,\s?{_QUOTE}{_PIECE}{{1,200}}{_QUOTE}){{1,4}}"
            r"\s?[\])]\s?\.(?:join|concat|reduce|mkString)",
            trigger=rf"{_QUOTE}\s?[\])]\s?\.(?:join|concat|reduce|mkString)",
            reach_back=1_100,
            locate=_whole,
            around=0,
            before="",
            after="",
        ),
        _joined_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "joined-variable",
            rf"[A-Za-z_][A-Za-z0-9_]{{0,30}}=[\"']?{_PIECE}{{2,100}}[\"']?[;\n&][^\x90\x91]{{0,100}}?"
            rf"\$\{{?[A-Za-z_][A-Za-z0-9_]{{0,30}}\}}?[\"']{{0,2}}{_PIECE}{{12,300}}",
            trigger=r"\$(?:[A-Za-z_][A-Za-z0-9_]{0,30}[\"']{1,2}|\{[A-Za-z_][A-Za-z0-9_]{0,30}\}[\"']{0,2})[A-Za-z0-9_]{12}",
            reach_back=340,
            locate=_whole,
            around=0,
            before="0-9A-Za-z_",
            after="",
        ),
        _used_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "wrapped",
            rf"{_LONG}[A-Za-z0-9_.+/=-]{{4,250}}(?P<break>{_BREAK}){_MARGIN}{_PIECE}{{12}}",
            locate=_wrapped,
            around=None,
            before="0-9A-Za-z_",
            after="",
        ),
        _unwrapped_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "wrapped-value",
            rf"(?i:pass(?:word|phrase)|secret|token|key|credential)[A-Za-z0-9_-]{{0,24}}[\"']?[ ]?(?:[:=]{{1,2}}|is:?)"
            rf"[ ]?(?:3D)?(?:[|>][-+]?)?(?:{_BREAK}){{0,2}}{_MARGIN}[\"']{{0,3}}"
            rf"(?P<first>{_PIECE}{{12,250}})(?P<break>{_BREAK}){_MARGIN}{_PIECE}{{12}}",
            locate=_wrapped,
            around=None,
            before="",
            after="",
        ),
        _unwrapped_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "numbered-lines",
            _LEADS,
            locate=_leading_lines,
            around=None,
            folds=True,
            before="",
            after="",
        ),
        _unnumbered_view,
    ),
    Disguise(
        Rule(
            "disguise",
            "encoded-text",
            _of_encoded_texts(),
            locate=_encoded,
            around=None,
            before="",
            after="",
        ),
        _decoded_view,
    ),
)
