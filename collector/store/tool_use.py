"""How often tools were called, how often they failed, and how long they took.

In: an open connection (report.asking), a Selection. Out: plain rows. Invariant: medians and percentiles are exact, over
all calls that have a duration: the store keeps the durations of each day (tables.sql), and sorting them here takes a
quarter of the time of SQLite's window functions.
"""

from __future__ import annotations

import sqlite3

import orjson

from collector.store.queries import DIMENSIONS, EVERYTHING, Rows, Selection, rows_of

KEYS = {"name": "name", "target": "target"}
DAYS = "(SELECT day AS hour, call_days.* FROM call_days) AS calls"


def tools(connection: sqlite3.Connection, chosen: Selection = EVERYTHING) -> Rows:
    """The calls of each tool, how many failed and how long they took. `p50_ms` and `p95_ms` cover the calls that have a
    duration; `computed` is how many of these were computed."""
    rows = timed_calls(connection, ("name",), chosen)
    for row in rows:
        durations = sorted(row.pop("durations"))
        row["p50_ms"], row["p95_ms"] = within(durations, 50), within(durations, 95)
    return sorted(rows, key=lambda row: -row["calls"])


def tool_calls(connection: sqlite3.Connection, chosen: Selection) -> Rows:
    """How often each tool was called and nothing else, because an index answers that."""
    text = f"""
SELECT name, sum(calls) AS calls FROM {_source(("name",), chosen)} WHERE {chosen.where()} GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: S608 - our own names
    return rows_of(connection, text, chosen)


def timed_calls(connection: sqlite3.Connection, dimensions: tuple[str, ...], chosen: Selection) -> Rows:
    """The figures by these dimensions, with all durations, unsorted."""
    more = ", group_concat(nullif(durations, '')) AS durations"
    rows = rows_of(connection, _statement(dimensions, chosen, more), chosen)
    for row in rows:
        row["durations"] = orjson.loads(f"[{row['durations'] or ''}]")
    return rows


def calls_by(connection: sqlite3.Connection, dimensions: tuple[str, ...], chosen: Selection) -> Rows:
    """The figures without durations."""
    return rows_of(connection, _statement(dimensions, chosen), chosen)


def within(ordered: list[int], percent: int) -> int | None:
    """The duration that this share of the sorted durations does not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def _statement(dimensions: tuple[str, ...], chosen: Selection, more: str = "") -> str:
    keys = ", ".join(f"{KEYS.get(name) or DIMENSIONS[name]} AS by_{name}" for name in dimensions)
    shown = ", ".join(f"by_{name} AS {name}" for name in dimensions)
    return f"""
SELECT {shown}, sum(calls) AS calls, sum(answered) AS answered,
    CASE WHEN sum(answered) THEN sum(failed) END AS failed,
    CASE WHEN sum(timed) THEN sum(duration_ms) END AS duration_ms, sum(timed) AS timed,
    CASE WHEN sum(timed) THEN sum(computed) END AS computed {more}
FROM (SELECT {keys}, calls.* FROM {_source(dimensions, chosen)} WHERE {chosen.where()})
GROUP BY {", ".join(map(str, range(1, len(dimensions) + 1)))}
ORDER BY {", ".join(map(str, range(1, len(dimensions) + 1)))}
"""  # noqa: S608 - our own names


def _source(dimensions: tuple[str, ...], chosen: Selection) -> str:
    """The totals by day, joined with places if they matter."""
    is_anywhere = set(dimensions) <= {*KEYS, "day", "week", "month"}
    if is_anywhere and not any((chosen.project, chosen.host, chosen.user, chosen.agent)):
        return DAYS
    return f"{DAYS} JOIN places ON places.number = calls.place"
