"""Swept: a transcript that Claude Code deletes while the sink is failing is still delivered once the sink recovers."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from collector.flow.ledger import Ledger
from collector.flow.observer import Observer
from collector.keeping.rescue import HeldFiles
from collector.pipeline import Flow, run_pass
from collector.settings.options import SweptSettings
from tests.model.world import World, marks, record, replace_atomically
from tests.scopes import root_of, scope


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def transcript(world: World, numbers: range, name: str = "s1", project: str = "-work-a") -> Path:
    """Appends records with these marks to a transcript."""
    path = world.root / "projects" / project / f"{name}.jsonl"
    with path.open("ab") as file:
        file.writelines(record(number) for number in numbers)
    return path


def fails(world: World) -> None:
    """Runs a pass while the sink is down."""
    world.sink.mood = "down"
    assert world.run() is None
    world.sink.mood = "ok"


def works(world: World) -> Ledger:
    """Runs a pass that succeeds."""
    ledger = world.run()
    assert ledger is not None
    return ledger


def stored(world: World) -> set[str]:
    return {mark for event in world.sink.stored.values() for mark in marks(event["text"])}


def names(numbers: range) -> set[str]:
    return {f"m{number}" for number in numbers}


def held(world: World) -> list[Path]:
    return sorted(world.state_path.with_name("state.held").glob("*.jsonl"))


def across_mounts(*_: object, **__: object) -> None:
    raise OSError(18, "Invalid cross-device link")


def refusing(name: Any, *more: Any, opened: Any = os.open, **named: Any) -> int:
    """Fails to open transcripts, as on a failing disk."""
    if str(name).endswith(".jsonl"):
        raise OSError(5, "Input/output error")
    return int(opened(name, *more, **named))


@pytest.fixture(params=["links", "copies"])
def linking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to hold a file: by a hard link, and by a copy where the system refuses to link."""
    if request.param == "copies":
        monkeypatch.setattr("os.link", across_mounts)
    return str(request.param)


def test_a_transcript_that_is_deleted_while_the_sink_is_down_is_still_delivered(world: World, linking: str) -> None:
    path = transcript(world, range(40))
    fails(world)
    path.unlink()
    ledger = works(world)
    assert stored(world) == names(range(40))
    assert {event["source"]["path"] for event in world.sink.stored.values()} == {"~/.claude/projects/-work-a/s1.jsonl"}
    assert {event["session_id"] for event in world.sink.stored.values()} == {"s1"}
    assert (ledger.lag, held(world)) == (0, [])


@pytest.mark.parametrize("mood", ["halted", "refuses all", "takes nothing", "rejects"])
def test_a_sink_that_answers_but_accepts_nothing_costs_no_transcript_either(world: World, mood: str) -> None:
    path = transcript(world, range(1, 40))
    world.sink.mood, world.sink.poison = mood, b"<<"
    assert world.run() is None
    path.unlink()
    world.sink.mood, world.sink.poison = "ok", b""
    works(world)
    assert world.settled() == names(range(1, 40))
    assert held(world) == []


def test_a_transcript_replaced_by_one_of_the_same_size_is_held(world: World, linking: str) -> None:
    path = transcript(world, range(10, 20))
    works(world)
    replace_atomically(path, b"".join(record(number) for number in range(20, 30)))
    fails(world)
    path.unlink()
    works(world)
    assert stored(world) == names(range(10, 30))


def test_a_stub_that_became_a_transcript_is_held(world: World, linking: str) -> None:
    path = transcript(world, range(0), "agent-a1")
    path.write_bytes(b'{"type":"user","message":{"role":"user","content":"Warmup"}}\n')
    works(world)
    transcript(world, range(10), "agent-a1")
    fails(world)
    path.unlink()
    works(world)
    assert stored(world) == names(range(10))


def test_a_sent_file_is_not_held_just_because_its_mtime_changed(world: World, linking: str) -> None:
    sent = transcript(world, range(10))
    works(world)
    os.utime(sent, (1, 1))
    transcript(world, range(10, 20), "s2")
    fails(world)
    assert len(held(world)) == 1


def test_only_what_was_not_sent_before_is_sent(world: World, linking: str) -> None:
    path = transcript(world, range(40))
    works(world)
    transcript(world, range(40, 50))
    fails(world)
    path.unlink()
    before = len(world.sink.posted)
    works(world)
    assert stored(world) == names(range(50))
    assert len(world.sink.posted) - before == 10


