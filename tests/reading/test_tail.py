"""Reading lines: what counts as a line, what survives, where offsets move, how a file is recognised."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.agents.claude_code import places
from collector.errors import SourceError
from collector.flow import reasons
from collector.flow.line import End, Line, position_after
from collector.reading import tail
from collector.reading.parse import MAX_VALUES
from tests.reading.reads import append, lines_of, read, records, skipped, source_of
from tests.scopes import FORM


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_complete_lines_come_in_order_with_their_places(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"a":2}\n')
    lines, end = read(path)
    assert [(line.offset, line.end, line.record) for line in lines] == [(0, 8, {"a": 1}), (8, 16, {"a": 2})]
    assert end.end == 16
    assert [line.tail for line in lines] == [b'{"a":1}\n', b'{"a":1}\n{"a":2}\n']


def test_half_a_line_waits_for_its_end(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"a":')
    lines, end = read(path)
    assert (records(lines), end.end) == ([{"a": 1}], 8)
    append(path, b"2}\n")
    lines, end = read(path, position_after(end))
    assert [(line.offset, line.record) for line in lines] == [(8, {"a": 2})]
    assert end.end == 16


def test_a_whole_record_without_a_newline_is_read_at_once_and_only_once(path: Path) -> None:
    path.write_bytes(b'{"a":1}')
    lines, end = read(path)
    assert (records(lines), end.end) == ([{"a": 1}], 7)
    append(path, b'\n{"a":2}\n')
    lines, end = read(path, position_after(end))
    assert (records(lines), end.end) == ([{"a": 2}], 16)


@pytest.mark.parametrize("ending", [b"", b"}", b'{"a":"b', b"12", b'["x"]', b"  ", b"\0\0"])
def test_text_after_the_last_newline_waits_until_it_is_a_whole_record(path: Path, ending: bytes) -> None:
    path.write_bytes(b'{"a":1}\n' + ending)
    lines, end = read(path)
    assert (records(lines), end.end) == ([{"a": 1}], 8)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b'{"a":1}\r\n{"a":2}\r\n', [{"a": 1}, {"a": 2}], id="crlf"),
        pytest.param(b'\xef\xbb\xbf{"a":1}\n', [{"a": 1}], id="byte order mark"),
        pytest.param(b'\n\r\n  \t\n{"a":1}\n\n', [{"a": 1}], id="blank lines"),
        pytest.param(b'{"a":"\xff\xfe"}\n', [{"a": "\ufffd\ufffd"}], id="invalid utf-8"),
        pytest.param(b'{"a":"\\ud800x"}\n', [{"a": "\ufffdx"}], id="lone surrogate"),
        pytest.param(b'{"a":1e999}\n', [{"a": "1e999"}], id="beyond a double"),
    ],
)
def test_odd_bytes_survive(path: Path, data: bytes, expected: list[Any]) -> None:
    path.write_bytes(data)
    lines, end = read(path)
    assert records(lines) == expected
    assert end.end == len(data)


@pytest.mark.parametrize("value", [b"123", b"[]", b'"x"', b"null", b'[{"type":"user"}]'])
def test_a_line_that_is_not_an_object_is_a_problem_and_the_offset_passes_it(path: Path, value: bytes) -> None:
    path.write_bytes(value + b'\n{"a":1}\n')
    lines, end = read(path)
    assert [(line.record, line.problem, line.raw) for line in lines] == [
        (None, reasons.NOT_AN_OBJECT.name, value),
        ({"a": 1}, "", b""),
    ]
    assert end.end == path.stat().st_size


def test_a_torn_record_is_set_aside_and_the_one_after_it_recovered(path: Path) -> None:
    torn, whole = b'{"parentUuid":null,"message":{"content":[{"type":"te', b'{"parentUuid":"u","x":{"type":"y"}}'
    path.write_bytes(torn + whole + b"\n")
    lines, end = read(path)
    assert [(line.problem, line.raw, line.offset, line.end) for line in lines] == [
        (reasons.TORN.name, torn, 0, len(torn)),
        ("", b"", len(torn), len(torn + whole) + 1),
    ]
    assert lines[1].record == orjson.loads(whole)
    assert end.end == len(torn + whole) + 1


def test_a_run_of_nul_bytes_before_a_record_is_a_piece_of_its_own(path: Path) -> None:
    path.write_bytes(b"\0" * 5000 + b'{"a":1}\n')
    lines, _ = read(path)
    assert [(line.problem, line.offset, line.end) for line in lines] == [
        (reasons.NUL_BYTES.name, 0, 5000),
        ("", 5000, 5008),
    ]


def test_reading_goes_on_after_every_line_and_piece(path: Path) -> None:
    """A position may be committed after any of them; reading on from there repeats and misses nothing."""
    path.write_bytes(b'{"a":1}\n' + b'{"t":"' + b"x" * 3000 + b'{"a":2}\n\0\0{"a":3}{"a":4}\nbad\n{"a":5}\r\n{"a":6}')
    lines, end = read(path)
    for number, line in enumerate(lines):
        rest, last = read(path, position_after(line))
        assert [(each.offset, each.end, each.record, each.problem, each.raw, each.tail) for each in rest] == [
            (each.offset, each.end, each.record, each.problem, each.raw, each.tail) for each in lines[number + 1 :]
        ]
        assert (last.end, last.tail) == (end.end, end.tail)


def test_a_file_that_grows_while_it_is_read_is_read_up_to_the_size_seen(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    source = source_of(path)
    append(path, b'{"a":2}\n')
    *lines, end = tail.read(source, None, FORM)
    assert [line.end for line in lines] == [8]
    assert isinstance(end, End)
    assert end.reading.stamp == source.stamp._replace(mtime_ns=path.stat().st_mtime_ns)
    assert position_after(end).stamp != source_of(path).stamp


def test_a_file_that_was_replaced_after_the_listing_is_read_as_it_is_now(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    source = source_of(path)
    other = path.with_name("other")
    other.write_bytes(b'{"b":1}\n{"b":2}\n')
    other.replace(path)
    *lines, end = tail.read(source, None, FORM)
    assert [line.record for line in lines if isinstance(line, Line)] == [{"b": 1}, {"b": 2}]
    assert end.reading.stamp == source_of(path).stamp


def test_a_file_read_to_its_end_is_stamped_as_it_was_listed(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"a"')
    _, end = read(path)
    assert position_after(end).stamp == source_of(path).stamp


def test_a_line_in_the_middle_carries_no_stamp(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"a":2}\n')
    lines, _ = read(path)
    assert [position_after(line).stamp for line in lines] == [None, None]


def test_an_atomic_replace_that_keeps_the_bytes_repeats_nothing(path: Path) -> None:
    data = lines_of(100)
    path.write_bytes(data)
    _, end = read(path)
    other = path.with_name("other")
    other.write_bytes(data + b'{"new":1}\n')
    other.replace(path)
    lines, _ = read(path, position_after(end))
    assert records(lines) == [{"new": 1}]


@pytest.mark.parametrize(
    "rewrite",
    [
        pytest.param(lambda data: data[:1000], id="smaller"),
        pytest.param(lambda data: lines_of(100, "m"), id="same size"),
        pytest.param(lambda data: lines_of(200, "m"), id="larger"),
        pytest.param(lambda data: data[:5000] + lines_of(100, "m"), id="same begin, other end"),
        pytest.param(lambda data: lines_of(20, "m") + data[len(lines_of(20, "m")) :], id="other begin, same end"),
    ],
)
def test_a_file_that_was_rewritten_is_read_from_its_start(path: Path, rewrite: Callable[[bytes], bytes]) -> None:
    data = lines_of(100)
    path.write_bytes(data)
    _, end = read(path)
    path.write_bytes(rewrite(data))
    assert read(path, position_after(end)) == read(path)  # with the same anchors, so the events have the same ids


def test_files_with_the_same_first_kilobyte_are_told_apart(path: Path) -> None:
    path.write_bytes(lines_of(100))
    _, end = read(path)
    path.write_bytes(lines_of(50) + lines_of(60, "m"))
    lines, _ = read(path, position_after(end))
    assert lines[0].offset == 0


def test_an_empty_file_has_an_end_and_no_lines(path: Path) -> None:
    path.write_bytes(b"")
    assert read(path)[0] == []


@pytest.mark.parametrize("size", [60_000, 5_000_000])
def test_long_lines_are_whole(path: Path, size: int) -> None:
    path.write_bytes(b'{"a":1}\n{"text":"' + b"x" * size + b'"}\n{"a":2}\n')
    lines, end = read(path)
    assert [len(str(line.record)) for line in lines] == [8, size + 12, 8]
    assert end.end == path.stat().st_size
    assert lines[1].tail == b"x" * 1021 + b'"}\n'


@pytest.mark.parametrize("chunk_bytes", [1, 7, 100, 4096])
def test_a_line_above_the_limit_is_passed_over_and_named(path: Path, chunk_bytes: int) -> None:
    data = b'{"a":1}\n{"text":"' + b"x" * 200_000 + b'"}\n{"a":2}\n'
    path.write_bytes(data)
    lines, end = read(path, chunk_bytes=max(chunk_bytes, 50), max_line_bytes=100_000)
    assert [(line.problem, len(line.raw)) for line in lines] == [("", 0), (reasons.LINE_TOO_LONG.name, 65536), ("", 0)]
    assert [line.tail for line in lines] == [data[max(0, line.end - 1024) : line.end] for line in lines]
    assert [line.offset for line in lines[1:]] == [8, end.end - 8]
    assert read(path, position_after(lines[1]))[0] == [lines[2]]


def test_a_line_of_too_many_values_is_passed_over_and_named(path: Path) -> None:
    long = b'{"a":[' + b"1," * 2 * MAX_VALUES + b"1]}\n"
    path.write_bytes(b'{"a":1}\n' + long + b'{"a":2}\n')
    lines, _ = read(path)
    assert [(line.problem, line.offset, line.end, line.raw) for line in lines[1:2]] == [
        (reasons.TOO_MANY_VALUES.name, 8, 8 + len(long), long[:-1])
    ]
    assert read(path, position_after(lines[1]))[0] == lines[2:]


def test_an_unfinished_line_above_the_limit_waits(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n{"text":"' + b"x" * 5000)
    lines, end = read(path, chunk_bytes=64, max_line_bytes=1000)
    assert (records(lines), end.end) == ([{"a": 1}], 8)
    assert end.reading.stamp == source_of(path).stamp
    append(path, b'"}\n')
    lines, end = read(path, position_after(end), chunk_bytes=64, max_line_bytes=1000)
    assert [(line.problem, line.offset, line.end) for line in lines] == [
        (reasons.LINE_TOO_LONG.name, 8, path.stat().st_size)
    ]


@pytest.mark.parametrize("length", [99, 100, 101])
def test_the_line_limit_is_exact_for_any_chunk_size(path: Path, length: int) -> None:
    path.write_bytes(b'{"a":1}\n' * 3 + b'{"a":"' + b"x" * (length - 8) + b'"}\n{"a":2}\n')
    for chunk_bytes in (1, 2, 3, 10, 33, 50, 1000):
        lines, _ = read(path, chunk_bytes=chunk_bytes, max_line_bytes=100)
        assert [line.problem for line in lines] == ["", "", "", reasons.LINE_TOO_LONG.name if length > 100 else "", ""]


def test_a_read_that_fails_keeps_what_was_read_and_stamps_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(lines_of(100))
    pread, failing_from = os.pread, 4096

    def failing(descriptor: int, size: int, offset: int) -> bytes:
        if offset >= failing_from:
            raise OSError(errno.EIO, "Input/output error")
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", failing)
    reading = tail.read(source_of(path), None, FORM, chunk_bytes=4096)
    whole = list(itertools.islice(reading, lines_of(100)[:4096].count(b"\n")))
    assert [type(item) for item in whole] == [Line] * len(whole)
    with pytest.raises(SourceError, match=r"Cannot read .*s\.jsonl: Input/output error"):
        next(reading)


def test_the_whole_lines_just_before_a_position_can_be_read_again(path: Path) -> None:
    path.write_bytes(lines_of(100))
    lines, end = read(path)
    position = position_after(end)
    for reach, count in ((1 << 20, 100), (len(lines_of(100)), 100), (len(lines_of(100)) - 1, 99), (250, 2), (20, 0)):
        again = tail.before(source_of(path), position, FORM, reach)
        assert [(line.offset, line.record) for line in again] == [
            (line.offset, line.record) for line in lines[100 - count :]
        ]


def test_no_file_stays_open(path: Path) -> None:
    path.write_bytes(lines_of(10))
    before = len(os.listdir("/dev/fd"))
    list(tail.read(source_of(path), None, FORM))
    lines = tail.read(source_of(path), None, FORM)
    next(lines)
    lines.close()  # type: ignore[attr-defined]
    assert skipped(source_of(path.with_name("gone"))) == "vanished"
    assert len(os.listdir("/dev/fd")) <= before  # a file left open by an earlier test may have been closed


WARMUP: Mapping[str, Any] = {"type": "user", "message": {"role": "user", "content": "Warmup"}, "uuid": "u"}


@pytest.mark.parametrize("content", ["Warmup", [{"type": "text", "text": "Warmup"}]])
@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_a_warmup_stub_is_not_read_until_it_grows(tmp_path: Path, content: Any, ending: bytes) -> None:
    path = tmp_path / "agent-a.jsonl"
    stub = orjson.dumps({**WARMUP, "message": {"role": "user", "content": content}}) + ending
    path.write_bytes(stub)
    assert skipped(source_of(path, places.SUBAGENT)) == "warmup"
    append(path, b'\n{"type":"assistant"}\n')
    assert len(list(tail.read(source_of(path, places.SUBAGENT), None, FORM))) == 3


@pytest.mark.parametrize(
    "data",
    [
        orjson.dumps({**WARMUP, "type": "assistant"}),
        orjson.dumps({**WARMUP, "message": {"content": "Warmup please"}}),
        orjson.dumps({**WARMUP, "message": "Warmup"}),
        orjson.dumps(["Warmup"]),
        b'{"type":"user" Warmup',
    ],
)
def test_other_first_lines_are_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "agent-a.jsonl"
    path.write_bytes(data + b"\n")
    assert len(list(tail.read(source_of(path, places.SUBAGENT), None, FORM))) == 2


def test_a_main_session_may_begin_with_warmup(path: Path) -> None:
    path.write_bytes(orjson.dumps(WARMUP) + b"\n")
    assert len(read(path)[0]) == 1
