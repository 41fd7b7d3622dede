"""Salvages a line that is not one record: the whole records in it, and the torn fragments between them.

In: the bytes of a line without its newline. Out: fragments that cover everything but white space, in order. The usual
case is a torn record with the next one appended to it; another is a run of NUL bytes after a power loss. Whole records
are taken off the front one by one, then off the end, last one first. Both searches match braces outside strings, so
they are exact and linear: a record that ends the line can begin in only one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from collector.flow.reasons import NOT_AN_OBJECT, NUL_BYTES, TORN
from collector.reading.parse import MAX_TOKENS, load

LARGEST_WINDOW = 64 << 20  # how far back to look for the start of a record at the end of a line
LARGEST_VALUE = 1 << 20  # a longer line that is not an object counts as torn without being parsed
MAX_FROM_THE_END = 1000

_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+")
_FORWARD = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}]', re.DOTALL)
_SIGN = re.compile(rb'["{}]')
_QUOTE_BACKWARD = re.compile(rb'"(\\*)')  # with the backslashes before it


class Fragment(NamedTuple):
    """A part of a line: a record, or None and the problem with it. Offsets are relative to the line."""

    start: int
    end: int
    record: dict[str, Any] | None
    problem: str


def fragments(line: bytes, record_keys: frozenset[str]) -> Iterator[Fragment]:
    """The records and torn fragments of a line, in order. `record_keys` are keys that only a whole record has."""
    at = _after_blanks(line, 0)
    while (end := _end_of_object(line, at)) and (record := _record(line[at:end])) is not None:
        yield Fragment(at, end, record, "")
        at = _after_blanks(line, end)
    rest = line[at:] if at else line
    if rest.strip():
        for piece in _fragments_from_the_end(rest, record_keys):
            yield Fragment(at + piece.start, at + piece.end, piece.record, piece.problem)


def _fragments_from_the_end(rest: bytes, record_keys: frozenset[str]) -> list[Fragment]:
    """Peels whole records off the end of a line that does not begin with one."""
    found: list[Fragment] = []
    end = stop = _without_blanks(rest, len(rest))
    while end and len(found) < MAX_FROM_THE_END:
        start = _start_of_object(rest, end)
        record = _record(rest[start:end]) if start is not None else None
        if start is None or record is None or not _is_whole(record, rest, start, record_keys):
            break
        found.append(Fragment(start, end, record, ""))
        end, stop = _without_blanks(rest, start), start
    if end:
        found.append(Fragment(0, stop, None, _problem(rest[:stop])))
    return found[::-1]


def _after_blanks(data: bytes, at: int) -> int:
    match = _BLANK.match(data, at)
    return match.end() if match else at


def _without_blanks(data: bytes, end: int) -> int:
    """Where the white space before `end` begins, looking back at most 4 kB."""
    start = max(0, end - 4096)
    return start + len(data[start:end].rstrip())


def _problem(torn: bytes) -> str:
    if not torn.strip(b"\0"):
        return NUL_BYTES.name
    if torn.startswith(b"{") or len(torn) > LARGEST_VALUE:
        return TORN.name
    try:
        load(torn)
    except ValueError:
        return TORN.name
    return NOT_AN_OBJECT.name


def _record(raw: bytes) -> dict[str, Any] | None:
    try:
        value = load(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _is_whole(record: dict[str, Any], rest: bytes, start: int, record_keys: frozenset[str]) -> bool:
    """Whether an object at the end of a line is a record of its own, rather than part of a torn one.

    The keys decide only if what precedes the object means that it could be a value inside another one.
    """
    before = rest[max(0, start - 64) : start].rstrip()[-1:]
    return before not in (b":", b"[", b",") or not record_keys.isdisjoint(record)


def _end_of_object(line: bytes, at: int) -> int:
    """Where the object that starts at `at` ends; 0 if there is no complete object."""
    return _matching_brace(_FORWARD.finditer(line, at), ord("{")) if line[at : at + 1] == b"{" else 0


def _start_of_object(line: bytes, end: int) -> int | None:
    """Where the object that ends at `end` starts; searches the last 4 MB first, then more."""
    window = 4 << 20
    while line[end - 1 : end] == b"}":
        length = _matching_brace(_tokens_backward(line[max(0, end - window) : end][::-1]), ord("}"))
        if length:
            return end - length
        if window >= min(end, LARGEST_WINDOW):
            break
        window *= 4
    return None


def _tokens_backward(line: bytes) -> Iterator[re.Match[bytes]]:
    """The braces of a line that is read backward, and one quote for each string. It does not match whole strings with a
    pattern: up to Python 3.11.4, `re` gets possessive repetitions (`*+`) that contain other repetitions wrong."""
    at = 0
    while token := _SIGN.search(line, at):
        yield token
        at = token.end() if line[token.start()] != ord('"') else _begin_of_string(line, token.end())


def _begin_of_string(line: bytes, at: int) -> int:
    """The position after the quote that begins a string, in a line that is read backward; the line's end if the string
    has no such quote."""
    while quote := _QUOTE_BACKWARD.search(line, at):
        if len(quote[1]) % 2 == 0:
            return quote.start() + 1
        at = quote.end()
    return len(line)


def _matching_brace(tokens: Iterator[re.Match[bytes]], opening: int) -> int:
    depth = 0
    for count, token in enumerate(tokens):
        start = token.start()
        brace = token.string[start]
        if brace == opening:
            depth += 1
        elif brace != ord('"'):
            depth -= 1
            if depth == 0:
                return token.end()
        if count > MAX_TOKENS:
            break
    return 0
