"""How the agent's own files come into being: for this user's eyes only, and never through what somebody else put there.

In: a path. Out: a directory, or a new and empty file to write. A name that is taken already may be a link to elsewhere,
or a file that others hold open or may read, so it is removed first and made anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def make_private_directory(path: Path) -> None:
    """Makes a directory that only this user can look into; one that is there stays as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def created(path: Path) -> IO[bytes]:
    """A new file to write, mode 0600."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def fsync_directory(path: Path) -> None:
    """Makes a new name in this directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
