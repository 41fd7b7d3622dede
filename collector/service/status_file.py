"""The file beside the state that tells others how the agent is doing, and the same in one line.

In: a report, as plain data. Out: the file, mode 0600, and the report as `collector status` reads it. Invariant: a
reader sees the latest report or the one before it, always whole.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from collector.files import created, make_private_directory, read_plain
from collector.flow.shorten import dump
from collector.log import TIMESTAMP, counted, in_words, timestamp

MOMENTS = ("since", "updated", "last_acknowledged", "last_rescan")
WRITE_EVERY_SECONDS = 1.0
# At most one part in this many of the agent's time goes into describing it.
WORTH_OF_WRITING = 50


class StatusFile:
    """Writes the report whole, at most once a second, and only if it has changed."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._free_at = float("-inf")
        self._last: dict[str, Any] = {}

    @property
    def due_in(self) -> float:
        """Seconds until the file may be written again."""
        return max(0.0, self._free_at - self._clock())

    def write(self, describe: Callable[[], dict[str, Any]], *, is_last: bool = False) -> dict[str, Any]:
        """Writes what `describe` returns, and returns it. A full disk is no reason to stop."""
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
        try:
            text = orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        except TypeError:  # a path that is not UTF-8
            text = dump(report)
        with created(temporary) as file:
            file.write(text)
        # Crash window: until this line, others still read the previous report; a .new file left behind is replaced next
        # time. There is no fsync, because the report is about this process: a power cut makes it stale anyway, and the
        # lock on the state decides whether an agent is running, never this file alone.
        os.replace(temporary, self.path)


def status_path(state_path: Path) -> Path:
    """The status file that belongs to a state."""
    return state_path.with_name(f"{state_path.stem}.status.json")


def read_status(state_path: Path) -> dict[str, Any]:
    """The agent's last report; empty if it has never run or the file is unusable."""
    try:
        report = orjson.loads(read_plain(status_path(state_path)))
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) and _is_usable(report) else {}


def _is_usable(report: dict[str, Any]) -> bool:
    """Whether the parts that readers rely on unchecked have the right shape."""
    problem = report.get("problem") or dict.fromkeys(("kind", "reason", "tries"))
    try:
        moments = [report.get(name) for name in MOMENTS] + [problem.get("since")]
        for moment in moments:
            time.strptime(moment or timestamp(0), TIMESTAMP)
        return {"kind", "reason", "tries"} <= problem.keys()
    except (AttributeError, TypeError, ValueError):
        return False


def one_line(report: dict[str, Any], *, standstill: str = "") -> str:
    """The report as the one line that the service manager shows, and why nothing is sent, if that is so."""
    behind = sum(row["behind"] for row in report["priorities"].values())
    parts = [f"lag {in_words(report['lag'])} in {counted(behind, 'source')}" if report["lag"] else "nothing waiting"]
    if not any(root["is_there"] for root in report["roots"]):
        parts = [f"waiting for {' or '.join(root['path'] for root in report['roots'])}, which does not exist yet"]
    if standstill:  # the figures are from before it
        parts = [] if report["problem"] else [f"nothing is sent: {standstill}"]
    if report["last_acknowledged"]:
        parts.append(f"last acknowledged {report['last_acknowledged']}")
    problem = report["problem"]
    if problem:
        parts.insert(0, f"{problem['kind']} since {problem['since']}: {problem['reason']}")
    if report["watcher"]["reason"]:
        parts.append(f"watcher {report['watcher']['mode']}: {report['watcher']['reason']}")
    return "; ".join(parts)
