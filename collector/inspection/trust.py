"""Facts that people can rely on about their own machine: how the agent is, what waits, and what only the store has.

In: the settings. Out: facts, in words. Nothing is locked, repaired or sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from collector.agents.registry import AGENTS
from collector.assembly import scope_of
from collector.errors import CollectorError
from collector.inspection.deletions import deletions, kept_alone
from collector.inspection.status import status_report
from collector.log import counted, in_words
from collector.reading.discover import Findings, discover
from collector.settings import Settings, home


class Fact(NamedTuple):
    """One thing that is true; level is ok, warn or fail."""

    name: str
    level: str
    said: str


def facts(settings: Settings) -> Iterator[Fact]:
    """All facts, those about the agent first."""
    try:
        report = status_report(settings)
        found = discover(scope_of(settings))
        yield from _of_the_agent(report)
        yield from _of_the_transcripts(settings, found)
    except (CollectorError, OSError) as error:
        yield Fact("status", "fail", str(error))


def _of_the_agent(report: dict[str, Any]) -> Iterator[Fact]:
    problem = report.get("problem")
    if paused := report["paused"]:
        yield Fact("sending", "warn", f"nothing is sent: {paused['reason']}")
    if report["is_running"]:
        yield Fact("agent", "ok", f"running, {report['holder']}")
    else:
        yield Fact(
            "agent", "warn", "not running; `collector scan` collects once, `collector service install` all the time"
        )
    if problem:
        yield Fact("problem", "fail", f"{problem['kind']} since {problem['since']}: {problem['reason']}")
    if report["is_running"] and isinstance(report.get("lines"), int):
        skipped = sum((report.get("skipped") or {}).values())
        decided = report["delivered"] + skipped + report["quarantined"]
        parts = f"{report['delivered']:,} delivered, {skipped:,} skipped, {report['quarantined']:,} quarantined"
        is_even = decided == report["lines"]
        verdict = "the ledger balances" if is_even else "the ledger does not balance"
        yield Fact(
            "ledger", "ok" if is_even else "fail", f"{counted(report['lines'], 'line')} read: {parts}; {verdict}"
        )
    sources = sum(row["sources"] for row in report["priorities"].values())
    behind = sum(row["behind"] for row in report["priorities"].values())
    waiting = f"{in_words(report['lag'])} in {behind:,} of {counted(sources, 'source')} waiting to be sent"
    yield Fact(
        "lag",
        "warn" if behind else "ok",
        waiting if behind else f"nothing is waiting; {counted(sources, 'source')} known",
    )
    if report.get("last_acknowledged"):
        yield Fact("last acknowledged", "ok", str(report["last_acknowledged"]))
    count = report.get("quarantine")
    if count is not None:
        said = f"{counted(count, 'entry', 'entries')}; `collector quarantine list` shows them" if count else "empty"
        yield Fact("quarantine", "warn" if count else "ok", said)


def _of_the_transcripts(settings: Settings, found: Findings) -> Iterator[Fact]:
    for each in deletions(settings, found):
        said = f"{AGENTS[each.root.agent].title} deletes transcripts in {each.root.path} {each}"
        yield Fact("next deletion", "ok", said.replace(f"{home()}/", "~/"))
    count = kept_alone(settings, found)
    kept = settings.store.retention_days
    until = f"until they are {counted(kept, 'day')} old" if kept else "forever"
    gone = counted(count, "session whose transcript is", "sessions whose transcripts are")
    yield Fact("kept only here", "ok", f"{gone} gone; the store keeps them {until}")
