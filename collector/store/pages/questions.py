"""Queries that only the pages need, besides those in queries.py.

In: a connection inside a read transaction, a Selection. Out: plain rows. Invariant: a person's input is only ever a
parameter of a statement, and a list is never longer than a page can show.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import date, datetime
from typing import Any, NamedTuple

from collector.store.queries import DIMENSIONS, WITH_MODEL, Rows, Selection, rows_of

MOST_VALUES = 300  # of a filter
PAGE_OF_SESSIONS = 50
MOST_SPANS = 50_000
ACTIVE = "events > mentions"


class Order(NamedTuple):
    """An order for the list of sessions, largest first: by which figure, and where that comes from."""

    title: str
    by: str
    source: str


HAPPENED = """
    SELECT session_id,
        coalesce(min(first_time) FILTER (WHERE client_version IS NOT NULL), min(first_time)) AS time,
        max(last_time) AS last_time, sum(prompts) AS prompts, sum(api_errors) AS api_errors
    FROM active JOIN contexts USING (session_id) JOIN activity_totals ON activity_totals.context = contexts.number
    GROUP BY 1
"""
USED = """
    SELECT session_id, sum(cost_exact) AS cost_exact, sum(output_tokens) AS output_tokens
    FROM usage_costs JOIN contexts ON contexts.number = usage_costs.context GROUP BY 1
"""
CALLED = """
    SELECT session_id, sum(calls) AS calls, sum(failed) AS failed
    FROM (SELECT context, count(*) AS calls, sum(ok = 0) AS failed FROM call_totals GROUP BY 1) AS made
    JOIN contexts ON contexts.number = made.context GROUP BY 1
"""
ORDERS = {
    "newest": Order("newest first", "last_time", HAPPENED),
    "cost": Order("cost", "cost_exact", USED),
    "output": Order("output tokens", "output_tokens", USED),
    "longest": Order("length", "julianday(last_time) - julianday(time)", HAPPENED),
    "prompts": Order("prompts", "prompts", HAPPENED),
    "tools": Order("tool calls", "calls", CALLED),
    "failures": Order("failed tool calls", "failed", CALLED),
    "errors": Order("API errors", "api_errors", HAPPENED),
}
FIGURES_OF_A_SESSION = (
    *("messages", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cost_micros"),
    *("messages_without_price", "calls", "failed", "api_errors", "compactions", "agents"),
)
THESE = "IN (SELECT value FROM json_each(:sessions))"


def days_of(connection: sqlite3.Connection) -> tuple[date | None, date | None]:
    """The first and the last day with anything in the store."""
    found = connection.execute(
        "SELECT min(day), max(day) FROM kind_totals WHERE day <> '' AND kind NOT IN ('heartbeat', 'canary')"
    )
    first, last = found.fetchone()
    return _day(first), _day(last)


def values_of_filters(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The values that each filter can be set to."""
    found: dict[str, list[str]] = {}
    for name in ("project", "host", "user", "agent"):
        text = f"SELECT DISTINCT {DIMENSIONS[name]} AS value FROM places ORDER BY 1 LIMIT {MOST_VALUES}"  # noqa: S608
        found[name] = [row["value"] for row in rows_of(connection, text) if row["value"]]
    text = f"SELECT DISTINCT model AS value FROM model_days ORDER BY 1 LIMIT {MOST_VALUES}"  # noqa: S608
    found["model"] = [row["value"] for row in rows_of(connection, text) if row["value"]]
    return found


