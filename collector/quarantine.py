"""The quarantine: what could not be read or would not be taken, redacted, kept aside with its reason.

One JSON object a line, mode 0600, written and synced before the offset that passes it is saved (promise 1). Bounded:
when it is full the oldest entries go, and the number that went is returned so that it is said loudly.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from collector.errors import StateError
from collector.flow import SetAside
from collector.state import fsync_directory, make_private_directory

KEEP_WHEN_FULL = 0.75


class Quarantine:
    """The file of what was set aside."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path = path
        self.max_bytes = max_bytes

    def add(self, things: Iterable[SetAside]) -> int:
        """Keeps these; returns how many old ones had to go. Nothing is on disk unless this returns."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines = [orjson.dumps({**thing._asdict(), "time": now}) + b"\n" for thing in things]
        if not lines:
            return 0
        try:
            make_private_directory(self.path.parent)
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                if not self._ends_whole(descriptor):
                    file.write(b"\n")
                file.writelines(lines)
                file.flush()
                os.fsync(descriptor)
                size = os.fstat(descriptor).st_size
            if is_new:
                fsync_directory(self.path.parent)
            return self._shrink() if size > self.max_bytes else 0
        except OSError as error:
            raise StateError(
                f"Cannot write the quarantine {self.path}: {error.strerror}. No offset moves past what belongs there; "
                "it is tried again. Make room or check the mount."
            ) from None

    @staticmethod
    def _ends_whole(descriptor: int) -> bool:
        """Whether the last line is complete; a crash in the middle of a write leaves half a line."""
        size = os.fstat(descriptor).st_size
        return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"

    def entries(self) -> list[dict[str, Any]]:
        """What is kept, oldest first, each id once; lines that a crash cut short are passed over."""
        found: dict[str, dict[str, Any]] = {}
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StateError(f"Cannot read the quarantine {self.path}: {error.strerror}.") from None
        for line in data.splitlines():
            try:
                entry = orjson.loads(line)
                found.setdefault(str(entry["id"]), entry)
            except (ValueError, KeyError, TypeError):
                continue
        return list(found.values())

    def drop(self, ids: set[str]) -> int:
        """Removes these entries; returns how many there were."""
        kept = [entry for entry in self.entries() if entry["id"] not in ids]
        gone = len(self.entries()) - len(kept)
        if gone:
            self._rewrite(kept)
        return gone

    def _shrink(self) -> int:
        entries = self.entries()
        kept: list[dict[str, Any]] = []
        room = int(self.max_bytes * KEEP_WHEN_FULL)
        for entry in reversed(entries):
            room -= len(orjson.dumps(entry)) + 1
            if room < 0:
                break
            kept.append(entry)
        self._rewrite(kept[::-1])
        return len(entries) - len(kept)

    def _rewrite(self, entries: list[dict[str, Any]]) -> None:
        temporary = self.path.with_name(self.path.name + ".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(orjson.dumps(entry) + b"\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.path)
        fsync_directory(self.path.parent)
