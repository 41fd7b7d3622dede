"""A file that moved keeps its offset, and no other file gets it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collector.flow.line import position_after
from collector.flow.source import Position, Stamp
from collector.reading import tail
from tests.reading.reads import lines_of, read, source_of


def position_of(path: Path) -> Position:
    return position_after(read(path)[1])


def test_a_file_that_moved_to_another_directory_keeps_its_offset(tmp_path: Path) -> None:
    old = tmp_path / "a" / "s.jsonl"
    old.parent.mkdir()
    old.write_bytes(lines_of(50))
    missing = {str(old): position_of(old)}
    new = tmp_path / "b" / "s.jsonl"
    new.parent.mkdir()
    new.write_bytes(old.read_bytes() + b'{"more":1}\n')  # copied and grown: another inode
    old.unlink()
    assert tail.adopt(source_of(new), missing) == str(old)


def test_a_renamed_file_is_known_by_its_inode(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    old.write_bytes(lines_of(50))
    missing = {str(old): position_of(old)}
    assert tail.adopt(source_of(old.rename(tmp_path / "new.jsonl")), missing) == str(old)


@pytest.mark.parametrize("data", [lines_of(50, "m"), lines_of(40), lines_of(45) + lines_of(5, "m"), b""])
def test_another_file_of_the_same_name_is_not_taken_for_a_moved_one(tmp_path: Path, data: bytes) -> None:
    old = tmp_path / "a" / "s.jsonl"
    old.parent.mkdir()
    old.write_bytes(lines_of(50))
    missing = {str(old): position_of(old)}
    new = tmp_path / "s.jsonl"
    new.write_bytes(data)
    assert tail.adopt(source_of(new), missing) is None


def test_an_entry_at_offset_zero_is_adopted_by_nobody(tmp_path: Path) -> None:
    new = tmp_path / "s.jsonl"
    new.write_bytes(b'{"a":1}\n')
    assert tail.adopt(source_of(new), {"a/s.jsonl": Position(0, "", "", source_of(new).stamp)}) is None


def test_a_file_without_a_candidate_is_not_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "s.jsonl"
    os.mkfifo(fifo)
    assert tail.adopt(source_of(fifo), {"a/t.jsonl": Position(1, "", "")}) is None
    assert tail.adopt(source_of(fifo)._replace(stamp=Stamp(9, 9, 9)), {"a/s.jsonl": Position(1, "", "")}) is None


def test_a_position_that_was_taken_is_not_taken_again(tmp_path: Path) -> None:
    old = tmp_path / "a" / "s.jsonl"
    old.parent.mkdir()
    old.write_bytes(lines_of(50))
    missing = tail.Missing({str(old): position_of(old)})
    first, second = tmp_path / "s.jsonl", tmp_path / "a" / "t.jsonl"
    first.write_bytes(lines_of(50))
    old.rename(second)
    assert tail.adopt(source_of(first), missing) == str(old)
    del missing[str(old)]
    assert tail.adopt(source_of(second), missing) is None
