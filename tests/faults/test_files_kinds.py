"""Whatever is in a transcript's place, or in a transcript, costs at most itself and makes nobody wait."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector import settings
from collector.assembly import scope_of
from collector.delivery.sinks.registry import SINKS
from collector.errors import StateError
from collector.inspection.doctor import STEPS
from collector.inspection.sink_checks import sink_checks
from collector.reading.discover import discover
from tests.agent import Agent
from tests.build import Home
from tests.faults.test_files_changes import records, run
from tests.model.world import World, marks
from tests.sink import Sink

NOBODY = 65534


def test_special_files_are_neither_opened_nor_waited_for(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = home.session()
    session.prompt("hello")
    project = session.path.parent
    os.mkfifo(project / "fifo.jsonl")
    os.mkfifo(home.root / "history.jsonl")
    (project / "zero.jsonl").symlink_to("/dev/zero")
    (project / "loop.jsonl").symlink_to(project / "loop.jsonl")
    (project / "gone.jsonl").symlink_to(project / "nowhere.jsonl")
    (project / "here.jsonl").symlink_to(session.path)
    (project / "up").symlink_to(home.root / "projects")
    (project / "directory.jsonl").mkdir()
    (tmp_path / "outside.jsonl").write_bytes(session.path.read_bytes().replace(b"hello", b"secret of somebody else"))
    (project / "out.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (home.root / "projects" / "-out").symlink_to(tmp_path)
    os.link(session.path, project / "hard.jsonl")
    with contextlib.suppress(PermissionError):
        os.mknod(project / "device.jsonl", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    devices = (project / "device.jsonl").exists()
    monkeypatch.chdir(project)  # a socket's path has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as server, Sink() as sink:
        server.bind("socket.jsonl")
        result = Agent(home, sink).scan().assert_balanced()
        assert result.code == 0, result.stderr
        assert set(sink.ids()) == {sink.ids()[0]}  # the two links repeat it under the same id
        assert result.ledger["delivered"] == 3
        assert b"somebody else" not in sink.raw_bytes
    skipped = result.ledger["files"]["skipped"]
    assert skipped == {"not_a_file": 4 + devices, "outside_root": 3, "vanished": 1}


def test_names_with_control_characters_or_invalid_utf8_are_read(home: Home) -> None:
    project = home.session().path.parent
    names = [b"\xff\xfe.jsonl", b"a\nb.jsonl", b"\x1b[2J.jsonl", b"agent-\xc3(.jsonl", "ü\u202e.jsonl".encode()]
    for number, name in enumerate(names):
        Path(os.fsdecode(os.path.join(os.fsencode(project), name))).write_bytes(records(number + 1))
    with Sink() as sink:
        agent = Agent(home, sink)
        result = agent.scan().assert_balanced()
        assert result.code == 0, result.stderr
        assert result.ledger["delivered"] == len(names)
        paths = [event["source"]["path"] for event in sink.events]
        assert len(set(paths)) == len(names)
        assert all(path.isprintable() for path in paths)
        assert agent.scan().ledger["files"]["unchanged"] == len(names)


STRANGE = {
    "a NUL run": b"\0" * 100_000 + b"\n",
    "a record after a NUL run": b"\0" * 5000 + records(50),
    "invalid UTF-8": b'{"type":"user","message":{"role":"user","content":"<<m51>> \xff\xfe\xc3("}}\n',
    "a lone surrogate": b'{"type":"user","message":{"role":"user","content":"<<m52>> \\ud800 \\udc00\\ud83d"}}\n',
    "integers beyond 64 bit": b'{"type":"user","n":%s,"message":{"role":"user","content":"<<m53>>"}}\n' % (b"9" * 400),
    "integers beyond a double": b'{"type":"user","n":-1e999,"message":{"role":"user","content":"<<m54>>"}}\n',
    "depth 5,000": b'{"type":"user","message":{"role":"user","content":"<<m55>>"},"deep":%s}\n'
    % (b"[" * 5000 + b"]" * 5000),
    "depth 5,000 of objects": b'{"deep":%s1%s,"type":"user","message":{"role":"user","content":"<<m56>>"}}\n'
    % (b'{"a":' * 5000, b"}" * 5000),
    "a byte order mark": b"\xef\xbb\xbf" + records(57),
    "CRLF": records(58).replace(b"\n", b"\r\n"),
    "two records on a line": records(59).strip() + records(60),
    "a torn record before a whole one": b'{"type":"user","message":{"role":"user","content":"torn' + records(61),
    "control characters": b'{"type":"user","message":{"role":"user","content":"<<m62>> \x01\x02\x1b[31m"}}\n',
    "a key twice": b'{"type":"user","type":"user","message":{"role":"user","content":"<<m63>>"}}\n',
    "not an object": b'["<<m64>>"]\n"<<m65>>"\n65\nnull\ntrue\n',
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_a_strange_line_costs_at_most_itself(tmp_path: Path, strange: bytes) -> None:
    world = World(tmp_path)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1) + strange + records(2))
    counts = run(world)
    assert counts["lag"] == 0
    assert {"m1", "m2", *marks(strange.decode("utf-8", "replace"))} <= world.settled()
    assert run(world)["lines"] == 0


def test_strange_lines_that_contain_a_record_are_delivered(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(b"".join(STRANGE.values()))
    run(world)
    delivered = {mark for event in world.sink.stored.values() for mark in marks(event["text"])}
    assert delivered == {f"m{number}" for number in range(50, 64)}


@pytest.mark.parametrize("size", [60_000, 5_000_000])
def test_a_long_line_is_delivered_and_cut_where_it_must_be(home: Home, size: int) -> None:
    session = home.session()
    session.prompt("before")
    session.tool_result(session.tool_call(), "word " * (size // 5))
    session.prompt("after")
    with Sink() as sink:
        result = Agent(home, sink).scan().assert_balanced()
        assert result.code == 0, result.stderr
        assert len(sink.ids()) == 4
        [long] = [event for event in sink.events if event["kind"] == "tool_result"]
    assert bool(long.get("truncated")) == (size > 500_000)
    assert len(json.dumps(long)) <= 501_000


@contextlib.contextmanager
def as_nobody(*owned: Path) -> Iterator[None]:
    """Root can read everything, so as root these tests switch to another user for a moment."""
    if os.geteuid():
        yield
        return
    for top in owned:
        for path in (top, *top.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory that the user nobody can reach, too."""
    base = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path("/tmp")
    path = base / f"collector-test-{os.getpid()}"
    path.mkdir(mode=0o755)
    yield path
    for top, directories, _ in os.walk(path):
        for name in directories:
            os.chmod(os.path.join(top, name), 0o700)
    shutil.rmtree(path)


