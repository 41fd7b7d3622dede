"""Reads the sources that are one JSON document: the session index and the stats cache.

In: a source whose stamp changed. Out: a Line for every entry of an index, one for a stats cache, then the End; only the
End moves the offset, so a crash in between reads the whole document again and the ids make the repeats harmless. A
Line's offset is the number of its entry, because entries have no place of their own that would be worth finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from collector.errors import SkipSource
from collector.flow import reasons
from collector.flow.line import End, Line, Reading, position_after
from collector.flow.source import FINGERPRINT_BYTES, Position, Source, SourceKind
from collector.reading.opened import opened
from collector.reading.parse import load

MAX_BYTES = 64 << 20
KNOWN_KEYS = {"version", "entries", "originalPath"}


def read(source: Source, position: Position | None = None) -> Iterator[Line | End]:
    """The entries of the document; SkipSource "incomplete" while it is half written, "too_large" above 64 MB.

    None where it is what was read before on another inode: some file systems give a file another one every time.
    """
    with opened(source) as file:
        if file.stamp.size > MAX_BYTES:
            raise SkipSource(reasons.TOO_LARGE.name, source.key)
        data = file.read_fully(file.stamp.size, 0)
        stamp = file.stamp._replace(size=len(data))
    if not data:
        raise SkipSource(reasons.EMPTY.name, source.key)
    try:
        document = load(data)
    except ValueError:
        raise SkipSource(reasons.INCOMPLETE.name, source.key) from None
    reading = Reading(source, data[:FINGERPRINT_BYTES], stamp)
    tail = data[-FINGERPRINT_BYTES:]
    end = End(reading, len(data), tail)
    if position is not None and _without_inode(position) == _without_inode(position_after(end)):
        yield end
        return
    for number, entry in enumerate(_entries(source.kind, document)):
        is_record = isinstance(entry, dict)
        problem, raw = ("", b"") if is_record else (reasons.NOT_AN_OBJECT.name, orjson.dumps(entry))
        yield Line(reading, number, len(data), entry if is_record else None, problem, raw, tail, is_safe=False)
    yield end


def _without_inode(position: Position) -> Position:
    stamp = position.stamp
    return position._replace(stamp=stamp._replace(inode=0) if stamp else None)


def _entries(kind: SourceKind, document: Any) -> Iterator[Any]:
    """What becomes an event: every entry of an index, and whatever of a document is not in the known shape."""
    if kind is not SourceKind.SESSION_INDEX or not isinstance(document, dict):
        yield {"entries": document} if isinstance(document, list) else document
        return
    entries = document.get("entries")
    if not isinstance(entries, list):
        yield document
        return
    yield from entries
    more = {key: value for key, value in document.items() if key != "entries"}
    if more.keys() - KNOWN_KEYS:
        yield more
