"""Logging: structlog on stderr, JSON when stderr is no terminal. A log event is a constant phrase plus keys.

Values may come from file names and servers, so control characters are escaped: no text can forge a log line. A log that
cannot be written (a full disk, a reader that went) is no reason to stop: its lines are lost, the events are not.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import traceback
from typing import Any

import structlog

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def get_logger() -> Any:
    """The logger every module uses."""
    return structlog.get_logger()


def configure(level: str = "info", layout: str = "auto") -> None:
    """Sets up logging for this process."""
    as_json = layout == "json" or (layout == "auto" and not sys.stderr.isatty())
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _escape,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *_: _Printer(sys.stderr),
        cache_logger_on_first_use=False,
    )


class _Printer(structlog.PrintLogger):
    """Writes a line, or gives up on it."""

    def msg(self, message: str) -> None:
        """Any level: the renderer has put it into the line."""
        with contextlib.suppress(OSError):
            super().msg(message)

    debug = info = warning = error = critical = msg


def _escape(_logger: Any, _method: str, event: Any) -> Any:
    return {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}


def place_of(error: BaseException) -> str:
    """Where an exception was raised. Its message stays out of the log: it may hold somebody's text."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "an unknown place"


def printable(text: str) -> str:
    """The text with everything that could move a cursor or end a line written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def tame_json(value: Any, indent: int | None = None) -> str:
    """JSON that may go to a terminal: ASCII only, and without the one control character that JSON leaves as it is."""
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")
