"""The list of sessions: searched by words, sorted, fifty at a time."""

from __future__ import annotations

from typing import Any

from collector.store.pages.asked import Asked
from collector.store.pages.questions import ORDERS, PAGE_OF_SESSIONS, pull_requests, session_ids, sessions_of


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    chosen = asked.chosen
    order = chosen.text("sort") if chosen.text("sort") in ORDERS else "newest"
    offset = chosen.number("offset")
    found = session_ids(asked.connection, chosen.selection, order, chosen.text("q"), offset)
    ids = found[:PAGE_OF_SESSIONS]
    rows = sessions_of(asked.connection, ids)
    links = pull_requests(asked.connection, ids)
    for row in rows:
        row["pull_request"] = links.get(row["session_id"])
    return {
        "title": "Sessions",
        "rows": rows,
        "orders": {name: each.title for name, each in ORDERS.items()},
        "order": order,
        "words": chosen.text("q"),
        "offset": offset,
        "next": offset + PAGE_OF_SESSIONS if len(found) > PAGE_OF_SESSIONS else None,
        "previous": max(0, offset - PAGE_OF_SESSIONS) if offset else None,
    }
