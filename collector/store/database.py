"""The SQLite database of the embedded store: opens it, upgrades it, and explains what is wrong with it.

In: a path. Out: a connection, to read or to write. Invariant: a database of an older version is upgraded in one
transaction and keeps everything it holds; one that is newer, or not ours, is refused and left alone.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector.errors import CollectorError
from collector.files import leave_to_owner, make_private_directory
from collector.store import schema
from collector.store.packing import Packer
from collector.store.prices import PriceTable

APPLICATION_ID = 0x436C6374  # "Clct", so that another program's database is not mistaken for ours
VERSION = schema.VERSION
BUSY_SECONDS = 5.0
SOON, LATER = 2, 30  # seconds after which a sender should try again

for plain in (type(None), bytes):
    # sqlite3 looks for an adapter for these too, and creates and drops an AttributeError if it finds none: for a row
    # with 20 of them, that took as long as SQLite needs to insert it.
    sqlite3.register_adapter(plain, lambda value: value)


class StoreError(CollectorError):
    """The store cannot be opened or read."""


class StoreUnavailable(StoreError):
    """The store cannot take a batch now, and has stored none of it. `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def open_to_read(path: Path, prices: PriceTable | None = None) -> sqlite3.Connection:
    """Opens the database for reading, with these prices, even while another process writes to it. Raises StoreError."""
    try:
        status = path.stat()  # from Python 3.14 on, `exists` hides that a parent directory cannot be entered
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"There is no store at {path} yet. `collector scan` with no sink configured creates one, "
            "and so does `collector receive`. For another place, use --database."
        ) from None
    if stat.S_ISFIFO(status.st_mode):  # SQLite would wait for somebody to write into it
        raise StoreError(f"The store {path} is a pipe. Name another place with --database or store.database.")
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=ro")
        with _closing_on_error(connection):
            if _version(connection, path) != VERSION or not schema.is_current(connection, prices):
                connection.close()
                open_to_write(path, prices).close()
                connection = _connect(f"{path.absolute().as_uri()}?mode=ro")
            connection.create_function("unpacked", 1, Packer(connection).unpacked, deterministic=True)
        return connection
    except sqlite3.Error as error:
        raise StoreError(_explained(path, error)) from error


def explain_read_failure(path: Path, error: sqlite3.Error) -> StoreError:
    """The error for a person, when reading fails once the database is open."""
    return StoreError(_explained(path, error))


def open_to_write(
    path: Path, prices: PriceTable | None = None, busy_seconds: float = BUSY_SECONDS
) -> sqlite3.Connection:
    """Opens the database for writing, with these prices; creates or upgrades it if need be. Raises StoreError."""
    try:
        make_private_directory(path.parent)
        _make_file(path)
    except OSError as error:
        raise StoreError(
            f"Cannot open the store {path}: {error.strerror}. "
            "Make its directory writable, or name another place with --database or store.database."
        ) from error
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=rw", busy_seconds)
        with _closing_on_error(connection):
            version = _version(connection, path)
            # For new files only. Ids are as good as random, so a batch touches as many pages as it has events: beyond
            # half a million events, 4096 takes a tenth less CPU than 8192; below that there is no difference.
            connection.execute("PRAGMA page_size = 4096")
            connection.execute("PRAGMA cache_size = -8000")  # kB at most: only what the database fills is taken
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: plain fsync leaves data in the drive's cache
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 8000")  # pages: 32 MB
            connection.execute("PRAGMA journal_size_limit = 67108864")
            connection.execute("PRAGMA secure_delete = ON")  # the default of some systems only
            if version < VERSION or not schema.is_current(connection, prices):
                _bring_up_to_date(connection, path, prices)
        return connection
    except sqlite3.Error as error:
        raise StoreError(_explained(path, error)) from error


def _make_file(path: Path) -> None:
    """Creates the file, unless it exists; it may be a link to another disk."""
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_EXCL, 0o600)
        # Only what was created here: behind a link, root would give somebody's file to whoever put the link there.
        leave_to_owner(descriptor, path.parent)
    except FileExistsError:
        descriptor = os.open(path, flags, 0o600)
    os.close(descriptor)


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
        raise StoreError(f"{path} is another program's database. Name another place with --database or store.database.")
    if version > VERSION:
        raise StoreError(
            f"The store {path} has schema version {version}; this collector knows versions up to {VERSION}. "
            "It was not touched. Install a newer collector, or name another place with --database."
        )
    return version


def _bring_up_to_date(connection: sqlite3.Connection, path: Path, prices: PriceTable | None) -> None:
    """Updates schema, views and prices to this version, unless another process has just done so."""
    # Crash window: all of it, including the version number, is one transaction, so the next start finds either the old
    # store intact, and upgrades it then, or the new one.
    connection.execute("BEGIN IMMEDIATE")
    schema.upgrade(connection, _version(connection, path), prices)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def inode(path: Path) -> tuple[int, int] | None:
    """Identifies the file at this path; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def unavailable(path: Path, error: sqlite3.Error) -> StoreUnavailable:
    """The error for a sender whose batch was not stored."""
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
        return (
            f"Another process has held the store {path} for too long. "
            "Upgrading or compacting it can take minutes; it is free again after that."
        )
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
    if code == sqlite3.SQLITE_INTERRUPT:
        return "This took too long and was stopped. Choose a shorter period, or set a filter."
    if path.is_dir():
        return f"{path} is a directory. Name the store's file in it with --database or store.database."
    if code == sqlite3.SQLITE_IOERR:  # also if there is no room for the index of the log, which readers need
        return f"The store {path} cannot be read or written ({error}): its disk is full, or failing. Make room on it."
    return f"The store {path} failed ({error})."
