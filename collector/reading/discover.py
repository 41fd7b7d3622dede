"""Finds every source below the roots, with its stamp.

In: the roots, the formats of the agents in them, and the project filter. Out: sources by priority, newest first, and
what is not read, with reasons. Written for 100,000 files: names are checked before the file system is asked anything,
each source costs one `stat`, and only those that the project filter is in doubt about are opened. A source that is
unchanged since all of it was safe is merely counted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from collector.flow import reasons
from collector.flow.source import Place, Root, Source, SourceKind, Stamp, stamp_of
from collector.reading.projects import Verdict
from collector.reading.scope import Scope


@dataclass(slots=True)
class Findings:
    """What a walk found.

    `skipped` counts files by reason. `never_read` counts everything else, by name, for `doctor`; a directory that is
    not entered counts once. `errors` maps directories that could not be listed to the cause: known sources below them
    must not be taken for deleted. A glance is partial: a source that it does not mention may still exist, unless its
    key is in `gone`, which lists what the glance was asked about and found missing. `refused` holds the keys of known
    sources that the project filter leaves out, and `absent` those of missing roots, such as an unmounted disk: their
    offsets are remembered for as long as that lasts.

    If the walk was given the known sources, `files` holds only those that are not at rest, `at_rest` counts the others
    by priority, and `unmet` holds every known key that was not found at rest.
    """

    files: list[Source] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    never_read: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    missing_roots: list[Root] = field(default_factory=list)
    is_partial: bool = False
    gone: list[str] = field(default_factory=list)
    needs_full_walk: bool = False
    at_rest: dict[int, int] = field(default_factory=dict)
    unmet: set[str] | None = None
    refused: set[str] = field(default_factory=set)
    absent: list[str] = field(default_factory=list)

    def skip(self, reason: reasons.Reason, files: int = 1) -> None:
        """Counts files that are not read."""
        if files:
            self.skipped[reason.name] = self.skipped.get(reason.name, 0) + files

    def rest(self, key: str, kind: SourceKind) -> None:
        """Counts a source at rest."""
        assert self.unmet is not None  # noqa: S101 - for mypy
        self.unmet.discard(key)
        self.at_rest[kind.priority] = self.at_rest.get(kind.priority, 0) + 1

    def add(self, files: Iterable[Source]) -> None:
        """Adds sources and keeps all of them in reading order."""
        self.files.extend(files)
        # Two sorts on existing numbers: building a key tuple per file would take 10 MB with 100,000 files.
        self.files.sort(key=lambda source: source.stamp.mtime_ns, reverse=True)
        self.files.sort(key=lambda source: source.kind.priority)

    def ignore(self, name: str) -> None:
        """Counts something that is never read."""
        self.never_read[name] = self.never_read.get(name, 0) + 1


class Known(Protocol):
    """What is remembered of the sources, by key: the entries of a state."""

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, key: object) -> bool: ...

    def is_at_rest(self, key: str, stamp: Stamp) -> bool:
        """Whether a source is unchanged since all of it was safe."""


class _Directory(NamedTuple):
    """A directory to list: its path, the key it is known by, and what it means to the agent that keeps files in it."""

    path: str
    real: str
    key: str
    place: Place
    verdict: Verdict = Verdict.TAKEN


def discover(
    scope: Scope,
    *,
    known: Known | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Findings:
    """Every source below the roots. A root that is named twice, or also reached through a link, is read once.

    Given what is `known`, sources at rest are only counted, which saves 50 MB and half the time with 100,000 of them.
    `progress` is called at every directory, because a walk can take minutes on a slow file system.
    """
    scope.keep_up()
    found = Findings(unmet=None if known is None else set(known))
    seen: set[str] = set()
    for root in scope.roots:
        path = os.path.abspath(root.path)
        real = os.path.realpath(path)
        if real in seen:  # ~/.config/claude may be a link to ~/.claude
            continue
        seen.add(real)
        _Walk(root, real, scope, found, known, progress).run(path, _key(path, scope.home.rstrip("/")))
    found.add([])
    return found


def glance(paths: Iterable[str], scope: Scope) -> Findings:
    """Like `discover`, but only for a few paths: sources, and directories with everything below them.

    Only a full walk can determine the key of something behind a link; `needs_full_walk` says that one was found.
    """
    scope.keep_up()
    found = Findings(is_partial=True)
    walks: dict[str, _Walk] = {}
    for path in sorted(paths):
        root = next((root for root in scope.roots if path.startswith(f"{os.path.abspath(root.path)}/")), None)
        if root is not None:
            if root.path not in walks:
                real = os.path.realpath(root.path)
                walks[root.path] = _Walk(root, real, scope, found)
            walks[root.path].look_at(path, scope.home.rstrip("/"))
    for walk in walks.values():
        walk.settle()
    # A file may have been reached both by its own path and through its directory.
    files = {source.path: source for source in found.files}
    found.files = []
    found.add(files.values())
    return found


class _Walk:
    """A walk through one root. Real directories come before linked ones and each is listed once, so links cause
    neither loops nor repeats, and a source has the same key in every pass."""

    def __init__(
        self,
        root: Root,
        real: str,
        scope: Scope,
        found: Findings,
        known: Known | None = None,
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        self.root, self.real, self.found = root, real, found
        self.form, self.projects = scope.form_of(root), scope.filter_of(root)
        self.known, self.progress = known, progress
        self.waiting: list[_Directory] = []
        self.linked: list[_Directory] = []
        self.visited: set[str] = set()
        self.in_doubt: list[Source] = []

    def run(self, path: str, key: str) -> None:
        """Lists the root, then every directory below it that may hold sources."""
        top = _Directory(path, self.real, key, Place())
        if not self._list(top):
            self.found.missing_roots.append(self.root)
            self.found.absent.append(key)
        self._run()
        self.settle(is_everything=True)

    def settle(self, *, is_everything: bool = False) -> None:
        """Decides about the sources whose project names left a doubt."""
        taken = self.projects.settle(self.root.path, self.in_doubt, is_everything=is_everything, alive=self.progress)
        self.found.files += taken
        self.found.skip(reasons.PROJECT, len(self.in_doubt) - len(taken))
        self.found.refused |= {source.key for source in self.in_doubt} - {source.key for source in taken}
        self.in_doubt = []

    def look_at(self, path: str, home: str) -> None:
        """Takes in one path below the root, and everything below it if it is a directory."""
        top = os.path.abspath(self.root.path)
        *directories, name = path[len(top) + 1 :].split("/")
        real = "/".join((self.real, *directories))
        if os.path.realpath(real) != real:  # a directory on the way is a link
            self.found.needs_full_walk = True
            return
        directory = _Directory(top, self.real, _key(top, home), Place())
        for each in directories:
            self._enter(directory, each, f"{directory.path}/{each}")
            if not self.waiting:
                return
            directory = self.waiting.pop()
        kind = self.form.classify(directory.place, name)
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
            # Linked directories last: what is reached both ways always gets the key of its real path.
            directory = self.waiting.pop() if self.waiting else self.linked.pop(0)
            if directory.real not in self.visited:
                self.visited.add(directory.real)
                self._list(directory)

    def _list(self, directory: _Directory) -> bool:
        """Takes in the entries of a directory; returns False if it does not exist."""
        found = self.found
        self.progress()
        try:
            with os.scandir(directory.path) as entries:
                for entry in entries:
                    self._entry(directory, entry)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            if directory.verdict is Verdict.LEFT_OUT:  # never name a directory that is left out
                found.skip(reasons.PROJECT)
                return True
            # Known sources below it are not taken for deleted: their offsets must survive a lost permission.
            found.skip(reasons.UNLISTED)
            found.errors[directory.key] = error.strerror or type(error).__name__
        return True

    def _entry(self, directory: _Directory, entry: os.DirEntry[str]) -> None:
        name = entry.name
        kind = self.form.classify(directory.place, name)
        if kind is None:
            if entry.is_dir(follow_symlinks=False):
                self._enter(directory, name, entry.path)
            elif entry.is_symlink() and self.form.enter(directory.place, name) is not None:
                self._link(directory, entry, None)
            else:
                self._ignore(directory, name)
            return
        # The one system call that a source costs; everything before it goes by names.
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
        key = f"{directory.key}/{_printable(name)}"
        if directory.verdict is Verdict.LEFT_OUT:
            self.found.skip(reasons.PROJECT)
            if self.known is None or key in self.known:
                self.found.refused.add(key)
            return
        if not status.st_size:
            self.found.skip(reasons.EMPTY)
            return
        stamp = stamp_of(status)
        # A source in doubt has to be looked into even at rest: the directory it names helps to judge the others.
        if directory.verdict is Verdict.TAKEN and self.known is not None and self.known.is_at_rest(key, stamp):
            self.found.rest(key, kind)
            return
        session_id, agent_id = self.form.ids(directory.place, name, kind)
        source = Source(self.root, path, key, kind, directory.place.project, session_id, agent_id, stamp)
        (self.found.files if directory.verdict is Verdict.TAKEN else self.in_doubt).append(source)

    def _enter(self, directory: _Directory, name: str, path: str, real: str = "") -> None:
        """Queues a directory for the walk if it can hold sources."""
        place = self.form.enter(directory.place, name)
        if place is None:
            self._ignore(directory, name + "/")
            return
        is_same = place.project == directory.place.project
        inner = _Directory(
            path,
            real or f"{directory.real}/{name}",
            f"{directory.key}/{_printable(name)}",
            place,
            directory.verdict if is_same else self.projects.verdict(place.project),
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
        elif not stat.S_ISREG(status.st_mode):
            self.found.skip(reasons.NOT_A_FILE)
        elif self._leads_astray(directory, real):
            self.found.skip(reasons.PROJECT)
        else:
            self._add(directory, entry.name, entry.path, kind, status)

    def _leads_astray(self, directory: _Directory, real: str) -> bool:
        """Whether a link leads into another project that is not certainly read. If that project is read, the file is
        also found at its real path."""
        place = Place()
        for name in real[len(self.real) + 1 :].split("/")[:-1]:
            inner = self.form.enter(place, name)
            if inner is None:
                return False
            place = inner
        return place.project != directory.place.project and self.projects.verdict(place.project) is not Verdict.TAKEN

    def _unreadable(self, directory: _Directory, error: OSError) -> None:
        """Counts a file that `stat` failed on. Unless it vanished, its directory counts as not fully listed."""
        if directory.verdict is Verdict.LEFT_OUT or isinstance(error, FileNotFoundError):
            self.found.skip(reasons.PROJECT if directory.verdict is Verdict.LEFT_OUT else reasons.VANISHED)
            return
        self.found.skip(reasons.UNREADABLE)
        self.found.errors[directory.key] = error.strerror or type(error).__name__

    def _ignore(self, directory: _Directory, name: str) -> None:
        if not directory.place.depth or name.endswith("/"):
            self.found.ignore(_printable(name))
        elif not self.form.is_companion(name):
            suffix = os.path.splitext(name)[1]
            self.found.ignore(f"*{_printable(suffix)}" if 1 < len(suffix) < 9 else "other")


def _key(path: str, home: str) -> str:
    if home and (path == home or path.startswith(home + "/")):
        return "~" + _printable(path[len(home) :])
    return _printable(path)


def _printable(name: str) -> str:
    """Makes a name safe for log lines and JSON: whatever is not printable is escaped, and so are backslashes."""
    if name.isprintable() and "\\" not in name:
        return name
    text = name.replace("\\", "\\\\").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(sign: str) -> str:
    """Escapes a character differently from a byte that is not valid text, so two names never become one."""
    return f"\\u{ord(sign):04x}" if "\x80" <= sign <= "\xff" else sign.encode("unicode_escape").decode()
