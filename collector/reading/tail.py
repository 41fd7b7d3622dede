"""Reads the complete lines of a source, starting at its position.

In: a source, and the position up to which it is safe. Out: a Line for every line (or fragment of a broken one), then
the End. Memory holds one line and one chunk. Nothing is remembered here, so anything not committed is read again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import orjson

from collector.agents.format import AgentFormat
from collector.errors import SkipSource
from collector.flow import reasons
from collector.flow.anchor import HEAD, Anchor, from_kept
from collector.flow.line import End, Line, Reading
from collector.flow.source import FINGERPRINT_BYTES, Position, Source
from collector.reading.chunks import LongLine, Rest, WholeLines, whole_lines
from collector.reading.opened import SourceFile, opened
from collector.reading.parse import has_too_many_values, load, make_sure_of_room
from collector.reading.splice import fragments

CHUNK_BYTES = 256 << 10
# A line may take twelve times its length in memory if any character in it needs four bytes, so this limit bounds the
# memory of the service. The API behind every line accepts 32 MB.
MAX_LINE_BYTES = 100 << 20
LARGEST_STUB = 64 << 10
# How far to look ahead for the first time when a file begins without one. Twice the largest line ever seen there.
LOOK_AHEAD_BYTES = 4 << 20
REACH_BACK_BYTES = 128 << 10
# For a look at a source: most say in their first records what is wanted, and the beginning of a long line is enough.
LOOK_CHUNK, LOOK_LINE = 32 << 10, 16 << 20


def read(
    source: Source,
    position: Position | None,
    form: AgentFormat,
    chunk_bytes: int = CHUNK_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
    look_ahead_bytes: int = LOOK_AHEAD_BYTES,
) -> Iterator[Line | End]:
    """The lines after `position` (from the start if the file was rewritten), up to the size seen; then the End."""
    with opened(source) as file:
        # A file that does not begin as remembered was rewritten: start over, the ids make repeats harmless.
        start = position.offset if position and file.begins_as(position) else 0
        limit = max(start, _limit(source, file))
        if start == 0 and limit <= LARGEST_STUB and _is_stub(source, file.read_fully(limit, 0), form):
            raise SkipSource(reasons.WARMUP.name, source.key)
        head = file.read_fully(min(FINGERPRINT_BYTES, limit), 0)
        reading = Reading(source, head, file.stamp._replace(size=limit), _companion(source, file, form))
        # Only positions from earlier versions have no anchor: everything before them is read again, but not sent.
        known = from_kept(position.anchor) if start and position else HEAD
        anchor = known or _anchor_at(file, reading, start, form)
        if not anchor.time and look_ahead_bytes:
            _, time = _next_timed(file, reading, start, look_ahead_bytes, form)
            reading = reading._replace(next_time=time)
        parts = whole_lines(file, start, reading.stamp.size, chunk_bytes, max_line_bytes)
        yield from _items(reading, parts, start, anchor, form)


def look(source: Source, position: Position | None, form: AgentFormat) -> Iterator[Line | End]:
    """The same for a look that may end early: in small chunks, and without the time that lines lack."""
    return read(source, position, form, LOOK_CHUNK, LOOK_LINE, 0)


def before(source: Source, position: Position, form: AgentFormat, reach: int = REACH_BACK_BYTES) -> Iterator[Line]:
    """The last whole lines before a position. They are not sent again, but give context for the lines after it."""
    with opened(source) as file:
        if not file.begins_as(position):
            return
        low = max(0, position.offset - reach)
        window = file.read_fully(position.offset - low, low)
        start = low + window.find(b"\n") + 1 if low else 0
        head = file.read_fully(min(FINGERPRINT_BYTES, position.offset), 0)
        reading = Reading(source, head, file.stamp._replace(size=position.offset), _companion(source, file, form))
        parts = whole_lines(file, start, position.offset, CHUNK_BYTES, MAX_LINE_BYTES)
        yield from (item for item in _items(reading, parts, start, HEAD, form) if isinstance(item, Line))


def next_timed(line: Line, form: AgentFormat) -> tuple[int, str]:
    """The first time found after a line, and where the line that has it ends; see `_next_timed`."""
    with opened(line.reading.source) as file:
        return _next_timed(file, line.reading, line.end, LOOK_AHEAD_BYTES, form)


def _companion(source: Source, file: SourceFile, form: AgentFormat) -> dict[str, Any]:
    """The contents of the source's companion file, if there is one."""
    companion = form.companion(source)
    return file.companion(companion) if companion else {}


def _anchor_at(file: SourceFile, reading: Reading, start: int, form: AgentFormat) -> Anchor:
    """Computes the anchor at an offset from everything before it: nothing less gives the same ids as a full read."""
    anchor, end = HEAD, 0
    for item in _items(reading, whole_lines(file, 0, start, CHUNK_BYTES, MAX_LINE_BYTES), 0, HEAD, form):
        anchor, end = item.anchor, item.end
    # The offset may be inside a line that holds several records.
    for piece in fragments(file.read_fully(start - end, end), form.record_keys):
        anchor = anchor if piece.record is None else form.anchor_after(anchor, piece.record)
    return anchor


def _next_timed(file: SourceFile, reading: Reading, start: int, reach: int, form: AgentFormat) -> tuple[int, str]:
    """The first time found after an offset, and where the line that has it ends; if there is none within reach, the
    end of what was searched and no time."""
    limit = min(reading.stamp.size, start + reach)
    parts = whole_lines(file, start, limit, LOOK_CHUNK, MAX_LINE_BYTES)
    found = ((item.end, item.anchor.time) for item in _items(reading, parts, start, HEAD, form) if item.anchor.time)
    return next(found, (limit, ""))


