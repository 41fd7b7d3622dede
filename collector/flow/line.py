"""A line: what is read from a source, with its place, so that an acknowledgement says which offset became safe.

Whatever is made once per line is a tuple rather than a frozen dataclass: a dataclass takes 1.1 us to make, a tuple
0.3 us, and a pass over 400 MB makes 150,000 of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from collector.flow.anchor import HEAD, Anchor, kept
from collector.flow.source import Position, Source, Stamp, digest


class Reading(NamedTuple):
    """An open source: what all its lines share. `meta` is the content of its companion file; `next_time` is the first
    time further on, for lines before which no time is known."""

    source: Source
    head: bytes
    stamp: Stamp
    meta: dict[str, Any] = {}  # noqa: RUF012 - a default of a tuple, shared and never changed
    next_time: str = ""


class Line(NamedTuple):
    """One line (or one entry of a whole-file source).

    `record` is the parsed object. If it could not be parsed, `record` is None, `problem` says why and `raw` holds the
    bytes. `tail` is the last FINGERPRINT_BYTES before `end`. A line with `is_safe` False is part of a whole-file
    source: only the End after it may move the offset. `anchor` is for what follows, so it already includes this record.
    """

    reading: Reading
    offset: int
    end: int
    record: dict[str, Any] | None
    problem: str
    raw: bytes
    tail: bytes
    is_safe: bool = True
    anchor: Anchor = HEAD


class End(NamedTuple):
    """The end of a source for this pass: moves the offset past bytes that held no line, and stamps the file as read."""

    reading: Reading
    end: int
    tail: bytes
    anchor: Anchor = HEAD


def position_after(item: Line | End) -> Position:
    """The position that is safe once `item` and everything before it are acknowledged."""
    reading = item.reading
    stamp = reading.stamp if isinstance(item, End) else None
    anchor = "" if reading.source.kind.is_document else kept(item.anchor)
    return Position(item.end, digest(reading.head[: item.end]), digest(item.tail), stamp, anchor)
