"""Opens and creates the agent's own files: private to this user, and never through what somebody else put there.

In: a path. Out: a directory, a plain file to read, or a new and empty file to write to. Invariants: a name that is
already taken may be a link to somewhere else, or a file that others may read or hold open, so it is removed and the
file created anew; and whatever has the name of a file, such as a FIFO, opening it does not wait.
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
    """Creates a directory that only this user can enter. One that exists is left as it is."""
    make_directory(path, 0o700)


def make_directory(path: Path, mode: int = 0o777) -> None:
    """Creates a directory, and those above it; what root makes in a directory of a user is that user's."""
    created_here = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in created_here:
        # Or a power cut could take the directory's name, and with it all that is synced in there. A parent that this
        # user may not read cannot be synced.
        with contextlib.suppress(OSError):
            fsync_directory(each.parent)
    for each in reversed(created_here if os.geteuid() == 0 else ()):
        with contextlib.suppress(OSError), _directory(each) as descriptor:
            above = os.stat("..", dir_fd=descriptor)  # not by its path, which somebody may change meanwhile
            os.fchown(descriptor, above.st_uid, above.st_gid)


def created(path: Path) -> IO[bytes]:
    """A new file to write to, mode 0600.

    Crash window: until the caller has finished writing, half a file has this name. So callers choose a name beside the
    real one, and rename the file once it is whole; the next writing replaces what a crash left under that name.
    """
    path.unlink(missing_ok=True)
    # O_EXCL: if somebody puts a link there between these two calls, this fails instead of writing through it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    leave_to_owner(descriptor, path.parent)
    return os.fdopen(descriptor, "wb")


def leave_to_owner(descriptor: int, directory: Path) -> None:
    """What root makes belongs to whoever owns the directory it is in: after a `sudo collector` in the home of a user,
    that user's own agent could not read its state any more."""
    # A further name could be that of a file elsewhere, linked to this one by somebody who wants to own that.
    if os.geteuid() == 0 and os.fstat(descriptor).st_nlink == 1:
        with contextlib.suppress(OSError):  # a container may not let its root do that
            place = os.stat(directory)
            os.fchown(descriptor, place.st_uid, place.st_gid)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file to write to, which then takes the place of this one, whole and on the disk.

    Crash window: up to the rename the old file stands as it was. A stray .new beside it is replaced the next time.
    """
    temporary = path.with_name(path.name + ".new")
    with created(temporary) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # before the rename, or a power cut could leave the name without the bytes
    os.replace(temporary, path)
    fsync_directory(path.parent)


def opened_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a plain file, without waiting for whoever might write into a FIFO of that name; else OSError."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    if flags & os.O_CREAT:
        leave_to_owner(descriptor, path.parent)
    return descriptor


def read_plain(path: Path) -> bytes:
    """What is in a plain file; OSError for anything else that has its name."""
    with os.fdopen(opened_plain(path), "rb") as file:
        return file.read()


@contextlib.contextmanager
def only_for_this_user() -> Iterator[None]:
    """Whatever is created meanwhile is private, by whichever library. A file that is there already keeps its mode."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def keep_previous(path: Path, previous: Path) -> None:
    """Makes `previous` another name of `path`; a copy where the file system has no hard links."""
    path.stat()
    # A crash between these two leaves one generation, the current one.
    previous.unlink(missing_ok=True)
    try:
        os.link(path, previous)
    except OSError:
        # From here until the new state gets its name, there is no current one. After a crash in between, the previous
        # generation is loaded, which at that moment is the last one saved.
        os.replace(path, previous)


def fsync_directory(path: Path) -> None:
    """Makes names in this directory survive a power cut: fsync of a file alone says nothing about its name."""
    with _directory(path) as descriptor:
        os.fsync(descriptor)


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
