"""Off means off: whether anything may be sent, going by the configuration (`enabled`) and the pause file.

In: the settings. Out: why nothing is sent, or None. Invariant: in doubt, nothing is sent: a pause file that cannot be
read or understood counts as a pause without an end. The file is written whole, survives restarts, and applies to every
agent with a state in the same directory.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson

from collector.errors import StateError
from collector.files import fsync_directory, make_private_directory, read_plain, replacing
from collector.keeping.disclosed import waits_for_acknowledgement
from collector.log import timestamp
from collector.settings import Settings


class Standstill(NamedTuple):
    """Why nothing is sent: `by` is configuration, disclosure, pause or request; `since` and `until` may be empty, and
    `doubt` says why it is unknown whether there is a pause."""

    by: str
    place: str
    since: str = ""
    until: str = ""
    doubt: str = ""

    def __str__(self) -> str:
        if self.by == "configuration":
            return f"switched off by enabled = false (in {self.place})"
        if self.by == "request":
            return "what is unsent is to be left out, as you asked; the next pass starts with that"
        if self.by == "disclosure":
            return f"nobody has acknowledged what would be sent, as {self.place} requires; `collector agree` does that"
        if self.doubt:
            return f"perhaps paused: {self.place} cannot be read ({self.doubt}); `collector resume` removes it"
        since, until = self.since and f" since {self.since}", self.until and f" until {self.until}"
        return f"paused{since}{until}; `collector resume` ends it"


def standstill(settings: Settings, now: float | None = None) -> Standstill | None:
    """Why nothing may be sent; None if sending is allowed."""
    if not settings.enabled:
        return Standstill("configuration", settings.origins.place("enabled") or "a command line flag")
    if waits_for_acknowledgement(settings):
        return Standstill("disclosure", settings.origins.place("disclosure.require_ack"))
    return read_pause(settings.state_path, time.time() if now is None else now)


def before_each_request(settings: Settings) -> Callable[[], Standstill | None]:
    """A cheap form of `standstill` to call before each request: anything only a reload can change is looked up once."""
    if not settings.enabled or settings.disclosure.require_ack:
        return lambda: standstill(settings)
    state_path = settings.state_path
    return lambda: read_pause(state_path, time.time())


def before_each_request_of_a_pass(settings: Settings) -> Callable[[], Standstill | None]:
    """The same for a pass, which must not go on sending once a person has asked to leave out what is unsent."""
    usual, path = before_each_request(settings), settings.state_path
    return lambda: usual() or (Standstill("request", str(request_path(path))) if is_asked_to_leave_out(path) else None)


def pause_path(state_path: Path) -> Path:
    """The pause file that belongs to a state, and to all others beside it."""
    return state_path.with_name("paused.json")


def read_pause(state_path: Path, now: float) -> Standstill | None:
    """The pause in force."""
    path = pause_path(state_path)
    try:
        told = orjson.loads(read_plain(path))
        since, until = told["since"], told["until"]
        if until is not None and until <= now:
            return None
        return Standstill("pause", str(path), timestamp(since), "" if until is None else timestamp(until))
    except (FileNotFoundError, NotADirectoryError):
        return Standstill("pause", str(path)) if os.path.islink(path) else None
    except OSError as error:
        return Standstill("pause", str(path), doubt=error.strerror or "")
    except (ValueError, KeyError, TypeError, OverflowError):
        return Standstill("pause", str(path))


def pause(state_path: Path, now: float, until: float | None) -> None:
    """Pauses, or changes when the pause ends. A pause that is changed keeps its beginning, so that all of it can be
    left out."""
    path, began = pause_path(state_path), paused_since(state_path, now)
    since = now if began is None else min(began, now)
    write_whole(path, {"since": int(since), "until": None if until is None else int(until)})


def paused_since(state_path: Path, now: float) -> float | None:
    """When the pause in force began; None if there is none or its beginning is unknown."""
    if read_pause(state_path, now) is None:
        return None
    try:
        return float(orjson.loads(read_plain(pause_path(state_path)))["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def resume(state_path: Path) -> bool:
    """Ends the pause; returns whether there was one."""
    path = pause_path(state_path)
    try:
        path.unlink()
        with contextlib.suppress(OSError):  # the pause is over already; at worst a power cut brings it back
            fsync_directory(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(
            f"Cannot remove {path}: {error.strerror}. The pause continues; remove the file yourself to end it."
        ) from None
    return True


def request_path(state_path: Path) -> Path:
    """The file by which a person asks the agent to leave out what it has not sent yet."""
    return state_path.with_name(f"{state_path.stem}.leave-out")


def ask_to_leave_out(state_path: Path) -> None:
    """Asks the agent of this state to count everything that exists now as sent, before it sends anything else."""
    write_whole(request_path(state_path), {})


def is_asked_to_leave_out(state_path: Path) -> bool:
    """Whether somebody asked for that. Raises StateError if that is unknown: then nothing may be sent or left out."""
    path = request_path(state_path)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StateError(
            f"Cannot look for {path}: {error.strerror}. It would say that what is unsent is to be left out, so nothing "
            "is sent until that is known. Check the disk, and that this user may enter the directory."
        ) from None
    return True


def done_leaving_out(state_path: Path) -> None:
    """Clears the request. After a crash before this, the next pass also leaves out what was written in between."""
    path = request_path(state_path)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"Cannot remove {path}: {error.strerror}. What was unsent has been left out, as you asked, but nothing is "
            "sent while this file is there: remove it."
        ) from None


def write_whole(path: Path, content: dict[str, object]) -> None:
    """Writes a file for a person's request. Raises StateError if that fails."""
    try:
        make_private_directory(path.parent)
        # Crash window: before the end of this block, nothing has changed, and the command has not said that it has.
        with replacing(path) as file:
            file.write(orjson.dumps(content))
    except OSError as error:
        raise StateError(
            f"Cannot write {path}: {error.strerror}. Nothing was changed. If nothing may be sent, stop the service."
        ) from None
