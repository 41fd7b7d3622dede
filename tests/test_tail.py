"""Reading lines: what counts as one, what survives, where offsets move, how a file is recognised."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector import tail
from collector.errors import SourceError
from collector.flow import End, Line, Position, Root, Source, SourceKind, Stamp, position_after
from collector.sourcefile import SourceFile
from collector.splice import NOT_AN_OBJECT, NUL_BYTES, TORN


def source_of(path: Path, kind: SourceKind = SourceKind.SESSION, root: Path | None = None) -> Source:
    """The source as discovery would hand it on."""
    try:
        status = path.stat()
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError:
        stamp = Stamp(1, 1, 1)
    return Source(Root(str(root or path.parent), ""), str(path), str(path), kind, 0, "-work", "s", "", stamp)


def read(path: Path, position: Position | None = None, **options: int) -> tuple[list[Line], End]:
    """Everything one pass reads of a file."""
    *lines, end = tail.read(source_of(path), position, **options)
    assert isinstance(end, End)
    return [line for line in lines if isinstance(line, Line)], end


def records(lines: list[Line]) -> list[Any]:
    return [line.record for line in lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


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
