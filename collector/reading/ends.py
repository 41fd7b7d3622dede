"""Finds the current end of a source: the position from which only what is written later would be read.

In: a source. Out: the position after its last whole line, or after a whole document. Only the piece after the last
newline is parsed, so this costs the same for a file of any size.
"""

from __future__ import annotations

from collector.flow.source import FINGERPRINT_BYTES, Position, Source, digest
from collector.reading.opened import SourceFile, opened
from collector.reading.parse import load

PIECE_BYTES = 64 << 10
LARGEST_UNENDED = 1 << 20  # the longest unterminated line to examine; a longer one is read once it has an end


def position_at_end(source: Source) -> Position:
    """The end of a source; raises SkipSource or SourceError if it cannot be read."""
    with opened(source) as file:
        size = file.stamp.size
        end = size if source.kind.is_document else _end_of_lines(file, size)
        head = file.read_fully(min(FINGERPRINT_BYTES, end), 0)
        return Position(end, digest(head), digest(file.before(end)), file.stamp)


def _end_of_lines(file: SourceFile, size: int) -> int:
    """Stops before a half-written line, so that it is read whole once the rest has arrived."""
    last, stop = 0, size
    while stop and not last:
        start = max(0, stop - PIECE_BYTES)
        found = file.read_fully(stop - start, start).rfind(b"\n")
        last, stop = (start + found + 1 if found >= 0 else 0), start
    if size - last > LARGEST_UNENDED:
        return last
    rest = file.read_fully(size - last, last)
    try:
        return size if not rest.strip() or isinstance(load(rest.rstrip()), dict) else last
    except ValueError:
        return last
