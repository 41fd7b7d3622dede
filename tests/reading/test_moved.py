"""A file that moved is recognised by its bytes, and no other file is mistaken for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from collector.flow.line import position_after
from collector.flow.source import Entry, Position, Stamp
from collector.reading.moved import find_moved
from tests.reading.reads import lines_of, read, source_of


def entry_of(path: Path) -> Entry:
    return Entry(position_after(read(path)[1]))


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_file_that_moved_to_another_directory_is_recognised_even_if_it_grew(tmp_path: Path) -> None:
    old = written(tmp_path / "a" / "s.jsonl", lines_of(50))
    entries = {str(old): entry_of(old)}
    new = written(tmp_path / "b" / "s.jsonl", old.read_bytes() + b'{"more":1}\n')  # another inode
    old.unlink()
    assert find_moved([source_of(new)], entries, entries) == {str(old): str(new)}


def test_a_renamed_file_is_recognised_by_its_inode(tmp_path: Path) -> None:
    old = written(tmp_path / "old.jsonl", lines_of(50))
    entries = {str(old): entry_of(old)}
    new = old.rename(tmp_path / "new.jsonl")
    assert find_moved([source_of(new)], entries, entries) == {str(old): str(new)}


@pytest.mark.parametrize("data", [lines_of(50, "m"), lines_of(40), lines_of(45) + lines_of(5, "m"), b""])
def test_another_file_of_the_same_name_is_not_mistaken_for_a_moved_one(tmp_path: Path, data: bytes) -> None:
    old = written(tmp_path / "a" / "s.jsonl", lines_of(50))
    entries = {str(old): entry_of(old)}
    assert find_moved([source_of(written(tmp_path / "s.jsonl", data))], entries, entries) == {}


def test_only_a_file_that_is_gone_can_have_moved(tmp_path: Path) -> None:
    """A copy is read like any other file; the ids make the repeats harmless."""
    old = written(tmp_path / "a" / "s.jsonl", lines_of(50))
    copy = written(tmp_path / "b" / "s.jsonl", lines_of(50))
    assert find_moved([source_of(copy)], [], {str(old): entry_of(old)}) == {}


def test_a_file_with_an_entry_of_its_own_has_not_moved(tmp_path: Path) -> None:
    old = written(tmp_path / "a" / "s.jsonl", lines_of(50))
    new = written(tmp_path / "b" / "s.jsonl", lines_of(50))
    entries = {str(old): entry_of(old), str(new): entry_of(new)}
    assert find_moved([source_of(new)], [str(old)], entries) == {}


def test_an_entry_at_offset_zero_identifies_no_file(tmp_path: Path) -> None:
    source = source_of(written(tmp_path / "s.jsonl", b'{"a":1}\n'))
    entries = {"a/s.jsonl": Entry(Position(0, "", "", source.stamp))}
    assert find_moved([source], entries, entries) == {}


def test_a_file_that_matches_no_missing_entry_is_not_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "s.jsonl"
    os.mkfifo(fifo)
    other_name = {"a/t.jsonl": Entry(Position(1, "", ""))}
    assert find_moved([source_of(fifo)], other_name, other_name) == {}
    same_name = {"a/s.jsonl": Entry(Position(1, "", ""))}
    assert find_moved([source_of(fifo)._replace(stamp=Stamp(9, 9, 9))], same_name, same_name) == {}


def test_a_missing_file_has_moved_to_one_place_only(tmp_path: Path) -> None:
    old = written(tmp_path / "a" / "s.jsonl", lines_of(50))
    entries = {str(old): entry_of(old)}
    first = written(tmp_path / "s.jsonl", lines_of(50))
    second = old.rename(tmp_path / "a" / "t.jsonl")
    assert find_moved([source_of(first), source_of(second)], entries, entries) == {str(old): str(first)}


def test_many_files_of_one_name_are_not_all_compared_with_each_other(tmp_path: Path) -> None:
    count, reads = 60, 0
    old = [written(tmp_path / f"a{number}" / "journal.jsonl", lines_of(3, f"a{number}")) for number in range(count)]
    entries = {str(path): entry_of(path) for path in old}
    for path in old[1:]:
        path.unlink()
    strangers = [written(tmp_path / f"b{at}" / "journal.jsonl", lines_of(3, f"b{at}")) for at in range(count)]
    moved = old[0].rename(written(tmp_path / "c" / "journal.jsonl", b""))

    def count_reads(_frame: object, event: str, called: object) -> None:
        nonlocal reads
        reads += event == "c_call" and called is os.pread

    sources = [source_of(path) for path in (*strangers, moved)]
    sys.setprofile(count_reads)
    try:
        assert find_moved(sources, entries, entries) == {str(old[0]): str(moved)}
    finally:
        sys.setprofile(None)
    assert 0 < reads < 5 * count
