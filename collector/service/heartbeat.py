"""The sign of life that a fleet watches: a small event with the agent's own figures, and never any content.

In: the status report, or the ledger of a scan. Out: an event of kind `heartbeat`, sent to the sink. Invariant: the id
of a service's heartbeat is derived from the installation and the interval it falls into, so an agent that restarts
within an interval is not counted twice. Every scan has a heartbeat of its own: its ledger is in no other.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from collector import __version__
from collector.delivery.sink import Verdict
from collector.errors import CollectorError, StateError
from collector.flow.capture import captured_sender
from collector.flow.event import SCHEMA
from collector.flow.frame import Frame
from collector.flow.ledger import Ledger
from collector.pipeline import Flow
from collector.service.figures import Totals

NAMES = ("lag", "lines", "delivered", "skipped", "quarantined", "batches", "bytes", "capture_level", "last_error")
MANY_WRITERS = 10
LAST_WORD_SECONDS = 3.0  # a service that is being stopped cannot wait for a sink that does not answer


@dataclass(frozen=True)
class Beat:
    """When a heartbeat is sent, by which command, and at which point of the run."""

    now: float
    uptime: float
    interval: float
    command: str = "run"
    is_last: bool = False


def heartbeat(report: dict[str, Any], frame: Frame, beat: Beat) -> dict[str, Any]:
    """Makes the event from the figures of a report. The last one of a run or scan does not replace that of its
    interval."""
    attributes = {name: report[name] for name in NAMES if report.get(name) is not None}
    redactions = dict(report["redactions"])
    attributes |= {
        "version": __version__,
        "command": beat.command,
        "interval": max(1, round(beat.interval)),
        "uptime_seconds": int(beat.uptime),
        "sources": sum(row["sources"] for row in report["priorities"].values()),
        "withheld": redactions.pop("withheld", 0),
        "redactions": redactions,
        "held": report["held"]["files"],
        "quarantine": report["quarantine"],
        "configuration": report["configuration"],
        "writers": report["writers"],
    }
    if beat.is_last:
        attributes["is_last"] = True
    if report.get("watcher"):
        attributes["watcher"] = report["watcher"]["mode"]
    if report.get("problem"):
        attributes["problem"] = report["problem"]["kind"]
    parts = ["heartbeat", frame.installation_id, f"{beat.interval:g}", str(int(beat.now // max(beat.interval, 1.0)))]
    if beat.is_last:
        parts.append(f"last of {beat.command} {beat.now - beat.uptime:.3f}")
    return _event("\0".join(parts), frame, beat.now, attributes)


def standing(flow: Flow, configuration: str) -> dict[str, Any]:
    """What a heartbeat reports besides the figures of passes: the settings in force, what is kept aside, who writes."""
    writers: dict[str, list[str]] = {}
    for name, version in sorted(flow.writers):
        writers.setdefault(name, []).append(version)
    try:
        quarantined: int | None = flow.committer.quarantine.count()
    except StateError:
        quarantined = None
    return {
        "held": flow.held.summary(),
        "quarantine": quarantined,
        "configuration": configuration,
        "writers": {name: versions[-MANY_WRITERS:] for name, versions in writers.items()},
    }


def send(made: dict[str, Any], flow: Flow, seconds: float, *, is_last: bool = False) -> Verdict | None:
    """Sends a heartbeat once, without making up for a failure later. None if there was no answer."""
    sealed = flow.way_out().seal(captured_sender(made, flow.capture))
    posted = flow.deliverer.ask_within(sealed, seconds, after_stop=is_last)
    return posted.verdict if posted else None


def after_scan(flow: Flow, ledger: Ledger, configuration: str, *, took: float, interval: float) -> None:
    """Sends a heartbeat with a scan's ledger: all that a fleet hears of a machine that does not run the service."""
    totals = Totals()
    totals.add(ledger)
    sources = {"sources": ledger.seen}
    report = {**totals.as_dict(), "lag": ledger.lag, "capture_level": flow.capture.level, "priorities": {"": sources}}
    report |= standing(flow, configuration)
    made = heartbeat(report, flow.frame, Beat(time.time(), took, interval, "scan", is_last=True))
    with contextlib.suppress(CollectorError):  # everything it reports has already been acknowledged and saved
        send(made, flow, LAST_WORD_SECONDS, is_last=True)


def canary(frame: Frame, now: float, age_days: int) -> dict[str, Any]:
    """An event whose only purpose is to see whether the sink accepts it, dated now or `age_days` ago."""
    name = f"canary\0{frame.installation_id}\0{now}\0{age_days}"
    attributes: dict[str, Any] = {"canary": True, "version": __version__}
    if age_days:
        attributes["age_days"] = age_days
    return _event(name, frame, now - age_days * 86_400, attributes, "canary")


def _event(name: str, frame: Frame, now: float, attributes: dict[str, Any], kind: str = "heartbeat") -> dict[str, Any]:
    return {
        **frame.sender(),
        "id": blake2b(name.encode(), digest_size=16).hexdigest(),
        "schema": SCHEMA,
        "kind": kind,
        "priority": 0,
        "time": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "client": {"name": "collector", "version": __version__},
        "attributes": attributes,
        "source": {"path": kind, "offset": 0, "length": 0},
    }
