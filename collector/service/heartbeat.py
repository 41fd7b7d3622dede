"""The sign of life that a fleet watches: a small event with the agent's own figures, and never any content.

In: the status report. Out: an event of kind `heartbeat`. Invariant: its id is derived from the installation and the
interval of time it falls into, so an agent that restarts within an interval does not count twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from collector import __version__
from collector.flow.batch import Batch
from collector.flow.event import SCHEMA
from collector.flow.frame import Frame
from collector.flow.outcome import Sealed

NAMES = ("sources", "lag", "lines", "delivered", "skipped", "quarantined", "redactions", "batches", "bytes")


def heartbeat(report: dict[str, Any], frame: Frame, *, now: float, uptime: float, interval: float) -> dict[str, Any]:
    """The event with the figures of a report."""
    bucket = int(now // max(interval, 1.0))
    attributes = {name: report[name] for name in NAMES if name in report}
    attributes |= {"version": __version__, "uptime_seconds": int(uptime), "watcher": report["watcher"]["mode"]}
    attributes["sources"] = sum(row["sources"] for row in report["priorities"].values())
    if report.get("last_error"):
        attributes["last_error"] = report["last_error"]
    return _event(f"heartbeat\0{frame.installation_id}\0{interval:g}\0{bucket}", frame, now, attributes)


def canary(frame: Frame, now: float) -> dict[str, Any]:
    """An event whose only purpose is to see whether the sink accepts it."""
    return _event(f"canary\0{frame.installation_id}\0{now}", frame, now, {"canary": True, "version": __version__})


def _event(name: str, frame: Frame, now: float, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        **frame.sender(),
        "id": blake2b(name.encode(), digest_size=16).hexdigest(),
        "schema": SCHEMA,
        "kind": "heartbeat",
        "priority": 0,
        "time": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "client": {"name": "collector", "version": __version__},
        "attributes": attributes,
        "source": {"path": "heartbeat", "offset": 0, "length": 0},
    }


def batch_of(event: Sealed) -> Batch:
    """A batch that carries one event and moves no offset."""
    return Batch(events=[event], places=[("heartbeat", 0)], size=len(event.body) + 1)
