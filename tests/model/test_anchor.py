"""Promise 3 for records without a uuid: any sequence gives the same ids, even if interrupted, copied or forked."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from collector.flow.anchor import HEAD, Anchor, from_kept, kept
from collector.flow.frame import Frame
from collector.flow.line import Line, position_after
from collector.flow.source import Entry, Position
from collector.keeping.entries import Entries
from collector.reading import tail
from tests.reading.reads import append, source_of
from tests.scopes import FORM

MODE = {"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"}
THINGS = ("uuid", "uuid without time", "mode", "timed mode", "blank", "no record", "torn", "two in a line", "snapshot")


class Told(NamedTuple):
    """What an event says about its identity and its time."""

    id: str
    time: str
    time_from: str


def line_of(number: int, thing: str) -> bytes:
    """One line of a file; equal things give equal bytes, except for their uuids."""
    when = {"timestamp": f"2026-03-01T10:00:{number:02d}.000Z"}
    message = {"type": "user", "uuid": f"uuid {number}", "message": {"role": "user", "content": "x"}}
    mode = json.dumps(MODE)
    return {
        "uuid": json.dumps(message | when),
        "uuid without time": json.dumps(message),
        "mode": mode,
        "timed mode": json.dumps(MODE | when),
        "blank": "  ",
        "no record": "42",
        "torn": '{"type":"user","uuid":"lost","mess' + mode,
        "two in a line": mode + mode,
        "snapshot": json.dumps({"type": "file-history-snapshot", "snapshot": when}),
    }[thing].encode() + b"\n"


def read(path: Path, position: Position | None = None) -> Iterator[tuple[Told | None, Position]]:
    """What a pass makes of each line from this position on, with the position after the line."""
    normalize = None
    for line in tail.read(source_of(path), position, FORM, chunk_bytes=300):
        told = None
        normalize = normalize or FORM.normalizer(line.reading, Frame({"id": "m", "name": "n"}, "dev"))
        if isinstance(line, Line) and line.record is not None:
            made: Any = normalize(line)
            told = Told(made["id"], made["time"], made.get("time_from", ""))
        yield told, position_after(line)


def told(path: Path, position: Position | None = None) -> list[Told]:
    return [each for each, _ in read(path, position) if each]


def saved(position: Position) -> Position:
    """The position as it is read back after a restart."""
    before, after = Entries(), Entries()
    before["a"] = Entry(position)
    after.take({"a": before.as_written("a")})
    return after["a"].position


@given(st.lists(st.sampled_from(THINGS), min_size=1, max_size=12))
@example(["mode", "mode", "uuid", "mode", "mode", "two in a line", "torn", "uuid", "mode"])
def test_any_sequence_gives_the_same_ids_wherever_reading_is_interrupted(things: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.jsonl"
        path.write_bytes(b"".join(line_of(number, thing) for number, thing in enumerate(things)))
        lines = list(read(path))
        whole = [each for each, _ in lines if each]
        assert len({each.id for each in whole}) == len(whole), "what happens twice is two events"
        for number, (_, position) in enumerate(lines):
            rest = [each for each, _ in lines[number + 1 :] if each]
            assert told(path, saved(position)) == rest
            assert told(path, saved(position._replace(anchor=""))) == rest, "a state of an earlier version"
        copy = Path(shutil.copy2(path, Path(directory) / "copied.jsonl"))
        assert told(copy) == whole
        fork = Path(directory) / "fork.jsonl"
        fork.write_bytes(line_of(50, "mode") + line_of(51, "mode") + path.read_bytes())
        first_uuid = next((number for number, thing in enumerate(things) if thing.startswith("uuid")), None)
        if first_uuid is not None:
            before = sum(
                {"blank": 0, "no record": 0, "two in a line": 2}.get(thing, 1) for thing in things[:first_uuid]
            )
            assert [each.id for each in told(fork)[2 + before :]] == [each.id for each in whole[before:]]


def test_a_file_that_grows_line_by_line_gives_the_ids_of_the_whole(tmp_path: Path) -> None:
    path, grown, position = tmp_path / "s.jsonl", [], None
    path.touch()
    for number, thing in enumerate((*THINGS, *THINGS)):
        append(path, line_of(number, thing))
        for each, after in read(path, position):
            grown += [each.id] if each else []
            position = saved(after)
    assert grown == [each.id for each in told(path)]


def test_records_at_the_head_take_the_next_time_or_the_files_mtime_if_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(1, "mode") + line_of(2, "torn"))
    assert {each.time_from for each in told(path)} == {"file_mtime"}
    append(path, line_of(7, "uuid") + line_of(8, "mode"))
    ten = "2026-03-01T10:00:07.000Z"
    assert [each[1:] for each in told(path)] == [
        (ten, "next_record"), (ten, "next_record"), (ten, ""), (ten, "previous_record")
    ]  # fmt: skip


def test_a_saved_anchor_reveals_nothing_of_the_record() -> None:
    anchor = Anchor("a secret of some kind", 3, "not a time, a secret too")
    assert "secret" not in kept(anchor)
    assert kept(from_kept(kept(anchor)) or HEAD) == kept(anchor)
    assert from_kept(kept(HEAD)) == HEAD
    assert [from_kept(text) for text in ("", "3", "x - ", "3 nothex ", "1 - 2026")] == [None] * 5
