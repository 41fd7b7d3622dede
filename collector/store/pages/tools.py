"""Tools: how often each was called, how often it failed, how long it took; also by MCP server, skill and subagent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.store.pages import charts, shown
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import every_bucket
from collector.store.tool_use import calls_by, timed_calls, within
from collector.store.tools import TARGETS

MOST_ROWS = 40
SKILL = "Skill"
OUTCOMES = ("ok", "failed", "without a result")
Key = Callable[[str, str], str | None]


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    chosen = asked.chosen
    days = calls_by(asked.connection, (chosen.bucket,), chosen.selection)
    tools = timed_calls(asked.connection, ("name", "target"), chosen.selection)
    groups = [(title, _added_up(tools, key)) for title, key in GROUPS.items()]
    calls, answered, failed = (sum(row[name] or 0 for row in days) for name in ("calls", "answered", "failed"))
    outcomes = [
        {"bucket": row[chosen.bucket], "outcome": outcome, "calls": count}
        for row in days
        for outcome, count in zip(OUTCOMES, _outcomes(row), strict=True)
    ]
    return {
        "title": "Tools",
        "tiles": [
            {"name": "calls", "value": shown.count(calls), "change": ""},
            {"name": "failed", "value": shown.count(failed), "change": shown.percent(failed, calls) if calls else ""},
            {"name": "without a result", "value": shown.count(calls - answered), "change": ""},
            {"name": "different tools", "value": shown.count(len(groups[0][1])), "change": ""},
        ],
        "chart": charts.stacked(
            outcomes,
            every_bucket(chosen.since, chosen.until, chosen.bucket),
            ("bucket", "outcome", "calls"),
            lambda value: shown.count(int(value)),
            order=OUTCOMES,
            height=140,
        ),
        "groups": [(title, "key", rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)) for title, rows in groups if rows],
    }


def _outcomes(row: dict[str, Any]) -> tuple[int, int, int]:
    """How many calls succeeded, how many failed, and how many have no result, yet or for good."""
    failed = row["failed"] or 0
    return row["answered"] - failed, failed, row["calls"] - row["answered"]


def _agent(name: str, target: str) -> str | None:
    return (target or None) if name in TARGETS and name != SKILL else None


def _server(name: str, target: str) -> str | None:
    return (target or None) if name not in TARGETS else None


GROUPS: dict[str, Key] = {
    "Tools": lambda name, _: name,
    "MCP servers": _server,
    "Skills": lambda name, target: (target or None) if name == SKILL else None,
    "Subagents started": _agent,
}


def _added_up(tools: list[dict[str, Any]], key: Key) -> list[dict[str, Any]]:
    """The figures of each value that a key gives, most calls first; rows for which it gives none are left out."""
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, list[int]] = {}
    for row in tools:
        value = key(row["name"], row["target"])
        if value is not None:
            sums = found.setdefault(value, {"key": value, "calls": 0, "failed": 0, "duration_ms": None})
            sums["calls"] += row["calls"]
            sums["failed"] += row["failed"] or 0
            if row["duration_ms"] is not None:
                sums["duration_ms"] = (sums["duration_ms"] or 0) + row["duration_ms"]
            taken.setdefault(value, []).extend(row["durations"])
    for value, row in found.items():
        ordered = sorted(taken[value])
        row["p50_ms"], row["p95_ms"] = within(ordered, 50), within(ordered, 95)
    return sorted(found.values(), key=lambda row: (-row["calls"], row["key"]))
