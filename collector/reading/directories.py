"""Finds the directories that a source names, for the project filter to judge it by.

In: a source. Out: the first directory that it names, or all of them in order. The source is read the same way a pass
reads it, so both see the same lines. Results are cached by stamp: an unchanged source is not opened again, and one that
has named no directory yet is read on from where the last look ended. Invariant: only existing files stay in the cache.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow import reasons
from collector.flow.line import End, Line, position_after
from collector.flow.source import Position, Source, Stamp
from collector.log import get_logger, place_of
from collector.reading import tail
from collector.reading.parse import load

log = get_logger()
TORN_BYTES = 1 << 20
# Matches what can still be read of a torn record: its string members.
_MEMBER = re.compile(rb'("(?:[^"\\]|\\.){1,64}+")\s*+:\s*+("(?:[^"\\]|\\.)*+")')


def named_in(line: Line, form: AgentFormat) -> list[str]:
    """The directories that a line names: at most one, or for a torn record, every one that is still legible."""
    source = line.reading.source
    if line.record is not None:
        directory = form.directory_of(source, line.record)
        return [directory] if directory else []
    found = []
    for name, value in _MEMBER.findall(line.raw[:TORN_BYTES]):
        try:
            directory = form.directory_of(source, {load(name): load(value)})
        except ValueError:
            continue
        if directory:
            found.append(directory)
    return found


def named_by(source: Source, form: AgentFormat) -> Iterator[tuple[Line, list[str]]]:
    """Every line of a source, from its start, with the directories that the line names."""
    for item in tail.look(source, None, form):
        if isinstance(item, Line):
            yield item, named_in(item, form)


class FirstDirectories:
    """Looks up, and remembers, the first directory that each source of one root names."""

    def __init__(self, form: AgentFormat) -> None:
        self._form = form
        self._first: dict[Stamp, str] = {}
        self._silent: dict[int, Position] = {}  # by inode: how far sources that name none yet have been read

    def first(self, source: Source) -> str:
        """The first directory that a source names; empty if it names none yet or cannot be read."""
        known = self._first.get(source.stamp)
        if known is not None:
            return known
        looked = self._look(source, self._silent.get(source.stamp.inode))
        if looked is None:
            return ""
        directory, position = sys.intern(looked[0]), looked[1]  # the same few directories, thousands of times
        self._first[source.stamp] = directory
        if directory:
            self._silent.pop(source.stamp.inode, None)
        else:
            self._silent[source.stamp.inode] = position
        return directory

    def __len__(self) -> int:
        return len(self._first)

    def keep_only(self, stamps: set[Stamp]) -> None:
        """Forgets all files but these. One that has since changed is still recognised by its inode."""
        inodes = {stamp.inode for stamp in stamps}
        self._first = {stamp: directory for stamp, directory in self._first.items() if stamp in stamps}
        self._silent = {inode: position for inode, position in self._silent.items() if inode in inodes}

    def _look(self, source: Source, since: Position | None) -> tuple[str, Position] | None:
        """The first directory named after `since`, and how far we had to read; None if the source cannot be read."""
        last: Line | End | None = None
        try:
            for item in tail.look(source, since, self._form):
                last = item
                if isinstance(item, Line) and (found := named_in(item, self._form)):
                    return found[0], position_after(item)
        except SkipSource as skip:
            if skip.reason not in reasons.UNTIL_CHANGED:
                return None
        except (SourceError, MemoryError):
            return None
        except Exception as error:  # noqa: BLE001 - one source must not keep all others from being found
            # Logged without its name: it may belong to a project that is left out.
            log.error("source in doubt not understood", error=type(error).__name__, place=place_of(error))
            return None
        return "", position_after(last) if last is not None else since or Position(0, "", "")
