"""The lock: only one agent works on a state at a time; a second one is told at once who holds it.

In: the path of a state. Out: a `with` block during which no other agent writes beside it, or StateLocked. The system
releases the lock when the process ends, however it ends, so no crash leaves it locked. If another directory takes the
place of the state's, the lock does not cover that one, so the agent that holds the lock must restart.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from collector.errors import StateError, StateLocked, StateReplaced
from collector.files import make_private_directory, opened_plain, read_plain

LOOK_SECONDS = 0.05
ELSEWHERE = ".elsewhere"
MOST_ELSEWHERE = 100


class HeldLock(NamedTuple):
    """A lock that is held: which state it is for, the device that state is on, and the open lock file."""

    path: Path
    device: int
    descriptor: int

    def keep(self) -> bool:
        """Raises if the directory was replaced, for example by a home mounted after the agent has started: then the
        configuration, the marker key and the offsets differ too. What was deleted is created again: without a lock
        file, no command finds the agent, and another could start. Returns whether anything was."""
        was_deleted = False
        with contextlib.suppress(OSError):
            make_private_directory(self.path.parent)
            is_replaced = os.stat(self.path.parent).st_dev != self.device
            was_deleted = not is_replaced and not lock_path(self.path).exists()
            if was_deleted:
                with contextlib.suppress(FileExistsError, BlockingIOError):  # another agent was faster: see below
                    self._lock_again()
            # Do not compare inodes: some file systems make up a new number each time.
            if is_replaced or read_plain(lock_path(self.path)) != os.pread(self.descriptor, 1_000, 0):
                raise StateReplaced(
                    f"Something else is now in the place of {self.path.parent}, such as a home mounted later. Nothing "
                    "more is read, sent or written there. Restart the agent to work with what is there now; a service "
                    "manager does so by itself."
                )
        return was_deleted

    def _lock_again(self) -> None:
        descriptor = opened_plain(lock_path(self.path), os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            _try_to_lock(descriptor)
            with contextlib.suppress(OSError):  # as in `lock`
                os.pwrite(descriptor, os.pread(self.descriptor, 1_000, 0), 0)
            os.dup2(descriptor, self.descriptor, inheritable=False)
        finally:
            os.close(descriptor)


def lock_path(path: Path) -> Path:
    """The lock file that belongs to a state."""
    return path.with_name(path.name + ".lock")


def holder(path: Path) -> str:
    """Who is working on a state right now, according to its lock file; empty if nobody is."""
    try:
        descriptor = opened_plain(lock_path(path))
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # released at once; an agent that starts now tries twice
    except BlockingIOError:
        return _named_in(descriptor)
    except OSError:  # a file system without locks: nobody can hold one
        return ""
    finally:
        os.close(descriptor)
    return ""


def is_another(process: int, path: Path) -> bool:
    """Whether the process with this number is certainly not the holder: one on another machine, or in another
    container, that shares this directory has its number there."""
    try:
        held = os.stat(lock_path(path))
        opened = [os.stat(each.path) for each in os.scandir(f"/proc/{process}/fd")]
    except OSError:  # no such process, one that may not be looked into, or no /proc
        return False
    return not any(os.path.samestat(held, each) for each in opened)


def note_elsewhere(path: Path, usual: Path) -> None:
    """Leaves a link beside the usual state to one in another directory: a no that names no state is for it, too."""
    directory = os.path.realpath(path.parent)
    state = os.path.join(directory, path.name)
    link = usual.with_name(hashlib.sha256(os.fsencode(state)).hexdigest()[:12] + ELSEWHERE)
    if directory != os.path.realpath(usual.parent):
        with contextlib.suppress(OSError):  # the home cannot be written to
            make_private_directory(usual.parent)
            with contextlib.suppress(FileExistsError):
                os.symlink(state, link)
            os.utime(link, follow_symlinks=False)
            # Temporary states come and go. Whether one is gone is not asked: it may be on a file system that hangs.
            for oldest in sorted(_links_beside(usual), key=lambda each: each.lstat().st_mtime)[:-MOST_ELSEWHERE]:
                oldest.unlink()


def states_elsewhere(usual: Path) -> list[Path]:
    """Such states, as far as this user may write there, as an agent must."""
    found = [Path(os.readlink(link)) for link in _links_beside(usual)]
    return [path for path in found if os.access(path.parent, os.W_OK | os.X_OK)]


def _links_beside(usual: Path) -> list[Path]:
    return sorted(link for link in usual.parent.glob(f"*{ELSEWHERE}") if link.is_symlink())


def states_at(path: Path) -> list[Path]:
    """The states in the directory of this one on which agents have worked."""
    locks = sorted(path.parent.glob("*.lock"))
    return [each.with_suffix("") for each in locks if not each.name.endswith(".jsonl.lock")]  # that of a quarantine


def _named_in(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"


def _try_to_lock(descriptor: int) -> None:
    """Raises BlockingIOError if another agent holds it. Tries twice, because `holder` takes it for a moment to look."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    time.sleep(LOOK_SECONDS)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def lock(path: Path, purpose: str) -> Iterator[HeldLock]:
    """Holds the state for this process. If another one has it, raises StateLocked at once, naming the holder."""
    try:
        make_private_directory(path.parent)
        # O_NOFOLLOW, because otherwise the target of a link would be truncated.
        descriptor = opened_plain(lock_path(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    except OSError as error:
        raise StateError(
            f"Cannot write next to the state {path}: {error.strerror}. Nothing was sent. "
            "Make its directory and the files in it writable to this user, or name another file with --state."
        ) from None
    try:
        try:
            _try_to_lock(descriptor)
        except BlockingIOError:
            raise StateLocked(
                f"The state {path} is in use by {_named_in(descriptor)}. Only one agent can use a state at a time: "
                "stop that one first, or name another file with --state."
            ) from None
        except OSError as error:
            raise StateError(
                f"Cannot lock the state {path}: {error.strerror}. Nothing was sent, because without a lock two agents "
                "could use it at once. Choose a file with --state on a file system that has locks."
            ) from None
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        with contextlib.suppress(OSError):  # a full disk: the lock holds, but names nobody
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"collector {purpose}, process {os.getpid()}, since {since}\n".encode(), 0)
        yield HeldLock(path, os.stat(path.parent).st_dev, descriptor)
    finally:
        os.close(descriptor)
