"""The overview: what was spent by day, on what, and compared with the period before."""

from __future__ import annotations

from typing import Any

from collector.store import queries
from collector.store.calls import COUNTED
from collector.store.pages import charts, shown
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import DIMENSIONS, METRICS, every_bucket
from collector.store.pages.questions import session_ids, sessions_of
from collector.store.prices import amount, dollars

MOST_ROWS = 25
DEAREST = 5


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    connection, chosen = asked.connection, asked.chosen
    selection = chosen.selection
    rows = queries.usage_by(connection, (chosen.bucket, chosen.by), selection)
    for row in rows:
        row["value"] = _value(row, chosen.metric)
    whole = queries.totals(connection, selection)
    say = dollars if chosen.metric == "cost" else shown.short
    chart = charts.stacked(
        rows,
        every_bucket(chosen.since, chosen.until, chosen.bucket),
        (chosen.bucket, chosen.by, "value"),
        lambda value: say(int(value)),
        name=name_of(chosen.by),
    )
    parts = queries.usage_by(connection, (chosen.by,), selection)
    for row in parts:
        row["value"] = _value(row, chosen.metric)
    parts.sort(key=lambda row: (-row["value"], row[chosen.by]))
    dearest = sessions_of(connection, session_ids(connection, selection, "cost")[:DEAREST])
    return {
        "title": "Overview",
        "tiles": _tiles(asked, whole),
        "whole": whole,
        "chart": chart,
        "rows": parts[:MOST_ROWS],
        "left_out": max(0, len(parts) - MOST_ROWS),
        "most": max((row["value"] for row in parts), default=0),
        "sum": sum(row["value"] for row in parts),
        "name_of": name_of(chosen.by),
        "dimensions": DIMENSIONS,
        "metrics": METRICS,
        "without_price": queries.models_without_price(connection, selection),
        "dearest": dearest,
    }


def name_of(dimension: str) -> Any:
    """How a value of a dimension is shown."""
    return shown.project if dimension == "project" else lambda value: value or "(none)"


def _value(row: dict[str, Any], metric: str) -> int:
    if metric == "cost":
        return int(row["cost_micros"])
    return int(row["output_tokens"]) if metric == "output" else sum(row[name] for name in COUNTED)


def _tiles(asked: Asked, whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures at the top, each with its value in the period before."""
    connection, chosen = asked.connection, asked.chosen
    did = queries.activity(connection, chosen.selection)
    before = chosen.before
    was = {**queries.totals(connection, before), **queries.activity(connection, before)} if before else {}
    now = {**whole, **did}
    for row in (now, was):
        if row:
            row["tokens"] = sum(row[name] for name in COUNTED)
    if now["messages_without_price"] or was.get("messages_without_price"):
        was.pop("cost_micros", None)  # sums that leave something out cannot be compared
    named = (
        ("cost", "cost_micros", lambda _: amount(now)),
        ("all tokens", "tokens", shown.short),
        ("output tokens", "output_tokens", shown.short),
        ("sessions", "sessions", shown.count),
        ("prompts", "prompts", shown.count),
        ("messages", "messages", shown.count),
        ("lines added", "lines_added", shown.count),
        ("API errors", "api_errors", shown.count),
    )
    return [
        {"name": name, "value": say(now[key]), "change": _change(now[key], was.get(key))} for name, key, say in named
    ]


def _change(now: int, was: int | None) -> str:
    if not was:
        return ""
    change = 100 * (now - was) / was
    return f"{'+' if change >= 0 else '−'}{abs(change):,.0f}%"
