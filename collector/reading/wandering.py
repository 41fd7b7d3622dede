"""Tracks where a session has been, to judge what other files say of it: the prompt history, an index, a workflow's end.

In: a session's id. Out: whether one of its transcripts names a directory that is not read. The other files only name
the directory where a session was started, but repeat what was said anywhere. Results are cached by position, so a
transcript is read on from where the last look, or the pass, ended. If its transcripts are gone, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow.line import Line, position_after
from collector.flow.source import Position, Root, Source
from collector.reading import tail
from collector.reading.directories import named_in
from collector.reading.transcripts import transcripts

MANY_SESSIONS = 1_000


class Wanderings:
    """Remembers, for recently named sessions, whether their transcripts name directories that are not read."""

    def __init__(self, form: AgentFormat, takes: Callable[[str], bool]) -> None:
        self._form, self._takes = form, takes
        self._known: dict[str, tuple[Position | None, bool]] = {}  # by path: how far it was read, and the answer

    def note(self, path: str, position: Position | None, *, has_strayed: bool) -> None:
        """Remembers what is known of a transcript, up to a position."""
        self._known.pop(path, None)
        if len(self._known) >= MANY_SESSIONS:
            del self._known[next(iter(self._known))]
        self._known[path] = position, has_strayed

    def has_strayed(self, root: Root, session: str) -> bool:
        """Whether a session has strayed where nothing is read. One that cannot be read may have been anywhere."""
        return any(list(map(self._look, transcripts(self._form, root, session))))

    def _look(self, source: Source) -> bool:
        position, has_strayed = self._known.get(source.path, (None, False))
        if has_strayed or (position is not None and position.stamp == source.stamp):
            return has_strayed
        known, is_cut = position.offset if position else 0, None
        try:
            for item in tail.look(source, position, self._form):
                if isinstance(item, Line):
                    if is_cut is None:  # a beginning that was cut off may have been anywhere
                        is_cut = False if item.offset >= known > 0 else self._form.follows(item.record or {})
                    has_strayed = has_strayed or is_cut or not all(map(self._takes, named_in(item, self._form)))
                else:
                    position = position_after(item)
        except SkipSource:  # nothing to read in it
            return False
        except SourceError:
            return True
        self.note(source.path, position, has_strayed=has_strayed)
        return has_strayed
