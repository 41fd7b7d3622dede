"""The project filter: what a person has said no to is not read (promise 10).

In: the globs of `projects.include` and `projects.exclude`. Out: whether a source, and then each of its lines, is read.

A project name cannot be turned back into its directory, so the name alone often leaves a doubt. Then we look for the
first directory that the source names. It settles the doubt if the project is named after that directory or a parent of
it; otherwise other sources of the same session must, and what remains in doubt is left out. Each line is then judged
again: by the directory it names, or if it names none, by everything the source has named so far. A session that has
strayed, into a directory that must not be read, later says things about that place too: a title, a summary, the last
prompt. Files beside the transcripts repeat those, and what was typed there, under the directory where it was started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow import reasons
from collector.flow.line import End, Line, position_after
from collector.flow.source import Root, Source
from collector.reading.directories import FirstDirectories, named_by, named_in
from collector.reading.globs import EXCLUDE, Globs, directories_of, where_they_lead
from collector.reading.wandering import MANY_SESSIONS, Wanderings

IGNORES_CASE = sys.platform == "darwin"
MANY_DIRECTORIES = 10_000
Homes = dict[str, dict[str, set[str]]]  # by project and the directory it is named after: the sessions that say so


class Verdict(Enum):
    """What the name of a project says on its own."""

    TAKEN = "taken"
    LEFT_OUT = "left out"
    IN_DOUBT = "in doubt"


class ProjectFilter:
    """Decides which projects of one agent are read. Each list in `exclude` stands alone, exceptions included: what one
    list excludes, no other takes back. If `narrower` is given, a project must match both it and `include`."""

    def __init__(
        self,
        form: AgentFormat,
        include: Sequence[str],
        exclude: Sequence[Sequence[str]],
        home: str,
        *,
        narrower: Sequence[str] = (),
    ) -> None:
        self._form = form
        self._globs = partial(Globs, home=home, form=form, ignores_case=IGNORES_CASE)
        self._given = (("projects.include", include), ("sinks.include", narrower)), exclude
        self._leads = partial(
            where_they_lead, [*include, *narrower, *(each for globs in exclude for each in globs)], home
        )
        self._led: dict[tuple[str, ...], list[Globs]] = {}  # the excluding globs, by where links led
        self._follow_links()
        self.is_open = not self._include and not self._exclude
        self._called_after: dict[tuple[str, str], str] = {}  # by project and directory
        self._first: dict[str, FirstDirectories] = {}  # by root, of the sources in doubt
        self._homes: dict[str, Homes] = {}  # by root

    def keep_up(self) -> None:
        """Follows links in the globs to where they lead now. Where they led before stays excluded as well: nobody has
        said yes to that."""
        with suppress(ValueError):  # a user's home cannot be looked up just now: assume it has not moved
            if self._leads() != self._lead_to:
                self._follow_links()

    def _follow_links(self) -> None:
        named, excluded = self._given
        self._include = [self._globs(name, globs) for name, globs in named if globs]
        now = [self._globs(EXCLUDE, globs) for globs in excluded if globs]
        self._lead_to = self._leads()
        self._led[self._lead_to] = now
        self._exclude = [globs for lists in self._led.values() for globs in lists]
        self._judged: dict[str, bool] = {}  # by directory
        self._wanderings = Wanderings(self._form, self.takes)
        self._strayed: dict[str, tuple[int, int, bool]] = {}  # by source: inode, how far it was read, and the answer

    def verdict(self, project: str) -> Verdict:
        """What the name of a project says. A source without one belongs to no project, so it is taken."""
        if self.is_open or not project:
            return Verdict.TAKEN
        is_in = all(globs.name(project) for globs in self._include)
        may_be_in = all(globs.name(project) or globs.may_match(project) for globs in self._include)
        if any(globs.name(project) for globs in self._exclude) or not may_be_in:
            return Verdict.LEFT_OUT
        may_be_out = any(globs.may_match(project) for globs in self._exclude)
        return Verdict.TAKEN if is_in and not may_be_out else Verdict.IN_DOUBT

    def takes(self, directory: str) -> bool:
        """Whether what happened in this directory is read. A relative path is not: it could be anywhere."""
        known = self._judged.get(directory)
        if known is None:
            if len(self._judged) >= MANY_DIRECTORIES:
                self._judged.clear()
            meant = directories_of(directory)
            is_in = bool(meant) and all(globs.match(place) for globs in self._include for place in meant)
            known = self._judged[directory] = is_in and not self.excludes(directory)
        return known

    def excludes(self, directory: str) -> bool:
        """Whether this directory is excluded, rather than just not included. A relative path is not."""
        return any(globs.match_or_contain(place) for globs in self._exclude for place in directories_of(directory))

    # Sources

    def settle(
        self,
        root: str,
        in_doubt: Sequence[Source],
        *,
        is_everything: bool = False,
        alive: Callable[[], None] = lambda: None,
    ) -> list[Source]:
        """Decides on sources whose project names leave a doubt: returns those that are read.

        `is_everything` says that these are all such sources below the root, so anything cached about others is dropped.
        """
        known = self._first.setdefault(root, FirstDirectories(self._form))
        if is_everything:
            known.keep_only({source.stamp for source in in_doubt})
        homes: Homes = {} if is_everything else self._homes.get(root, {})
        first: list[str] = []
        for source in in_doubt:
            alive()
            first.append("" if source.kind.is_document else known.first(source))
            if home := self._home(source.project, first[-1]):
                homes.setdefault(source.project, {}).setdefault(home, set()).add(source.session_id)
        self._homes[root] = homes
        return [source for source, directory in zip(in_doubt, first, strict=True) if self._is_taken(source, directory)]

    def takes_source(self, source: Source) -> bool:
        """Whether a source is read that no walk has found, because it is held."""
        verdict = self.verdict(source.project)
        if verdict is not Verdict.IN_DOUBT:
            return verdict is Verdict.TAKEN
        return self._is_taken(source, "" if source.kind.is_document else FirstDirectories(self._form).first(source))

    def refuses_source(self, source: Source) -> bool:
        """Whether a held source is left out, and not just impossible to look into right now."""
        verdict = self.verdict(source.project)
        if verdict is not Verdict.IN_DOUBT:
            return verdict is Verdict.LEFT_OUT
        looked = FirstDirectories(self._form)
        directory = looked.first(source)
        return bool(len(looked)) and not self._is_taken(source, directory)

    def takes_event(self, project: str, directory: str) -> bool:
        """Whether an event that was read earlier may still be sent, going by what it says of where it happened. Asked
        only of a filter that is not open."""
        verdict = self.verdict(project)
        if verdict is Verdict.LEFT_OUT or (directory and not self.takes(directory)):
            return False
        home = self._home(project, directory)
        return self.takes(home) if home else verdict is Verdict.TAKEN

    def _home(self, project: str, directory: str) -> str:
        """The directory that a project is named after: this one, or the nearest parent that fits; empty if none is."""
        pair = project, directory
        known = self._called_after.get(pair)
        if known is None:
            if len(self._called_after) >= MANY_DIRECTORIES:
                self._called_after.clear()
            above = (path for meant in directories_of(directory) for path in reversed(meant.with_parents()))
            known = next((path for path in above if self._form.is_key_of(project, path)), "")
            self._called_after[pair] = known
        return known

    def _is_taken(self, source: Source, directory: str) -> bool:
        """Whether a source in doubt is certainly read, by what it names itself or what others of its session name."""
        if directory and not self.takes(directory):
            return False
        if home := self._home(source.project, directory):
            return self.takes(home)
        # A document is about all sessions of its project, and its entries are judged one by one. For a source without a
        # session nothing else can vouch, not even others of its project: two directories may share a project name.
        known = {
            home
            for homes in self._homes.values()
            for home, sessions in homes.get(source.project, {}).items()
            if source.kind.is_document or (source.session_id and source.session_id in sessions)
        }
        return bool(known) and all(map(self.takes, known))

    # Lines

    def judge(self, first: Line | End) -> Judge | None:
        """The judge for the lines of an open source, from this one on; None if everything is let through."""
        source = first.reading.source
        if self.is_open:
            return None
        if not source.project or source.kind.is_document:
            is_certain = bool(source.project) and self.verdict(source.project) is Verdict.TAKEN
            return Judge(self, self._form, source, takes_unnamed=is_certain, remembers=False, is_beside=True)
        start = first.offset if isinstance(first, Line) else first.end
        inode = first.reading.stamp.inode
        before = self._strayed.get(source.key)
        if before is not None and before[:2] == (inode, start):
            is_named, has_strayed = True, before[2]
        else:
            is_named, has_strayed = self._look_back(source, inode, start)
        return Judge(self, self._form, source, takes_unnamed=not has_strayed, remembers=is_named)

    def remember(self, end: End, *, has_strayed: bool) -> None:
        """Notes what is needed to judge the next lines of a source, so that it need not be read again for that."""
        key = end.reading.source.key
        self._strayed.pop(key, None)
        if len(self._strayed) >= MANY_SESSIONS:
            del self._strayed[next(iter(self._strayed))]
        self._strayed[key] = end.reading.stamp.inode, end.end, has_strayed
        self._wanderings.note(end.reading.source.path, position_after(end), has_strayed=has_strayed)

    def has_strayed(self, root: Root, session: str) -> bool:
        """Whether a session has strayed where it must not be read, as far as its remaining transcripts show."""
        return not self.is_open and bool(session) and self._wanderings.has_strayed(root, session)

    def _look_back(self, source: Source, inode: int, start: int) -> tuple[bool, bool]:
        """Whether a source names directories, and whether it has strayed: whether one named before `start` is not read,
        or the first one after it if there was none before. A source that names none is judged by the other files of its
        session in the same directory, and by the session itself. If a file begins in the middle of a conversation, what
        came before may have been anywhere, so it counts as strayed."""
        is_named, is_cut = False, None
        for line, directories in named_by(source, self._form):
            if line.reading.stamp.inode != inode:  # it has been replaced by another file
                raise SkipSource(reasons.VANISHED.name, source.key)
            if is_named and line.offset >= start:
                break
            is_named = is_named or bool(directories)
            is_cut = self._form.follows(line.record or {}) if is_cut is None else is_cut
            if is_cut or not all(map(self.takes, directories)):
                return True, True
        if is_named:
            return True, False
        is_beside_strays = any(not self.takes(each) for each in self._beside(source))
        return False, is_beside_strays or self.has_strayed(source.root, source.session_id)

    def _beside(self, source: Source) -> Iterator[str]:
        """The first directory named by each other file of the session in the same directory."""
        directory = os.path.dirname(source.path)
        try:
            names = sorted(os.listdir(directory)) if source.session_id else []
        except OSError as error:
            raise SourceError(f"Cannot list {directory}: {error.strerror}. The next pass tries again.") from None
        for name in names:
            path = f"{directory}/{name}"
            if path == source.path or not name.endswith(self._form.suffixes):
                continue
            try:
                lines = named_by(source._replace(path=path, key=path), self._form)
                yield from next((directories for _, directories in lines if directories), [])
            except (SkipSource, SourceError):
                continue


class Judge:
    """Judges the lines of one open source, in order."""

    def __init__(
        self,
        projects: ProjectFilter,
        form: AgentFormat,
        source: Source,
        *,
        takes_unnamed: bool,
        remembers: bool,
        is_beside: bool = False,
    ) -> None:
        self._projects, self._form, self._source = projects, form, source
        self._takes_unnamed, self._remembers, self._is_beside = takes_unnamed, remembers, is_beside
        self._strayed: dict[str, bool] = {}  # by session

    def takes(self, line: Line) -> bool:
        """Whether a line is read."""
        if line.record is None:
            named = named_in(line, self._form)
            return all(map(self._takes, named)) if named else self._takes_unnamed
        directory = self._form.directory_of(self._source, line.record)
        is_taken = self._takes(directory) if directory else self._takes_unnamed
        return is_taken and not (self._is_beside and self._has_strayed(line.record))

    def _has_strayed(self, record: Mapping[str, Any]) -> bool:
        """Whether a file beside the transcripts is about a session that has strayed where it must not be read: the
        directory it names is where the session was started, not where this was said."""
        session = self._form.session_of(self._source, record)
        known = self._strayed.get(session)
        if known is None:
            known = self._strayed[session] = self._projects.has_strayed(self._source.root, session)
        return known

    def _takes(self, directory: str) -> bool:
        if self._projects.takes(directory):
            return True
        if self._remembers:
            self._takes_unnamed = False
        return False

    def close(self, end: End) -> None:
        """Notes what was learned, once the source has been read to its end."""
        if self._remembers:
            self._projects.remember(end, has_strayed=not self._takes_unnamed)
