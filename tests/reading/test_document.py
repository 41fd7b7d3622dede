"""Whole-file sources: one line per entry, nothing lost in unknown shapes, nothing read while half written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.agents.claude_code import places
from collector.errors import SkipSource
from collector.flow import reasons
from collector.flow.line import End, Line, position_after
from collector.flow.source import SourceKind
from collector.reading import document
from tests.model.world import replace_atomically
from tests.reading.reads import source_of
from tests.scopes import FORM


def read(path: Path, kind: SourceKind = places.SESSION_INDEX) -> tuple[list[Line], End]:
    *lines, end = document.read(source_of(path, kind), None, FORM)
    assert isinstance(end, End)
    return [line for line in lines if isinstance(line, Line)], end


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions-index.json"


def write(path: Path, document: Any) -> None:
    path.write_bytes(orjson.dumps(document))


def test_every_index_entry_is_a_line_that_moves_no_offset(path: Path) -> None:
    write(path, {"version": 1, "entries": [{"sessionId": "a"}, {"sessionId": "b"}], "originalPath": "/w"})
    lines, _ = read(path)
    assert [(line.offset, line.record, line.is_safe) for line in lines] == [
        (0, {"sessionId": "a"}, False),
        (1, {"sessionId": "b"}, False),
    ]


def test_the_end_covers_the_whole_document_and_stamps_it(path: Path) -> None:
    write(path, {"version": 1, "entries": [{"sessionId": "a" * 3000}]})
    _, end = read(path)
    position = position_after(end)
    assert (position.offset, position.stamp) == (path.stat().st_size, source_of(path).stamp)
    assert end.tail == path.read_bytes()[-1024:]


def test_the_same_document_on_another_inode_gives_no_lines_again(path: Path) -> None:
    write(path, {"version": 1, "entries": [{"sessionId": "a" * 3000}]})
    position, status = position_after(read(path)[1]), path.stat()
    replace_atomically(path, path.read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_ino != status.st_ino
    (end,) = document.read(source_of(path, places.SESSION_INDEX), position, FORM)
    assert isinstance(end, End)
    assert position_after(end).stamp == source_of(path).stamp
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert len(list(document.read(source_of(path, places.SESSION_INDEX), position, FORM))) == 2


def test_an_empty_index_has_an_end_and_no_lines(path: Path) -> None:
    write(path, {"version": 1, "entries": []})
    assert read(path)[0] == []


def test_an_entry_that_is_not_an_object_is_a_problem_of_its_own(path: Path) -> None:
    write(path, {"version": 1, "entries": [7, {"sessionId": "a"}]})
    lines, _ = read(path)
    assert [(line.record, line.problem, line.raw) for line in lines] == [
        (None, reasons.NOT_AN_OBJECT.name, b"7"),
        ({"sessionId": "a"}, "", b""),
    ]


@pytest.mark.parametrize(
    ("document", "records"),
    [
        ([{"sessionId": "a"}], [{"entries": [{"sessionId": "a"}]}]),
        ({"version": 9, "sessions": {"a": 1}}, [{"version": 9, "sessions": {"a": 1}}]),
        ({"entries": {"a": 1}}, [{"entries": {"a": 1}}]),
        ({"entries": [{"a": 1}], "new": 2}, [{"a": 1}, {"new": 2}]),
        ("x", [None]),
    ],
)
def test_nothing_is_lost_from_an_index_of_unknown_shape(path: Path, document: Any, records: list[Any]) -> None:
    write(path, document)
    assert [line.record for line in read(path)[0]] == records


def test_a_stats_cache_is_one_line(path: Path) -> None:
    stats = {"version": 2, "entries": [1, 2]}
    write(path, stats)
    assert [line.record for line in read(path, places.STATS)[0]] == [stats]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b'{"version":1,"ent', "incomplete"), (b"", "empty"), (b" \n", "incomplete"), (b"\0\0\0", "incomplete")],
)
def test_a_half_written_document_is_left_for_later(path: Path, data: bytes, reason: str) -> None:
    path.write_bytes(data)
    with pytest.raises(SkipSource) as caught:
        read(path)
    assert caught.value.reason == reason


@pytest.mark.parametrize("age", [document.HALF_WRITTEN_SECONDS, 1e9, -1e9], ids=["a minute", "years", "in the future"])
def test_a_document_that_stays_broken_is_one_line_with_a_problem_until_it_changes(path: Path, age: float) -> None:
    path.write_bytes(b'{"version":1,"ent')
    source = source_of(path, places.SESSION_INDEX)

    def wall() -> float:
        return source.stamp.mtime_ns / 1e9 + age

    line, end = document.read(source, None, FORM, wall)
    assert isinstance(line, Line)
    assert isinstance(end, End)
    assert (line.record, line.problem, line.raw, line.is_safe) == (None, "damaged file", b'{"version":1,"ent', False)
    after = position_after(end)
    assert (after.offset, after.stamp) == (source.stamp.size, source.stamp)
    assert list(document.read(source, after, FORM, wall)) == [end]


def test_a_document_of_absurd_size_is_not_read(path: Path) -> None:
    path.touch()
    with path.open("r+b") as file:
        file.truncate(document.MAX_BYTES + 1)
    with pytest.raises(SkipSource, match="too_large"):
        read(path)


def test_hostile_content_comes_out_serializable(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf{"entries":[{"a":"\\ud800\xff","b":1e999,"c":' + b"[" * 300 + b"]" * 300 + b"}]}")
    (line,), _ = read(path)
    assert line.record is not None
    assert (line.record["a"], line.record["b"]) == ("\ufffd\ufffd", "1e999")
    orjson.dumps(line.record)
