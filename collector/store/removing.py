"""Removes events for good: a session, a project, or everything old.

In: an open Writer, and what to remove. Out: how much was removed, and a row in `removals` that says so without saying
what it was. Invariant: what remains adds up as if the removed events had never come, and their rows are overwritten
(secure_delete). Copies of ids and names that SQLite left behind when it split pages are gone after `Writer.rewrite`.

Crash window: events are removed in parts, each in one transaction with its totals. A removal that is cut short has
removed whole events, and continues from there when it is asked for again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from collector.log import timestamp
from collector.store import totals
from collector.store.totals import listed
from collector.store.writer import Writer

AT_ONCE = 2000
BEYOND = 2**62  # no event has such a number
THESE = "IN (SELECT value FROM json_each(:touched))"


class Choice(NamedTuple):
    """Which events: those for which all given conditions hold.

    A project is the name of its directory below projects/, or a path, which includes everything below it. An event that
    names no directory, such as a title, goes with its session. If that names none either, `names` decides: what the
    path's directory may be called, as JSON. That comes last because another path's may be called the same. `before` is
    a day; an event without a time has the day on which it came.
    """

    session: str | None = None
    project: str | None = None
    before: str | None = None
    names: str = "[]"

    @property
    def given(self) -> list[str]:
        """The kinds of conditions."""
        return [name for name in CONDITIONS if getattr(self, name) is not None]

    @property
    def described(self) -> str:
        """The same in words, without the values, which may be what was to be forgotten."""
        return " and ".join(self.given)


class Removed(NamedTuple):
    """What was removed: events, sessions that have nothing left, and bytes of bodies before they were packed."""

    events: int
    sessions: int
    bytes: int


THERE = "SELECT {} FROM contexts WHERE cwd = :project OR substr(cwd, 1, length(:project) + 1) = :project || '/'"
CONDITIONS = {
    "session": "context.session_id = :session",
    "project": f"""(
    context.project = :project OR context.number IN ({THERE.format("number")})
    OR (context.cwd IS NULL AND context.session_id IN ({THERE.format("session_id")}))
    OR (context.cwd IS NULL AND context.project IN (SELECT value FROM json_each(:names)) AND NOT EXISTS (
        SELECT 1 FROM contexts AS other WHERE other.session_id = context.session_id AND other.cwd IS NOT NULL)))
""",  # noqa: S608 - our own names
    "before": "coalesce(row.time, strftime('%Y-%m-%d', row.received / 1000, 'unixepoch')) < :before",
}


def remove(writer: Writer, choice: Choice, reason: str, at_most: int | None = None) -> Removed:
    """Removes events in parts, all or until `at_most` are gone. Raises StoreUnavailable; earlier parts stay removed."""
    removed = Removed(0, 0, 0)
    sessions = 0
    while at_most is None or removed.events < at_most:
        with writer.changing() as connection:
            before = _sessions(connection)
            part = _chosen(connection, choice)
            if not part:
                break
            size = sum(size for _, size in part)
            remove_events(connection, [number for number, _ in part])
            sessions += before - _sessions(connection)
            removed = Removed(removed.events + len(part), sessions, removed.bytes + size)
    if removed.events:
        _note(writer, choice, reason, removed)
        writer.empty_log()
    return removed


def remove_old(writer: Writer, days: int, at_most: int | None = None, today: date | None = None) -> int:
    """Removes events older than `days`, all of them or until `at_most` are gone; returns how many were removed."""
    first = (today or datetime.now(UTC).date()) - timedelta(days=days)
    return remove(writer, Choice(before=first.isoformat()), f"older than {days} days", at_most).events


def count(connection: sqlite3.Connection, choice: Choice) -> Removed:
    """What `remove` would remove."""
    statement = f"""
SELECT count(*), count(DISTINCT context.session_id), coalesce(sum(row.bytes), 0)
FROM event_rows AS row JOIN contexts AS context ON context.number = row.context WHERE {_where(choice)}
"""  # noqa: S608 - our own names
    return Removed(*connection.execute(statement, choice._asdict()).fetchone())


def remove_events(connection: sqlite3.Connection, numbers: list[int]) -> None:
    """Removes these events and keeps the totals in step: takes out what they touch, removes, puts the rest back in."""
    touched = listed(numbers)

    def found(statement: str) -> list[str]:
        return [value for (value,) in connection.execute(statement, touched)]

    messages = found(f"SELECT DISTINCT message FROM event_rows WHERE counts AND number {THESE}")  # noqa: S608
    calls = found(f"SELECT DISTINCT call_id FROM tool_rows WHERE number {THESE}")  # noqa: S608
    contexts = [
        int(number)
        for number in found(f"SELECT DISTINCT context FROM event_rows WHERE number {THESE}")  # noqa: S608
    ]
    connection.execute(
        "INSERT OR REPLACE INTO settings (name, value) SELECT 'last_number', max(number) FROM event_rows WHERE true "
        "HAVING max(number) > coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'last_number'), 0)"
    )
    totals.take_out(connection, messages)
    totals.take_out_events(connection, numbers)
    for table in ("tool_rows", "packed_bodies", "event_rows"):
        connection.execute(f"DELETE FROM {table} WHERE number {THESE}", touched)  # noqa: S608
    totals.put_in(connection, messages, calls, BEYOND)
    connection.execute("DELETE FROM kind_totals WHERE events = 0")
    totals.recount(connection, contexts)
    _drop_contexts(connection, contexts)


def _drop_contexts(connection: sqlite3.Connection, contexts: Iterable[int]) -> None:
    """Drops contexts and places that no event has any more, and the forks of sessions that are gone."""
    connection.execute(
        f"DELETE FROM contexts WHERE number {THESE} "  # noqa: S608
        "AND NOT EXISTS (SELECT 1 FROM event_rows WHERE event_rows.context = contexts.number)",
        listed(contexts),
    )
    connection.execute(
        "DELETE FROM places WHERE NOT EXISTS (SELECT 1 FROM contexts WHERE contexts.place = places.number)"
    )
    connection.execute(
        "DELETE FROM forks WHERE NOT EXISTS (SELECT 1 FROM contexts WHERE contexts.session_id = forks.session_id)"
    )


def _chosen(connection: sqlite3.Connection, choice: Choice) -> list[tuple[int, int]]:
    statement = f"""
SELECT row.number, row.bytes FROM event_rows AS row JOIN contexts AS context ON context.number = row.context
WHERE {_where(choice)} AND {{}} LIMIT {AT_ONCE}
"""  # noqa: S608
    # Events that name no directory first: once the others are gone, nothing says where they belong.
    orders = ("context.cwd IS NULL", "true") if choice.project is not None else ("true",)
    found = (connection.execute(statement.format(order), choice._asdict()).fetchall() for order in orders)
    return next(filter(None, found), [])


def _where(choice: Choice) -> str:
    return " AND ".join(CONDITIONS[name] for name in choice.given) or "false"


def _sessions(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT count(DISTINCT session_id) FROM contexts").fetchone()[0]
    return found


def _note(writer: Writer, choice: Choice, reason: str, removed: Removed) -> None:
    with writer.changing() as connection:
        connection.execute(
            "INSERT INTO removals (time, reason, selection, sessions, events, bytes) VALUES (?, ?, ?, ?, ?, ?)",
            (timestamp(), reason, choice.described, removed.sessions, removed.events, removed.bytes),
        )
