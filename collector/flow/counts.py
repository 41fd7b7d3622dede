"""Counts: what became of one source's lines. They add up (promise 2)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Counts:
    """The lines of one source; `lines` always equals delivered + skipped + quarantined."""

    lines: int = 0
    delivered: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    quarantined: int = 0

    def skip(self, reason: str) -> None:
        """Counts one skipped line."""
        self.lines += 1
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def add(self, other: Counts) -> None:
        """Adds other counts to these."""
        self.lines += other.lines
        self.delivered += other.delivered
        self.quarantined += other.quarantined
        add_counts(self.skipped, other.skipped)


def add_counts(into: dict[str, int], more: dict[str, int]) -> None:
    """Adds one {name: count} to another."""
    for name, count in more.items():
        into[name] = into.get(name, 0) + count
