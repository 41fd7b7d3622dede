"""Reads single files the way a pass does, for the tests of whatever opens a source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.agents.claude_code import places
from collector.errors import SkipSource
from collector.flow.line import End, Line
from collector.flow.source import Position, Source, SourceKind, Stamp
from collector.reading import tail
from tests.scopes import FORM, root_of


def source_of(path: Path, kind: SourceKind = places.SESSION, root: Path | None = None) -> Source:
    """The source as discovery would return it."""
    try:
        status = path.stat()
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError:
        stamp = Stamp(1, 1, 1)
    return Source(root_of(root or path.parent), str(path), str(path), kind, "-work", "s", "", stamp)


def read(path: Path, position: Position | None = None, **options: int) -> tuple[list[Line], End]:
    """Everything one pass reads of a file."""
    *lines, end = tail.read(source_of(path), position, FORM, **options)
    assert isinstance(end, End)
    return [line for line in lines if isinstance(line, Line)], end


def records(lines: list[Line]) -> list[Any]:
    return [line.record for line in lines]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def lines_of(count: int, name: str = "n") -> bytes:
    return b"".join(b'{"%s":%d,"pad":"%s"}\n' % (name.encode(), number, b"x" * 80) for number in range(count))


def skipped(source: Source) -> str:
    with pytest.raises(SkipSource) as caught:
        next(tail.read(source, None, FORM))
    return caught.value.reason
