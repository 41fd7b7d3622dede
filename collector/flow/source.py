"""A source: one file below a root, what it looked like when it was found, and how far it is safe."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

FINGERPRINT_BYTES = 1024
LAST = 2**63 - 1  # nanoseconds since 1970: the year 2262


class SourceKind(NamedTuple):
    """The kind of a file: its name, its priority, and whether it is one JSON document that is read whole whenever it
    changes, rather than line by line from its offset."""

    name: str
    priority: int
    is_document: bool = False


class Root(NamedTuple):
    """One directory in which a coding agent keeps its files; the label is its name in events."""

    path: str
    label: str
    agent: str


class Place(NamedTuple):
    """A directory below a root, as its agent's format understands it. The root itself has depth 0."""

    depth: int = 0
    project: str = ""
    session_id: str = ""


class Stamp(NamedTuple):
    """A file as `stat` saw it. While the stamp stays the same, the file need not be opened."""

    size: int
    mtime_ns: int
    inode: int


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of what `stat` saw. Times are clamped: some file systems report ones that no state file could hold."""
    mtime_ns = status.st_mtime_ns
    if not -LAST <= mtime_ns <= LAST:
        mtime_ns = LAST if mtime_ns > 0 else -LAST
    return Stamp(status.st_size, mtime_ns, status.st_ino)


class Source(NamedTuple):
    """One file to read, as discovery saw it. `path` opens it; `key` names it in the state, in events and in logs."""

    root: Root
    path: str
    key: str
    kind: SourceKind
    project: str
    session_id: str
    agent_id: str
    stamp: Stamp

    @property
    def priority(self) -> int:
        """0 to 3: P0 is read first."""
        return self.kind.priority


class Position(NamedTuple):
    """How far a source is safe, and how to recognise the bytes before that point.

    `head` and `tail` are digests of the first and the last FINGERPRINT_BYTES before the offset. `stamp` is set only if
    the source was read to its end, so a source without one is always opened again. `anchor` is what the records before
    it contribute to those after it; it is empty in positions that earlier versions wrote.
    """

    offset: int
    head: str
    tail: str
    stamp: Stamp | None = None
    anchor: str = ""


class Entry(NamedTuple):
    """What is remembered about one source. `skip` says why the file is left alone while its stamp stays the same."""

    position: Position
    skip: str = ""
    missing_since: int = 0


def digest(data: bytes) -> str:
    """The fingerprint of some bytes of a file: 16 hex digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()
