"""How the agent is doing: from its status file while it is running, otherwise from the state and a look at the roots.

In: the settings, and what is known of installed services. Out: a report, plain data of the same shape in both cases.
Invariant: nothing is locked or repaired.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collector import __version__
from collector.assembly import held_of, quarantine_of, scope_of, state_of
from collector.delivery.sinks.registry import SINKS
from collector.errors import StateError
from collector.files import read_plain
from collector.flow import reasons
from collector.flow.capture import Capture
from collector.flow.sink_identity import UNNAMED
from collector.inspection.check import may
from collector.keeping import parked
from collector.keeping.lock import holder
from collector.keeping.pause import Standstill, is_asked_to_leave_out, standstill
from collector.reading.discover import discover
from collector.service.figures import Lag
from collector.service.status_file import read_status
from collector.settings import Settings

NO_ROOM_TO_REPORT = 16_000


def status_of_each(settings: Settings, services: Sequence[Mapping[str, str]] | None = None) -> dict[str, Any]:
    """The report. With several sinks, it is that of the first, with the reports of all under `sinks`, by name."""
    asked = {} if services is None else {"services": services}
    reports = {each.sink_name or UNNAMED: status_report(each) | asked for each in settings.each()}
    first = next(iter(reports.values()))
    if len(reports) == 1:
        return first
    every = reports.values()
    lag, is_running = sum(each["lag"] for each in every), all(each["is_running"] for each in every)
    return {**first, "lag": lag, "is_running": is_running, "sinks": reports}


def status_report(settings: Settings) -> dict[str, Any]:
    """The report on one state."""
    named = holder(settings.state_path)
    told = read_status(settings.state_path)
    # The file of an earlier process, or of one that was killed, only describes the past.
    is_running = bool(named) and told.get("is_running") is True and f"process {told.get('pid')}," in named
    report, reason = told, standstill(settings)
    if not is_running:
        report = _look_around(settings)
        report |= _past(told, report["sink"])
    elif reason or (told.get("problem") or {}).get("kind") == "configuration":
        report |= _waiting(settings, told)
    if is_running and (obstacle := _obstacle(settings.state_path.parent)):
        report["problem"] = _unreported(obstacle, told)
    report |= {"is_running": is_running, "holder": named or None, "state": str(settings.state_path)}
    report["paused"] = {**reason._asdict(), "reason": str(reason)} if reason else None
    entries = _quarantined(settings)
    report["quarantine"] = None if entries is None else len(entries)
    report["damaged"] = sorted({entry["source"] for entry in entries or () if _is_still_damaged(entry)})
    return report


def _obstacle(directory: Path) -> str:
    """What keeps an agent from writing there; empty if nothing does."""
    if not may(directory, os.W_OK | os.X_OK):
        return f"{directory} is not writable"
    return f"No space is left in {directory}" if shutil.disk_usage(directory).free < NO_ROOM_TO_REPORT else ""


def _unreported(obstacle: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The problem that an agent cannot report itself."""
    reason = (
        f"{obstacle}, so the agent can neither save what was acknowledged nor report how it is. It keeps trying. What "
        f"else is said here is from {told.get('updated')}."
    )
    return {"kind": "state", "reason": reason, "since": told.get("updated"), "tries": 1}


def _waiting(settings: Settings, told: dict[str, Any]) -> dict[str, Any]:
    """What waits to be sent while the agent stands still, because then it does not look itself; nothing if flags name
    its roots."""
    seen = _look_around(settings)
    theirs, ours = ([root["path"] for root in each["roots"]] for each in (told, seen))
    return {name: seen[name] for name in ("priorities", "lag", "skipped_files")} if theirs == ours else {}


def _past(told: dict[str, Any], sink: str) -> dict[str, Any]:
    """The parts of the last run's report that are still true. What it says of a sink is true of that sink only."""
    kept = ("since", "updated", "last_rescan", "redaction_engine", "redactions")
    of_the_sink = ("last_acknowledged", "problem", "last_error")
    is_same = told.get("sink") == sink
    return {name: told.get(name) for name in kept} | {name: told.get(name) if is_same else None for name in of_the_sink}


def _look_around(settings: Settings) -> dict[str, Any]:
    """The report from the state and the roots, while no agent is running."""
    state = state_of(settings).load(may_repair=False)
    scope, held = scope_of(settings), held_of(settings, is_dry_run=True)
    found = discover(scope, known=None if held.held.files else state.entries)
    found.add(held.held.find_stand_ins(found.files, state.entries, scope.roots, scope.takes_source).sources)
    lag = Lag()
    lag.take_all(found, state.lag_of)
    priorities = lag.by_priority()
    leaves_out = is_asked_to_leave_out(settings.state_path)
    return {
        "version": __version__,
        "roots": [root._asdict() | {"is_there": root not in found.missing_roots} for root in scope.roots],
        "sink": SINKS[settings.sink_type].address(settings),
        "offsets": parked.told(state.about, state.parked, is_new=state.is_new_sink and not leaves_out),
        "capture_level": settings.capture.level,
        "left_out": Capture(settings.capture.level, settings.capture.off).left_out,
        **settings.origins.as_dict(),
        "watcher": {"mode": "not running", "reason": ""},
        "priorities": priorities,
        "lag": sum(row["lag"] for row in priorities.values()),
        "held": held.summary(),
        "skipped_files": found.skipped,
        "unlisted_directories": len(found.errors),
        "notes": [*state.notes, *([str(Standstill("request", ""))] if leaves_out else [])],
    }


def _quarantined(settings: Settings) -> list[dict[str, Any]] | None:
    try:
        return quarantine_of(settings).entries()
    except StateError:
        return None


def _is_still_damaged(entry: dict[str, Any]) -> bool:
    """Whether an entry is about a damaged whole-file source that has not changed since."""
    if entry["reason"] != reasons.DAMAGED.name:
        return False
    from collector.redact.seal import content_id  # imported here, because most reports need no redaction

    with contextlib.suppress(OSError):
        return content_id(read_plain(Path(os.path.expanduser(entry["source"])))) == str(entry["id"])
    return False
