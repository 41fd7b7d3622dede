"""Held files that were set aside, because their index was damaged: whose they are, only what is in them tells.

In: the directory of held files. Out: each of these transcripts, and what its records say of themselves. Nothing sends
them; they stay for a person who wants to know what they were. Invariant: who says no reaches them, too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import orjson

from collector.errors import StateError
from collector.files import opened_plain
from collector.keeping.held import INDEX, look_into

TRANSCRIPT = ".jsonl"


def set_aside(held: Path) -> list[Path]:
    """Every transcript that no index names."""
    directories = sorted(held.parent.glob(f"{held.name}.damaged-*"))
    if look_into(held).damage:  # it is moved when something is held the next time
        directories.append(held)
    return [path for directory in directories for path in sorted(directory.glob(f"*{TRANSCRIPT}"))]


def drop_set_aside(held: Path, is_meant: Callable[[Iterable[str]], bool]) -> int:
    """Drops those that are meant, by what their records say of themselves; returns how many that was."""
    dropped = 0
    for path in set_aside(held):
        try:
            if is_meant(said_in(path)):
                _drop(path)
                dropped += 1
        except OSError as error:
            raise StateError(
                f"Cannot look through {path}: {error.strerror}. It is a transcript that was held and then set aside; "
                "nothing sends it, but it may be of what you said no to. Remove it."
            ) from None
    return dropped


def said_in(path: Path) -> Iterator[str]:
    """The texts at the top of every record: its session, its directory. What is below may speak of anything."""
    with contextlib.suppress(FileNotFoundError), os.fdopen(opened_plain(path), "rb") as lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                record = orjson.loads(line.strip(b"\0").decode("utf-8", "replace"))
                yield from (text for text in record.values() if type(text) is str) if type(record) is dict else ()


def _drop(path: Path) -> None:
    for each in path.parent.glob(f"{path.stem}.*"):  # its companion goes with it
        each.unlink(missing_ok=True)
    # A crash before this leaves an index of nothing, which names no file that is there.
    if {each.name for each in path.parent.iterdir()} <= {INDEX}:
        (path.parent / INDEX).unlink(missing_ok=True)
        path.parent.rmdir()