def session_ids(
    connection: sqlite3.Connection, chosen: Selection, order: str, words: str = "", offset: int = 0
) -> list[str]:
    """Sessions with activity in the period, one more than fits on a page, by the figures of the whole session, which
    is what the page shows. `words` is part of a title, or a whole id."""
    connection.create_function("folded", 1, str.casefold, deterministic=True)  # SQLite knows only the case of A to Z
    _, by, source = ORDERS[order]
    text = f"""
WITH active AS (
    SELECT DISTINCT session_id
    FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
    WHERE session_id IS NOT NULL AND {ACTIVE} AND {chosen.where()}
),
figures AS ({source})
SELECT session_id FROM active LEFT JOIN figures USING (session_id)
WHERE {"true" if chosen.model is None else f"session_id IN ({WITH_MODEL})"}
    AND (:words = '' OR session_id = :words OR EXISTS (
        SELECT 1 FROM contexts AS here JOIN event_rows AS row ON row.context = here.number
        WHERE here.session_id = active.session_id AND row.title IS NOT NULL
            AND instr(folded(row.title), :folded)
    ))
ORDER BY {by} DESC, session_id LIMIT {PAGE_OF_SESSIONS + 1} OFFSET :offset
"""  # noqa: S608
    asked = {"words": words, "folded": words.casefold(), "offset": offset}
    return [row["session_id"] for row in rows_of(connection, text, chosen, **asked)]


def sessions_of(connection: sqlite3.Connection, sessions: list[str]) -> Rows:
    """These sessions, whole and in this order: title, times, figures, calls, cost."""
    given = json.dumps(sessions)
    rows = {
        row["session_id"]: row
        for row in rows_of(connection, f"SELECT * FROM sessions WHERE session_id {THESE}", sessions=given)  # noqa: S608
    }
    more = f"""
SELECT session_id, sum(messages) AS messages, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens, sum(cache_creation_tokens) AS cache_creation_tokens,
    (sum(cost_exact) + 50000) / 100000 AS cost_micros,
    coalesce(sum(messages) FILTER (WHERE cost_from = 'unknown'), 0) AS messages_without_price
FROM contexts JOIN usage_costs ON usage_costs.context = contexts.number WHERE session_id {THESE} GROUP BY 1
"""  # noqa: S608
    calls = f"""
SELECT session_id, count(*) AS calls, coalesce(sum(ok = 0), 0) AS failed
FROM contexts JOIN call_totals ON call_totals.context = contexts.number WHERE session_id {THESE} GROUP BY 1
"""  # noqa: S608
    happened = f"""
SELECT session_id, sum(api_errors) AS api_errors, sum(compactions) AS compactions,
    count(DISTINCT agent_id) AS agents, min(git_branch) AS git_branch, min(cwd) AS cwd
FROM contexts JOIN activity_totals ON activity_totals.context = contexts.number WHERE session_id {THESE} GROUP BY 1
"""  # noqa: S608
    empty: dict[str, Any] = dict.fromkeys(FIGURES_OF_A_SESSION, 0)
    found = {name: {**empty, "git_branch": None, "cwd": None, **row} for name, row in rows.items()}
    for text in (more, calls, happened):
        for row in rows_of(connection, text, sessions=given):
            if row["session_id"] in found:
                found[row["session_id"]] |= row
    for row in found.values():
        row["length_ms"] = length(row["time"], row["last_time"])
    return [found[name] for name in sessions if name in found]


def pull_requests(connection: sqlite3.Connection, sessions: list[str]) -> dict[str, dict[str, Any]]:
    """The newest pull request of each of these sessions."""
    text = f"""
SELECT session_id, json_extract(unpacked(body), '$.pull_request') AS link
FROM contexts
JOIN event_rows AS row ON row.context = contexts.number AND row.kind = 'link'
JOIN packed_bodies ON packed_bodies.number = row.number
WHERE session_id {THESE} ORDER BY coalesce(row.time, ''), row.number
"""  # noqa: S608
    return {
        row["session_id"]: json.loads(row["link"])
        for row in rows_of(connection, text, sessions=json.dumps(sessions))
        if row["link"]
    }