def test_a_held_file_gives_the_same_ids_as_its_original(tmp_path: Path, linking: str) -> None:
    swept, kept = World(tmp_path / "a"), World(tmp_path / "b")
    path = transcript(swept, range(20))
    with path.open("ab") as file:
        file.writelines(record(number, has_uuid=False) for number in range(20, 30))
    shutil.copy(path, kept.root / "projects" / "-work-a" / path.name)
    fails(swept)
    path.unlink()
    works(swept)
    works(kept)
    assert swept.sink.stored.keys() == kept.sink.stored.keys()


def test_a_held_file_is_kept_while_the_original_is_ahead_of_the_offset(world: World, linking: str) -> None:
    path = transcript(world, range(9))
    fails(world)

    class Growing(Observer):
        def receipt(self, ledger: Ledger) -> None:
            if path.stat().st_size < 1200:
                transcript(world, range(9, 12))

    run_pass(world.flow(observer=Growing()), Ledger())
    assert len(held(world)) == 1
    if linking == "links":
        path.unlink()
    works(world)
    assert stored(world) == names(range(12))
    assert held(world) == []


def test_a_held_file_is_let_go_once_the_original_is_sent(world: World, linking: str) -> None:
    path = transcript(world, range(9))
    fails(world)
    assert len(held(world)) == 1
    works(world)
    assert not world.state_path.with_name("state.held").exists()
    assert (stored(world), path.stat().st_nlink) == (names(range(9)), 1)
    assert len(world.sink.posted) == 9


def test_lines_written_while_the_sink_is_down_are_held_too(world: World, linking: str) -> None:
    path = transcript(world, range(9))
    fails(world)
    transcript(world, range(9, 30))
    fails(world)
    path.unlink()
    fails(world)
    works(world)
    assert stored(world) == names(range(30))


def test_replacing_an_original_loses_none_of_its_old_lines(world: World, linking: str) -> None:
    path = transcript(world, range(20))
    works(world)
    transcript(world, range(20, 30))
    fails(world)
    replace_atomically(path, b"".join(record(number) for number in range(100, 105)))
    fails(world)
    ledger = works(world)
    assert stored(world) == names(range(30)) | names(range(100, 105))
    assert len(world.sink.posted) == 35
    assert (ledger.lag, held(world)) == (0, [])


def test_a_replacement_that_still_has_every_line_is_read_in_its_place(world: World, linking: str) -> None:
    path = transcript(world, range(20))
    fails(world)
    replace_atomically(path, path.read_bytes() + record(20))
    fails(world)
    works(world)
    assert len(world.sink.posted) == 21
    assert held(world) == []


def test_a_replacement_that_is_deleted_too_is_delivered_with_what_it_replaced(world: World, linking: str) -> None:
    path = transcript(world, range(20))
    fails(world)
    replace_atomically(path, b"".join(record(number) for number in range(100, 105)))
    fails(world)
    path.unlink()
    fails(world)
    works(world)
    assert stored(world) == names(range(20)) | names(range(100, 105))
    assert held(world) == []


def test_a_replacement_that_grew_before_it_was_deleted_is_delivered_to_its_end(world: World, linking: str) -> None:
    path = transcript(world, range(20))
    fails(world)
    replace_atomically(path, path.read_bytes() + record(20))
    transcript(world, range(21, 25))
    fails(world)
    path.unlink()
    works(world)
    assert stored(world) == names(range(25))


def test_a_transcript_that_moved_is_read_where_it_is_now(world: World, linking: str) -> None:
    path = transcript(world, range(20))
    fails(world)
    path.rename(world.root / "projects" / "-work-b" / path.name)
    works(world)
    assert len(world.sink.posted) == 20
    if linking == "links":
        assert {event["project"] for event in world.sink.stored.values()} == {"-work-b"}
    works(world)
    assert held(world) == []


def test_a_copy_takes_only_the_disk_space_of_the_unsent_bytes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = transcript(world, range(1))
    with path.open("ab") as file:
        file.write(record(1).replace(b"say", b"x" * 2_100_000))
    works(world)
    transcript(world, range(2, 10))
    monkeypatch.setattr("os.link", across_mounts)
    fails(world)
    [copy] = held(world)
    assert copy.stat().st_size == path.stat().st_size > 2_000_000
    assert copy.stat().st_blocks * 512 < 64_000


