"""The schema of the database: tables, views, dictionary and prices.

In: a connection inside a transaction, and the version of its database. Out: the newest version, with everything it
held. A database of an older version, or one that lacks a table of its own version, as one from between two releases
may, is made anew from its events. Views and prices have no version: they are recreated whenever they differ from what
this version of collector would create.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache

from collector.store import totals
from collector.store.packing import Packer, shipped_dictionary
from collector.store.prices import Price, PriceTable
from collector.store.rows import Row, from_line
from collector.store.totals import ADDED_UP, FOLLOWING, PROMPT_OVER, SUMMED, statement
from collector.store.writing import Rows

VERSION = 4
_CREATES = re.compile(r"^CREATE (?:TABLE|INDEX|TRIGGER) (\w+)", re.MULTILINE)
# Tables that do not follow from the stored events.
OWN = ("forks", "removals", "settings", "prices", "price_names")
BEFORE = "before_"  # prefix of tables while their contents are moved
EVENTS = f"SELECT number, received, body FROM {BEFORE}event_rows JOIN {BEFORE}packed_bodies USING (number) ORDER BY 1"  # noqa: S608
EVENTS_OF_VERSION_1 = (
    f"SELECT number, received_at, body FROM {BEFORE}events JOIN {BEFORE}bodies USING (number) ORDER BY 1"  # noqa: S608
)


def is_current(connection: sqlite3.Connection, prices: PriceTable | None) -> bool:
    """Whether a database of this version has its tables, its views, and these prices, if they are given."""
    if not _is_complete(connection):
        return False
    known = dict(connection.execute("SELECT name, value FROM settings"))
    return known.get("views") == _mark_of_views() and (
        known.get("prices") == prices.mark if prices else "prices" in known
    )


def upgrade(connection: sqlite3.Connection, version: int, prices: PriceTable | None) -> None:
    """Brings the database from its version to the newest."""
    for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    totals.add_functions(connection)
    if version == 0:
        _make_tables(connection)
    elif version < VERSION or not _is_complete(connection):
        _make_anew(connection, version)
    _make_views(connection)
    if prices is None:
        from collector.store.prices import load

        has_prices = connection.execute("SELECT count(*) FROM prices").fetchone()[0]
        prices = None if has_prices else load()
    if prices is not None:
        _set_prices(connection, prices)


def view_statements() -> Iterator[str]:
    """The statements that make the views."""
    yield f"CREATE VIEW billed AS {statement('billed.sql')}"
    yield from _statements(with_formula(statement("views.sql")))


def with_formula(text: str) -> str:
    """SQL with the formulas of the cost and of the prompt's size filled in."""
    return text.replace("/* cost */", statement("cost.sql")).replace("/* prompt_over */", PROMPT_OVER)


def _make_views(connection: sqlite3.Connection) -> None:
    for command in view_statements():
        connection.execute(command)
    _set(connection, "views", _mark_of_views())


def _mark_of_views() -> str:
    return hashlib.sha256("".join(view_statements()).encode()).hexdigest()[:16]


def _set_prices(connection: sqlite3.Connection, table: PriceTable) -> None:
    connection.execute("DELETE FROM prices")
    connection.execute("DELETE FROM price_names")
    marks = ", ".join("?" * len(Price._fields))
    connection.executemany(f"INSERT INTO prices ({', '.join(Price._fields)}) VALUES ({marks})", table.prices)  # noqa: S608
    connection.executemany("INSERT INTO price_names (name, model) VALUES (?, ?)", table.names)
    _set(connection, "prices", table.mark)


def _set(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, value))


def _tables() -> str:
    text = statement("tables.sql")
    for name, sums in (("figures", SUMMED), ("activity", ADDED_UP)):
        text = text.replace(f"/* {name} */", "\n    ".join(f"{each} INTEGER NOT NULL," for each in sums))
    return text + FOLLOWING


def _make_tables(connection: sqlite3.Connection) -> None:
    for command in _statements(_tables()):
        connection.execute(command)
    connection.execute("INSERT INTO dictionaries (number, content) VALUES (1, ?)", (shipped_dictionary(),))


def _make_anew(connection: sqlite3.Connection, version: int) -> None:
    """Stores every event again under its number, because its rows and all totals follow from it, and takes over
    everything that does not follow from events."""
    unpacked = Packer(connection).unpacked if version > 1 else str
    found = connection.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    tables = [name for kind, name in found if kind == "table" and not name.startswith("sqlite_")]
    for kind, name in found:
        if kind in ("index", "trigger"):
            connection.execute(f'DROP {kind} IF EXISTS "{name}"')
    for name in tables:
        connection.execute(f'ALTER TABLE "{name}" RENAME TO "{BEFORE}{name}"')
    _make_tables(connection)
    _store_anew(connection, EVENTS_OF_VERSION_1 if version == 1 else EVENTS, unpacked)
    for name in (name for name in OWN if name in tables):
        shared = ", ".join(each for each in _columns(connection, BEFORE + name) if each in _columns(connection, name))
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
        connection.execute(f"INSERT INTO {name} ({shared}) SELECT {shared} FROM {BEFORE}{name}")  # noqa: S608
    for name in tables:
        connection.execute(f'DROP TABLE "{BEFORE}{name}"')


def _store_anew(connection: sqlite3.Connection, events: str, unpacked: Callable[[bytes | str], str | None]) -> None:
    rows, found = Rows(connection), connection.execute(events)
    # Groups of events that came at once and whose numbers are consecutive.
    for (_, received), group in itertools.groupby(
        enumerate(found), key=lambda each: (each[1][0] - each[0], each[1][1])
    ):
        batch = [row for _, row in group]
        _set(connection, "last_number", str(batch[0][0] - 1))
        made = (from_line(str(unpacked(body)).encode()) for _, _, body in batch)
        rows.store([row for row in made if isinstance(row, Row)], _milliseconds(received))


def _milliseconds(received: int | str) -> int:
    """When events came. Version 1 kept that as text."""
    return received if isinstance(received, int) else int(datetime.fromisoformat(received).timestamp() * 1000)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


@cache
def _names() -> frozenset[str]:
    return frozenset(_CREATES.findall(_tables()))


def _is_complete(connection: sqlite3.Connection) -> bool:
    """Whether the database has every table, index and trigger of its version."""
    return _names() <= {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one, because `executescript` would commit the transaction around them."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
