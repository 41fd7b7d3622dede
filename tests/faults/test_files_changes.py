"""Changes to files between two passes and during one: nothing is lost, and only what is stated here is sent again.

Every pass is a newly started agent (the model's world), so nothing is remembered except what is on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector.flow.ledger import Ledger
from collector.pipeline import Flow, run_pass, walk
from collector.reading.discover import discover
from tests.model.world import World, marks, record, replace_atomically


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def path(world: World) -> Path:
    return world.root / "projects" / "-work-a" / "s.jsonl"


def records(*numbers: int) -> bytes:
    return b"".join(record(number) for number in numbers)


def arrived(world: World) -> list[int]:
    """The marks of everything posted, repeats included, in order."""
    return [int(mark[1:]) for event in world.sink.posted for mark in marks(world.sink.stored[event]["text"])]


def run(world: World) -> dict[str, Any]:
    """Runs one pass of a new agent; checks that its ledger balances, and returns it."""
    ledger = world.run()
    assert ledger is not None
    counts = ledger.as_dict()
    assert counts["lines"] == counts["delivered"] + sum(counts["skipped"].values()) + counts["quarantined"]
    return counts


def sent_by(world: World) -> list[int]:
    """Runs the next pass; returns the marks it posts."""
    before = len(world.sink.posted)
    run(world)
    return arrived(world)[before:]


@pytest.mark.parametrize("cut", [1, 10, -2, -1])
def test_half_a_line_waits_for_its_rest_across_a_restart(world: World, path: Path, cut: int) -> None:
    line = record(2)
    path.write_bytes(record(1) + line[:cut])
    assert run(world)["lag"] == (0 if cut == -1 else len(line[:cut]))  # a whole record needs no newline
    with path.open("ab") as file:
        file.write(line[cut:] + record(3))
    assert run(world)["lag"] == 0
    assert arrived(world) == [1, 2, 3]


@pytest.mark.parametrize(
    "after", [records(7, 8), records(*range(20, 40)), records(6, 7, 8, 9, 5)], ids=["smaller", "larger", "same size"]
)
def test_a_file_rewritten_in_place_is_read_from_its_start(world: World, path: Path, after: bytes) -> None:
    path.write_bytes(records(1, 2, 3, 4, 5))
    run(world)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns + 1
    path.write_bytes(after)
    os.utime(path, ns=times)
    expected = [int(mark[1:]) for mark in marks(after.decode())]
    assert sorted(sent_by(world)) == sorted(expected)
    assert len(set(world.sink.posted)) == len({1, 2, 3, 4, 5, *expected})  # a mark that came twice has one id


def test_a_file_rewritten_after_its_first_kilobyte_is_read_from_its_start(world: World, path: Path) -> None:
    same = records(*range(1, 20))
    assert len(same) > 2048
    path.write_bytes(same + records(21, 22))
    run(world)
    path.write_bytes(same + records(31, 32, 33))
    assert sorted(sent_by(world)) == [*range(1, 20), 31, 32, 33]


def test_a_file_cut_short_and_grown_again_only_causes_repeats(world: World, path: Path) -> None:
    path.write_bytes(records(1, 2, 3))
    run(world)
    path.write_bytes(records(1))
    assert sent_by(world) == [1]
    with path.open("ab") as file:
        file.write(records(2, 3, 4))
    assert sent_by(world) == [2, 3, 4]


@pytest.mark.parametrize("more", [b"", records(4, 5)])
def test_an_atomic_replace_with_the_same_beginning_repeats_nothing(world: World, path: Path, more: bytes) -> None:
    path.write_bytes(records(1, 2, 3))
    run(world)
    replace_atomically(path, records(1, 2, 3) + more)
    assert sent_by(world) == ([4, 5] if more else [])


def test_another_file_on_the_same_inode_is_read_from_its_start(world: World, path: Path) -> None:
    path.write_bytes(records(1, 2, 3))
    run(world)
    inode = path.stat().st_ino
    new = path.with_name("t.jsonl")
    path.rename(new)
    new.write_bytes(records(4, 5, 6))
    assert new.stat().st_ino == inode
    assert sent_by(world) == [4, 5, 6]


@pytest.mark.parametrize("goal", ["-work-a/t.jsonl", "-work-b/s.jsonl", "-work-b/t.jsonl", "-work-new/s.jsonl"])
def test_a_file_that_moves_repeats_nothing(world: World, path: Path, goal: str) -> None:
    path.write_bytes(records(1, 2))
    run(world)
    new = world.root / "projects" / goal
    new.parent.mkdir(exist_ok=True)
    path.rename(new)
    with new.open("ab") as file:
        file.write(records(3))
    assert sent_by(world) == [3]


def test_files_with_the_same_first_kilobyte_are_told_apart(world: World, path: Path) -> None:
    same = records(*range(1, 20))
    assert len(same) > 1024
    names = [path.with_name(f"{name}.jsonl") for name in "abc"]
    for number, name in enumerate(names):
        name.write_bytes(same + records(100 + number))
    run(world)
    assert set(arrived(world)) == {*range(1, 20), 100, 101, 102}
    names[0].unlink()
    path.with_name("d.jsonl").write_bytes(same + records(100, 103))  # like `a`, and more
    path.with_name("e.jsonl").write_bytes(same + records(104))  # like none of them
    names[1].rename(path.with_name("f.jsonl"))
    with path.with_name("f.jsonl").open("ab") as file:
        file.write(records(105))
    assert {103, 104, 105} <= set(sent_by(world))
    assert len(set(world.sink.posted)) == 19 + 6


def test_lines_appended_during_a_pass_are_read_by_the_next_one(world: World, path: Path) -> None:
    path.write_bytes(records(*range(1, 10)))
    more = iter(range(10, 15))

    def appending(request: httpx.Request) -> httpx.Response:
        with path.open("ab") as file:
            file.write(b"".join(record(number) for number in [next(more, 0)] if number))
        return world.sink(request)

    run_with(world, appending)
    assert sorted(arrived(world)) == list(range(1, 10))
    run(world)
    assert sorted(arrived(world)) == list(range(1, 13))


def test_a_file_rewritten_while_it_is_read_is_read_again(world: World, path: Path) -> None:
    path.write_bytes(records(*range(1, 10)))
    run_while_rewriting(world, path, records(*range(21, 30)))
    run(world)
    assert set(arrived(world)) >= set(range(21, 30))
    assert run(world)["lag"] == 0


def test_a_line_scrubbed_in_place_during_a_pass_costs_no_other_line(world: World, path: Path) -> None:
    lines = [record(number).rstrip() + b" " * 2000 + b"\n" for number in range(1, 300)]  # more than is read at once
    path.write_bytes(b"".join(lines))
    run_while_rewriting(world, path, b"".join([*lines[:5], record(6), *lines[6:]]))
    run(world)
    assert set(arrived(world)) == set(range(1, 300))
    assert run(world)["lag"] == 0


def run_while_rewriting(world: World, path: Path, data: bytes) -> None:
    """A pass during whose first request the file gets other contents."""
    contents = iter([data])

    def rewriting(request: httpx.Request) -> httpx.Response:
        for each in contents:
            path.write_bytes(each)
        return world.sink(request)

    run_with(world, rewriting)


def run_with(world: World, answer: Callable[[httpx.Request], httpx.Response]) -> None:
    run_pass(world.flow(answer=answer), Ledger())


def between_finding_and_opening(world: World, act: Callable[[], object]) -> dict[str, Any]:
    """Runs a pass in which `act` is called after the walk, before the first file is opened."""
    flow, ledger = world.flow(), Ledger()
    found = discover(flow.scope)
    act()
    walk(flow, ledger, found)
    flow.committer.finish()
    return ledger.as_dict()


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda path, outside: path.unlink(), "vanished"),
        (lambda path, outside: (path.unlink(), path.mkdir()), "not_a_file"),
        (lambda path, outside: swap_for_a_fifo(path), "not_a_file"),
        (lambda path, outside: (path.unlink(), path.symlink_to(outside)), "outside_root"),
        (lambda path, outside: (path.unlink(), path.symlink_to("/dev/zero")), "outside_root"),
        (lambda path, outside: (path.unlink(), path.symlink_to(path)), "outside_root"),
        (lambda path, outside: path.parent.rename(path.parent.with_name("gone")), "vanished"),
        (lambda path, outside: swap_the_directory(path, outside), "outside_root"),
    ],
    ids=["vanishes", "directory", "fifo", "link out", "device", "loop", "directory gone", "directory swapped"],
)
def test_a_file_that_became_something_else_before_it_is_opened_is_left_alone(
    world: World, path: Path, act: Callable[[Path, Path], object], reason: str
) -> None:
    path.write_bytes(records(1, 2))
    other = world.root / "projects" / "-work-b" / "o.jsonl"
    other.write_bytes(records(3))
    counts = between_finding_and_opening(world, lambda: act(path, world.outside))
    assert counts["files"]["skipped"] == {reason: 1}
    assert arrived(world) == [3]


def swap_for_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def swap_the_directory(path: Path, outside: Path) -> None:
    """Replaces the project directory by a link to one outside the root that has a file of the same name."""
    path.parent.rename(path.parent.with_name("aside"))
    (outside.parent / path.name).write_bytes(outside.read_bytes())
    path.parent.symlink_to(outside.parent)


def test_a_file_that_grows_between_finding_and_opening_is_read_up_to_the_size_seen(world: World, path: Path) -> None:
    path.write_bytes(records(1))

    def grow() -> None:
        with path.open("ab") as file:
            file.write(records(2))

    assert between_finding_and_opening(world, grow)["delivered"] == 1
    assert sent_by(world) == [2]


def test_ten_thousand_small_files_in_one_pass(world: World) -> None:
    for number in range(10_000):
        path = world.root / "projects" / f"-work-{number % 100}" / f"{number}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(record(number))
    flow = world.flow()
    flow.way_out().limits = flow.limits._replace(max_events=1000)
    ledger = Ledger()
    run_pass(flow, ledger)
    assert ledger.as_dict()["delivered"] == 10_000
    assert sorted(arrived(world)) == list(range(10_000))
    assert run(world)["files"]["unchanged"] == 10_000


def test_the_flow_has_no_file_open_after_a_pass(world: World, path: Path) -> None:
    path.write_bytes(records(1) + b"{half")
    flow: Flow = world.flow()
    run_pass(flow, Ledger())
    opened = {os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _is_open(name)}
    assert not [name for name in opened if str(world.root) in name]


def _is_open(name: str) -> bool:
    return Path(f"/proc/self/fd/{name}").is_symlink()
