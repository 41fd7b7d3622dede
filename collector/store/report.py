"""The overview of the store as one object: tokens and cost per day and model, sessions, prompts, tools.

In: the database and a selection. Out: plain data, in the shape that docs/receiver.md documents; fields are added to it,
never changed. Invariant: all queries run inside one read transaction, so the figures agree with each other even while
somebody else is writing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from collector.store import queries, tool_use
from collector.store.database import explain_read_failure, open_to_read
from collector.store.prices import PriceTable
from collector.store.queries import EVERYTHING, Selection

EXACT = {"cost_exact", "reported_exact"}


@contextmanager
def asking(database: Path, prices: PriceTable | None = None) -> Iterator[sqlite3.Connection]:
    """A connection on which all queries see the same moment; raises StoreError."""
    with closing(open_to_read(database, prices)) as connection:
        try:
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            raise explain_read_failure(database, error) from error


def summarize(database: Path, chosen: Selection = EVERYTHING, prices: PriceTable | None = None) -> dict[str, Any]:
    """The report on a selection; raises StoreError."""
    with asking(database, prices) as connection:
        return _summary(connection, chosen)


def _summary(connection: sqlite3.Connection, chosen: Selection) -> dict[str, Any]:
    exact = queries.usage_by(connection, ("day", "model"), chosen, is_exact=True)
    by_model: dict[str, list[dict[str, Any]]] = {}
    for row in exact:
        by_model.setdefault(row["model"], []).append(row)
    models = {model: {"model": model, **queries.added_up(rows)} for model, rows in sorted(by_model.items())}
    tokens = [{name: value for name, value in row.items() if name not in EXACT} for row in exact]
    projects = queries.usage_by(connection, ("project",), chosen)
    sessions = queries.sessions_with_usage(connection, "project", chosen)
    whole = queries.added_up(exact)
    activity = queries.activity(connection, chosen)
    kinds = queries.kinds(connection, chosen)
    return {
        "since": chosen.since or None,
        "until": chosen.until or None,
        "tokens": tokens,
        "totals": whole | {"messages_with_unknown_output": whole["unknown_output"]},
        "models": models,
        "projects": sorted(
            (row | {"sessions": sessions.get(row["project"], 0)} for row in projects),
            key=lambda row: (-row["output_tokens"], row["project"]),
        ),
        "sessions": activity["sessions"],
        "prompts": activity["prompts"],
        "lines_added": activity["lines_added"],
        "lines_removed": activity["lines_removed"],
        "tools": tool_use.tool_calls(connection, chosen),
        "events": activity["events"],
        "kinds": kinds,
    }