def _limit(source: Source, file: SourceFile) -> int:
    """Where this pass stops reading: at the size that discovery saw (promise 9), unless the file was replaced since."""
    is_same = file.stamp.inode == source.stamp.inode
    return min(file.stamp.size, source.stamp.size) if is_same else file.stamp.size


def _is_stub(source: Source, data: bytes, form: AgentFormat) -> bool:
    """Whether the source holds nothing but a stub record."""
    data = data.strip()
    if b"\n" in data:
        return False
    try:
        record = load(data)
    except ValueError:
        return False
    return isinstance(record, dict) and form.is_stub(source, record)


def _items(
    reading: Reading, parts: Iterable[WholeLines | LongLine | Rest], start: int, anchor: Anchor, form: AgentFormat
) -> Iterator[Line | End]:
    end, tail = start, b""
    for part in parts:
        if isinstance(part, WholeLines):
            lines = _lines if isinstance(part.data, bytes) else _large_line
            anchor = yield from lines(reading, part, anchor, form)
            end, tail = part.base + part.stop, _tail(part.data, part.stop)
        elif isinstance(part, LongLine):
            yield Line(
                reading, part.offset, part.end, None, reasons.LINE_TOO_LONG.name, part.first, part.tail, True, anchor
            )
            end, tail = part.end, part.tail
        else:
            # The stamp says how far this pass has read, not how long the file is now: if something was appended
            # meanwhile, the stamps differ and the next pass opens the file again.
            reading = reading._replace(stamp=reading.stamp._replace(size=part.read_to))
            tail = _tail(part.data, part.start)
            record = _complete(part)
            if record is not None:
                end, tail = part.base + len(part.data), _tail(part.data, len(part.data))
                anchor = form.anchor_after(anchor, record)
                yield Line(reading, part.base + part.start, end, record, "", b"", tail, True, anchor)
    yield End(reading, end, tail, anchor)


def _lines(reading: Reading, chunk: WholeLines, anchor: Anchor, form: AgentFormat) -> Generator[Line, None, Anchor]:
    """The lines of a chunk; returns the anchor after them. Plain code, because this is hot.

    A record may nest as deep as orjson reads (1,024 levels). Checking the depth, as `load` does, would cost every line
    0.8 us, and formats bound the depth of the free values that they keep anyway.
    """
    data, at, last, base = chunk
    assert isinstance(data, bytes)  # noqa: S101 - for mypy
    loads, find, new, line_class, anchor_after = orjson.loads, data.find, tuple.__new__, Line, form.anchor_after
    while at < last:
        newline = find(b"\n", at)
        raw = data[at:newline]
        stop = newline + 1
        try:
            record = loads(raw)
            is_plain = type(record) is dict
        except ValueError:
            is_plain = False
        if is_plain:
            tail = data[stop - FINGERPRINT_BYTES : stop] if stop > FINGERPRINT_BYTES else data[:stop]
            anchor = anchor_after(anchor, record)
            yield new(line_class, (reading, base + at, base + stop, record, "", b"", tail, True, anchor))
        elif raw and not raw.isspace():
            anchor = yield from _broken_line(reading, chunk, at, raw, anchor, form)
        at = stop
    return anchor


def _large_line(
    reading: Reading, chunk: WholeLines, anchor: Anchor, form: AgentFormat
) -> Generator[Line, None, Anchor]:
    """A line longer than a chunk: parsed in place, copied only if it is broken."""
    data, start, stop, base = chunk
    make_sure_of_room(stop - start)
    if has_too_many_values(data, start, stop):
        raw = bytes(data[start : stop - 1])
        problem = reasons.TOO_MANY_VALUES.name
        yield Line(reading, base + start, base + stop, None, problem, raw, _tail(data, stop), True, anchor)
        return anchor
    with memoryview(data)[start : stop - 1] as view:
        try:
            record = orjson.loads(view)
            is_plain = type(record) is dict
        except ValueError:
            is_plain = False
        raw = b"" if is_plain else bytes(view)
    if is_plain:
        anchor = form.anchor_after(anchor, record)
        yield Line(reading, base + start, base + stop, record, "", b"", _tail(data, stop), True, anchor)
    elif raw and not raw.isspace():
        anchor = yield from _broken_line(reading, chunk, start, raw, anchor, form)
    return anchor


def _broken_line(
    reading: Reading, chunk: WholeLines, at: int, raw: bytes, anchor: Anchor, form: AgentFormat
) -> Generator[Line, None, Anchor]:
    """The fragments of a line that is not one plain record; together they cover it up to its newline."""
    base = chunk.base + at
    # Stay one fragment behind: the last one must include the newline, and only at the end is it clear which is last.
    waiting: Line | None = None
    for start, end, record, problem in fragments(raw, form.record_keys):
        if waiting:
            yield waiting
        kept = b"" if record is not None else raw[start:end]
        anchor = anchor if record is None else form.anchor_after(anchor, record)
        tail = _tail(chunk.data, at + end)
        waiting = Line(reading, base + start, base + end, record, problem, kept, tail, True, anchor)
    if waiting:
        stop = len(raw) + 1
        yield waiting._replace(end=base + stop, tail=_tail(chunk.data, at + stop))
    return anchor


def _complete(rest: Rest) -> dict[str, Any] | None:
    """The record at the unterminated end of a file, if it is complete, so that only white space can follow."""
    data = bytes(rest.data[rest.start :]).rstrip()
    if not data.endswith(b"}"):
        return None
    try:
        record = load(data)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _tail(data: bytes | bytearray, stop: int) -> bytes:
    return bytes(data[max(0, stop - FINGERPRINT_BYTES) : stop])
