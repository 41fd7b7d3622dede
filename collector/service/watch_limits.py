"""What the system hides from a watcher: the limits of inotify, and file systems that do not report other machines."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
INOTIFY = Path("/proc/sys/fs/inotify")
REMOTE = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "nfs", "nfs4", "smb3", "virtiofs"}
)
IN_DELETE_SELF = 0x400


def is_watch_limit_reached(path: str) -> bool:
    """Whether the system allows no more watches. watchdog silently skips directories that it cannot watch."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if descriptor < 0:
        return False  # without an inotify instance, there is no way to tell
    try:
        added = libc.inotify_add_watch(descriptor, os.fsencode(path), IN_DELETE_SELF)
        return added < 0 and ctypes.get_errno() == errno.ENOSPC
    finally:
        os.close(descriptor)


def network_file_system(path: str, mounts: Path = MOUNTS) -> str | None:
    """The type of the network file system that this path is on; None if it is local or the type is unknown."""
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    best, found = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:  # device, mount point, type
            continue
        point = fields[1].replace("\\040", " ").rstrip("/")
        if (path == point or path.startswith(f"{point}/")) and len(point) >= len(best):
            best, found = point, fields[2]
    return found if found in REMOTE else None


def inotify_limit(name: str) -> int | None:
    """One of the system's inotify limits, such as `max_user_watches`."""
    try:
        return int((INOTIFY / name).read_text())
    except (OSError, ValueError):
        return None
