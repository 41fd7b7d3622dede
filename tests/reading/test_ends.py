"""The end of a source: reading from there leaves out what is already written and reads what is written later."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collector.agents.claude_code import places
from collector.reading.ends import LARGEST_UNENDED, PIECE_BYTES, position_at_end
from tests.reading.reads import append, read, records, source_of

WHOLE, LATER = b'{"a":1}\n', b'{"later":1}\n'
LONG = b'{"text":"' + b"x" * PIECE_BYTES


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        WHOLE,
        WHOLE * 20_000,
        WHOLE + b"\r\n  ",
        WHOLE + b'{"without":"an end"}',
        b'{"without":"an end"}',
        WHOLE + LONG + b'"}',
        WHOLE + LONG * 3 + b'"}\n',
    ],
    ids=len,
)
def test_whatever_is_complete_lies_before_the_end(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    end = position_at_end(source_of(path))
    assert (end.offset, end.stamp) == (len(data), source_of(path).stamp)
    append(path, b"\n" + LATER)
    assert records(read(path, end)[0]) == [{"later": 1}]


@pytest.mark.parametrize("before", [b"", WHOLE, WHOLE * 20_000], ids=len)
@pytest.mark.parametrize("cut", [1, 8, 100, len(LONG)])
def test_a_half_written_line_is_read_whole_later(path: Path, before: bytes, cut: int) -> None:
    path.write_bytes(before + LONG[:cut])
    end = position_at_end(source_of(path))
    assert end.offset == len(before)
    append(path, LONG[cut:] + b'"}\n')
    assert [line.offset for line in read(path, end)[0]] == [len(before)]


@pytest.mark.parametrize("rest", [b"12", b'{"a":1', b'{"a":"' + b"x" * LARGEST_UNENDED + b'"}'], ids=len)
def test_what_may_still_grow_lies_after_the_end(path: Path, rest: bytes) -> None:
    path.write_bytes(WHOLE + rest)
    assert position_at_end(source_of(path)).offset == len(WHOLE)


def test_a_document_ends_where_its_file_does(path: Path) -> None:
    path.write_bytes(b'{\n"a":')
    assert position_at_end(source_of(path, places.STATS)).offset == path.stat().st_size


def test_only_the_end_of_a_file_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(WHOLE * 100_000)
    pread, looked_at = os.pread, []

    def noting(descriptor: int, size: int, offset: int) -> bytes:
        looked_at.append(len(data := pread(descriptor, size, offset)))
        return data

    monkeypatch.setattr(os, "pread", noting)
    position_at_end(source_of(path))
    assert sum(looked_at) < 3 * PIECE_BYTES
