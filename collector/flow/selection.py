"""A selection: what a pass reads, and what the look at the files says of everything that is remembered.

Plain values: `collector.reading.select` makes one without changing anything, and the committer's `apply` is the only
change before something is read.
"""

from __future__ import annotations

from typing import NamedTuple

from collector.flow.source import Position, Source


class Selection(NamedTuple):
    """`read` are the sources to open, P0 before P3 and the newest first; all others are counted.

    The rest is about entries, by key: `starts` are read from a known position on, `moved` (old key -> new key) go with
    their files, `missing_since` are out of sight since then (0: in sight again), `forgotten` have been for too long.
    """

    read: list[Source]
    unchanged: int
    skipped: dict[str, int]
    starts: dict[str, Position]
    moved: dict[str, str]
    missing_since: dict[str, int]
    forgotten: list[str]
