"""Trust: whether the sums are right, what was taken out or held back, who is silent, and what only this store has.

It draws on heartbeats (of every agent that sends here), on the events themselves, and, on a person's own machine, on
the agent there and the transcripts that are still on the disk.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from collector.store import queries
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import FILTERS
from collector.store.pages.questions import heartbeats, writers

MOST_ROWS = 40
SILENT_MS, VERY_SILENT_MS = 3_600_000.0, 86_400_000.0
WITHHELD = "withheld"


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    connection, chosen = asked.connection, asked.chosen
    agents = [_agent(row) for row in heartbeats(connection)]
    found = queries.redactions(connection, chosen.selection)
    rules = [row for row in found if row["rule"] != WITHHELD]
    whole = queries.totals(connection, chosen.selection)
    did = queries.activity(connection, chosen.selection)
    kinds = queries.kinds(connection, chosen.selection)
    local = asked.site.local() if asked.site.local else None
    versions = writers(connection, chosen.selection)
    return {
        "title": "Trust",
        "agents": agents,
        "local": local,
        "tiles": [
            {"name": "events", "value": f"{did['events']:,}", "change": ""},
            {"name": "secrets removed", "value": f"{sum(row['times'] for row in rules):,}", "change": ""},
            {
                "name": "texts withheld",
                "value": f"{sum(row['times'] for row in found if row['rule'] == WITHHELD):,}",
                "change": "",
            },
            {
                "name": "events of unknown kind",
                "value": f"{kinds.get('unknown', 0):,}",
                "change": "whatever the filters" if any(map(chosen.filter, FILTERS)) else "",
            },
            {
                "name": "messages with unknown output",
                "value": f"{whole['unknown_output']:,}",
                "change": f"of {whole['messages']:,}",
            },
        ],
        "rules": rules[:MOST_ROWS],
        "left_out": max(0, len(rules) - MOST_ROWS),
        "most": max((row["times"] for row in rules), default=0),
        "versions": versions[:MOST_ROWS],
        "removals": queries.removals(connection)[:MOST_ROWS],
        "retention_days": asked.site.retention_days,
    }


def _agent(row: dict[str, Any]) -> dict[str, Any]:
    """What the newest heartbeat of an agent says, and whether it adds up."""
    said = row["attributes"]
    named = ("lines", "delivered", "quarantined", "lag", "quarantine", "withheld")
    figures = {name: said[name] if isinstance(said.get(name), int) else None for name in named}
    skipped, lines = sum(_counts(said.get("skipped"))), figures["lines"]
    decided = skipped + (figures["delivered"] or 0) + (figures["quarantined"] or 0)
    silent = _since(row["time"])
    return {
        "host": row["host"],
        "user": row["user"],
        "time": row["time"],
        "is_last": bool(said.get("is_last")),
        "silent_ms": silent,
        "is_silent": silent is not None and silent > (VERY_SILENT_MS if said.get("is_last") else SILENT_MS),
        "version": said.get("version"),
        "command": said.get("command"),
        **figures,
        "skipped": skipped,
        "balances": None if lines is None else lines == decided,
        "capture_level": said.get("capture_level"),
        "problem": said.get("problem"),
    }


def _counts(value: Any) -> list[int]:
    return [count for count in value.values() if isinstance(count, int)] if isinstance(value, dict) else []


def _since(time: str | None) -> float | None:
    try:
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(time or "")).total_seconds() * 1000)
    except (TypeError, ValueError):
        return None
