"""A selection: the sources that a pass reads, and how the state's entries change, given the files that were found.

Plain values: `collector.reading.select` makes one without changing anything. Then the committer's `apply` makes the
only change that comes before reading.
"""

from __future__ import annotations

from typing import NamedTuple

from collector.flow.source import Position, Source


class Selection(NamedTuple):
    """`read` are the sources to open, P0 before P3, newest first; all others are only counted.

    The rest concerns the state's entries, by key. `starts`: read from this position on. `moved` (old key -> new key):
    the file moved, and its entry goes with it. `missing_since`: the file has been missing since then (0: it is back).
    `forgotten`: it has been missing for too long.
    """

    read: list[Source]
    unchanged: int
    skipped: dict[str, int]
    starts: dict[str, Position]
    moved: dict[str, str]
    missing_since: dict[str, int]
    forgotten: list[str]
