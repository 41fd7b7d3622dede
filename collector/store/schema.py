"""The schema of the database: tables by version, views, dictionary and prices.

In: a connection inside a transaction, and the version of its database. Out: the newest version, with everything it
held. Views and prices have no version: they are recreated whenever they differ from what this version of collector
would create. A database that lacks a table of its own version, as one from between two releases may, is rebuilt from
its events.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache

from collector.store import totals
from collector.store.packing import Packer, shipped_dictionary
from collector.store.prices import Price, PriceTable
from collector.store.rows import FACTS, Row, from_line
from collector.store.totals import PROMPT_OVER, statement
from collector.store.writing import Rows

VERSION = 4
_CREATES = re.compile(r"^CREATE (TABLE|INDEX|TRIGGER) (\w+)", re.MULTILINE)
# Tables that do not follow from the stored events.
OWN = ("forks", "removals", "settings", "prices", "price_names")
BEFORE = "before_"  # prefix of tables while their contents are moved


def is_current(connection: sqlite3.Connection, prices: PriceTable | None) -> bool:
    """Whether a database of this version has its tables, its views, and these prices, if they are given."""
    if not (_has_all_of(connection, "002.sql") and _has_all_of(connection, "003.sql")):
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
    elif version == 1:
        _from_version_1(connection)
    elif not _has_all_of(connection, "002.sql"):
        _from_its_events(connection)
    elif not _has_all_of(connection, "003.sql"):
        _from_version_2(connection)
    if "started" not in _columns(connection, "event_rows"):
        _from_version_3(connection)
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


def _make_tables(connection: sqlite3.Connection) -> None:
    _run(connection, "002.sql")
    _run(connection, "003.sql")
    connection.execute("INSERT INTO dictionaries (number, content) VALUES (1, ?)", (shipped_dictionary(),))


def _from_version_1(connection: sqlite3.Connection) -> None:
    """Stores every event again, in order of arrival: its columns follow from its body."""
    connection.execute("ALTER TABLE events RENAME TO events_of_version_1")
    connection.execute("ALTER TABLE bodies RENAME TO bodies_of_version_1")
    _make_tables(connection)
    rows = Rows(connection)
    found = connection.execute(
        "SELECT received_at, body FROM events_of_version_1 JOIN bodies_of_version_1 USING (number) ORDER BY number"
    )
    for received_at, batch in itertools.groupby(found, key=lambda pair: str(pair[0])):
        received = int(datetime.fromisoformat(received_at).timestamp() * 1000)
        made = (from_line(body.encode()) for _, body in batch)
        rows.store([row for row in made if isinstance(row, Row)], received)
    connection.execute("DROP TABLE bodies_of_version_1")
    connection.execute("DROP TABLE events_of_version_1")


def _from_version_2(connection: sqlite3.Connection) -> None:
    """Makes the totals by day from those that version 2 already kept."""
    for kind, name in reversed(_made_by("003.sql")):
        connection.execute(f"DROP {kind} IF EXISTS {name}")
    _run(connection, "003.sql")
    totals.add_up_sessions(connection)
    totals.add_up_calls(connection)
    totals.add_up_models(connection)


def _from_version_3(connection: sqlite3.Connection) -> None:
    """Adds the column `started`, and titles for the prompts of programs; both from the events."""
    connection.execute("ALTER TABLE event_rows ADD COLUMN started INTEGER")
    unpacked = Packer(connection).unpacked
    numbers = connection.execute(
        "SELECT number FROM event_rows JOIN packed_bodies USING (number) "
        "WHERE kind = 'session_cost' OR (kind = 'user_prompt' AND origin = 'sdk')"
    ).fetchall()
    started, title = FACTS.index("started"), FACTS.index("title")
    for number in numbers:
        (body,) = connection.execute("SELECT body FROM packed_bodies WHERE number = ?", number).fetchone()
        row = from_line(str(unpacked(body)).encode())
        if isinstance(row, Row):
            values = (row.facts[started], row.facts[title], *number)
            connection.execute("UPDATE event_rows SET started = ?, title = ? WHERE number = ?", values)


def _from_its_events(connection: sqlite3.Connection) -> None:
    """Stores every event again under its number, and takes over everything that does not follow from events."""
    unpacked = Packer(connection).unpacked
    found = connection.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    tables = [name for kind, name in found if kind == "table" and not name.startswith("sqlite_")]
    for kind, name in found:
        if kind in ("index", "trigger"):
            connection.execute(f'DROP {kind} IF EXISTS "{name}"')
    for name in tables:
        connection.execute(f'ALTER TABLE "{name}" RENAME TO "{BEFORE}{name}"')
    _make_tables(connection)
    _store_anew(connection, unpacked)
    for name in (name for name in OWN if name in tables):
        shared = ", ".join(each for each in _columns(connection, BEFORE + name) if each in _columns(connection, name))
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
        connection.execute(f"INSERT INTO {name} ({shared}) SELECT {shared} FROM {BEFORE}{name}")  # noqa: S608
    for name in tables:
        connection.execute(f'DROP TABLE "{BEFORE}{name}"')


def _store_anew(connection: sqlite3.Connection, unpacked: Callable[[bytes | str], str | None]) -> None:
    rows = Rows(connection)
    found = connection.execute(
        f"SELECT number, received, body FROM {BEFORE}event_rows JOIN {BEFORE}packed_bodies USING (number) "  # noqa: S608
        "ORDER BY number"
    )
    # Groups of events that came at once and whose numbers are consecutive.
    for (_, received), group in itertools.groupby(
        enumerate(found), key=lambda each: (each[1][0] - each[0], each[1][1])
    ):
        batch = [row for _, row in group]
        _set(connection, "last_number", str(batch[0][0] - 1))
        made = (from_line(str(unpacked(body)).encode()) for _, _, body in batch)
        rows.store([row for row in made if isinstance(row, Row)], received)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _has_all_of(connection: sqlite3.Connection, script: str) -> bool:
    """Whether the database has every table, index and trigger that a script makes."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return there.issuperset(name for _, name in _made_by(script))


@lru_cache
def _made_by(script: str) -> list[tuple[str, str]]:
    """The kind and name of everything that a script creates."""
    return _CREATES.findall(statement(script))


def _run(connection: sqlite3.Connection, script: str) -> None:
    for command in _statements(statement(script)):
        connection.execute(command)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one, because `executescript` would commit the transaction around them."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
