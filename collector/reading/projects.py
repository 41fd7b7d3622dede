"""The project filter: what a person has said no to is not read (promise 10).

In: the globs of `projects.include` and `projects.exclude`. Out: whether a source, and then each of its lines, is read.
Globs mean what they mean in a .gitignore in /: a directory stands for all that is below it, `private` for every
directory of that name. A glob without a slash also matches the names of projects (`-home-me-work-*`).

A project's name cannot be turned back into its directory, so the name alone often leaves doubt. Then the sources
themselves are asked: a session goes by the first directory that it names, and a file that names none by what the others
of its project name. What stays in doubt is left out. Lines are judged again, one by one, by the directory that they or
the lines before them name.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from pathspec import GitIgnoreSpec

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow import reasons
from collector.flow.source import Source
from collector.reading.opened import opened
from collector.reading.parse import load

LOOKED_AT_BYTES = 256 << 10  # of a source, for the first directory that it names
LOOKED_AT_LINES = 200
_WILD = re.compile(r"[*?\[]")


class Verdict(Enum):
    """What the name of a project alone says."""

    TAKEN = "taken"
    LEFT_OUT = "left out"
    IN_DOUBT = "in doubt"


class Globs:
    """Globs of one kind, `include` or `exclude`, for one agent's way of naming projects."""

    def __init__(self, globs: Sequence[str], home: str, form: AgentFormat) -> None:
        self._form = form
        names = [glob for glob in globs if not _is_path(glob)]
        self._paths = [path for glob in globs if _is_path(glob) for path in _expanded(glob, home)]
        self._names = [re.compile(fnmatch.translate(name)) for name in names]
        self._anywhere = [*(path.lstrip("!") for path in self._paths), *(f"**/{name}" for name in names)]
        self._directories = GitIgnoreSpec.from_lines([*self._paths, *names])

    def __bool__(self) -> bool:
        return bool(self._paths or self._names)

    def match(self, directory: str) -> bool:
        """Whether they match a directory or one above it, by its path or by the name that its project would have."""
        if self._directories.match_file(directory.strip("/") + "/"):
            return True
        return bool(self._names) and any(self.name(self._form.key_of(each)) for each in _with_parents(directory))

    def name(self, project: str) -> bool:
        """Whether they match a project by its name, whatever its directory is."""
        return any(pattern.fullmatch(project) for pattern in self._names)

    def may_match(self, project: str) -> bool:
        """Whether the directory of a project may be one that they match."""
        return any(self._form.may_name(project, glob) for glob in self._anywhere)


class ProjectFilter:
    """Which projects of one agent are read."""

    def __init__(self, form: AgentFormat, include: Sequence[str], exclude: Sequence[str], home: str) -> None:
        self._form = form
        self._include, self._exclude = Globs(include, home, form), Globs(exclude, home, form)
        self.is_open = not include and not exclude
        self._judged: dict[str, bool] = {}  # by directory
        self._told: dict[tuple[str, int], str] = {}  # by source and inode: the first directory that it names
        self._of_project: dict[tuple[str, str], set[str]] = {}  # by root and project: the directories its sources name

    def verdict(self, project: str) -> Verdict:
        """What the name of a project says. A source without one belongs to no project, so it is taken here."""
        if self.is_open or not project:
            return Verdict.TAKEN
        is_in = not self._include or self._include.name(project)
        if self._exclude.name(project) or not (is_in or self._include.may_match(project)):
            return Verdict.LEFT_OUT
        return Verdict.TAKEN if is_in and not self._exclude.may_match(project) else Verdict.IN_DOUBT

    def takes(self, directory: str) -> bool:
        """Whether what happened in this directory is read."""
        known = self._judged.get(directory)
        if known is None:
            is_in = not self._include or self._include.match(directory)
            known = self._judged[directory] = is_in and not self._exclude.match(directory)
        return known

    def settle(self, in_doubt: Iterable[Source]) -> tuple[list[Source], int]:
        """Of sources whose project's name leaves doubt, returns those that are read, and how many are not."""
        taken, silent, left_out = [], [], 0
        for source in in_doubt:
            directory = self.first_directory(source)
            if not directory:
                silent.append(source)
            elif self.takes(directory):
                taken.append(source)
            else:
                left_out += 1
        for source in silent:
            directories = self._of_project.get((source.root.path, source.project))
            if directories and all(self.takes(directory) for directory in directories):
                taken.append(source)
            else:
                left_out += 1
        return taken, left_out

    def takes_source(self, source: Source) -> bool:
        """Whether a source is read; looks into it if its project's name leaves doubt."""
        verdict = self.verdict(source.project)
        return verdict is Verdict.TAKEN or (verdict is Verdict.IN_DOUBT and bool(self.settle([source])[0]))

    def gate(self, source: Source) -> Callable[[Mapping[str, Any]], bool] | None:
        """Returns what judges the records of a source, one after another; None if there is nothing to judge.

        Raises SkipSource if the source turns out to belong to a project that is left out, whatever its lines say: a
        file that was moved, or a session that has changed its directory since.
        """
        if self.is_open:
            return None
        is_of_a_session = bool(source.project) and not source.kind.is_document
        last = self.first_directory(source) if is_of_a_session else ""
        if last and not self.takes(last):
            raise SkipSource(reasons.PROJECT.name, source.key)

        def takes_record(record: Mapping[str, Any]) -> bool:
            nonlocal last
            directory = self._form.directory_of(source, record)
            if directory is None:
                return True
            if is_of_a_session:
                last = directory = directory or last
            # What names no directory was let through with its project; what is of no project either is in doubt.
            return self.takes(directory) if directory else bool(source.project)

        return takes_record

    def first_directory(self, source: Source) -> str:
        """The first directory that a source names; empty where it names none."""
        if source.kind.is_document:
            return ""
        place = (source.key, source.stamp.inode)
        found = self._told.get(place)
        if found is None:
            found = _first_directory(source, self._form)
            if found:  # one that names none so far may still do
                self._told[place] = found
                self._of_project.setdefault((source.root.path, source.project), set()).add(found)
        return found


def _first_directory(source: Source, form: AgentFormat) -> str:
    try:
        with opened(source) as file:
            lines = file.read(LOOKED_AT_BYTES, 0).split(b"\n", LOOKED_AT_LINES)[:LOOKED_AT_LINES]
    except (SkipSource, SourceError):
        return ""
    for line in lines:
        try:
            record = load(line)
        except ValueError:
            continue
        directory = form.directory_of(source, record) if isinstance(record, dict) else ""
        if directory:
            return directory
    return ""


def _is_path(glob: str) -> bool:
    return glob.lstrip("!").startswith("~") or "/" in glob


def _expanded(glob: str, home: str) -> list[str]:
    """A glob as patterns over absolute paths: as written, and with its links resolved. A record may name either."""
    sign, rest = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    if rest == "~" or rest.startswith("~/"):
        rest = home.rstrip("/") + rest[1:]
    elif rest.startswith("~"):
        rest = os.path.expanduser(rest)
    elif not rest.startswith("/"):
        rest = f"**/{rest}"
    literal = _WILD.split(rest)[0].rpartition("/")[0] if _WILD.search(rest) else rest.rstrip("/")
    real = os.path.realpath(literal) if literal else literal
    return [sign + rest] if real == literal else [sign + rest, sign + real + rest[len(literal) :]]


def _with_parents(directory: str) -> Iterable[str]:
    while directory.strip("/"):
        yield directory
        directory = directory.rstrip("/").rpartition("/")[0]
