"""Off is off: whether anything may be sent, by the configuration (`enabled`) and by the pause file beside the state.

In: the settings. Out: why everything stands still, or None. Invariant: in doubt it stands still: a pause file that
cannot be read or understood counts as a pause without an end. The file is written whole, so a restart finds it, and
every agent with a state in the same directory goes by it.
"""

from __future__ import annotations

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
    """Why nothing is sent: `by` is configuration, disclosure, pause or request; the moments are empty where there are
    none."""

    by: str
    place: str
    since: str = ""
    until: str = ""

    def __str__(self) -> str:
        if self.by == "configuration":
            return f"switched off by enabled = false (in {self.place})"
        if self.by == "request":
            return "what is unsent by now is to be left out, as asked; the next pass begins with that"
        if self.by == "disclosure":
            return (
                f"nobody has acknowledged what would be sent, which {self.place} asks for; `collector agree` "
                "shows it and does"
            )
        since, until = self.since and f" since {self.since}", self.until and f" until {self.until}"
        return f"paused{since}{until}; `collector resume` ends it"


def standstill(settings: Settings, now: float | None = None) -> Standstill | None:
    """Why nothing may be sent; None where it may."""
    if not settings.enabled:
        return Standstill("configuration", settings.origins.place("enabled") or "a command line flag")
    if waits_for_acknowledgement(settings):
        return Standstill("disclosure", settings.origins.place("disclosure.require_ack"))
    return read_pause(settings.state_path, time.time() if now is None else now)


def before_each_request(settings: Settings) -> Callable[[], Standstill | None]:
    """The same question, asked again and again: what only a reload can change is looked up once."""
    if not settings.enabled or settings.disclosure.require_ack:
        return lambda: standstill(settings)
    state_path = settings.state_path
    return lambda: read_pause(state_path, time.time())


def before_each_request_of_a_pass(settings: Settings) -> Callable[[], Standstill | None]:
    """The same for what is read from transcripts: a pass that is under way when a person asks to leave out what is
    unsent would go on sending it."""
    usual, asked = before_each_request(settings), request_path(settings.state_path)
    return lambda: usual() or (Standstill("request", str(asked)) if asked.exists() else None)


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
        return Standstill("pause", str(path)) if path.is_symlink() else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return Standstill("pause", str(path))


def pause(state_path: Path, now: float, until: float | None) -> None:
    """Pauses, or changes until when; then the pause began when it began, for what may be left out of it."""
    path, began = pause_path(state_path), paused_since(state_path, now)
    since = now if began is None else min(began, now)
    write_whole(path, {"since": int(since), "until": None if until is None else int(until)})


def paused_since(state_path: Path, now: float) -> float | None:
    """When the pause in force began; None where there is none, or nobody knows."""
    if read_pause(state_path, now) is None:
        return None
    try:
        return float(orjson.loads(read_plain(pause_path(state_path)))["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def resume(state_path: Path) -> bool:
    """Ends the pause; whether there was a file."""
    path = pause_path(state_path)
    try:
        path.unlink()
        fsync_directory(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(f"Cannot remove {path}: {error.strerror}. The pause goes on; remove the file.") from None
    return True


def request_path(state_path: Path) -> Path:
    """The file by which a person asks the agent to leave out what it has not sent yet."""
    return state_path.with_name(f"{state_path.stem}.leave-out")


def ask_to_leave_out(state_path: Path) -> None:
    """Asks the agent of this state to take what there is now as sent, before it sends anything else."""
    write_whole(request_path(state_path), {})


def is_asked_to_leave_out(state_path: Path) -> bool:
    """Whether somebody asked for that."""
    return request_path(state_path).exists()


def done_leaving_out(state_path: Path) -> None:
    """Takes the request back. A crash before this leaves out once more: what was written meanwhile, too."""
    path = request_path(state_path)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"Cannot remove {path}: {error.strerror}. What was unsent is left out, as it asks for, and nothing is sent "
            "while it is there: remove it."
        ) from None


def write_whole(path: Path, content: dict[str, object]) -> None:
    """Writes what a person has said; raises StateError."""
    try:
        make_private_directory(path.parent)
        # Crash window: before the end of this block nothing has changed, and the command has not said that it has.
        with replacing(path) as file:
            file.write(orjson.dumps(content))
    except OSError as error:
        raise StateError(
            f"Cannot write {path}: {error.strerror}. Nothing was changed; stop the service if it must not send."
        ) from None