def by_hour_of_week(connection: sqlite3.Connection, chosen: Selection, *, is_local: bool) -> Rows:
    """Prompts, output tokens and cost by weekday (0 is Sunday) and hour, in UTC or in this machine's time."""
    zone = ", 'localtime'" if is_local else ""
    text = f"""
WITH happened AS (
    SELECT hour, sum(prompts) AS prompts, 0 AS output, 0 AS cost
    FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
    WHERE hour <> '' AND {chosen.where()} GROUP BY 1
    UNION ALL
    SELECT hour, 0, sum(output_tokens), sum(cost_exact)
    FROM usage_costs JOIN contexts ON contexts.number = usage_costs.context
    WHERE hour <> '' AND {chosen.where(has_model=True)} GROUP BY 1
)
SELECT strftime('%w', hour || ':00'{zone}) AS weekday, strftime('%H', hour || ':00'{zone}) AS hour,
    sum(prompts) AS prompts, sum(output) AS output, (sum(cost) + 50000) / 100000 AS cost
FROM happened GROUP BY 1, 2 HAVING strftime('%w', happened.hour || ':00') IS NOT NULL
"""  # noqa: S608
    return rows_of(connection, text, chosen)


def spans(connection: sqlite3.Connection, chosen: Selection) -> Rows:
    """When each session and subagent was first and last at work in each hour, newest hours first."""
    text = f"""
SELECT hour, session_id, session_id || ' ' || coalesce(agent_id, '') AS context, first_time, last_time
FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
WHERE hour <> '' AND session_id IS NOT NULL AND first_time IS NOT NULL AND {chosen.where()}
ORDER BY hour DESC LIMIT {MOST_SPANS}
"""  # noqa: S608
    return rows_of(connection, text, chosen)


def heartbeats(connection: sqlite3.Connection) -> Rows:
    """The newest heartbeat of each agent that sends here, the longest silent first."""
    text = f"""
SELECT coalesce(host_name, host_id, '') AS host, host_id, user, row.time AS time, unpacked(body) AS body
FROM contexts
JOIN event_rows AS row ON row.number = (
    SELECT number FROM event_rows WHERE context = contexts.number AND kind = 'heartbeat' ORDER BY number DESC LIMIT 1
)
JOIN packed_bodies ON packed_bodies.number = row.number
WHERE session_id IS NULL AND project IS NULL AND cwd IS NULL ORDER BY row.time DESC LIMIT {MOST_VALUES}
"""  # noqa: S608
    newest: dict[tuple[Any, Any], dict[str, Any]] = {}
    for row in rows_of(connection, text):
        said = json.loads(row.pop("body")).get("attributes")
        if isinstance(said, dict) and not said.get("canary"):
            newest.setdefault((row["host_id"], row["user"]), row | {"attributes": said})
    return sorted(newest.values(), key=lambda row: row["time"] or "")


def writers(connection: sqlite3.Connection, chosen: Selection) -> Rows:
    """The versions that wrote, the latest at work first, and how many of their messages lack the final output count."""
    text = f"""
WITH wrote AS (
    SELECT coalesce(client_version, '') AS version, sum(events - mentions) AS events, max(last_time) AS last_time,
        count(DISTINCT CASE WHEN {ACTIVE} THEN session_id END) AS sessions
    FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
    WHERE session_id IS NOT NULL AND {chosen.where()} GROUP BY 1
),
used AS (
    SELECT coalesce(client_version, '') AS version, sum(messages) AS messages, sum(unknown_output) AS unknown_output
    FROM usage_totals JOIN contexts ON contexts.number = usage_totals.context
    WHERE {chosen.where(has_model=True)} GROUP BY 1
)
SELECT * FROM wrote LEFT JOIN used USING (version) WHERE events > 0 ORDER BY last_time DESC
"""  # noqa: S608
    return rows_of(connection, text, chosen)


def length(first: str | None, last: str | None) -> float | None:
    """The milliseconds between two times of the store."""
    try:
        return (datetime.fromisoformat(last or "") - datetime.fromisoformat(first or "")).total_seconds() * 1000
    except (TypeError, ValueError):
        return None


def _day(value: str | None) -> date | None:
    try:
        return date.fromisoformat(value or "")
    except ValueError:
        return None
