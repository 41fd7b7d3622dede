"""What a person wants never sent: history, to one sink; anything written during certain pauses, to any sink.

In: a state's path. Out: from when to when these pauses lasted. For today's sinks, offsets exclude what was written
then; for a sink that is sent its history later, the times in the lines do. Invariant: in doubt, nothing is sent, so a
file that cannot be read or understood is a StateError. It is written whole, before the pause ends.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from collector.errors import StateError
from collector.files import read_plain
from collector.flow.source import Source
from collector.keeping.pause import write_whole
from collector.keeping.state import State
from collector.log import TO_THE_SECOND, timestamp, to_the_millisecond

Span = tuple[str, str]


def left_out_path(state_path: Path) -> Path:
    """The file for a state and all others beside it."""
    return state_path.with_name("paused.left-out.json")


def note_left_out(state_path: Path, since: float, until: float) -> None:
    """Remembers that what was written from one moment to the other is never sent."""
    spans = [*spans_left_out(state_path), (to_the_millisecond(since), to_the_millisecond(until))]
    write_whole(left_out_path(state_path), {"pauses": spans})


def spans_left_out(state_path: Path) -> list[Span]:
    """The spans of time of which nothing is sent."""
    path = left_out_path(state_path)
    try:
        return [(str(since), str(until)) for since, until in orjson.loads(read_plain(path))["pauses"]]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise StateError(
            f"Cannot read {path}: {reason}. It records which pauses to leave out for good, so nothing is sent until it "
            "can be read. Make it readable. If you remove it, what was written during those pauses may be sent."
        ) from None


def is_history(source: Source, state: State) -> bool:
    """Whether all of a source is older than the moment up to which a person wanted nothing sent to this sink."""
    until = state.left_out_at(source.key)
    return bool(until) and timestamp(source.stamp.mtime_ns / 1e9)[:TO_THE_SECOND] <= until[:TO_THE_SECOND]


def to_be_sent(source: Source, state: State) -> int:
    """The bytes of a source that are waiting to be sent. History does not count: a pass would only leave it out."""
    return 0 if is_history(source, state) else state.lag_of(source)
