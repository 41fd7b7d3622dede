"""Facts that people can rely on about their own machine: how the agent is, what waits, and what only the store has.

In: the settings. Out: facts, in words. Nothing is locked, repaired or sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.agents.registry import AGENTS
from collector.assembly import scope_of
from collector.errors import CollectorError
from collector.inspection.check import Check
from collector.inspection.deletions import deletions, kept_alone, until_when
from collector.inspection.status import status_report
from collector.log import counted, in_words
from collector.reading.discover import Findings, discover
from collector.settings import Settings, home


def facts(settings: Settings) -> Iterator[Check]:
    """All facts, those about the agent first."""
    try:
        report = status_report(settings)
        found = discover(scope_of(settings))
        yield from _of_the_agent(report)
        yield from _of_the_transcripts(settings, found)
    except (CollectorError, OSError) as error:
        yield Check("status", "fail", str(error))


def _of_the_agent(report: dict[str, Any]) -> Iterator[Check]:
    problem = report.get("problem")
    if paused := report["paused"]:
        yield Check("sending", "warn", f"nothing is sent: {paused['reason']}")
    if report["is_running"]:
        yield Check("agent", "ok", f"running, {report['holder']}")
    else:
        yield Check(
            "agent", "warn", "not running; `collector scan` collects once, `collector service install` all the time"
        )
    if problem:
        yield Check("problem", "fail", f"{problem['kind']} since {problem['since']}: {problem['reason']}")
    if report["is_running"] and isinstance(report.get("lines"), int):
        skipped = sum((report.get("skipped") or {}).values())
        decided = report["delivered"] + skipped + report["quarantined"]
        parts = f"{report['delivered']:,} delivered, {skipped:,} skipped, {report['quarantined']:,} quarantined"
        is_even = decided == report["lines"]
        verdict = "the ledger balances" if is_even else "the ledger does not balance"
        yield Check(
            "ledger", "ok" if is_even else "fail", f"{counted(report['lines'], 'line')} read: {parts}; {verdict}"
        )
    sources = sum(row["sources"] for row in report["priorities"].values())
    behind = sum(row["behind"] for row in report["priorities"].values())
    waiting = f"{in_words(report['lag'])} in {behind:,} of {counted(sources, 'source')} waiting to be sent"
    yield Check(
        "lag",
        "warn" if behind else "ok",
        waiting if behind else f"nothing is waiting; {counted(sources, 'source')} known",
    )
    if report.get("last_acknowledged"):
        yield Check("last acknowledged", "ok", str(report["last_acknowledged"]))
    count = report.get("quarantine")
    if count is not None:
        said = f"{counted(count, 'entry', 'entries')}; `collector quarantine list` shows them" if count else "empty"
        yield Check("quarantine", "warn" if count else "ok", said)


def _of_the_transcripts(settings: Settings, found: Findings) -> Iterator[Check]:
    for each in deletions(settings, found):
        said = f"{AGENTS[each.root.agent].title} deletes transcripts in {each.root.path} {each}"
        yield Check("next deletion", "ok", said.replace(f"{home()}/", "~/"))
    gone = counted(kept_alone(settings, found), "session whose transcript is", "sessions whose transcripts are")
    yield Check("kept only here", "ok", f"{gone} gone; the store keeps them {until_when(settings)}")
