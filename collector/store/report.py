"""What is in the store: tokens per day and model, sessions, prompts, tools. Plain SQL over the views of sql/views.sql.

In: the database, and the first day. Out: plain data, in the shape that docs/receiver.md documents; fields are added to
it, never changed. Invariant: all questions are asked inside one read transaction, so the figures agree with each other
while somebody else is writing. Days are UTC.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from collector.store.database import explain_read_failure, open_to_read

FIGURES = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "cache_creation_5m_tokens",
    "cache_creation_1h_tokens",
    "thinking_tokens",
    "web_search_requests",
)
SUMS = ", ".join(f"sum({name}) AS {name}" for name in FIGURES) + ", count(*) AS messages"

# `:since` is a day, or '' for everything. An event without a time has no day, and counts only as part of everything.
PERIOD = "coalesce(day, '') >= :since"

MESSAGES = f"CREATE TEMP TABLE counted AS SELECT * FROM messages WHERE {PERIOD}"  # noqa: S608 - our own names
TOKENS = f"""
SELECT coalesce(day, '') AS day, coalesce(model, '') AS model, {SUMS}
FROM counted GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608
PROJECTS = f"""
SELECT coalesce(project, '') AS project, {SUMS}, count(DISTINCT session_id) AS sessions
FROM counted GROUP BY 1 ORDER BY output_tokens DESC, 1
"""  # noqa: S608
TOOLS = f"""
SELECT coalesce(name, '') AS name, count(*) AS calls FROM tool_calls WHERE {PERIOD} GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: S608
KINDS = f"SELECT kind, count(*) AS events FROM events WHERE {PERIOD} GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608
SESSIONS = f"""
SELECT count(DISTINCT session_id) FROM events
WHERE kind NOT IN ('prompt_history', 'session_index') AND {PERIOD}
"""  # noqa: S608
PROMPTS = f"SELECT count(*) FROM events WHERE kind = 'user_prompt' AND origin = 'human' AND {PERIOD}"  # noqa: S608
UNKNOWN_OUTPUT = "SELECT count(*) FROM counted WHERE quality LIKE '%output_tokens_unknown%'"


def summarize(database: Path, since: str = "") -> dict[str, Any]:
    """The report from the day `since` (YYYY-MM-DD) onwards; raises StoreError."""
    with closing(open_to_read(database)) as connection:
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("BEGIN")
            connection.execute(MESSAGES, {"since": since})
            return _summary(connection, since)
        except sqlite3.Error as error:
            raise explain_read_failure(database, error) from error


def _summary(connection: sqlite3.Connection, since: str) -> dict[str, Any]:
    def rows(statement: str) -> list[dict[str, Any]]:
        return [dict(row) for row in connection.execute(statement, {"since": since})]

    def number(statement: str) -> int:
        value: int = connection.execute(statement, {"since": since}).fetchone()[0]
        return value

    tokens = rows(TOKENS)
    kinds = {row["kind"]: row["events"] for row in rows(KINDS)}
    return {
        "since": since or None,
        "tokens": tokens,
        "totals": _sum(tokens) | {"messages_with_unknown_output": number(UNKNOWN_OUTPUT)},
        "models": {
            model: _sum([row for row in tokens if row["model"] == model])
            for model in sorted({row["model"] for row in tokens})
        },
        "projects": rows(PROJECTS),
        "sessions": number(SESSIONS),
        "prompts": number(PROMPTS),
        "tools": rows(TOOLS),
        "events": sum(kinds.values()),
        "kinds": kinds,
    }


def _sum(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {name: sum(row[name] for row in rows) for name in (*FIGURES, "messages")}
