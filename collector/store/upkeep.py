"""Looks after the database: says what it holds and how large it is, compacts it, and exports events from it.

In: a path. Out: figures, or events as they were sent. Crash window: compacting writes a second database beside the
first, and SQLite puts it in place in one transaction, so a crash leaves the old one as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from collector.store import queries
from collector.store.queries import Selection
from collector.store.report import asking
from collector.store.writer import Writer

PAGE = 500
ONE_PAGE = """
SELECT row.number, bodies.body
FROM event_rows AS row
JOIN contexts ON contexts.number = row.context
JOIN bodies ON bodies.number = row.number
WHERE row.number > :after AND {} ORDER BY row.number LIMIT :page
"""


class Sizes(NamedTuple):
    """The sizes of a database's files, in bytes."""

    database: int
    log: int
    free: int

    @property
    def total(self) -> int:
        """All files together."""
        return self.database + self.log


def info(database: Path) -> dict[str, Any]:
    """What a person wants to know about the store; raises StoreError."""
    with asking(database) as connection:
        whole = queries.extent(connection)
        known = dict(connection.execute("SELECT name, value FROM settings"))
        sizes = sizes_of(database, connection)
        packed = connection.execute("SELECT coalesce(sum(length(body)), 0) FROM packed_bodies").fetchone()[0]
        events = whole["events"]
        return {
            "database": str(database),
            "version": connection.execute("PRAGMA user_version").fetchone()[0],
            "bytes": sizes.total,
            "free_bytes": sizes.free,
            "events": events,
            "sessions": whole["sessions"],
            "first_time": whole["first_time"],
            "last_time": whole["last_time"],
            "bytes_sent": whole["bytes"],
            "bytes_of_bodies": packed,
            "bytes_an_event": round((sizes.total - sizes.free) / events) if events else None,
            "prices": known.get("prices"),
            "models_without_price": queries.models_without_price(connection),
            "removals": len(queries.removals(connection)),
        }


def sizes_of(database: Path, connection: sqlite3.Connection) -> Sizes:
    """What the database takes on the disk, and how much of that is free inside it."""
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    log = database.with_name(f"{database.name}-wal")
    return Sizes(database.stat().st_size, log.stat().st_size if log.exists() else 0, page * free)


def compact(writer: Writer) -> tuple[int, int]:
    """Makes the database as small as it can be; returns the bytes before and after. Raises StoreUnavailable."""
    before = sizes_of(writer.path, writer.connection).total
    writer.rewrite()
    return before, sizes_of(writer.path, writer.connection).total


def exported(database: Path, chosen: Selection) -> Iterator[str]:
    """The events of a selection as they were sent, in order of arrival; raises StoreError."""
    with asking(database) as connection:
        statement = ONE_PAGE.format(chosen.where(hour="row.time"))
        after = 0
        while page := connection.execute(statement, chosen.parameters | {"after": after, "page": PAGE}).fetchall():
            yield from (body for _, body in page)
            after = page[-1][0]
