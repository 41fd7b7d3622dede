"""The SQLite database of the embedded store: opening it, migrating it, and writing batches into it.

In: rows. Out: how many of them were new. Invariant: a batch is one transaction, and `store` returns only once it is on
the disk: with synchronous=FULL, the write-ahead log is synced at every commit. The sender moves its offsets on the
strength of that, and its transcripts are deleted after 30 days, so what was acknowledged has to survive a power cut;
synchronous=NORMAL would survive only the death of the process.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import orjson

from collector.errors import CollectorError
from collector.store.rows import COLUMNS, Row, rank

APPLICATION_ID = 0x436C6374  # "Clct", so that another program's database is not mistaken for ours
MIGRATIONS = ("001.sql",)
VERSION = len(MIGRATIONS)
BUSY_SECONDS = 5.0
SOON, LATER = 2, 30  # seconds after which a sender should try again

INSERT_EVENT = (
    f"INSERT INTO events (number, received_at, {', '.join(COLUMNS)}) "  # noqa: S608 - our own column names
    f"VALUES (?, ?{', ?' * len(COLUMNS)})"
)
UPDATE_EVENT = f"UPDATE events SET {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE number = ?"  # noqa: S608
FIND_KNOWN = "SELECT id, number, output_tokens, copied_from FROM events WHERE id IN (SELECT value FROM json_each(?))"


class StoreError(CollectorError):
    """The store cannot be opened or read."""


class StoreUnavailable(StoreError):
    """The store cannot take a batch now, and has stored nothing of it. `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Stored(NamedTuple):
    """What became of a batch: how many events were new, and how many were there already."""

    accepted: int
    duplicate: int


class Writer:
    """An open database that takes batches, from one thread at a time."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._connection = _open_to_write(path, busy_seconds)
        self._inode = _inode(path)
        self._is_open = True

    def close(self) -> None:
        """Closes the database, which folds the write-ahead log into it."""
        self._connection.close()

    def store(self, rows: Iterable[Row]) -> Stored:
        """Stores one batch; see `store_all`."""
        return self.store_all([rows])[0]

    def store_all(self, batches: Sequence[Iterable[Row]]) -> list[Stored]:
        """Stores batches, merging repeats. Returns once all are on the disk; if none is, raises StoreUnavailable."""
        try:
            self._follow_the_path()
            # Crash window: up to the end of this block nothing is stored, and nobody was answered, so the sender keeps
            # its offsets. Past it everything is on the disk; if the answer is lost, the sender repeats the batch, and
            # its ids make that count as duplicates. An answer before the commit is what would lose events.
            with self._transaction():
                return [self._store(rows) for rows in batches]
        except sqlite3.Error as error:
            raise _unavailable(self.path, error) from error
        except StoreError as error:
            raise StoreUnavailable(str(error), LATER) from error

    def _follow_the_path(self) -> None:
        """Reopens the database if its file was moved or deleted, because whatever is written to it now is lost."""
        if not self._is_open or _inode(self.path) != self._inode:
            self._connection.close()
            self._is_open = False  # until it is open again: the old file may be back in its place before that
            self._connection = _open_to_write(self.path, self._busy_seconds)
            self._inode, self._is_open = _inode(self.path), True

    def _store(self, rows: Iterable[Row]) -> Stored:
        count, best = 0, dict[str, Row]()
        for count, row in enumerate(rows, 1):  # noqa: B007 - counted on purpose
            if row.id not in best or row.rank > best[row.id].rank:
                best[row.id] = row
        found = self._connection.execute(FIND_KNOWN, (orjson.dumps(list(best)).decode(),))
        known = {identity: (number, rank(output, copied_from)) for identity, number, output, copied_from in found}
        fresh = [row for row in best.values() if row.id not in known]
        better = [row for row in best.values() if row.id in known and row.rank > known[row.id][1]]
        self._insert(fresh)
        self._replace((known[row.id][0], row) for row in better)
        return Stored(len(fresh), count - len(fresh))

    def _insert(self, rows: list[Row]) -> None:
        received_at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        first = self._connection.execute("SELECT coalesce(max(number), 0) + 1 FROM events").fetchone()[0]
        self._connection.executemany(
            INSERT_EVENT, [(number, received_at, *row.facts) for number, row in enumerate(rows, first)]
        )
        self._connection.executemany(
            "INSERT INTO bodies (number, body) VALUES (?, ?)",
            [(number, row.body) for number, row in enumerate(rows, first)],
        )

    def _replace(self, rows: Iterable[tuple[int, Row]]) -> None:
        for number, row in rows:
            self._connection.execute(UPDATE_EVENT, (*row.facts, number))
            self._connection.execute("UPDATE bodies SET body = ? WHERE number = ?", (row.body, number))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. IMMEDIATE, so that no second writer gets between the look and the insert."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def open_to_read(path: Path) -> sqlite3.Connection:
    """The database for reading, while somebody else may be writing to it; raises StoreError."""
    if not path.exists():
        raise StoreError(
            f"There is no store at {path} yet. `collector scan` without a sink creates it, "
            "and so does `collector receive`; --database names another place."
        )
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=ro")
        with _closing_on_error(connection):
            if _version(connection, path) == VERSION:
                return connection
        connection.close()
        _open_to_write(path).close()  # migrates an older store
        return _connect(f"{path.absolute().as_uri()}?mode=ro")
    except sqlite3.Error as error:
        raise StoreError(_explained(path, error)) from error


def explain_read_failure(path: Path, error: sqlite3.Error) -> StoreError:
    """The error for a person whose report failed half way."""
    return StoreError(_explained(path, error))


def _open_to_write(path: Path, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            f"Cannot open the store {path}: {error.strerror}. "
            "Make its directory writable, or name another place with --database or store.database."
        ) from error
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=rw", busy_seconds)
        with _closing_on_error(connection):
            version = _version(connection, path)
            connection.execute("PRAGMA page_size = 8192")  # a new file only; 15 % less CPU than 4096 with our rows
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: plain fsync leaves data in the drive's cache
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 2000")  # pages: 16 MB
            connection.execute("PRAGMA journal_size_limit = 67108864")
            if version < VERSION:
                # Crash window: the new schema and its version number are one transaction, so the next start finds
                # either the old store, whole, and migrates it then, or the new one.
                _migrate(connection, path)
        return connection
    except sqlite3.Error as error:
        raise StoreError(_explained(path, error)) from error


def _connect(uri: str, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    return sqlite3.connect(
        uri, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=32
    )


@contextmanager
def _closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version; 0 for an empty database. Raises StoreError for one that is newer, or not ours."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreError(
            f"{path} is a database of another program. Name another place with --database or store.database."
        )
    if version > VERSION:
        raise StoreError(
            f"The store {path} has schema version {version}; this collector knows versions up to {VERSION}. "
            "It was not touched. Install a newer collector, or name another place with --database."
        )
    return version


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Brings the schema up to date in one transaction, unless another process has just done so."""
    connection.execute("BEGIN IMMEDIATE")
    for script in MIGRATIONS[_version(connection, path) :]:
        _run(connection, script)
    for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    _run(connection, "views.sql")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Runs a script statement by statement, because `executescript` would commit the transaction around it."""
    statement = ""
    for line in (resources.files(__package__) / "sql" / script).read_text(encoding="utf-8").splitlines(True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _unavailable(path: Path, error: sqlite3.Error) -> StoreUnavailable:
    is_busy = _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
    return StoreUnavailable(_explained(path, error), SOON if is_busy else LATER)


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _explained(path: Path, error: sqlite3.Error) -> str:
    """What is wrong with the database, and what a person can do about it."""
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        return f"The disk of the store {path} is full. Make room; nothing that was acknowledged is lost."
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return f"Another process has held the store {path} for too long. The batch will be tried again."
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return (
            f"The store {path} cannot be opened ({error}). "
            "Make it and its directory writable to this user; reading needs that too."
        )
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return (
            f"The store {path} is damaged ({error}). It was not touched: move it aside together with its -wal and "
            "-shm files, and a new one is created; `sqlite3 FILE .recover` saves what is readable, and "
            "`collector reset` sends again what is still on this machine."
        )
    return f"The store {path} failed ({error})."
