"""Opens one file below a root, in a way that no link can lead out of that root.

Every directory from the root to the file is opened relative to its parent and without following links, so swapping a
name for a link between listing and opening achieves nothing. The file is opened without blocking and must turn out to
be a regular file. SkipSource says why a file is not read, SourceError that reading it failed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from collector.errors import SkipSource, SourceError
from collector.flow import reasons
from collector.flow.source import FINGERPRINT_BYTES, Position, Source, digest, stamp_of
from collector.reading.parse import load

MAX_COMPANION_BYTES = 64 << 10
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
_REASONS = {
    errno.ENOENT: reasons.VANISHED,
    errno.ENOTDIR: reasons.VANISHED,
    errno.EACCES: reasons.UNREADABLE,
    errno.EPERM: reasons.UNREADABLE,
    errno.ELOOP: reasons.OUTSIDE_ROOT,
    errno.ENXIO: reasons.NOT_A_FILE,
    errno.EISDIR: reasons.NOT_A_FILE,
    errno.ENODEV: reasons.NOT_A_FILE,
}


class SourceFile:
    """An open source: its bytes by offset, and its stamp from when it was opened. Raises SkipSource for anything but a
    regular file."""

    def __init__(self, source: Source, descriptor: int, directory: int) -> None:
        self.source = source
        self._descriptor = descriptor
        self._directory = directory
        try:
            status = os.fstat(descriptor)
        except OSError as error:  # the file server no longer knows it
            raise broken(source, error) from None
        # Ask the descriptor, not the name: the name may have become a pipe since it was listed.
        if not stat.S_ISREG(status.st_mode):
            raise SkipSource(reasons.NOT_A_FILE.name, source.key)
        self.stamp = stamp_of(status)

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes at `offset`; fewer at the end of the file, none beyond it."""
        try:
            return os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise broken(self.source, error) from None

    def read_fully(self, size: int, offset: int) -> bytes:
        """`size` bytes at `offset`, fewer only if the file ends."""
        data = self.read(size, offset)
        while len(data) < size and (more := self.read(size - len(data), offset + len(data))):
            data += more
        return data

    def before(self, offset: int) -> bytes:
        """The bytes just before `offset`, which its fingerprint is made from."""
        size = min(FINGERPRINT_BYTES, offset)
        return self.read_fully(size, offset - size)

    def begins_as(self, position: Position) -> bool:
        """Whether this file is the one that was read up to `position`, whatever its name and inode say."""
        if self.stamp.size < position.offset:
            return False
        size = min(FINGERPRINT_BYTES, position.offset)
        return (
            digest(self.read_fully(size, 0)) == position.head and digest(self.before(position.offset)) == position.tail
        )

    def companion(self, name: str) -> dict[str, Any]:
        """The JSON object in a small file beside this one; empty if there is none that can be read."""
        with suppress(OSError, ValueError):
            descriptor = os.open(name, _FILE, dir_fd=self._directory)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    value = load(os.pread(descriptor, MAX_COMPANION_BYTES, 0))
                    return value if isinstance(value, dict) else {}
            finally:
                os.close(descriptor)
        return {}


@contextmanager
def opened(source: Source) -> Iterator[SourceFile]:
    """Opens a source for the duration of a `with` block; raises SkipSource if it must not be read."""
    try:
        directory, descriptor = _open(source)
    except OSError as error:
        if error.errno in _REASONS:
            raise SkipSource(_REASONS[error.errno].name, source.key) from None
        raise broken(source, error) from None
    try:
        yield SourceFile(source, descriptor, directory)
    finally:
        os.close(descriptor)
        os.close(directory)


def _open(source: Source) -> tuple[int, int]:
    """Descriptors of a source's directory and of the source itself. Links are followed only below the root."""
    root = os.path.abspath(source.root.path)
    try:
        return _descend(root, os.path.relpath(source.path, root))
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
    # There is a link along the path. Links below the root are fine, so try again with links resolved; one that leaves
    # the root gives a path with `..` in it, which `_descend` refuses.
    root = os.path.realpath(root)
    return _descend(root, os.path.relpath(os.path.realpath(source.path), root))


def _descend(root: str, below: str) -> tuple[int, int]:
    *directories, name = below.split(os.sep)
    if os.pardir in directories or name in (os.pardir, os.curdir):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    # Step by step, each directory relative to its parent, so that nobody can swap a name for a link in between.
    directory = os.open(root, _DIRECTORY)
    try:
        for each in directories:
            inner = os.open(each, _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = inner
        return directory, os.open(name, _FILE, dir_fd=directory)
    except OSError:
        os.close(directory)
        raise


def broken(source: Source, error: OSError) -> SourceError:
    """The error for a failed read, in words that a person can act on."""
    return SourceError(
        f"Cannot read {source.key}: {error.strerror}. What was read before is kept; the next pass tries again. "
        "If this persists, check the disk and the permissions."
    )
