"""What travels between the stages: sources, lines, outcomes, batches, receipts and the ledger.

Everything here is a plain value. A line, an outcome and a batch know where they came from, so the acknowledgement
of a batch says exactly which offsets became safe (promise 1). Tuples rather than frozen dataclasses where one is
made per line: a dataclass costs 1.1 us to make, a tuple 0.3 us, and a pass over 400 MB makes 150,000 of each.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

FINGERPRINT_BYTES = 1024
LAST = 2**63 - 1  # nanoseconds since 1970: the year 2262


class SourceKind(StrEnum):
    """What a file below a root is; DESIGN section 4."""

    SESSION_INDEX = "session_index"
    SESSION = "session"
    SUBAGENT = "subagent"
    JOURNAL = "journal"
    HISTORY = "history"
    STATS = "stats"


class Root(NamedTuple):
    """One Claude config directory; the label is what events call it."""

    path: str
    label: str


class Stamp(NamedTuple):
    """A file as `stat` saw it; an equal stamp means that nobody has to open the file."""

    size: int
    mtime_ns: int
    inode: int


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of what `stat` saw. Some file systems keep times that no state file could hold."""
    mtime_ns = status.st_mtime_ns
    if not -LAST <= mtime_ns <= LAST:
        mtime_ns = LAST if mtime_ns > 0 else -LAST
    return Stamp(status.st_size, mtime_ns, status.st_ino)


class Source(NamedTuple):
    """One file to read, as discovery saw it. `path` opens it, `key` names it in the state, events and logs."""

    root: Root
    path: str
    key: str
    kind: SourceKind
    priority: int
    project: str
    session_id: str
    agent_id: str
    stamp: Stamp


class Position(NamedTuple):
    """How far a source is safe, and how to recognise the bytes before that point.

    `head` and `tail` are digests of the first and the last FINGERPRINT_BYTES before the offset. `stamp` is there only
    when the source was read to its end, so an entry without one is always opened again.
    """

    offset: int
    head: str
    tail: str
    stamp: Stamp | None = None


def digest(data: bytes) -> str:
    """The fingerprint of a few bytes of a file: 16 hex digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class Reading(NamedTuple):
    """A source while it is open: what every line of it shares. `meta` is the agent-*.meta.json beside a subagent."""

    source: Source
    head: bytes
    stamp: Stamp
    meta: dict[str, Any] = {}  # noqa: RUF012 - a default of a tuple, shared and never changed


class Line(NamedTuple):
    """One line (or one entry of a whole-file source).

    `record` is the parsed object. Where it could not be parsed, `record` is None, `problem` says why and `raw` holds
    the bytes. `tail` is the last FINGERPRINT_BYTES before `end`. A line with `is_safe` False is part of a whole-file
    source: only the End after it may move the offset.
    """

    reading: Reading
    offset: int
    end: int
    record: dict[str, Any] | None
    problem: str
    raw: bytes
    tail: bytes
    is_safe: bool = True


class End(NamedTuple):
    """The end of a source for this pass: moves the offset over what held no line, and stamps the file as read."""

    reading: Reading
    end: int
    tail: bytes


def position_after(item: Line | End) -> Position:
    """The position that is safe once `item` and all before it are acknowledged."""
    reading = item.reading
    stamp = reading.stamp if isinstance(item, End) else None
    return Position(item.end, digest(reading.head[: item.end]), digest(item.tail), stamp)


class Skip(NamedTuple):
    """A line that gives no event, and why."""

    reason: str


class Sealed(NamedTuple):
    """A redacted, size-bounded, serialized event. Only `collector.redact.seal` makes one (promise 5)."""

    id: str
    body: bytes
    redactions: dict[str, int]


class SetAside(NamedTuple):
    """Something for the quarantine: already redacted, with its reason and its place."""

    id: str
    reason: str
    source: str
    offset: int
    payload: str


Outcome = Sealed | Skip | SetAside


class Item(NamedTuple):
    """What became of one line."""

    line: Line | End
    outcome: Outcome | None


@dataclass(slots=True)
class Counts:
    """The ledger of lines; `lines` always equals delivered + skipped + quarantined (promise 2)."""

    lines: int = 0
    delivered: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    quarantined: int = 0

    def skip(self, reason: str) -> None:
        """Counts one skipped line."""
        self.lines += 1
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def add(self, other: Counts) -> None:
        """Adds another ledger to this one."""
        self.lines += other.lines
        self.delivered += other.delivered
        self.quarantined += other.quarantined
        add_counts(self.skipped, other.skipped)


def add_counts(into: dict[str, int], more: dict[str, int]) -> None:
    """Adds one {name: count} to another."""
    for name, count in more.items():
        into[name] = into.get(name, 0) + count


@dataclass(slots=True)
class Batch:
    """Events in reading order, and what their acknowledgement makes safe."""

    events: list[Sealed] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)  # (source key, line offset) of each event
    # source key -> the last item that may move its offset; of a source that ended its position, which holds no bytes
    ends: dict[str, Line | Position] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)  # source key -> what is not an event
    set_aside: list[SetAside] = field(default_factory=list)
    size: int = 0

    @property
    def positions(self) -> dict[str, Position]:
        """The map source -> position that an acknowledgement of this batch makes safe."""
        return {key: item if isinstance(item, Position) else position_after(item) for key, item in self.ends.items()}


class Receipt(NamedTuple):
    """A batch whose fate is known: acknowledged, except for the events the sink would not have."""

    batch: Batch
    refused: list[SetAside]
    sent_bytes: int = 0
    duplicates: int = 0
