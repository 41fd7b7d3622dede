"""A disk that forgets: it records what was synced, and shows what a power cut would leave at any moment.

    with Disk(directory) as disk:        # below this directory, every change is a moment
        ...
    for moment in disk.moments:
        for left in moment.left():       # each state that a file system may have kept by then
            left.restore(directory)

A file system promises little. A file's bytes survive if the file was synced after they were written, and a name (or its
absence) survives if its directory was synced. All else may survive or not, each directory independently of the others.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self
from unittest import mock

CHANGES = ("open", "replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "ftruncate", "fsync")
Names = Mapping[str, int]  # the names in one directory, and the inode of each


class Left(NamedTuple):
    """What a power cut has left: the directories, and the bytes of each file."""

    directories: frozenset[str]
    files: frozenset[tuple[str, bytes]]

    def restore(self, directory: Path) -> None:
        """Makes the directory look as it does after the power cut."""
        shutil.rmtree(directory, ignore_errors=True)
        for name in sorted(self.directories):
            (directory / name).mkdir(parents=True, exist_ok=True)
        for name, data in self.files:
            (directory / name).write_bytes(data)


class Moment(NamedTuple):
    """The moment right before a change: the names in each directory and the bytes of each inode, current and synced."""

    what: str
    now: dict[str, Names]
    synced: dict[str, Names]
    bytes_now: dict[int, bytes]
    bytes_synced: dict[int, bytes]
    noted: Any

    def left(self) -> set[Left]:
        """Everything that may be left: any of the possible names in each directory, with current or synced bytes."""
        known = sorted({*self.now, *self.synced})
        found = set()
        for bytes_of in (self.bytes_now, self.bytes_synced):
            for kept in product(*(self._kept_in(place) for place in known)):
                found.add(self._reachable(dict(zip(known, kept, strict=True)), bytes_of))
        return found

    def _kept_in(self, place: str) -> Iterator[Names]:
        """The names a directory may have: the current or the synced ones, each also with a single new name changed."""
        now, synced = self.now.get(place, {}), self.synced.get(place, {})
        yield from (now, synced)
        for name in sorted(now.keys() - synced.keys()):
            yield {**synced, name: now[name]}
            yield {other: inode for other, inode in now.items() if other != name}

    def _reachable(self, names: dict[str, Names], bytes_of: dict[int, bytes]) -> Left:
        """What can still be reached: a directory whose own name is lost takes everything in it along."""
        directories, files, todo = {""}, set(), [""]
        while todo:
            place = todo.pop()
            for name, inode in names.get(place, {}).items():
                inner = os.path.join(place, name)
                if inode in self.bytes_now:
                    files.add((inner, bytes_of.get(inode, b"")))
                else:
                    directories.add(inner)
                    todo.append(inner)
        return Left(frozenset(directories), frozenset(files))


class Disk:
    """Records the changes below a directory, which must already exist. `note` is called at every moment, for whatever
    else the test wants to remember about it."""

    def __init__(self, directory: Path, note: Callable[[], Any] = lambda: None) -> None:
        self.directory = directory
        self.moments: list[Moment] = []
        self._note = note
        self._synced: dict[str, Names] = {}
        self._bytes_synced: dict[int, bytes] = {}
        self._theirs: set[int] = set()  # linked from elsewhere: syncing those bytes is not the agent's job
        self._open: dict[int, int] = {}  # every inode ever seen; kept open so that its number is not reused
        self._real = {name: getattr(os, name) for name in CHANGES}
        self._is_looking = False

    def __enter__(self) -> Self:
        self._synced = self._names()
        self._bytes_synced = self._contents()
        self._patches = contextlib.ExitStack()
        for name in CHANGES:
            self._patches.enter_context(mock.patch.object(os, name, self._watched(name)))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()
        self._look("the end", ())
        for descriptor in self._open.values():
            os.close(descriptor)

    def _watched(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def call(*arguments: Any, **keywords: Any) -> Any:
            if self._is_looking or not self._concerns(name, arguments):
                return real(*arguments, **keywords)
            self._look(name, arguments)
            result = real(*arguments, **keywords)
            if name == "fsync":
                self._has_synced(arguments[0])
            elif name == "link" and not str(arguments[0]).startswith(str(self.directory)):
                self._theirs.add(os.stat(arguments[0]).st_ino)
            return result

        return call

    def _concerns(self, name: str, arguments: tuple[Any, ...]) -> bool:
        if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            return False
        if name in ("fsync", "ftruncate"):
            return self._place_of(arguments[0]) is not None
        return any(str(each).startswith(str(self.directory)) for each in arguments[:2])

    def _place_of(self, descriptor: int) -> str | None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        return os.path.relpath(path, self.directory) if path.startswith(str(self.directory)) else None

    def _look(self, name: str, arguments: tuple[Any, ...]) -> None:
        self._is_looking = True
        try:
            what = f"{name} {' '.join(os.path.basename(str(each)) for each in arguments[:2])}"
            now = self._names()
            contents = self._contents()
            synced = self._bytes_synced | {inode: contents[inode] for inode in self._theirs & contents.keys()}
            moment = Moment(what, now, dict(self._synced), contents, synced, self._note())
            self.moments.append(moment)
        finally:
            self._is_looking = False

    def _has_synced(self, descriptor: int) -> None:
        self._is_looking = True
        try:
            status, place = os.fstat(descriptor), self._place_of(descriptor)
            if stat.S_ISDIR(status.st_mode) and place is not None:
                self._names()
                self._synced[place.removeprefix(".")] = self._names_in(self.directory / place)
            else:
                self._bytes_synced[status.st_ino] = Path(f"/proc/self/fd/{descriptor}").read_bytes()
        finally:
            self._is_looking = False

    def _names(self) -> dict[str, Names]:
        found = {}
        for path in self._directories(self.directory):
            found[os.path.relpath(path, self.directory).removeprefix(".")] = self._names_in(path)
        return found

    def _directories(self, top: Path) -> Iterator[Path]:
        if top.is_dir():
            yield top
            for each in sorted(top.iterdir()):
                if each.is_dir():
                    yield from self._directories(each)

    def _names_in(self, path: Path) -> Names:
        names = {}
        for entry in os.scandir(path):
            inode = names[entry.name] = entry.inode()
            if entry.is_file(follow_symlinks=False) and inode not in self._open:
                self._open[inode] = self._real["open"](entry.path, os.O_RDONLY)
        return names

    def _contents(self) -> dict[int, bytes]:
        return {inode: os.pread(descriptor, 1 << 24, 0) for inode, descriptor in self._open.items()}
