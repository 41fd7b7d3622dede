"""Reads events out of the store again, in order of arrival.

In: a database, the number to continue after, and a time. Out: numbers and events as they were received. Nothing is
changed. Events are read in pages, so that no read holds up whoever writes to the database meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from collector.store.database import explain_read_failure, open_to_read

PAGE = 500
# Without heartbeats: they say how an agent was doing at a time that is over.
NEXT_PAGE = """
SELECT row.number, body FROM event_rows AS row JOIN bodies ON bodies.number = row.number
WHERE row.number > :after AND (:since = '' OR row.time >= :since) AND row.kind NOT IN ('heartbeat', 'canary')
ORDER BY row.number LIMIT :page
"""


PLACES = "SELECT DISTINCT session_id, cwd FROM contexts WHERE session_id IS NOT NULL AND cwd IS NOT NULL"


class Stored(NamedTuple):
    """An event in the store; its number only says in which order it came in."""

    number: int
    body: str


def places_of_sessions(path: Path) -> Iterator[tuple[str, str]]:
    """Every session in the store with each directory that it worked in; raises StoreError."""
    with _reading(path) as connection:
        yield from connection.execute(PLACES)


def stored_events(path: Path, *, after: int, since: str) -> Iterator[Stored]:
    """The events with numbers above `after`, from the time `since` (RFC 3339) on; raises StoreError."""
    with _reading(path) as connection:
        while found := connection.execute(NEXT_PAGE, {"after": after, "since": since, "page": PAGE}).fetchall():
            yield from (Stored(*row) for row in found)
            after = found[-1][0]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_to_read(path)) as connection:
        try:
            yield connection
        except sqlite3.Error as error:
            raise explain_read_failure(path, error) from error
