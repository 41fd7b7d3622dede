"""The ledger: what became of every line and every file in a pass. It balances, or something is wrong (promise 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.flow.counts import Counts, add_counts
from collector.flow.receipt import Receipt

MOST_NAMED = 100  # files and directories; after a failed mount it could be all of them


def sums(ledgers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combines the ledgers of several sinks. Numbers add up, because each sink is sent its own copy of every line."""
    total: dict[str, Any] = {}
    for ledger in ledgers:
        for name, value in ledger.items():
            if isinstance(value, dict):
                total[name] = sums([total.get(name, {}), value])
            else:
                total[name] = total[name] + value if isinstance(total.get(name), int) else value
    return total


@dataclass(slots=True)
class Ledger:
    """The totals of one pass. A line counts once it is committed; until then it is lag."""

    seen: int = 0
    read: int = 0
    unchanged: int = 0
    skipped_files: dict[str, int] = field(default_factory=dict)
    not_read: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Counts] = field(default_factory=dict)
    redactions: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    bytes: int = 0
    duplicates: int = 0
    lag: int = 0
    lag_at_start: int = 0

    def read_file(self) -> None:
        """Counts a file that was read."""
        self.seen += 1
        self.read += 1

    def leave_files(self, files: int) -> None:
        """Counts files that are not opened because they have not changed."""
        self.seen += files
        self.unchanged += files

    def skip_file(self, reason: str, files: int = 1) -> None:
        """Counts files that are not read."""
        self.seen += files
        self.skipped_files[reason] = self.skipped_files.get(reason, 0) + files

    def name(self, path: str, reason: str) -> None:
        """Names a file or directory that is left behind, and why. Beyond MOST_NAMED they are only counted."""
        if len(self.not_read) < MOST_NAMED:
            self.not_read[path] = reason

    def take(self, receipt: Receipt) -> None:
        """Counts what a receipt settled: the lines of its batch, with events that the sink refused as quarantined."""
        batch = receipt.batch
        refused = {thing.id for thing in receipt.refused}
        for key, counts in batch.counts.items():
            self._of(key).add(counts)
        for event in batch.events:
            if event.redactions and event.id not in refused:
                add_counts(self.redactions, event.redactions)
        for event, (key, _) in zip(batch.events, batch.places, strict=True) if refused else ():
            if event.id in refused:
                counts = self._of(key)
                counts.delivered -= 1
                counts.quarantined += 1
        self.batches += bool(batch.events)
        self.bytes += receipt.sent_bytes
        self.duplicates += receipt.duplicates

    def _of(self, key: str) -> Counts:
        counts = self.sources.get(key)
        if counts is None:
            counts = self.sources[key] = Counts()
        return counts

    def as_dict(self) -> dict[str, Any]:
        """The ledger as `scan --json` prints it."""
        totals = Counts()
        for counts in self.sources.values():
            totals.add(counts)
        return {
            "files": {
                "seen": self.seen,
                "read": self.read,
                "unchanged": self.unchanged,
                "skipped": dict(sorted(self.skipped_files.items())),
            },
            "not_read": dict(sorted(self.not_read.items())),
            "lines": totals.lines,
            "delivered": totals.delivered,
            "skipped": dict(sorted(totals.skipped.items())),
            "quarantined": totals.quarantined,
            "redactions": dict(sorted(self.redactions.items())),
            "batches": self.batches,
            "bytes": self.bytes,
            "lag": self.lag,
        }
