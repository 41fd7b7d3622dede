"""Opens and creates the agent's own files: new ones are private to this user, never behind a planted link.

In: a path. Out: a directory, a plain file to read, or a new and empty file to write to. Invariants: whatever already
has the name of a new file may be a link elsewhere, or a file that others can read or hold open, so it is removed and
the file created from scratch; and opening never blocks, not even on a FIFO.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def make_private_directory(path: Path) -> None:
    """Creates a directory that only this user can enter. An existing one is left as it is."""
    make_directory(path, 0o700)


def make_directory(path: Path, mode: int = 0o777) -> None:
    """Creates a directory and its parents. When root creates one inside a user's directory, that user owns it."""
    created_here = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in created_here:
        # Otherwise a power cut could lose the directory's name, and with it everything synced inside. A parent that
        # this user may not read cannot be synced.
        with contextlib.suppress(OSError):
            fsync_directory(each.parent)
    for each in reversed(created_here if os.geteuid() == 0 else ()):
        with contextlib.suppress(OSError), _directory(each) as descriptor:
            above = os.stat("..", dir_fd=descriptor)  # not by path, which somebody may change meanwhile
            os.fchown(descriptor, above.st_uid, above.st_gid)


def created(path: Path) -> IO[bytes]:
    """A new file to write to, mode 0600.

    Crash window: until the caller has finished writing, this name refers to half a file. So callers write to a name
    beside the real one and rename the file once it is whole; the next write replaces what a crash left behind.
    """
    path.unlink(missing_ok=True)
    # O_EXCL: if somebody puts a link there between these two calls, this fails instead of writing through it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    leave_to_owner(descriptor, path.parent)
    return os.fdopen(descriptor, "wb")


def leave_to_owner(descriptor: int, directory: Path) -> None:
    """Gives a file that root creates to the owner of its directory. Otherwise, after a `sudo collector` in a user's
    home, that user's own agent could no longer read its state."""
    # A second link could be a file elsewhere that somebody linked to this name in order to become its owner.
    if os.geteuid() == 0 and os.fstat(descriptor).st_nlink == 1:
        with contextlib.suppress(OSError):  # in a container, root may not be allowed to do that
            place = os.stat(directory)
            os.fchown(descriptor, place.st_uid, place.st_gid)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file to write to, which replaces `path` once it is whole and on disk.

    Crash window: until the rename, the old file stays as it was. A stray .new beside it is replaced the next time.
    A directory that cannot be synced is noticed before it, too, when nothing has changed yet.
    """
    temporary = path.with_name(path.name + ".new")
    with created(temporary) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # before the rename, or a power cut could leave the name without the bytes
    fsync_directory(path.parent)
    os.replace(temporary, path)
    fsync_directory(path.parent)


def opened_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a plain file; OSError for anything else. Does not block if the path is a FIFO."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    if flags & os.O_CREAT:
        leave_to_owner(descriptor, path.parent)
    return descriptor


def read_plain(path: Path) -> bytes:
    """The contents of a plain file; OSError for anything else."""
    with os.fdopen(opened_plain(path), "rb") as file:
        return file.read()


@contextlib.contextmanager
def only_for_this_user() -> Iterator[None]:
    """Makes every file created inside the block private, by whichever library. Existing files keep their mode."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def keep_previous(path: Path, previous: Path) -> None:
    """Makes `previous` a second name for `path`; where the file system has no hard links, `path` is renamed to it."""
    path.stat()
    # A crash between these two lines leaves one generation, the current one.
    previous.unlink(missing_ok=True)
    try:
        os.link(path, previous)
    except OSError:
        # From here until the new state gets its name, there is no current one. After a crash in between, the agent
        # loads the previous generation, which at that moment is the last one saved.
        os.replace(path, previous)


def fsync_directory(path: Path) -> None:
    """Makes the names in this directory survive a power cut: fsync of a file does not cover its name."""
    with _directory(path) as descriptor:
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # on some file systems directories have no fsync (AFS, shared folders)
                raise


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
