"""What the agent knows of itself, and the file beside the state in which others can read it.

In: what passes found and delivered. Out: plain data, which `collector status`, the heartbeat and the service manager's
status line are made from. Never any content: numbers, paths of roots, names of rules, and reasons that were redacted.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from collector.files import created, make_private_directory
from collector.flow.counts import Counts, add_counts
from collector.flow.ledger import Ledger
from collector.flow.source import Source

WRITTEN = "%Y-%m-%dT%H:%M:%SZ"
MOMENTS = ("since", "updated", "last_acknowledged", "last_rescan")
WRITE_EVERY_SECONDS = 1.0
# At most this part of the time goes into describing what is done.
WORTH_OF_WRITING = 50


@dataclass(slots=True)
class Problem:
    """What keeps events from leaving: `kind` is unavailable, halted, state or internal."""

    kind: str
    reason: str
    since: float
    tries: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "reason": self.reason, "since": timestamp(self.since), "tries": self.tries}


class Lag:
    """The bytes that are not committed yet, by priority. Keeps only the sources that have some."""

    def __init__(self) -> None:
        self.sources: dict[int, int] = {}
        self._behind: dict[str, tuple[int, int]] = {}

    def take_all(self, sources: list[Source], lag_of: Callable[[Source], int]) -> None:
        """After a look at everything."""
        self.sources, self._behind = {}, {}
        for source in sources:
            self.sources[source.priority] = self.sources.get(source.priority, 0) + 1
        self.take(sources, lag_of)

    def take(self, sources: list[Source], lag_of: Callable[[Source], int], gone: list[str] | None = None) -> None:
        """After a look at a few."""
        for source in sources:
            lag = lag_of(source)
            if lag:
                self._behind[source.key] = (source.priority, lag)
            else:
                self._behind.pop(source.key, None)
        for key in gone or ():
            self._behind.pop(key, None)

    def by_priority(self) -> dict[str, dict[str, int]]:
        """For each priority: how many sources there are, how many are behind, and by how much."""
        rows = {
            priority: {"sources": self.sources.get(priority, 0), "behind": 0, "lag": 0}
            for priority in sorted({*self.sources, *(priority for priority, _ in self._behind.values())})
        }
        for priority, lag in self._behind.values():
            rows[priority]["behind"] += 1
            rows[priority]["lag"] += lag
        return {f"P{priority}": row for priority, row in rows.items()}


@dataclass(slots=True)
class Totals:
    """What was done since the start; the ledgers of the passes, added up."""

    counts: Counts = field(default_factory=Counts)
    redactions: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    bytes: int = 0
    duplicates: int = 0

    def add(self, ledger: Ledger) -> None:
        """Takes in the ledger of a pass."""
        for counts in ledger.sources.values():
            self.counts.add(counts)
        add_counts(self.redactions, ledger.redactions)
        self.batches += ledger.batches
        self.bytes += ledger.bytes
        self.duplicates += ledger.duplicates

    def with_ledger(self, ledger: Ledger) -> Totals:
        """The totals as they would be if a pass that is under way ended now."""
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


class StatusFile:
    """Written whole and renamed, mode 0600, at most once a second, and only when it says something new."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._free_at = float("-inf")
        self._last: dict[str, Any] = {}

    @property
    def due_in(self) -> float:
        """Seconds until the next writing is allowed."""
        return max(0.0, self._free_at - self._clock())

    def write(self, describe: Callable[[], dict[str, Any]], *, is_last: bool = False) -> dict[str, Any]:
        """Writes what `describe` says; a full disk is no reason to stop. Returns what was described."""
        started = self._clock()
        report = describe()
        if report != self._last or is_last:
            with contextlib.suppress(OSError):
                self._write({**report, "updated": timestamp(time.time())})
            self._last = report
        now = self._clock()
        self._free_at = now + max(WRITE_EVERY_SECONDS, WORTH_OF_WRITING * (now - started))
        return report

    def _write(self, report: dict[str, Any]) -> None:
        make_private_directory(self.path.parent)
        temporary = self.path.with_name(self.path.name + ".new")
        with created(temporary) as file:
            file.write(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        os.replace(temporary, self.path)


def status_path(state_path: Path) -> Path:
    """The status file that belongs to a state."""
    return state_path.with_name(f"{state_path.stem}.status.json")


def read_status(state_path: Path) -> dict[str, Any]:
    """What the agent last said of itself; empty when it never ran, or when the file cannot be used."""
    try:
        report = orjson.loads(status_path(state_path).read_bytes())
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) and _is_usable(report) else {}


def _is_usable(report: dict[str, Any]) -> bool:
    """Whether what is read without further care has the right shape."""
    problem = report.get("problem") or dict.fromkeys(("kind", "reason", "tries"))
    try:
        moments = [report.get(name) for name in MOMENTS] + [problem.get("since")]
        for moment in moments:
            time.strptime(moment or timestamp(0), WRITTEN)
        return {"kind", "reason", "tries"} <= problem.keys()
    except (AttributeError, TypeError, ValueError):
        return False


def timestamp(moment: float) -> str:
    """A moment as RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(moment, UTC).strftime(WRITTEN)


def in_words(count: float) -> str:
    """A number of bytes as a person would say it."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def one_line(report: dict[str, Any]) -> str:
    """The report as the one line that the service manager shows."""
    behind = sum(row["behind"] for row in report["priorities"].values())
    parts = [f"lag {in_words(report['lag'])} in {behind} sources" if report["lag"] else "nothing waits"]
    if report["last_acknowledged"]:
        parts.append(f"last acknowledged {report['last_acknowledged']}")
    problem = report["problem"]
    if problem:
        parts.insert(0, f"{problem['kind']} since {problem['since']}: {problem['reason']}")
    if report["watcher"]["reason"]:
        parts.append(f"watcher {report['watcher']['mode']}: {report['watcher']['reason']}")
    return "; ".join(parts)
