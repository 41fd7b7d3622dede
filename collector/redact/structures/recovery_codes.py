"""The rule for lists of codes that stand in for a second factor: `Recovery codes:` and the lines below.

A code alone is a word or a number like any other. So there must be a line that announces them, several of one shape,
and nothing but codes on their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.placeholders import is_placeholder

_REACH = 1600  # how far below the announcement codes are looked for
_MOST = 20
_LINES_BETWEEN = 4
_ACCENT = r"(?:.{1,2}|\\{1,3}u00[0-9a-f]{2})"  # or escaped, in JSON
_ANNOUNCED = (
    "(?:(?:recovery|backup|scratch|backup[ _-]?verification|emergency)[ _-]?codes|wiederherstellungscodes"
    rf"|(?:backup|notfall)-?codes|codes de (?:secours|r{_ACCENT}cup{_ACCENT}ration)"
    rf"|c{_ACCENT}digos de (?:respaldo|recuperaci{_ACCENT}n)|codici di (?:backup|recupero))"
)
_break = regex(rb"\r?\n|\\{1,3}r?\\{0,2}n")
_opening = regex(rb"(?:[\s:=(\[]|\\{0,7}[\"']){0,8}")
_item = regex(
    rb"(?:[\s\"'`,;|>*?+\xb7\\\[]|- |\[[ x]?\] ?|\d{1,2}[.):] ){0,40}"
    rb"(?P<code>[A-Za-z0-9]{5}-[A-Za-z0-9]{5}|[A-Za-z0-9]{4}(?:-[A-Za-z0-9]{4}){1,3}|\d{4} \d{4}|[A-Za-z0-9]{8,10})"
    rb"(?=[\s\"'`,;|\\*\])]|\Z)"
)
_line_rest = regex(rb"[\s\"'`,;|*\\\])}]*")
_date = regex(rb"(?:19|20)\d\d[- ]?(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_in_order = regex(rb"01234567|12345678|23456789|98765432|87654321|abcdefgh|abcd1234|1234abcd", re.IGNORECASE)


def _codes(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The codes on the lines below an announcement, if they cannot be anything else."""
    spans: Spans = []
    between = 0
    for first, last in _lines(text, _opening.match(text, match.end()).end(), min(stop, match.end() + _REACH)):  # type: ignore[union-attr]
        found = _of_line(text, first, last)
        if found:
            spans += found
        elif text[first:last].strip():
            between += 1
            if spans or between > _LINES_BETWEEN:
                break
    spans = _of_one_shape(text, spans)[:_MOST]
    return spans if _are_drawn([text[first:last] for first, last in spans]) else []


def _lines(text: bytes, first: int, stop: int) -> Iterator[tuple[int, int]]:
    while first < stop:
        found = _break.search(text, first, stop)
        yield first, found.start() if found else stop
        if not found:
            return
        first = found.end()


def _of_line(text: bytes, first: int, last: int) -> Spans:
    """The codes of a line that holds nothing else."""
    spans: Spans = []
    while item := _item.match(text, first, last):
        spans.append(item.span("code"))
        first = item.end()
    is_all = _line_rest.fullmatch(text, first, last) is not None
    return spans if is_all else []


def _of_one_shape(text: bytes, spans: Spans) -> Spans:
    """The first code, and those after it that have its shape."""
    shapes = [re.sub(rb"[^ -]", b"x", text[first:last]) for first, last in spans]
    same = next((number for number, shape in enumerate(shapes) if shape != shapes[0]), len(spans))
    return spans[:same]


def _are_drawn(codes: list[bytes]) -> bool:
    """Whether codes were drawn at random: they are not words, dates, in sequence, or stand-ins for codes."""
    least = 2 if codes and b"-" in codes[0] else 3
    if len(codes) < least or len(set(codes)) < len(codes) or len({code[:4] for code in codes}) * 3 < len(codes) * 2:
        return False
    plain = [re.sub(b"[ -]", b"", code) for code in codes]
    if any(_date.fullmatch(code) or _in_order.match(code) or len(set(code)) < 3 for code in plain):
        return False
    if any(is_placeholder(code.decode("latin-1").lower()) for code in codes):
        return False
    letters = re.sub(b"[^A-Za-z]", b"", b"".join(plain)).decode()
    with_digits = sum(any(48 <= sign < 58 for sign in code) for code in codes)
    return with_digits * 2 > len(codes) and not (len(letters) >= 12 and reads_like_words(letters))


RECOVERY_CODE_RULES = (
    Rule(
        "structure",
        "recovery-code",
        _ANNOUNCED,
        locate=_codes,
        around=(0, _REACH),
        folds=True,
        before="",
        after="0-9A-Za-z",
        about="a recovery code for a second factor",
        examples=(
            "Save these recovery codes:\n\n1. {a-f:2}{0-9:3}-{0-9:2}{a-f:3}\n2. {g-m:2}{0-9:3}-{0-9:2}{a-f:3}\n",
            "Backup codes\n{1-4:2}{5-9:2} {2-8:4}\n{5-9:2}{1-4:2} {2-8:4}\n{6-9:1}{0-1:1}{2-8:2} {3-9:4}\n",
            '"backup_codes": [\n  "{a-f:2}{0-9:2}-{2-9:4}",\n  "{g-m:2}{0-9:2}-{2-9:4}"\n]',
        ),
        near_misses=(
            "Recovery codes:\nprint them and keep them\n",
            "Recovery codes:\nxxxxx-xxxxx\nxxxxx-xxxxx\n",
            "backup codes changed:\n20240311\n20240512\n20250101\n",
            "Recovery codes are made by make_codes(10).\n",
        ),
    ),
)
