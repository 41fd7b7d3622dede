"""Cuts an open file into chunks of whole lines, with memory for one line and one chunk.

In: a file, where to start and where to stop. Out: chunks (many short lines, or one line longer than a chunk), lines too
long to hold, and finally whatever follows the last newline. Every part carries enough of the preceding bytes to take
the fingerprint of each of its offsets, so no byte is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from collector.flow.source import FINGERPRINT_BYTES
from collector.reading.opened import SourceFile

KEPT_OF_A_LONG_LINE = 64 << 10


class WholeLines(NamedTuple):
    """Whole lines: data[start:stop]. `base` is the offset of data[0] in the file."""

    data: bytes | bytearray
    start: int
    stop: int
    base: int


class LongLine(NamedTuple):
    """A line too long to hold: its place, its first bytes and its last."""

    offset: int
    end: int
    first: bytes
    tail: bytes


class Rest(NamedTuple):
    """What follows the last newline: data[start:]. Reading stopped at `read_to`."""

    data: bytes | bytearray
    start: int
    base: int
    read_to: int


def whole_lines(
    file: SourceFile, start: int, limit: int, chunk_bytes: int, max_line_bytes: int
) -> Iterator[WholeLines | LongLine | Rest]:
    """The file from `start` to `limit`. Linear, because a line longer than a chunk grows in a bytearray."""
    chunk_bytes = max(1, min(chunk_bytes, max_line_bytes // 2))  # so only a line that spans chunks can be too long
    held: bytes | bytearray = file.before(start)  # consumed bytes needed for a fingerprint, then half a line
    at, base, offset = len(held), start - len(held), start
    while offset < limit and (chunk := file.read(min(chunk_bytes, limit - offset), offset)):
        # A pass waits for its sink between two chunks, perhaps for minutes. If the file was rewritten meanwhile, this
        # chunk does not continue what was read, and lines in between would be lost. Stop: the next pass starts over.
        if offset > start and file.before(offset) != held[-FINGERPRINT_BYTES:]:
            break
        offset += len(chunk)
        newline = chunk.find(b"\n")
        if newline < 0:
            held = bytearray(held) if isinstance(held, bytes) else held
            held += chunk
            if len(held) - at <= max_line_bytes:
                continue
            long = _long_line(file, held, at, base, offset, limit, chunk_bytes)
            if not long.tail:
                # The line has no end yet, so none of it is consumed: the next pass starts at its beginning.
                held, offset = held[:at], long.end
                break
            yield long
            held, at, base, offset = long.tail, len(long.tail), long.end - len(long.tail), long.end
            continue
        if isinstance(held, bytearray):
            # Emit this line on its own, so the rest of the chunk is not appended to a buffer of many megabytes.
            held += chunk[: newline + 1]
            yield _grown(held, at, base, max_line_bytes)
            base += len(held)
            held = bytes(held[-FINGERPRINT_BYTES:])
            base -= len(held)
            at, chunk = len(held), chunk[newline + 1 :]
        data = held + chunk
        stop = data.rfind(b"\n", at) + 1
        if stop:
            yield WholeLines(data, at, stop, base)
            # Keep the half line, preceded by the bytes that the fingerprint of the next offset needs.
            cut = max(0, stop - FINGERPRINT_BYTES)
            held, base, at = data[cut:], base + cut, stop - cut
        else:
            held = data
    yield Rest(held, at, base, offset)


def _grown(held: bytearray, at: int, base: int, max_line_bytes: int) -> WholeLines | LongLine:
    """The line that grew over several chunks."""
    if len(held) - 1 - at <= max_line_bytes:
        return WholeLines(held, at, len(held), base)
    first, tail = held[at : at + KEPT_OF_A_LONG_LINE], held[-FINGERPRINT_BYTES:]
    return LongLine(base + at, base + len(held), bytes(first), bytes(tail))


def _long_line(
    file: SourceFile, held: bytes | bytearray, at: int, base: int, offset: int, limit: int, chunk_bytes: int
) -> LongLine:
    """Scans to the end of a line too long to hold. Its tail is empty if the file ends before the line does."""
    first, tail = bytes(held[at : at + KEPT_OF_A_LONG_LINE]), bytes(held[-FINGERPRINT_BYTES:])
    while offset < limit and (chunk := file.read(min(chunk_bytes, limit - offset), offset)):
        newline = chunk.find(b"\n")
        stop = newline + 1 if newline >= 0 else len(chunk)
        offset += stop
        tail = (tail + chunk[:stop])[-FINGERPRINT_BYTES:]
        if newline >= 0:
            return LongLine(base + at, offset, first, tail)
    return LongLine(base + at, offset, first, b"")
