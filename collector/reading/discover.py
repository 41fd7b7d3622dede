"""Finds every file of the roots that is a source, with its stamp; opens none of them.

In: the roots and the project filter. Out: sources by priority, the newest first, and what is not read, with reasons.
Written for 100,000 files: names decide before anything is asked of the file system, and each source costs one `stat`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from collector.flow import reasons
from collector.flow.source import Root, Source, SourceKind, Stamp, stamp_of

TOP = -1  # the depth of the root itself; `projects/` has 0, a project 1
PROJECTS = "projects"
TRANSCRIPT = ".jsonl"
META = ".meta.json"
AGENT = "agent-"
JOURNAL = "journal.jsonl"
SESSION_INDEX = "sessions-index.json"
NEVER_ENTERED = frozenset({"tool-results", "file-history", "shell-snapshots"})
TOP_FILES = {"history.jsonl": SourceKind.HISTORY, "stats-cache.json": SourceKind.STATS}
PRIORITY = {
    SourceKind.SESSION_INDEX: 0,
    SourceKind.SESSION: 0,
    SourceKind.SUBAGENT: 1,
    SourceKind.JOURNAL: 1,
    SourceKind.HISTORY: 2,
    SourceKind.STATS: 3,
}


@dataclass(slots=True)
class Findings:
    """What a walk found.

    `skipped` counts files by reason. `never_read` counts what else lies there by name, for the doctor; a directory that
    is not entered counts once. `errors` are the directories that could not be listed, as keys, with the cause: what
    was known below them has not vanished. A glance is partial: nothing follows from what it does not name, but the
    keys in `gone`, which it was asked for and which are no longer there.
    """

    files: list[Source] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    never_read: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    missing_roots: list[Root] = field(default_factory=list)
    is_partial: bool = False
    gone: list[str] = field(default_factory=list)
    needs_full_walk: bool = False

    def skip(self, reason: reasons.Reason) -> None:
        """Counts a file that is not read."""
        self.skipped[reason.name] = self.skipped.get(reason.name, 0) + 1

    def add(self, files: Iterable[Source]) -> None:
        """Takes in more sources, in their order."""
        self.files.extend(files)
        # Twice, by numbers that are there already: a pair made for each file would be 10 MB with 100,000 of them.
        self.files.sort(key=lambda source: source.stamp.mtime_ns, reverse=True)
        self.files.sort(key=lambda source: source.priority)

    def ignore(self, name: str) -> None:
        """Counts something that is never read."""
        self.never_read[name] = self.never_read.get(name, 0) + 1


class _Directory(NamedTuple):
    """A directory to list: where it is, how it is called, what its files belong to. `projects/` has depth 0."""

    path: str
    real: str
    key: str
    depth: int
    project: str = ""
    session_id: str = ""
    is_wanted: bool = True


def discover(
    roots: Sequence[Root],
    is_wanted: Callable[[str], bool],
    home: str,
    *,
    known: Callable[[str], Stamp | None] = lambda _: None,
    progress: Callable[[], None] = lambda: None,
) -> Findings:
    """Every source below the roots. A root that is there twice, by link or by name, is read once.

    `known` gives the stamp that is remembered of a key: an equal one is not held twice (18 MB with 100,000 files).
    `progress` is called at every directory, because a slow file system can make this take minutes.
    """
    found = Findings()
    seen: set[str] = set()
    for root in roots:
        path = os.path.abspath(root.path)
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        _Walk(root, real, is_wanted, found, known, progress).run(path, _key(path, home.rstrip("/")))
    found.add([])
    return found


def glance(paths: Iterable[str], roots: Sequence[Root], is_wanted: Callable[[str], bool], home: str) -> Findings:
    """The same as `discover` for a few paths below the roots: sources, and directories with all that is below them.

    Only a full walk can tell what a linked file or directory is called; `needs_full_walk` says that there was one.
    """
    found = Findings(is_partial=True)
    walks: dict[str, _Walk] = {}
    for path in sorted(paths):
        root = next((root for root in roots if path.startswith(f"{os.path.abspath(root.path)}/")), None)
        if root is not None:
            if root.path not in walks:
                walks[root.path] = _Walk(root, os.path.realpath(root.path), is_wanted, found)
            walks[root.path].look_at(path, home.rstrip("/"))
    files = {source.path: source for source in found.files}
    found.files = []
    found.add(files.values())
    return found


class _Walk:
    """The walk through one root. Real directories first, linked ones after them, each directory once: so links make
    neither loops nor repeats, and a source has the same key in every pass."""

    def __init__(
        self,
        root: Root,
        real: str,
        is_wanted: Callable[[str], bool],
        found: Findings,
        known: Callable[[str], Stamp | None] = lambda _: None,
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        self.root, self.real, self.is_wanted, self.found = root, real, is_wanted, found
        self.known, self.progress = known, progress
        self.waiting: list[_Directory] = []
        self.linked: list[_Directory] = []
        self.visited: set[str] = set()

    def run(self, path: str, key: str) -> None:
        """Lists the root, then everything below `projects/`."""
        top = _Directory(path, self.real, key, TOP)
        if not self._list(top):
            self.found.missing_roots.append(self.root)
        self._run()

    def look_at(self, path: str, home: str) -> None:
        """Takes in one path below the root, and what is below that if it is a directory."""
        top = os.path.abspath(self.root.path)
        *directories, name = path[len(top) + 1 :].split("/")
        real = "/".join((self.real, *directories))
        if os.path.realpath(real) != real:
            self.found.needs_full_walk = True
            return
        directory = _Directory(top, self.real, _key(top, home), TOP)
        for each in directories:
            self._enter(directory, each, f"{directory.path}/{each}")
            if not self.waiting:
                return
            directory = self.waiting.pop()
        kind = _kind(name, directory.depth)
        try:
            status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            if kind is not None:
                self.found.gone.append(f"{directory.key}/{_printable(name)}")
        except OSError as error:
            self._unreadable(directory, error)
        else:
            self._look_at_what_is_there(directory, name, path, kind, status)

    def _look_at_what_is_there(
        self, directory: _Directory, name: str, path: str, kind: SourceKind | None, status: os.stat_result
    ) -> None:
        if stat.S_ISLNK(status.st_mode):
            self.found.needs_full_walk = True
        elif stat.S_ISDIR(status.st_mode):
            self._enter(directory, name, path)
            self._run()
            self.found.needs_full_walk = self.found.needs_full_walk or bool(self.linked)
        elif kind is not None and stat.S_ISREG(status.st_mode):
            self._add(directory, name, path, kind, status)

    def _run(self) -> None:
        while self.waiting or self.linked:
            directory = self.waiting.pop() if self.waiting else self.linked.pop(0)
            if directory.real not in self.visited:
                self.visited.add(directory.real)
                self._list(directory)

    def _list(self, directory: _Directory) -> bool:
        """Takes in the entries of a directory; False when there is no such directory."""
        found = self.found
        self.progress()
        try:
            with os.scandir(directory.path) as entries:
                for entry in entries:
                    self._entry(directory, entry)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            found.skip(reasons.UNLISTED)
            found.errors[directory.key] = error.strerror or type(error).__name__
        return True

    def _entry(self, directory: _Directory, entry: os.DirEntry[str]) -> None:
        name = entry.name
        kind = _kind(name, directory.depth)
        if kind is None:
            if entry.is_dir(follow_symlinks=False):
                self._enter(directory, name, entry.path)
            elif entry.is_symlink():
                self._link(directory, entry, None)
            else:
                self._ignore(directory, name)
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._unreadable(directory, error)
            return
        file_type = stat.S_IFMT(status.st_mode)
        if file_type == stat.S_IFREG:
            self._add(directory, name, entry.path, kind, status)
        elif file_type == stat.S_IFDIR:
            self._enter(directory, name, entry.path)
        elif file_type == stat.S_IFLNK:
            self._link(directory, entry, kind)
        else:
            self.found.skip(reasons.NOT_A_FILE)

    def _add(self, directory: _Directory, name: str, path: str, kind: SourceKind, status: os.stat_result) -> None:
        if not directory.is_wanted:
            self.found.skip(reasons.PROJECT)
            return
        if not status.st_size:
            self.found.skip(reasons.EMPTY)
            return
        session_id, agent_id = directory.session_id, ""
        if kind is SourceKind.SESSION:
            session_id = name[: -len(TRANSCRIPT)]
        elif kind is SourceKind.SUBAGENT:
            agent_id = name[len(AGENT) : -len(TRANSCRIPT)]
        key = f"{directory.key}/{_printable(name)}"
        stamp, before = stamp_of(status), self.known(key)
        if stamp == before:
            stamp = before
        priority, project = PRIORITY[kind], directory.project
        self.found.files.append(Source(self.root, path, key, kind, priority, project, session_id, agent_id, stamp))

    def _enter(self, directory: _Directory, name: str, path: str, real: str = "") -> None:
        """Puts a directory on the list of those to walk, if it is one that can hold sources."""
        depth = directory.depth + 1
        if (directory.depth == TOP and name != PROJECTS) or (depth > 1 and name in NEVER_ENTERED):
            self._ignore(directory, name + "/")
            return
        inner = _Directory(
            path,
            real or f"{directory.real}/{name}",
            f"{directory.key}/{_printable(name)}",
            depth,
            name if depth == 1 else directory.project,
            name if depth == 2 else directory.session_id,
            self.is_wanted(name) if depth == 1 else directory.is_wanted,
        )
        (self.linked if real else self.waiting).append(inner)

    def _link(self, directory: _Directory, entry: os.DirEntry[str], kind: SourceKind | None) -> None:
        """Follows a symbolic link, but never out of the root."""
        real = os.path.realpath(entry.path)
        if not real.startswith(self.real + "/"):
            self.found.skip(reasons.OUTSIDE_ROOT)
            return
        try:
            status = os.lstat(real)
        except OSError as error:
            self._unreadable(directory, error)
            return
        if stat.S_ISDIR(status.st_mode):
            self._enter(directory, entry.name, entry.path, real)
        elif kind is None:
            self._ignore(directory, entry.name)
        elif stat.S_ISREG(status.st_mode):
            self._add(directory, entry.name, entry.path, kind, status)
        else:
            self.found.skip(reasons.NOT_A_FILE)

    def _unreadable(self, directory: _Directory, error: OSError) -> None:
        """Counts a file that could not be looked at. Unless it is gone, its directory was not listed completely."""
        if isinstance(error, FileNotFoundError):
            self.found.skip(reasons.VANISHED)
            return
        self.found.skip(reasons.UNREADABLE)
        self.found.errors[directory.key] = error.strerror or type(error).__name__

    def _ignore(self, directory: _Directory, name: str) -> None:
        if directory.depth == TOP or name.endswith("/"):
            self.found.ignore(_printable(name))
        elif not name.endswith(META):
            suffix = os.path.splitext(name)[1]
            self.found.ignore(f"*{_printable(suffix)}" if 1 < len(suffix) < 9 else "other")


def _kind(name: str, depth: int) -> SourceKind | None:
    """What a file of this name is at this depth below `projects/`."""
    if depth == TOP:
        return TOP_FILES.get(name)
    if depth < 1:
        return None
    if name.endswith(TRANSCRIPT):
        if name.startswith(AGENT):
            return SourceKind.SUBAGENT
        if name == JOURNAL:
            return SourceKind.JOURNAL
        return SourceKind.SESSION if depth == 1 else None
    return SourceKind.SESSION_INDEX if name == SESSION_INDEX and depth == 1 else None


def _key(path: str, home: str) -> str:
    if home and (path == home or path.startswith(home + "/")):
        return "~" + _printable(path[len(home) :])
    return _printable(path)


def _printable(name: str) -> str:
    """A name as it can stand in a log line and in JSON: what cannot is escaped, and so is the backslash itself."""
    if name.isprintable() and "\\" not in name:
        return name
    text = name.replace("\\", "\\\\").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(sign: str) -> str:
    """Never as a byte that is no text is escaped: two names must not become one."""
    return f"\\u{ord(sign):04x}" if "\x80" <= sign <= "\xff" else sign.encode("unicode_escape").decode()