def run_as_nobody(world: World, directory: Path) -> dict[str, Any]:
    with as_nobody(directory):
        return run(world)


def test_an_unreadable_file_costs_only_itself_and_is_read_once_permitted(reachable: Path) -> None:
    world = World(reachable)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1))
    path.chmod(0)
    path.with_name("t.jsonl").write_bytes(records(2))
    counts = run_as_nobody(world, reachable)
    assert counts["files"]["skipped"] == {"unreadable": 1}
    assert counts["not_read"] == {"~/.claude/projects/-work-a/s.jsonl": "unreadable"}
    assert counts["lag"] == path.stat().st_size
    path.chmod(0o600)
    assert run_as_nobody(world, reachable)["delivered"] == 1
    assert world.settled() == {"m1", "m2"}


def test_doctor_names_unreadable_files_and_a_directory_that_is_not_a_root(reachable: Path) -> None:
    """Runs what `collector doctor` runs, in a process that can switch to another user for a moment."""
    world = World(reachable)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1))
    path.chmod(0)
    (world.root / "projects" / "-work-b" / "t.jsonl").write_bytes(records(2))
    roots = [str(world.root), str(path.parents[1])]
    with as_nobody(reachable):
        chosen = settings.load(None, {"roots": roots}, sinks=SINKS)
        told = [each.finding for each in STEPS["root"](chosen, discover(scope_of(chosen)))]
    no_root = f"{path.parents[1]} is not a directory of Claude Code: it holds none of its files."
    expected = [f"{world.root}: 2 sources", f"{no_root} Did you mean {world.root}?"]
    assert told[:3] == [*expected, f"{path} cannot be read: Permission denied"]


