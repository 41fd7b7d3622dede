"""Runs a person's own query on the store, in a process of its own.

In: SQL as a person wrote it, one statement. Out: column names and rows. Invariant: nothing is changed, whatever the
statement says: the connection is read-only, and SQLite asks here before each thing that a statement would do. A
statement that takes too long, or too much memory, is stopped. SQLite cannot be interrupted within one function, and
`instr` of two long texts takes hours; the kernel ends a process when its time is up.
"""

from __future__ import annotations

import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from collector.store.database import StoreError, open_to_read
from collector.store.packing import Packer
from collector.store.prices import PriceTable

SECONDS, ROWS = 20.0, 100_000
BYTES, LONGEST = 64 * 2**20, 32 * 2**20  # of an answer and of one value
HEAP = 512 * 2**20  # bytes that SQLite may take for each statement
# A system package puts its modules on this path itself, and nothing in the environment may replace them.
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from collector.store.asking import main; main()"
together = threading.BoundedSemaphore(2)  # statements that run at the same time; others wait
MAY = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
# These reach outside the database, or take unbounded memory.
MAY_NOT_CALL = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob", "randomblob"}


class Answer(NamedTuple):
    """The columns and rows of a statement; `is_cut` if there were more rows."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    is_cut: bool

    @property
    def objects(self) -> Iterator[dict[str, Any]]:
        """Each row with the names of its columns, in values that JSON can express."""
        return (dict(zip(self.columns, map(plain, row), strict=True)) for row in self.rows)


def plain(value: Any) -> Any:
    """A value as text or a number: bytes become hex digits."""
    return value.hex() if isinstance(value, bytes) else value


def ask(
    database: Path,
    statement: str,
    *,
    prices: PriceTable | None = None,
    seconds: float = SECONDS,
    most: int = ROWS,
) -> Answer:
    """The answer to one statement; raises StoreError with what SQLite says, or if it took too long."""
    given = pickle.dumps((database, statement, prices, seconds, most))
    command = [sys.executable, "-I", "-c", PROGRAM, *sys.path]
    try:
        with together:
            done = subprocess.run(command, input=given, capture_output=True, check=False)
    except OSError as error:
        raise StoreError(f"No process can be started to run the statement: {error.strerror}.") from error
    if done.returncode == -signal.SIGALRM:
        raise StoreError(f"The statement took longer than {seconds:g} s and was stopped. Narrow it down.")
    if done.returncode:
        raise StoreError(f"The process that ran the statement ended with {done.returncode}.")
    wrong, *found = pickle.loads(done.stdout)  # noqa: S301 - our own process wrote it
    if wrong:
        raise StoreError(wrong)
    return Answer(*found)


def _answered(
    database: Path, statement: str, prices: PriceTable | None, seconds: float, most: int
) -> tuple[list[str], list[tuple[Any, ...]], bool]:
    with closing(open_to_read(database, prices)) as connection:
        signal.setitimer(signal.ITIMER_REAL, min(seconds, 1e9))  # after opening, which may upgrade the store
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA query_only = ON")
        # Sorting and grouping happen in memory: without a limit, a query took 2 GB in five seconds.
        connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")
        # Unpacking takes memory that SQLite does not count, and what a statement unpacks need not come from the store.
        connection.create_function("unpacked", 1, Packer(connection, LONGEST).unpacked, deterministic=True)
        connection.set_authorizer(_is_allowed)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            cursor = connection.execute(statement)
            rows, is_cut = _fetched(cursor, most)
        except MemoryError:
            raise StoreError(
                f"The statement took more than {HEAP >> 20} MB of memory and was stopped. Narrow it down."
            ) from None
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise StoreError(f"SQLite says: {str(error).rstrip('.')}.") from None
        signal.setitimer(signal.ITIMER_REAL, 0)
        return [column[0] for column in cursor.description or ()], rows, is_cut


def _fetched(cursor: sqlite3.Cursor, most: int) -> tuple[list[tuple[Any, ...]], bool]:
    """The rows that there is room for, and whether there are more."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(rows) == most or size > BYTES:
            return rows, True
        rows.append(row)
    return rows, False


def _is_allowed(
    action: int, _first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    if action not in MAY or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in MAY_NOT_CALL):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def main() -> None:
    """What the process does: answers the statement on its standard input."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        said = ("", *_answered(*pickle.load(sys.stdin.buffer)))  # noqa: S301 - our own process wrote it
    except StoreError as error:
        said = (str(error), [], [], False)
    pickle.dump(said, sys.stdout.buffer)
