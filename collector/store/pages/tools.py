"""Tools: how often each was called, how often it failed, how long it took; by MCP server, skill and subagent, too."""

from __future__ import annotations

from typing import Any

from collector.store import queries
from collector.store.pages import charts, shown
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import every_bucket
from collector.store.pages.questions import calls_by_day, calls_by_target

MOST_ROWS = 40


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    connection, chosen = asked.connection, asked.chosen
    tools = queries.tools_by(connection, "name", chosen.selection)
    targets = calls_by_target(connection, chosen.selection)
    groups = [
        ("Tools", "name", tools),
        ("MCP servers", "target", [row for row in targets if row["group"] == "mcp"]),
        ("Skills", "target", [row for row in targets if row["group"] == "skill"]),
        ("Subagents, as they were started", "target", [row for row in targets if row["group"] == "agent"]),
    ]
    calls, failed = sum(row["calls"] for row in tools), sum(row["failed"] or 0 for row in tools)
    unanswered = calls - sum(row["answered"] for row in tools)
    listed = [(title, key, rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)) for title, key, rows in groups if rows]
    return {
        "title": "Tools",
        "tiles": [
            {"name": "calls", "value": shown.count(calls), "change": ""},
            {"name": "failed", "value": shown.count(failed), "change": shown.percent(failed, calls) if calls else ""},
            {
                "name": "without a result",
                "value": shown.count(unanswered),
                "change": "",
            },
            {"name": "different tools", "value": shown.count(len(tools)), "change": ""},
        ],
        "chart": charts.stacked(
            calls_by_day(connection, chosen.selection, chosen.bucket),
            every_bucket(chosen.since, chosen.until, chosen.bucket),
            ("bucket", "outcome", "calls"),
            lambda value: shown.count(int(value)),
            order=("answered", "failed"),
            height=140,
        ),
        "groups": listed,
    }
