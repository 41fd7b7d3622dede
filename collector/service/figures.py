"""Figures of the long run: how far behind it is, what it has done since the start, and what is in the way.

In: what passes found and delivered. Out: plain data for `collector status`, the heartbeat and the service manager's
status line. Invariant: never any content, only numbers, paths of roots, names of rules, and redacted reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from collector.flow.counts import Counts, add_counts
from collector.flow.ledger import Ledger
from collector.flow.source import Source
from collector.log import timestamp
from collector.reading.discover import Findings


@dataclass(slots=True)
class Problem:
    """What stops events from leaving; `kind` is unavailable, halted, state, internal or configuration."""

    kind: str
    reason: str
    since: float
    tries: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "reason": self.reason, "since": timestamp(self.since), "tries": self.tries}


class Lag:
    """The bytes not yet committed, by priority. Remembers only the sources that are behind."""

    def __init__(self) -> None:
        self.sources: dict[int, int] = {}
        self._behind: dict[str, tuple[int, int]] = {}

    def take_all(self, found: Findings, lag_of: Callable[[Source], int]) -> None:
        """Starts over with all sources that were found. Those at rest have no lag."""
        self.sources, self._behind = dict(found.at_rest), {}
        for source in found.files:
            self.sources[source.priority] = self.sources.get(source.priority, 0) + 1
        self.take(found.files, lag_of)

    def take(self, sources: list[Source], lag_of: Callable[[Source], int], gone: list[str] | None = None) -> None:
        """Updates the lag of some sources; the others stay as they were."""
        for source in sources:
            lag = lag_of(source)
            if lag:
                self._behind[source.key] = (source.priority, lag)
            else:
                self._behind.pop(source.key, None)
        for key in gone or ():
            self._behind.pop(key, None)

    def by_priority(self) -> dict[str, dict[str, int]]:
        """For each priority: how many sources there are, how many are behind, and by how many bytes."""
        rows = {
            priority: {"sources": self.sources.get(priority, 0), "behind": 0, "lag": 0}
            for priority in sorted({*self.sources, *(priority for priority, _ in self._behind.values())})
        }
        for priority, lag in self._behind.values():
            row = rows[priority]
            row["behind"] += 1
            row["lag"] += lag
            row["sources"] = max(row["sources"], row["behind"])  # some are newer than the last full walk
        return {f"P{priority}": row for priority, row in rows.items()}


@dataclass(slots=True)
class Totals:
    """What has been done since the start: the sum of all ledgers."""

    counts: Counts = field(default_factory=Counts)
    redactions: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    bytes: int = 0
    duplicates: int = 0

    def add(self, ledger: Ledger) -> None:
        """Adds the ledger of a pass."""
        for counts in ledger.sources.values():
            self.counts.add(counts)
        add_counts(self.redactions, ledger.redactions)
        self.batches += ledger.batches
        self.bytes += ledger.bytes
        self.duplicates += ledger.duplicates

    def with_ledger(self, ledger: Ledger) -> Totals:
        """The totals as they would be if the pass under way ended now."""
        counts = Counts()
        counts.add(self.counts)
        sums = Totals(counts, dict(self.redactions), self.batches, self.bytes, self.duplicates)
        sums.add(ledger)
        return sums

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "lines": self.counts.lines,
            "delivered": self.counts.delivered,
            "skipped": dict(sorted(self.counts.skipped.items())),
            "quarantined": self.counts.quarantined,
            "redactions": dict(sorted(self.redactions.items())),
            "batches": self.batches,
            "bytes": self.bytes,
            "duplicates": self.duplicates,
        }
