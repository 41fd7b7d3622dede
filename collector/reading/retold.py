"""What was left out, and is told again later: by an index, the end of a workflow's run, a title, the last prompt.

In: the moment up to which a person wanted nothing sent, and the lines that came after it. Out: of each, whether it may
tell of what was before. Most tell of their own moment alone; the others go by when what they are about began. A file
that was rewritten is read from its start: there the moment of every line decides, for what is older was sent or left
out.
"""

from __future__ import annotations

from collector.agents.format import AgentFormat
from collector.errors import SkipSource, SourceError
from collector.flow.line import Line
from collector.flow.source import Source
from collector.reading import tail
from collector.reading.directories import CHUNK_BYTES, LONGEST_LINE

TO_THE_SECOND = 19  # characters of a time in RFC 3339
NEVER = "9"  # later than any time


class Retold:
    """Judges the lines of one open source, of which so many bytes were sent or left out."""

    def __init__(self, form: AgentFormat, source: Source, moment: str, known: int) -> None:
        self._form, self._source, self._moment, self._known = form, source, moment[:TO_THE_SECOND], known
        self._was_rewritten: bool | None = None
        self._began: str | None = None

    def tells(self, line: Line) -> bool:
        """Whether a line may tell of what was left out."""
        if self._was_rewritten is None:
            self._was_rewritten = line.offset < self._known and not self._source.kind.is_document
        if self._was_rewritten and line.anchor.time[:TO_THE_SECOND] <= self._moment:
            return True
        since = None if line.record is None else self._form.tells_since(self._source, line.record)
        if since is None:
            return False
        return (since or self._since_when())[:TO_THE_SECOND] <= self._moment

    def _since_when(self) -> str:
        """When a transcript began. One without any time has none that was left out; a document may be of any."""
        if self._began is None:
            self._began = "" if self._source.kind.is_document else self._first_time()
        return self._began

    def _first_time(self) -> str:
        try:
            items = tail.read(self._source, None, self._form, CHUNK_BYTES, LONGEST_LINE, 0)
            return next(filter(None, (item.anchor.time for item in items)), NEVER)
        except (SkipSource, SourceError):
            return ""  # it cannot be looked at, and in doubt no means no
