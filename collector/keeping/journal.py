"""The journal beside a large state: the changes since the state was written whole, one line for each save.

In: changed entries. Out: after a restart, the same entries in the same order. The first line names the state that the
journal belongs to by a digest, so it is never applied to a newer or a restored one. A line is synced before it counts;
a line that a crash cut short is ignored, along with everything after it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import orjson

from collector.files import created, fsync_directory

READ_AT_ONCE = 1 << 16


class JournalUnusable(Exception):
    """The state must be written whole: it is small, shorter than its journal, or not the one the journal belongs to."""


class Journal:
    """Appends only while the state on disk is the one that this process wrote."""

    def __init__(self, state: Path, used_from: int) -> None:
        self.path = state.with_name(state.name + ".journal")
        self.state = state
        self.used_from = used_from
        self._base: tuple[int, int] | None = None  # inode and size of the state that was written whole
        self._digest = ""
        self._size = 0

    def begin(self, base: Digest) -> None:
        """Starts over: the state was written whole, and holds everything that was in the journal."""
        self._base, self._size = None, 0
        # A crash or a failure here leaves a journal that no longer belongs to any state. It is never applied, and the
        # next one replaces it.
        with contextlib.suppress(OSError):
            self.path.unlink()
        if base.size >= self.used_from:
            self._digest = base.text
            self._base = self._what_is_there()

    @property
    def is_empty(self) -> bool:
        """Whether the state file alone holds everything."""
        return not self._size

    def append(self, changes: dict[str, Any]) -> None:
        """Adds one line, which is on disk when this returns."""
        if self._base is None or self._size > self._base[1] or self._base != self._what_is_there():
            raise JournalUnusable
        line = orjson.dumps(changes, option=orjson.OPT_APPEND_NEWLINE)
        if not self._size:
            line = orjson.dumps({"base": self._digest}, option=orjson.OPT_APPEND_NEWLINE) + line
        try:
            opened = self._opened() if self._size else created(self.path)
        except FileNotFoundError:
            raise JournalUnusable from None
        # A failure or a crash may leave half of the line on disk. Nothing may follow it, because that would be ignored
        # as well: without a base, the next save writes the state whole.
        base, self._base = self._base, None
        with opened as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if not self._size:
            fsync_directory(self.path.parent)  # otherwise a power cut could remove a journal that already counts
        self._base = base
        self._size += len(line)

    def _opened(self) -> IO[bytes]:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(self.path, flags), "wb")

    def read(self, base: IO[bytes]) -> Iterator[dict[str, Any]]:
        """The changes since this base was written; none if the journal belongs to another base. Raises OSError if it
        cannot be read."""
        if not self.path.is_file():  # opening a pipe would wait for a writer
            return
        # Any other failure is the caller's: without these changes, all that they say would be sent again.
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as lines:
            for number, line in enumerate(lines):
                try:
                    value = orjson.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    return
                if not isinstance(value, dict) or (number == 0 and value.get("base") != Digest.of(base).text):
                    return
                if number:
                    yield value

    def _what_is_there(self) -> tuple[int, int] | None:
        try:
            status = self.state.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size


class Digest:
    """Identifies a whole state. It is built from the pieces as they are written."""

    def __init__(self) -> None:
        self._hash, self.size = blake2b(digest_size=16), 0

    @classmethod
    def of(cls, file: IO[bytes]) -> Digest:
        """The digest of a whole file."""
        digest = cls()
        file.seek(0)
        while piece := file.read(READ_AT_ONCE):
            digest.take(piece)
        return digest

    def take(self, piece: bytes) -> None:
        """Adds the next piece."""
        self._hash.update(piece)
        self.size += len(piece)

    @property
    def text(self) -> str:
        """32 hex digits."""
        return self._hash.hexdigest()
