"""Reads sources that are one JSON document, such as a session index.

In: a source whose stamp changed. Out: a Line for every entry that its format finds in it, then the End. Only the End
moves the offset: after a crash in between, the whole document is read again and the ids make the repeats harmless. A
Line's offset is the number of its entry, because finding the byte offset of an entry is not worth the effort.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import orjson

from collector.agents.format import AgentFormat
from collector.errors import SkipSource
from collector.flow import reasons
from collector.flow.line import End, Line, Reading, position_after
from collector.flow.source import FINGERPRINT_BYTES, Position, Source
from collector.reading.opened import opened
from collector.reading.parse import load

MAX_BYTES = 64 << 20
HALF_WRITTEN_SECONDS = 60.0  # no writer takes this long; after that, nobody will complete it


def read(
    source: Source, position: Position | None, form: AgentFormat, wall: Callable[[], float] = time.time
) -> Iterator[Line | End]:
    """The entries of the document; SkipSource "incomplete" while it may be half written, "too_large" above 64 MB.

    A document that stays broken becomes a single Line with a problem, then the End: it is quarantined, and left alone
    until it changes. If only the inode differs from what was read before, there are no entries: some file systems
    report a new inode every time.
    """
    with opened(source) as file:
        if file.stamp.size > MAX_BYTES:
            raise SkipSource(reasons.TOO_LARGE.name, source.key)
        data = file.read_fully(file.stamp.size, 0)
        stamp = file.stamp._replace(size=len(data))
    if not data:
        raise SkipSource(reasons.EMPTY.name, source.key)
    reading = Reading(source, data[:FINGERPRINT_BYTES], stamp)
    tail = data[-FINGERPRINT_BYTES:]
    end = End(reading, len(data), tail)
    # All or nothing: after a crash in the middle it is read again, and the ids make the repeats harmless.
    if position is not None and _without_inode(position) == _without_inode(position_after(end)):
        yield end
        return
    try:
        document = load(data)
    except ValueError:
        if abs(wall() - stamp.mtime_ns / 1e9) < HALF_WRITTEN_SECONDS:  # a file server's clock may be ahead of ours
            raise SkipSource(reasons.INCOMPLETE.name, source.key) from None
        yield Line(reading, 0, len(data), None, reasons.DAMAGED.name, data, tail, is_safe=False)
        yield end
        return
    for number, entry in enumerate(form.entries(source, document)):
        is_record = isinstance(entry, dict)
        problem, raw = ("", b"") if is_record else (reasons.NOT_AN_OBJECT.name, orjson.dumps(entry))
        yield Line(reading, number, len(data), entry if is_record else None, problem, raw, tail, is_safe=False)
    yield end


def _without_inode(position: Position) -> Position:
    stamp = position.stamp
    return position._replace(stamp=stamp._replace(inode=0) if stamp else None)
