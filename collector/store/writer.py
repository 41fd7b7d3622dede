"""The store, open for batches: runs transactions, follows the path, and says what a failure means for the sender.

In: rows. Out: how many of them were new. Invariant: a batch is one transaction, and `store` returns only once it is on
the disk: with synchronous=FULL, the write-ahead log is synced at every commit. The sender moves its offsets on the
strength of that, and its transcripts are deleted after 30 days, so what was acknowledged has to survive a power cut;
synchronous=NORMAL would survive only the death of the process.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from collector.log import in_words
from collector.store import prices
from collector.store.database import (
    BUSY_SECONDS,
    LATER,
    VERSION,
    StoreError,
    StoreUnavailable,
    explain_read_failure,
    inode,
    open_to_write,
    unavailable,
)
from collector.store.rows import Row
from collector.store.writing import Rows, Stored

# SQLite makes the copy elsewhere, and only then writes it beside the store.
NO_ROOM_FOR_A_COPY = (
    "There is no room to write the store {} anew: SQLite first makes a copy, of up to {}, in its directory for "
    "temporary files ($SQLITE_TMPDIR, else $TMPDIR, else /var/tmp). Make room there, or set SQLITE_TMPDIR to a "
    "directory on another disk."
)
CHECKPOINT_WAITS = 6  # how many times as long as for a lock a checkpoint of another process is waited for
LOOK_SECONDS = 0.1


class Writer:
    """An open database that takes batches, from one thread at a time."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS, own_prices: Path | None = None) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._prices = prices.load(own_prices)
        self._open()

    def _open(self) -> None:
        self._connection = open_to_write(self.path, self._prices, self._busy_seconds)
        try:
            self._rows = Rows(self._connection)
            self._data_version = self._seen_version()
        except sqlite3.Error as error:
            self._connection.close()
            raise explain_read_failure(self.path, error) from error
        self._inode, self._is_open = inode(self.path), True

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection, for work between transactions."""
        self._follow_the_path()
        return self._connection

    def close(self) -> None:
        """Closes the database, which folds the write-ahead log into it."""
        self._connection.close()

    def store(self, rows: Iterable[Row]) -> Stored:
        """Stores one batch; see `store_all`."""
        return self.store_all([rows])[0]

    def store_all(self, batches: Sequence[Iterable[Row]]) -> list[Stored]:
        """Stores batches, merging repeats. Returns once all are on the disk, or raises StoreUnavailable if none is."""
        try:
            self._follow_the_path()
            # Crash window: until this block ends, nothing is stored and nobody has been answered, so the sender keeps
            # its offsets. After it, everything is on the disk; if the answer is lost, the sender repeats the batch, and
            # its ids make that count as duplicates. Only an answer before the commit would lose events.
            with self._transaction():
                return [self._rows.store(rows) for rows in batches]
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction for any change to the store other than a batch; raises StoreUnavailable."""
        try:
            self._follow_the_path()
            with self._transaction():
                yield self._connection
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error
        finally:
            self._rows.forget_contexts()  # some of them may have been removed

    def empty_log(self) -> bool:
        """Folds the write-ahead log into the database and empties it; False if a reader is in the way."""
        try:
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error
        return not is_busy

    def rewrite(self) -> None:
        """Writes the whole database anew, so that nothing is left in the file of what was removed: SQLite copies rows
        when it splits a page, and does not clear what it copied. Raises StoreUnavailable."""
        try:
            self.connection.execute("VACUUM")
            self._connection.execute("PRAGMA optimize")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
                size = self.path.stat().st_size
                if shutil.disk_usage(self.path.parent).free > size:
                    raise StoreUnavailable(NO_ROOM_FOR_A_COPY.format(self.path, in_words(size)), LATER) from error
            raise unavailable(self.path, error) from error
        # An agent whose batch waited for this may be folding the log in. SQLite waits for readers, but not for that.
        until = time.monotonic() + CHECKPOINT_WAITS * self._busy_seconds
        while not self.empty_log():
            if time.monotonic() > until:
                raise StoreUnavailable(
                    f"Another process is reading the store {self.path}, so what was in it before is still in its "
                    "files. Try again when that process has finished.",
                    LATER,
                )
            time.sleep(LOOK_SECONDS)

    def _seen_version(self) -> int:
        """A number that changes when another connection has changed the database."""
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _follow_the_path(self) -> None:
        """Reopens the database if its file was moved or deleted, because anything written to it now would be lost.
        Raises StoreUnavailable if it cannot be reopened at the moment."""
        if not self._is_open or inode(self.path) != self._inode:
            self._connection.close()
            self._is_open = False  # until it is open again: the old file may be back in its place before that
            try:
                self._open()
            except StoreError as error:
                raise StoreUnavailable(str(error), LATER) from error

    def _refuse_if_newer(self) -> None:
        """Raises StoreUnavailable if a newer collector has upgraded the store, whose totals this one cannot keep."""
        if self._connection.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            raise StoreUnavailable(
                f"A newer collector has upgraded the store {self.path}. Restart this one, so that it can write to it.",
                LATER,
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. IMMEDIATE, so that no second writer gets between the lookup and the insert."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            version = self._seen_version()
            if version != self._data_version:
                self._rows.forget_contexts()  # another process may have removed some
                self._refuse_if_newer()
                self._data_version = version
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._rows.forget_contexts()  # some of them may have been undone
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
