"""Keeps out what was left out once and is retold later: by an index, a workflow's end, a title, the last prompt.

In: the moment up to which a person wanted nothing sent, and the lines that came after it. Out: for each line, whether
it may tell of something from before that moment. Most lines tell only of their own moment; the others are judged by
when what they are about began. In a file that is read from its start, every line is also judged by its own time: the
file was rewritten, or was not there to be left out, for example because its project was excluded then. A file whose
lines have no time may have been written at any moment since its session began.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow.anchor import HEAD
from collector.flow.line import Line
from collector.flow.source import Source, Stamp
from collector.log import TO_THE_SECOND, timestamp
from collector.reading import tail
from collector.reading.transcripts import transcripts

NEVER = "9"  # later than any time


class Retold:
    """Judges the lines of one open source, of which `known` bytes were sent or left out before. What was written in a
    pause that is left out for good stays out, wherever it turns up."""

    def __init__(
        self, form: AgentFormat, source: Source, moment: str, known: int, pauses: Sequence[tuple[str, str]]
    ) -> None:
        self._form, self._source, self._moment, self._known = form, source, moment[:TO_THE_SECOND], known
        self._pauses = pauses
        self._is_document = source.kind.is_document
        self._is_read_anew: bool | None = None
        self._began: str | None = None
        self._lasted: tuple[str, str] | None = None
        self._next: tuple[int, str] = 0, ""  # the next time in the file, and up to which offset it is the next

    def tells(self, line: Line) -> bool:
        """Whether a line may tell of something that was left out."""
        if self._is_read_anew is None:
            self._is_read_anew = line.offset < self._known or not self._known
        written = NEVER if self._is_document else line.anchor.time or line.reading.next_time
        if not written and not self._known:
            return self._may_be_from_then(line.reading.stamp)
        if self._is_read_anew and written[:TO_THE_SECOND] <= self._moment:
            return True
        begun = [end for start, end in self._pauses if start <= self._latest(line, written)]
        if any(written <= end for end in begun):
            return True
        since = None if line.record is None else self._form.tells_since(self._source, line.record)
        if since is None:
            return False
        since = since or self._since_when()
        return since[:TO_THE_SECOND] <= self._moment or any(since <= end for end in begun)

    def _latest(self, line: Line, written: str) -> str:
        """The latest time at which a line can have been written. If it has no time of its own, such as a title given
        first thing in a pause, that is the next line's time, or else the file's."""
        if self._is_document or not any(written < start for start, _ in self._pauses):
            return written
        if line.record is not None and self._form.anchor_after(HEAD, line.record).time:
            return written
        if line.end > self._next[0]:
            try:
                self._next = tail.next_timed(line, self._form)
            except (SkipSource, SourceError):  # when in doubt, leave it out
                self._next = line.end, NEVER
        return max(written, self._next[1] or timestamp(line.reading.stamp.mtime_ns / 1e9))

    def _may_be_from_then(self, stamp: Stamp) -> bool:
        """Whether a file without any time, of which nothing was sent or left out, may be from a time that was left out.
        It counts from the start of its session, because its mtime may only be that of its last rewrite."""
        if self._lasted is None:
            last = timestamp(stamp.mtime_ns / 1e9)
            there = transcripts(self._form, self._source.root, self._source.session_id)
            self._lasted = min([last, *map(self._first_time, there)]), last
        first, last = self._lasted
        return first[:TO_THE_SECOND] <= self._moment or any(
            start <= last and first <= end for start, end in self._pauses
        )

    def _since_when(self) -> str:
        """When the source began. A transcript without any time counts as later than anything left out; a document may
        be from any time."""
        if self._began is None:
            self._began = "" if self._is_document else self._first_time(self._source)
        return self._began

    def _first_time(self, source: Source) -> str:
        """When a transcript began. Empty, the earliest possible, if its beginning was cut off or cannot be read: in
        doubt, no means no."""
        first, is_cut = "", None
        try:
            for item in tail.look(source, None, self._form):
                first = first or item.anchor.time
                if is_cut is None and isinstance(item, Line):
                    is_cut = self._form.follows(item.record or {})
                if is_cut or (first and is_cut is False):
                    break
        except (SkipSource, SourceError):
            return ""
        return "" if is_cut else first or NEVER
