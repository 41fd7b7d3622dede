"""Files beside a state that no longer belong to anything: held files whose index was damaged, and files held or
quarantined for sinks that are no longer configured.

In: the state file of an agent, and those of its sinks. Out: other files beside them under the agent's name, and what
held transcripts say about themselves, because nothing else tells which project they belong to. Nothing sends them.
Invariants: excluding a project reaches them too; files that another agent keeps there are not touched.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import orjson

from collector.errors import StateError
from collector.files import opened_plain
from collector.keeping.held import INDEX, look_into

HELD, QUARANTINE, TRANSCRIPT = ".held", ".quarantine.jsonl", ".jsonl"


def left_behind(base: Path, states: Sequence[Path]) -> list[Path]:
    """Every held transcript unknown to an agent with these states."""
    known = {state.with_name(state.stem + HELD) for state in states}
    directories = _named_after(base, f"{HELD}.damaged-*") | _named_after(base, HELD) - known
    directories |= {path for path in known if look_into(path).damage}  # it is moved aside when something is held again
    return [path for directory in sorted(directories) for path in sorted(directory.glob(f"*{TRANSCRIPT}"))]


def quarantines_left_behind(base: Path, states: Sequence[Path]) -> list[Path]:
    """Every quarantine of an agent that does not belong to any of these states."""
    return sorted(_named_after(base, QUARANTINE) - {state.with_name(state.stem + QUARANTINE) for state in states})


def _named_after(base: Path, ending: str) -> set[Path]:
    return {path for path in base.parent.glob(f"*{ending}") if path.name.startswith(f"{base.stem}.")}


def drop_left_behind(base: Path, states: Sequence[Path], is_meant: Callable[[Iterable[str]], bool]) -> int:
    """Drops held transcripts whose records match. Returns how many."""
    dropped = 0
    for path in left_behind(base, states):
        try:
            if is_meant(said_in(path)):
                _drop(path)
                dropped += 1
        except OSError as error:
            raise StateError(
                f"Cannot read {path}: {error.strerror}. It is a transcript that was held for a sink. Nothing sends it "
                "any more, but it may be from a project you have excluded: remove it."
            ) from None
    return dropped


def said_in(path: Path) -> Iterator[str]:
    """The top-level strings of every record, such as its session and directory. Deeper ones may mention anything."""
    with contextlib.suppress(FileNotFoundError), os.fdopen(opened_plain(path), "rb") as lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                record = orjson.loads(line.strip(b"\0").decode("utf-8", "replace"))
                yield from (text for text in record.values() if type(text) is str) if type(record) is dict else ()


def _drop(path: Path) -> None:
    for each in path.parent.glob(f"{path.stem}.*"):  # its companion goes with it
        each.unlink(missing_ok=True)
    # The index still names the file, which is ignored. A crash before this leaves an index that names nothing.
    if {each.name for each in path.parent.iterdir()} <= {INDEX}:
        (path.parent / INDEX).unlink(missing_ok=True)
        path.parent.rmdir()
