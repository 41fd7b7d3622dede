"""Logging: structlog on stderr, as JSON unless stderr is a terminal.

In: a constant phrase plus keys. Out: one line. Invariants: values may come from file names and servers, so control
characters are escaped and no text can forge a log line; a log that cannot be written (a full disk, a closed pipe) stops
nothing, because losing log lines loses no event. The functions that format numbers and text for people live here too,
because every room needs some of them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import traceback
from functools import lru_cache
from typing import Any

import structlog

TIMESTAMP = "%Y-%m-%dT%H:%M:%SZ"
TO_THE_SECOND = 19  # characters of a time in RFC 3339
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def get_logger() -> Any:
    """The logger that every module uses."""
    return structlog.get_logger()


@lru_cache(100)
def warn_once(event: str, **keys: str) -> None:
    """Warns of something that is true of one request after another, but only the first time."""
    get_logger().warning(event, **keys)


def configure(level: str = "info", layout: str = "auto") -> None:
    """Sets up logging for this process."""
    as_json = layout == "json" or (layout == "auto" and not sys.stderr.isatty())
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _escape,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *_: _Printer(sys.stderr),
        cache_logger_on_first_use=False,
    )


def say_in_this_thread(**keys: str) -> None:
    """Adds keys to every line that this thread logs."""
    structlog.contextvars.bind_contextvars(**keys)


class _Printer(structlog.PrintLogger):
    """Writes a line, or drops it if that fails."""

    def msg(self, message: str) -> None:
        """Writes a line of any level: the renderer has already put the level into it."""
        with contextlib.suppress(OSError):
            super().msg(message)

    debug = info = warning = error = critical = msg


def _escape(_logger: Any, _method: str, event: Any) -> Any:
    return {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}


def place_of(error: BaseException) -> str:
    """Where an exception was raised. The log gets this instead of the message, which may contain somebody's text."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "an unknown place"


def printable(text: str) -> str:
    """The text, with every character escaped that could move a cursor or end a line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def counted(number: int, one: str, many: str = "") -> str:
    """`1 session`, `2 sessions`; an irregular plural is passed as `many`: `1 entry`, `2 entries`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def in_words(count: float) -> str:
    """A number of bytes, as a person would put it."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def timestamp(moment: float | None = None) -> str:
    """A moment (by default, now) as RFC 3339 in UTC, to the second."""
    return time.strftime(TIMESTAMP, time.gmtime(moment))


def to_the_millisecond(moment: float) -> str:
    """The same as events say it."""
    return timestamp(moment).replace("Z", f".{int(moment * 1000) % 1000:03}Z")


def tame_json(value: Any, indent: int | None = None) -> str:
    """JSON that is safe on a terminal: ASCII only, with DEL escaped, the one control character that JSON allows."""
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")
