"""Keeps the compiled rules, and which of the user's own rules were tried, in the cache directory between starts.

In: a path, the compiled body, canaries. Out: a database, or None if there is none that can be trusted. The file is
input for native code, and replacing it would turn redaction off; its checksum only reveals damage. So it is read only
if nobody but this user (or root) can have written it, and used only if it finds what it must find.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from collector.files import created, make_private_directory
from collector.redact.scan.compiling import hyperscan

OTHERS_WRITE = 0o022
ADVICE = "Make it this user's own and writable by nobody else (chown, chmod 700), or remove it: it is made again."
OUTDATED_SECONDS = 30 * 86400
Canary = tuple[bytes, int]  # a text, and the number of the pattern that must be reported in it


def load(path: Path, canaries: list[Canary]) -> Any:
    """The cached database, or None if there is none that can be used."""
    body = read(path)
    if not body:
        return None
    try:
        database = hyperscan.loadb(body, hyperscan.HS_MODE_BLOCK)
        scratch = hyperscan.Scratch(database)
        return database if all(_is_reported(database, scratch, *canary) for canary in canaries) else None
    except (hyperscan.error, ValueError):
        return None


def read(path: Path) -> bytes:
    """What was saved, if only this user or root can have written it; otherwise empty."""
    return _body(_read(path))


def save(path: Path, body: bytes) -> None:
    """Saves something for the next start; a cache that cannot be written only costs time."""
    # A crash before the rename leaves a `.new` file that nobody reads. Nothing is synced, so a power failure may cut
    # the file short: its checksum shows that, and it is made again.
    new = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    with contextlib.suppress(OSError):
        make_private_directory(path.parent)
        if danger(path.parent):
            return
        try:
            with created(new) as file:
                file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)  # on a full disk, what was left of it is for the state
        # Every upgrade compiles rules of its own. If older ones are still in use, they are compiled once more.
        for other in path.parent.glob("rules-*.hyperscan*"):
            if other.lstat().st_mtime < time.time() - OUTDATED_SECONDS:
                other.unlink()


def danger(directory: Path) -> str:
    """Why nothing may be read from this directory: others can put files there. Empty if they cannot."""
    try:
        return _danger(directory.stat())
    except OSError:  # there is nothing to read, or no way to read it
        return ""


@lru_cache
def say_unused(directory: Path, reason: str) -> None:
    """Logs that this directory is not used; once, however often rules are loaded."""
    from collector.log import get_logger  # takes twice as long to import as all of redaction, and is rarely needed

    get_logger().warning(
        "the cache is not used, rules are compiled at every start", path=str(directory), reason=reason, advice=ADVICE
    )


def _read(path: Path) -> bytes:
    """The file, if only this user or root can have written it. The opened file and directory are what is checked, so
    nothing can be swapped between check and read."""
    try:
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if _danger(os.fstat(directory)):
            return b""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe must not block
        with os.fdopen(os.open(path.name, flags, dir_fd=directory), "rb") as file:
            found = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(found.st_mode) and not _danger(found) else b""
    except OSError:
        return b""
    finally:
        os.close(directory)


def _danger(found: os.stat_result) -> str:
    if found.st_uid not in {os.geteuid(), 0}:
        return "it belongs to another user"
    return "others can write to it" if found.st_mode & OTHERS_WRITE else ""


def _body(data: bytes) -> bytes:
    """What follows the checksum, if the checksum is right; otherwise empty."""
    digest, _, body = data.partition(b"\n")
    return body if hashlib.sha256(body).hexdigest().encode() == digest else b""


def _is_reported(database: Any, scratch: Any, text: bytes, pattern: int) -> bool:
    seen: list[int] = []
    database.scan(text, match_event_handler=lambda number, *_: seen.append(number), scratch=scratch)
    return pattern in seen
