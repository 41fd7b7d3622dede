"""The quarantine: anything that could not be read or was not accepted, redacted, with its reason and its place.

In: things to quarantine, and entries to drop. Out: entries, one JSON object per line, mode 0600, written and synced
before the offset that passes them is saved (promise 1). An entry is one thing at one place: the same bytes in two
sources are two entries with one id, and the same line quarantined again after a crash is one entry. Each names the sink
that was in force. When the file is full, the oldest entries are dropped, and their number is returned to be logged as
an error. The agent may add while a person drops or retries, so every writer holds the lock beside the file while it
writes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from collector.errors import StateError
from collector.files import fsync_directory, make_private_directory, opened_plain, replacing
from collector.flow.outcome import Quarantined
from collector.flow.sink_identity import SinkIdentity
from collector.log import timestamp

KEEP_WHEN_FULL = 0.75
LOCK_SECONDS = 10.0  # how long the agent waits for a person's command to let go of the file
POLL_SECONDS = 0.02
STRINGS = ("id", "reason", "source", "payload", "time")


class Quarantine:
    """The file, and the lock beside it."""

    def __init__(
        self, path: Path, max_bytes: int, lock_seconds: float = LOCK_SECONDS, *, sink: SinkIdentity | None = None
    ) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.lock_seconds = lock_seconds
        self._always = {"sink": sink.text} if sink else {}
        self._counted = 0
        self._counted_at: tuple[int, int, int] | None = None

    def add(self, things: Iterable[Quarantined]) -> int:
        """Adds entries. Returns how many old ones were dropped. Nothing counts as written until this returns."""
        now = timestamp()
        lines = [orjson.dumps({**thing._asdict(), **self._always, "time": now}) + b"\n" for thing in things]
        if not lines:
            return 0
        with self._locked("No offset moves past what belongs in it; the agent tries again."):
            size = self._append(lines)
            return self._shrink(size) if size > self.max_bytes else 0

    def _append(self, lines: list[bytes]) -> int:
        is_new = not self.path.exists()
        descriptor = opened_plain(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW)
        try:
            os.fchmod(descriptor, 0o600)  # the file may have come from a backup
            before = os.fstat(descriptor).st_size
            # A crash in the middle of the write leaves half an entry. Its offset was not saved either, so the entry is
            # added again. The half gets a newline of its own, because otherwise it would swallow the next entry.
            is_cut = before and os.pread(descriptor, 1, before - 1) != b"\n"
            try:
                _write(descriptor, (b"\n" if is_cut else b"") + b"".join(lines))
                # The committer saves the state only after this, so no offset on disk is past anything that is not.
                os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):  # otherwise a full disk would collect one half after another
                    os.ftruncate(descriptor, before)
                raise
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if is_new:
            fsync_directory(self.path.parent)  # otherwise a power cut could remove the file, and every entry with it
        return size

    def entries(self) -> list[dict[str, Any]]:
        """The entries, oldest first, ignoring lines that a crash cut short."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for entry in self._read():
            found.setdefault(_place(entry), entry)
        return list(found.values())

    def count(self) -> int:
        """How many entries there are. The service asks often, so this takes little memory even if the file is full, and
        almost no time while it is unchanged."""
        try:
            status = self.path.stat()
        except OSError:  # missing or inaccessible: `_read` tells which
            stamp = None
        else:
            stamp = status.st_ino, status.st_size, status.st_mtime_ns
        if stamp is None or stamp != self._counted_at:
            self._counted = len({hash(_place(entry)) for entry in self._read()})
            self._counted_at = stamp
        return self._counted

    def _read(self) -> Iterator[dict[str, Any]]:
        try:
            with os.fdopen(opened_plain(self.path), "rb") as file:
                for line in file:
                    entry = _entry(line)
                    if entry is not None:
                        yield entry
        except FileNotFoundError:
            return
        except OSError as error:
            raise StateError(
                f"Cannot read the quarantine {self.path}: {error.strerror}. Nothing was changed. "
                "Make it readable to this user."
            ) from None

    def drop(self, entries: Iterable[dict[str, Any]]) -> int:
        """Removes these entries, but none with the same id at other places or for other sinks. Returns how many."""
        meant, gone = set(map(_place, entries)), set()
        if not meant:
            return 0
        absent = contextlib.suppress(FileNotFoundError)
        with self._locked("Nothing was removed."), absent, self._rewritten() as (old, new):
            for line in old:
                entry = _entry(line)
                if entry is not None and _place(entry) in meant:
                    gone.add(_place(entry))
                elif entry is not None:
                    new.write(line)
        return len(gone)

    def _shrink(self, size: int) -> int:
        """Drops lines from the start until there is room again, but never the newest. Holds one line in memory."""
        gone, at = 0, 0
        with self._rewritten() as (old, new):
            for line in old:
                if size - at > self.max_bytes * KEEP_WHEN_FULL and at + len(line) < size:
                    gone += 1
                else:
                    new.write(line)
                at += len(line)
        return gone

    @contextlib.contextmanager
    def _rewritten(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The old file to read, and a new one to write, which replaces the old one at the end."""
        # A crash before the end of this block leaves the old file. It still holds the entries that a person is
        # dropping, who has not been told yet that they are gone; or the oldest ones, which are dropped next time.
        with os.fdopen(opened_plain(self.path), "rb") as old, replacing(self.path) as new:
            yield old, new

    @contextlib.contextmanager
    def _locked(self, consequence: str) -> Iterator[None]:
        """Keeps other writers out. Any failure inside becomes a StateError that states its consequence."""
        try:
            make_private_directory(self.path.parent)
            lock = self.path.with_name(self.path.name + ".lock")
            descriptor = opened_plain(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
            try:
                _wait_for(descriptor, self.lock_seconds)
                yield
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StateError(
                f"Cannot write the quarantine {self.path}: {error.strerror}. {consequence} "
                "Free some space, or check the mount."
            ) from None


def _write(descriptor: int, data: bytes) -> None:
    """Writes everything, without a buffer that would try again when it is closed."""
    while data:
        data = data[os.write(descriptor, data) :]


def _wait_for(descriptor: int, seconds: float) -> None:
    """Takes the lock, or gives up after `seconds`: a holder that never lets go must not stop the agent forever."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "another process holds its lock") from None
            time.sleep(POLL_SECONDS)
        else:
            return


def _entry(line: bytes) -> dict[str, Any] | None:
    """Parses a line; None if it is not an entry."""
    try:
        entry = orjson.loads(line)
        is_entry = all(isinstance(entry[name], str) for name in STRINGS) and isinstance(entry["offset"], int)
    except (ValueError, KeyError, TypeError):
        return None
    return entry if is_entry else None


def _place(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["id"], entry["source"], entry["offset"], entry.get("sink")
