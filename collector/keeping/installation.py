"""The installation file beside the state: this installation's id, and the key of its redaction markers.

In: its path. Out: an Installation, created at the first start. Invariant: nothing is sent with an id or a key that is
not on disk, so a power cut cannot give the same secrets different markers.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from collector.errors import StateError
from collector.files import created, fsync_directory, make_private_directory, read_plain
from collector.log import get_logger

log = get_logger()
SHORTEST_KEY = 16  # bytes
DAMAGES = (ValueError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class Installation:
    """This installation's id, and the key of its redaction markers."""

    id: str
    key: bytes


def load_installation(path: Path, *, may_write: bool) -> Installation:
    """This installation's id and marker key, created at the first start."""
    damage = ""
    try:
        return _read_installation(path)
    except FileNotFoundError:
        pass
    except PermissionError:
        if may_write:  # later events must not get another id and key than those sent so far
            raise
        log.warning("the installation file may not be read by this user, so ids and markers differ", path=str(path))
    except OSError as error:  # a failing disk or server: the file may be intact, and then it counts
        raise StateError(
            f"Cannot read {path}: {error.strerror}. Nothing was sent. Check the disk. If the file is beyond repair, "
            "move it aside; the next start makes a new one."
        ) from None
    except DAMAGES as error:
        damage = type(error).__name__
        if not may_write:
            log.warning("the installation file is damaged, so ids and markers differ", path=str(path), error=damage)
    made = Installation(secrets.token_hex(16), secrets.token_bytes(32))
    return _write_installation(path, made, damage) if may_write else made


def damage_of(path: Path) -> str:
    """Why the next start will create a new file; empty if it will not, or if there is none yet."""
    try:
        _read_installation(path)
    except DAMAGES as error:
        return type(error).__name__
    except OSError:  # loading it reports that
        return ""
    return ""


def _read_installation(path: Path) -> Installation:
    known = orjson.loads(read_plain(path))
    key = bytes.fromhex(known["key"])
    if len(key) < SHORTEST_KEY:
        raise ValueError("a key this short can be guessed, and with it what the markers stand for")
    return Installation(str(known["id"]), key)


def _write_installation(path: Path, made: Installation, damage: str) -> Installation:
    """Puts the file in place. If two agents start at once, both use the file of the first."""
    temporary = path.with_name(f"{path.name}.new-{os.getpid()}-{threading.get_ident()}")
    try:
        make_private_directory(path.parent)
        if damage:
            _move_damaged(path, damage)
        try:
            with created(temporary) as file:
                file.write(orjson.dumps({"id": made.id, "key": made.key.hex()}))
                file.flush()
                os.fsync(file.fileno())  # otherwise a power cut could leave the name without the bytes
            # A crash before this leaves a stray. Nothing was sent with this id yet, so the next start makes another.
            if not _put_first(temporary, path):
                os.replace(temporary, path)
            # Before anything is sent with this id: a power cut must not remove the file, and with it the marker key.
            fsync_directory(path.parent)
            return _read_installation(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"Cannot write {path}: {error.strerror}. Nothing was sent. Free some space, or check the mount."
        ) from None


def _move_damaged(path: Path, damage: str) -> None:
    """Moves the file aside: a person may still recover the key in it, which links earlier markers to later ones."""
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns() // 1_000_000}")
    # A crash after this leaves no installation, and the next start makes a new one, as this one is about to.
    os.replace(path, aside)
    log.warning(
        "installation file damaged, making a new one: this machine's id and redaction markers change from now on",
        path=str(path),
        error=damage,
        moved_to=aside.name,
        advice="if there is a backup, stop the agent and restore it",
    )


def _put_first(temporary: Path, path: Path) -> bool:
    """Gives the file its name unless that is taken. False if the file system cannot link."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return True
    except OSError:
        return False
    return True
