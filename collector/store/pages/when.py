"""When work happens: by hour of the week, and how many sessions and agents at once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from collector.store import queries
from collector.store.pages import charts, shown
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import every_bucket
from collector.store.pages.questions import MOST_SPANS, by_hour_of_week, spans
from collector.store.prices import dollars

MEASURES = {"prompts": "prompts", "output": "output tokens", "cost": "cost"}
SAY = {"prompts": shown.count, "output": shown.short, "cost": dollars}
MOST_POINTS = 3000
MOST_DAYS = 120


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    connection, chosen = asked.connection, asked.chosen
    measure = chosen.text("measure") if chosen.text("measure") in MEASURES else "prompts"
    zone = "utc" if chosen.text("zone") == "utc" else "local"
    values: dict[tuple[int, int], float] = {
        ((int(row["weekday"]) - 1) % 7, int(row["hour"])): row[measure]
        for row in by_hour_of_week(connection, chosen.selection, is_local=zone == "local")
    }
    minutes = _minutes()
    shown_minutes = minutes if zone == "local" else 0
    heatmap = charts.heatmap(values, lambda value: SAY[measure](int(value)), shown_minutes)
    every = spans(connection, chosen.selection)
    no_hours = {hour for hour in {row["hour"] for row in every} if _seconds(hour) is None}
    found = [row for row in every if row["hour"] not in no_hours] if no_hours else every
    sessions, agents = _by_hour(found, "session_id"), _by_hour(found, "context")
    peaks = _peaks(found)
    days = every_bucket(chosen.since, chosen.until, "day")
    return {
        "title": "When",
        "measure": measure,
        "measures": MEASURES,
        "zone": zone,
        "zones": {"local": f"this machine's time ({_zone()}{f', from :{minutes}' if minutes else ''})", "utc": "UTC"},
        "minutes": shown_minutes,
        "heatmap": heatmap if any(values.values()) else [],
        "whole": queries.totals(connection, chosen.selection),
        "without_price": queries.models_without_price(connection, chosen.selection),
        "weekdays": charts.WEEKDAYS,
        "points": json.dumps(_points(sessions, agents)),
        "chart": charts.stacked(
            [{"bucket": day, "of": "sessions", "value": most} for day, (most, _) in peaks.items()],
            days[-MOST_DAYS:],
            ("bucket", "of", "value"),
            lambda value: shown.count(int(value)),
            height=120,
        ),
        "is_cut": len(sessions) > MOST_POINTS or len(every) == MOST_SPANS,
        "days_left_out": max(0, len(days) - MOST_DAYS),
        "busiest": sorted(peaks.items(), key=lambda item: (item[1], item[0]), reverse=True)[:5],
    }


def _zone() -> str:
    return time.tzname[time.localtime().tm_isdst > 0]


def _minutes() -> int:
    """How many minutes past the local hour a UTC hour begins: 30 in India. The store counts by UTC hours."""
    return time.localtime().tm_gmtoff % 3600 // 60


def _by_hour(found: Iterable[dict[str, Any]], key: str) -> dict[str, int]:
    """How many were active, hour by hour."""
    seen: dict[str, set[Any]] = {}
    for row in found:
        seen.setdefault(row["hour"], set()).add(row[key])
    return {hour: len(names) for hour, names in seen.items()}


def _points(sessions: dict[str, int], agents: dict[str, int]) -> list[list[int]]:
    """Seconds, sessions, agents: for hours with any activity, and their neighbours, where the lines come down to 0."""
    known = {_seconds(hour) or 0: (sessions[hour], agents[hour]) for hour in sorted(sessions)[-MOST_POINTS:]}
    times = sorted({moment + step for moment in known for step in (-3600, 0, 3600)})
    return [times, *([known.get(moment, (0, 0))[part] for moment in times] for part in (0, 1))]


def _seconds(hour: str) -> int | None:
    """An hour in seconds since 1970; None if what a sender gave is not an hour, such as one in month 13."""
    try:
        return int(datetime.fromisoformat(f"{hour}:00:00").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _peaks(found: Iterable[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """The most sessions, and the most agents (sessions and subagents), at work at the same moment, for each day."""
    peaks: dict[str, list[int]] = {}
    for place, key in enumerate(("session_id", "context")):
        edges = sorted(
            edge for row in found for edge in ((row["first_time"], 0, row[key]), (row["last_time"], 1, row[key]))
        )
        open_ones: dict[Any, int] = {}
        for moment, is_end, name in edges:
            if is_end:
                open_ones[name] -= 1
                if not open_ones[name]:
                    del open_ones[name]
            else:
                open_ones[name] = open_ones.get(name, 0) + 1
                day = peaks.setdefault(moment[:10], [0, 0])
                day[place] = max(day[place], len(open_ones))
    return {day: (sessions, agents) for day, (sessions, agents) in sorted(peaks.items())}
