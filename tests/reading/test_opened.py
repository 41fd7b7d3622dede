"""Opening: what is never opened, waited for or followed, and the meta file beside a subagent."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from collector.agents.claude_code import places
from collector.errors import SourceError
from collector.reading import tail
from tests.reading.reads import skipped, source_of
from tests.scopes import FORM


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_a_file_that_vanished_is_skipped(path: Path) -> None:
    assert skipped(source_of(path)) == "vanished"


def test_a_fifo_is_neither_waited_for_nor_read(path: Path) -> None:
    os.mkfifo(path)
    assert skipped(source_of(path)) == "not_a_file"


def test_a_socket_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)  # a socket's path has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
        assert skipped(source_of(path)) == "not_a_file"


def test_a_directory_and_a_device_are_not_read(path: Path) -> None:
    path.mkdir()
    assert skipped(source_of(path)) == "not_a_file"
    assert skipped(source_of(Path("/dev/null"))) == "not_a_file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_skipped(path: Path) -> None:
    path.write_bytes(b'{"a":1}\n')
    path.chmod(0)
    assert skipped(source_of(path)) == "unreadable"


def test_a_file_that_its_server_forgot_after_it_was_opened_cannot_be_read_for_now(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b'{"a":1}\n')
    source = source_of(path)

    def refuse(_: int) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr("os.fstat", refuse)
        with pytest.raises(SourceError, match=r"Cannot read .*s\.jsonl: Stale file handle"):
            list(tail.read(source, None, FORM))


def test_a_link_is_followed_within_the_root(tmp_path: Path) -> None:
    inside = tmp_path / "store"
    inside.mkdir()
    (inside / "s.jsonl").write_bytes(b'{"a":1}\n')
    (tmp_path / "dir").symlink_to(inside)
    (tmp_path / "file.jsonl").symlink_to(inside / "s.jsonl")
    for path in (tmp_path / "dir" / "s.jsonl", tmp_path / "file.jsonl"):
        items = list(tail.read(source_of(path, root=tmp_path), None, FORM))
        assert len(items) == 2


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "s.jsonl").write_bytes(b'{"a":1}\n')
    (root / "file.jsonl").symlink_to(outside / "s.jsonl")
    (root / "dir").symlink_to(outside)
    (root / "loop.jsonl").symlink_to(root / "loop.jsonl")
    for path in (root / "file.jsonl", root / "dir" / "s.jsonl", root / ".." / "outside" / "s.jsonl"):
        assert skipped(source_of(path, root=root)) == "outside_root"
    assert skipped(source_of(root / "loop.jsonl", root=root)) in ("outside_root", "vanished")


def test_a_root_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.jsonl").write_bytes(b'{"a":1}\n')
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert len(list(tail.read(source_of(tmp_path / "root" / "s.jsonl"), None, FORM))) == 2


def test_a_subagents_meta_file_travels_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "agent-a.jsonl"
    path.write_bytes(b'{"a":1}\n')
    (tmp_path / "agent-a.meta.json").write_bytes(b'{"agentType":"Explore"}')
    line, end = tail.read(source_of(path, places.SUBAGENT), None, FORM)
    assert line.reading.meta == end.reading.meta == {"agentType": "Explore"}


@pytest.mark.parametrize("meta", [b"", b"[1]", b"{", b"\xff", b'{"a":"' + b"x" * 100_000 + b'"}'])
def test_an_unusable_meta_file_is_left_out(tmp_path: Path, meta: bytes) -> None:
    path = tmp_path / "agent-a.jsonl"
    path.write_bytes(b'{"a":1}\n')
    (tmp_path / "agent-a.meta.json").write_bytes(meta)
    assert next(tail.read(source_of(path, places.SUBAGENT), None, FORM)).reading.meta == {}


def test_a_fifo_in_place_of_meta_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "agent-a.jsonl"
    path.write_bytes(b'{"a":1}\n')
    os.mkfifo(tmp_path / "agent-a.meta.json")
    assert next(tail.read(source_of(path, places.SUBAGENT), None, FORM)).reading.meta == {}