def test_without_a_state_a_copy_is_read_from_where_its_own_bytes_begin(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(world, range(200))
    works(world)
    transcript(world, range(200, 210))
    monkeypatch.setattr("os.link", across_mounts)
    fails(world)
    path.unlink()
    for each in world.state_path.parent.glob("state.json*"):
        each.unlink()
    works(world)
    assert stored(world) == names(range(210))
    assert world.quarantine.entries() == []


def test_a_held_subagent_keeps_its_meta_file(world: World, linking: str) -> None:
    path = world.root / "projects" / "-work-a" / "agent-a1.jsonl"
    path.write_bytes(record(1) + record(2))
    path.with_suffix(".meta.json").write_bytes(b'{"agentType":"Explore"}')
    fails(world)
    for each in (path, path.with_suffix(".meta.json")):
        each.unlink()
    works(world)
    assert {(event["agent_id"], event["agent_type"]) for event in world.sink.stored.values()} == {("a1", "Explore")}


def test_a_file_with_an_undecodable_name_is_held_like_any_other(world: World, linking: str) -> None:
    path = Path(os.fsdecode(os.fsencode(world.root / "projects" / "-work-a") + b"/s\xff.jsonl"))
    path.write_bytes(record(1))
    fails(world)
    path.unlink()
    works(world)
    assert stored(world) == {"m1"}


def bounded(world: World, **limits: int | bool) -> Flow:
    flow = world.flow()
    flow.held = HeldFiles(flow.held.directory, SweptSettings(**limits))  # type: ignore[arg-type]
    return flow


def give_up(world: World, flow: Flow) -> None:
    world.sink.mood = "down"
    with pytest.raises(Exception, match="did not acknowledge"):
        run_pass(flow, Ledger())
    world.sink.mood = "ok"


def test_the_number_of_held_files_is_bounded_and_the_oldest_come_first(world: World) -> None:
    for age in range(5):
        path = transcript(world, range(age, age + 1), name=f"s{age}")
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    flow = bounded(world, max_files=2)
    give_up(world, flow)
    assert flow.held.summary() | {"bytes": 0} == {"files": 2, "bytes": 0, "left_out": 3}
    assert {os.path.basename(each.original.path) for each in flow.held.held.files} == {"s3.jsonl", "s4.jsonl"}


def test_the_unsent_bytes_of_held_files_are_bounded(world: World) -> None:
    size = transcript(world, range(5), name="large").stat().st_size
    transcript(world, range(5, 6), name="small")
    flow = bounded(world, max_bytes=size)
    give_up(world, flow)
    assert (flow.held.summary()["bytes"] <= size, flow.held.summary()["left_out"]) == (True, 1)


def test_nothing_is_held_when_holding_is_turned_off(world: World) -> None:
    transcript(world, range(5))
    give_up(world, bounded(world, hold=False))
    assert held(world) == []


def test_nothing_is_held_for_a_sink_that_works(world: World) -> None:
    transcript(world, range(5))
    works(world)
    assert not world.state_path.with_name("state.held").exists()


def test_held_files_are_private_and_the_original_is_not_written_to(world: World) -> None:
    path = transcript(world, range(5))
    before = path.stat()
    fails(world)
    after = path.stat()
    directory = world.state_path.with_name("state.held")
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert (after.st_mtime_ns, after.st_mode, after.st_size) == (before.st_mtime_ns, before.st_mode, before.st_size)
    assert {each.name for each in directory.iterdir()} == {"1.jsonl", "index.json"}
    assert stat.S_IMODE((directory / "index.json").stat().st_mode) == 0o600


def test_a_held_file_of_an_excluded_project_is_dropped_once_it_can_be_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(world, range(5))
    fails(world)
    path.unlink()
    left_out = scope(root_of(world.root, "claude"), home=world.home, exclude=["/work/a"])
    for refusal, kept in ((refusing, 1), (os.open, 0)):
        with monkeypatch.context() as patch:
            patch.setattr("os.open", refusal)
            run_pass(world.flow(scope=left_out), Ledger())
        assert len(held(world)) == kept
    works(world)
    assert stored(world) == set()


def test_a_damaged_index_is_set_aside_and_existing_files_are_still_delivered(world: World) -> None:
    transcript(world, range(5))
    fails(world)
    (world.state_path.with_name("state.held") / "index.json").write_bytes(b'{"files": [{')
    works(world)
    assert stored(world) == names(range(5))
    assert len(list(world.state_path.parent.glob("state.held.damaged-*"))) == 1


@pytest.mark.parametrize("crash_after", ["index", "link", "half a copy", "unlink"])
def test_a_crash_in_the_middle_of_holding_loses_nothing(world: World, crash_after: str) -> None:
    """Recreates what is on disk after each step, in order: first the index, then the link, finally the unlink."""
    path = transcript(world, range(5))
    fails(world)
    directory = world.state_path.with_name("state.held")
    if crash_after in {"index", "unlink"}:
        (directory / "1.jsonl").unlink()
    elif crash_after == "half a copy":
        (directory / "1.jsonl").rename(directory / "1.new")
    fails(world)
    assert [each.name for each in held(world)] == ["1.jsonl"]
    path.unlink()
    works(world)
    assert stored(world) == names(range(5))
    assert not directory.exists()
