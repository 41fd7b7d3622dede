"""Which statements about what leaves this machine a person has seen and acknowledged: a small file beside the state.

In: the settings. Out: whether a statement was shown, and whether it was acknowledged. Crash window: a statement that
was shown but not noted is shown again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from collector.errors import StateError
from collector.files import make_private_directory, read_plain, replacing
from collector.log import timestamp
from collector.settings import Settings
from collector.settings.disclosure import is_remote, name_of


def disclosed_path(settings: Settings) -> Path:
    """The file beside the state."""
    return settings.state_path.with_name("disclosed.json")


def waits_for_acknowledgement(settings: Settings) -> bool:
    """Whether nothing may leave until a person has acknowledged what does. A sink on this machine may pass events on,
    as forwarders do, so only the embedded store is exempt."""
    if not settings.disclosure.require_ack or settings.destination is None:
        return False
    return name_of(settings) not in _read(settings)["acknowledged"]


def is_to_be_said(settings: Settings) -> bool:
    """Whether the statement is about another machine, and has not been shown here."""
    return is_remote(settings) and name_of(settings) not in _read(settings)["said"]


def note_said(settings: Settings) -> None:
    """Notes that the statement was shown. A full disk is no reason to stop: it is shown again."""
    try:
        _note(settings, "said")
    except OSError:
        return


def acknowledge(settings: Settings) -> None:
    """Notes that a person has acknowledged the current statement."""
    try:
        _note(settings, "acknowledged")
    except OSError as error:
        raise StateError(
            f"Cannot write {disclosed_path(settings)}: {error.strerror}. Nothing was acknowledged. Free some space, or "
            "make the directory writable to this user."
        ) from None


def _read(settings: Settings) -> dict[str, Any]:
    nothing: dict[str, Any] = {"said": {}, "acknowledged": {}}
    try:
        told = orjson.loads(read_plain(disclosed_path(settings)))
    except (OSError, ValueError):  # in doubt, nobody was told
        return nothing
    is_usable = isinstance(told, dict) and all(isinstance(told.get(name), dict) for name in nothing)
    return told if is_usable else nothing


def _note(settings: Settings, what: str) -> None:
    told, path = _read(settings), disclosed_path(settings)
    told[what][name_of(settings)] = timestamp()
    make_private_directory(path.parent)
    with replacing(path) as file:
        file.write(orjson.dumps(told))
