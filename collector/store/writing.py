"""Writes rows into an open database, and keeps their totals in step.

In: rows, and a transaction that the caller begins and ends. Out: how many of them were new. Invariant: the stored rows
and their totals depend on which events came, not on their order or how often they came. The one exception: whose an
unmarked copy is (see `_outranks`) must be known when it comes.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from collector.store import totals
from collector.store.packing import Packer
from collector.store.rows import CONTEXT, FACTS, IS_COPY, Row, message_of, rank

MAX_KNOWN_CONTEXTS = 20_000
ASKED_AT_ONCE = 250

INSERT_ROW = (
    f"INSERT INTO event_rows (number, received, id, context, {', '.join(FACTS)}) "  # noqa: S608 - our own names
    f"VALUES (?, ?, ?, ?{', ?' * len(FACTS)})"
)
UPDATE_ROW = f"UPDATE event_rows SET context = ?, {', '.join(f'{name} = ?' for name in FACTS)} WHERE number = ?"  # noqa: S608
INSERT_BODY = "INSERT INTO packed_bodies (number, body) VALUES (?, ?)"
INSERT_TOOL = (
    "INSERT INTO tool_rows (number, place, call_id, is_result, name, target, ok, duration_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
FIND_KNOWN = (
    f"SELECT row.id, row.number, row.context, {', '.join(f'row.{name}' for name in FACTS)}, "  # noqa: S608
    f"{', '.join(f'context.{name}' for name in CONTEXT)} "
    "FROM event_rows AS row JOIN contexts AS context ON context.number = row.context "
    "WHERE row.number = ?"
)
FIND_NUMBERS = f"SELECT number FROM event_rows WHERE id IN ({', '.join('?' * ASKED_AT_ONCE)})"  # noqa: S608
FIND_CONTEXT = "SELECT number FROM contexts WHERE hash = ?"
INSERT_CONTEXT = (
    f"INSERT INTO contexts (hash, agent, place, {', '.join(CONTEXT)}) "  # noqa: S608
    f"VALUES (?, ?, ?{', ?' * len(CONTEXT)})"
)
PLACE = ("project", "host_id", "host_name", "user", "labels")
FIND_PLACE = "SELECT number FROM places WHERE hash = ?"
INSERT_PLACE = f"INSERT INTO places (hash, agent, {', '.join(PLACE)}) VALUES (?, ?{', ?' * len(PLACE)})"  # noqa: S608
# A number is never given twice, even if the newest events are removed: readers continue after the last one they saw.
NEXT_NUMBER = """
SELECT max(
    coalesce((SELECT max(number) FROM event_rows), 0),
    coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'last_number'), 0)
) + 1
"""
CALL = 2  # the index of a call's id in a row of tool_rows
SESSION, COPIED_FROM = CONTEXT.index("session_id"), CONTEXT.index("copied_from")

Context = tuple[str | None, ...]


class Stored(NamedTuple):
    """The outcome of a batch: how many events were new, and how many were there already."""

    accepted: int
    duplicate: int


class Known(NamedTuple):
    """A row that is in the store already."""

    number: int
    context: int
    facts: tuple[Any, ...]
    who: Context


class Rows:
    """The rows of an open database, inside a transaction that the caller began."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._packer = Packer(connection)
        self._contexts: dict[Context, int] = {}
        totals.add_functions(connection)
        connection.create_function("unpacked", 1, self._packer.unpacked, deterministic=True)

    def forget_contexts(self) -> None:
        """Must be called when a transaction is rolled back, or when contexts were removed."""
        self._contexts.clear()

    def store(self, rows: Iterable[Row], received: int | None = None) -> Stored:
        """Stores one batch, merging repeats; `received` is in milliseconds, and defaults to now."""
        rows, best = list(rows), dict[bytes, Row]()
        self._note_forks({(row.context[SESSION], row.context[COPIED_FROM]) for row in rows})
        for row in rows:
            if row.id not in best or self._outranks(row, best[row.id].facts, best[row.id].context):
                best[row.id] = row
        known = self._known(list(best))
        fresh = [row for row in best.values() if row.id not in known]
        better = [
            (known[row.id], row)
            for row in best.values()
            if row.id in known and self._outranks(row, known[row.id].facts, known[row.id].who)
        ]
        if fresh or better:
            self._write(fresh, better, int(time.time() * 1000) if received is None else received)
        return Stored(len(fresh), len(rows) - len(fresh))

    def _outranks(self, row: Row, facts: tuple[Any, ...], who: Context) -> bool:
        """Whether a row is kept rather than another one with its id; see `rank`. `--fork-session` marks only the
        answers it copies, so among unmarked rows the parent's is kept, once an answer has told which one that is."""
        here, there = row.context[SESSION], who[SESSION]
        if here != there and row.facts[: IS_COPY + 1] == facts[: IS_COPY + 1]:
            if self._is_fork(there, here):
                return True
            if self._is_fork(here, there):
                return False
        return rank(row.facts, row.context) > rank(facts, who)

    def _is_fork(self, session: str | None, parent: str | None) -> bool:
        pair = (session, parent)
        found = self._connection.execute("SELECT 1 FROM forks WHERE (session_id, parent_session_id) = (?, ?)", pair)
        return found.fetchone() is not None

    def _known(self, ids: list[bytes]) -> dict[bytes, Known]:
        """The events among these that are in the store already."""
        found = {}
        for start in range(0, len(ids), ASKED_AT_ONCE):
            asked = ids[start : start + ASKED_AT_ONCE]
            asked += [b""] * (ASKED_AT_ONCE - len(asked))
            for (here,) in self._connection.execute(FIND_NUMBERS, asked).fetchall():
                identity, number, context, *values = self._connection.execute(FIND_KNOWN, (here,)).fetchone()
                facts, who = tuple(values[: len(FACTS)]), tuple(values[len(FACTS) :])
                found[identity] = Known(number, context, facts, who)
        return found

    def _write(self, fresh: list[Row], better: list[tuple[Known, Row]], received: int) -> None:
        """Writes rows and keeps the totals in step: takes out what is touched, writes, and puts it in again."""
        connection = self._connection
        first = connection.execute(NEXT_NUMBER).fetchone()[0]
        numbered = list(enumerate(fresh, first))
        tools = [tool for number, row in numbered if row.tools for tool in tools_of(number, row)]
        messages = {message_of(row.facts) for row in fresh}
        calls = {tool[CALL] for tool in tools}
        for old, row in better:
            messages |= {message_of(old.facts), message_of(row.facts)}
            calls.update(self._calls_at(old.number), (tool[CALL] for tool in tools_of(old.number, row)))
        named = [message for message in messages if message is not None]
        totals.take_out(connection, named)
        replaced = [old.number for old, _ in better]
        if replaced:
            totals.take_out_events(connection, replaced)
        self._insert(numbered, tools, received)
        self._replace(better)
        totals.put_in(connection, named, calls, first)
        if replaced:
            totals.put_in_events(connection, replaced)
            totals.recount(connection, {old.context for old, _ in better} | {self._context(row) for _, row in better})

    def _insert(self, numbered: list[tuple[int, Row]], tools: list[tuple[Any, ...]], received: int) -> None:
        packed = self._packer.packed
        self._connection.executemany(
            INSERT_ROW, [(number, received, row.id, self._context(row), *row.facts) for number, row in numbered]
        )
        self._connection.executemany(INSERT_BODY, ((number, packed(row.body)) for number, row in numbered))
        self._connection.executemany(INSERT_TOOL, tools)

    def _replace(self, better: list[tuple[Known, Row]]) -> None:
        for old, row in better:
            self._connection.execute(UPDATE_ROW, (self._context(row), *row.facts, old.number))
            self._connection.execute(
                "UPDATE packed_bodies SET body = ? WHERE number = ?", (self._packer.packed(row.body), old.number)
            )
            self._connection.execute("DELETE FROM tool_rows WHERE number = ?", (old.number,))
            self._connection.executemany(INSERT_TOOL, tools_of(old.number, row))

    def _calls_at(self, number: int) -> list[str]:
        found = self._connection.execute("SELECT call_id FROM tool_rows WHERE number = ?", (number,))
        return [call for (call,) in found]

    def _context(self, row: Row) -> int:
        """The number of a row's context, which is new at the first event of a session, a version, a directory ..."""
        number = self._contexts.get(row.context)
        if number is None:
            if len(self._contexts) >= MAX_KNOWN_CONTEXTS:
                self._contexts.clear()
            known = dict(zip(CONTEXT, row.context, strict=True))
            agent = "main" if known["agent_id"] is None else known["agent_type"] or "subagent"
            place = (agent, *(known[name] for name in PLACE))
            number = self._numbered(
                FIND_CONTEXT, INSERT_CONTEXT, row.context, lambda: (agent, self._place(place), *row.context)
            )
            self._contexts[row.context] = number
        return number

    def _place(self, place: Context) -> int:
        return self._numbered(FIND_PLACE, INSERT_PLACE, place, lambda: place)

    def _numbered(self, find: str, insert: str, key: Context, row: Callable[[], tuple[Any, ...]]) -> int:
        """The number of the row with this key, found by the key's hash; inserts the row if it is missing."""
        digest = hashlib.blake2b(orjson.dumps(key), digest_size=16).digest()
        found = self._connection.execute(find, (digest,)).fetchone()
        if found is None:
            found = (self._connection.execute(insert, (digest, *row())).lastrowid,)
        return int(found[0])

    def _note_forks(self, pairs: Iterable[tuple[str | None, str | None]]) -> None:
        """Records which session was forked from which: from all rows, because a copy gives way to its original."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO forks (session_id, parent_session_id) VALUES (?, ?)",
            [pair for pair in pairs if all(pair) and pair[0] != pair[1]],
        )


def tools_of(number: int, row: Row) -> list[tuple[Any, ...]]:
    """The rows of an event's tool calls and results. One without an id is named after its event."""
    return [
        (number, place, tool.call_id or f"{row.id.hex()}:{place}", *tool[1:]) for place, tool in enumerate(row.tools)
    ]