def test_doctor_names_a_store_that_cannot_be_written(reachable: Path) -> None:
    closed, database = reachable / "closed", reachable / "events.db"
    closed.mkdir(mode=0o500)
    database.touch(mode=0o400)
    for place, named in ((closed / "below" / "events.db", closed), (database, database)):
        with as_nobody(reachable):
            chosen = settings.load(None, {"store": {"database": str(place)}}, sinks=SINKS)
            [check] = sink_checks(chosen)
        assert (check.level, f"{named} is not writable" in check.finding) == ("fail", True), check


def test_a_file_that_is_unreadable_for_a_while_keeps_its_offset(reachable: Path) -> None:
    world = World(reachable)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1, 2))
    run_as_nobody(world, reachable)
    with path.open("ab") as file:
        file.write(records(3))
    path.chmod(0)
    assert run_as_nobody(world, reachable)["files"]["skipped"] == {"unreadable": 1}
    path.chmod(0o600)
    assert run_as_nobody(world, reachable)["delivered"] == 1
    assert len(world.sink.posted) == 3


def test_held_files_that_may_not_be_read_wait_for_permission(reachable: Path) -> None:
    """Moved aside as damaged, they would never be sent."""
    world = World(reachable)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1, 2))
    world.sink.mood = "down"
    with as_nobody(reachable):
        assert world.run() is None
    path.unlink()
    world.sink.mood = "ok"
    held = world.state_path.with_name("state.held")
    held.chmod(0)
    with as_nobody(reachable), pytest.raises(StateError, match="Permission denied"):
        world.run()
    held.chmod(0o700)
    run_as_nobody(world, reachable)
    assert world.settled() == {"m1", "m2"}


@pytest.mark.parametrize("mode", [0, 0o400, 0o100])
def test_nothing_is_forgotten_while_a_directory_cannot_be_read(reachable: Path, mode: int) -> None:
    world = World(reachable)
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.write_bytes(records(1, 2))
    (world.root / "projects" / "-work-b" / "t.jsonl").write_bytes(records(3))
    run_as_nobody(world, reachable)
    path.parent.chmod(mode)
    counts = run_as_nobody(world, reachable)
    assert counts["lines"] == 0
    assert counts["files"]["skipped"] == ({"unlisted": 1} if mode != 0o400 else {"unreadable": 1})
    path.parent.chmod(0o700)
    with path.open("ab") as file:
        file.write(records(4))
    assert run_as_nobody(world, reachable)["delivered"] == 1
    assert len(world.sink.posted) == 4


def test_a_directory_that_cannot_be_listed_is_named_and_fails_the_scan(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    inner = os.open(home.project(), os.O_RDONLY)
    for _ in range(20):  # deeper than a path can be long, so that not even root can list it
        os.mkdir("d" * 250, dir_fd=inner)
        outer, inner = inner, os.open("d" * 250, os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    with Sink() as sink:
        agent = Agent(home, sink)
        result = agent.scan().assert_balanced()
        assert len(sink.ids()) == 1
        printed = agent.run("scan", *agent.places()).stdout
    assert (result.code, result.ledger["files"]["skipped"]) == (3, {"unlisted": 1})
    ((path, reason),) = result.ledger["not_read"].items()
    assert (path.startswith("~/.claude/projects/"), reason) == (True, "File name too long")
    assert f"left     {path}: {reason}\n" in printed
    assert "a directory cannot be listed" in result.stderr
