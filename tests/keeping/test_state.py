"""The state file: whole, private, recoverable, one agent at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from collector.errors import StateError, StateLocked, StateReplaced
from collector.flow.source import Entry, Position, Stamp
from collector.keeping.lock import MOST_ELSEWHERE, HeldLock, holder, lock, lock_path, note_elsewhere, states_elsewhere
from collector.keeping.state import State
from tests.scopes import FORM

HERE = Position(10, "aa", "bb", Stamp(10, 1768263841305000000, 7))
KEY = "~/.claude/projects/-p/s.jsonl"


def saved(path: Path, **positions: Position) -> State:
    state = State(path, FORM.name)
    state.advance_offsets(dict(positions))
    state.save()
    return state


def test_a_saved_state_is_read_back_as_it_was(tmp_path: Path) -> None:
    state = State(tmp_path / "state.json", FORM.name)
    anchor = f"3 {'0' * 16} 2026-03-01T10:00:00.000Z"
    state.advance_offsets({KEY: HERE, "anchored": HERE._replace(anchor=anchor)})
    state.mark_skipped("stub", Stamp(3, 4, 5), "warmup")
    state.save()
    assert State(tmp_path / "state.json", FORM.name).load().entries == state.entries


def test_the_file_has_its_documented_shape(tmp_path: Path) -> None:
    saved(tmp_path / "state.json", **{KEY: HERE})
    document = orjson.loads((tmp_path / "state.json").read_bytes())
    assert document["version"] == 1
    assert document["claude_code"]["files"][KEY]["offset"] == 10
    assert document["claude_code"]["files"][KEY]["mtime"] == 1768263841305


def test_the_state_is_complete_whichever_agent_comes_first_in_the_registry(tmp_path: Path) -> None:
    before = saved(tmp_path / "state.json", **{KEY: HERE})
    state = State(tmp_path / "state.json", "aider").load()
    assert (state.entries, state.notes) == (before.entries, [])
    state.set_offset("~/.aider/s", HERE)
    state.save(is_whole=True)
    assert State(tmp_path / "state.json", FORM.name).load().entries == state.entries
    document = orjson.loads((tmp_path / "state.json").read_bytes())
    assert {agent: list(document[agent]["files"]) for agent in ("aider", FORM.name)} == {
        "aider": ["~/.aider/s"],
        FORM.name: [KEY],
    }


def test_an_entry_with_only_offset_and_mtime_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(orjson.dumps({"claude_code": {"files": {KEY: {"offset": 45678, "mtime": 1768263841305}}}}))
    assert State(path, FORM.name).load().entries[KEY] == Entry(Position(45678, "", ""))


def test_the_file_and_its_directory_are_private(tmp_path: Path) -> None:
    saved(tmp_path / "new" / "state.json", a=HERE)
    modes = [stat.S_IMODE(os.stat(tmp_path / "new" / name).st_mode) for name in ("", "state.json")]
    assert modes == [0o700, 0o600]


@pytest.mark.parametrize(
    "damage",
    [
        *(b"", b"{", b"\0" * 50, b"[]", b'{"version":1}', b'{"claude_code":{"files":{"a":1}}}'),
        b'{"claude_code":{"files":{"a":{"offset":1,"size":1,"mtime_ns":"later","inode":1}}}}',
    ],
)
def test_a_damaged_file_falls_back_to_the_previous_generation(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "state.json"
    state = saved(path, a=HERE)
    state.advance_offsets({"b": HERE})
    state.save()
    path.write_bytes(damage)
    loaded = State(path, FORM.name).load()
    assert list(loaded.entries) == ["a"]
    assert "damaged" in loaded.notes[0]
    assert len(list(tmp_path.glob("state.json.damaged-*"))) == 1


def test_with_both_generations_damaged_the_state_starts_over_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"x")
    (tmp_path / "state.json.previous").write_bytes(b"y")
    loaded = State(path, FORM.name).load()
    assert loaded.entries == {}
    assert len(loaded.notes) == 2


def test_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b'{"version":2}')
    with pytest.raises(StateError, match="newer collector"):
        State(path, FORM.name).load()
    assert path.read_bytes() == b'{"version":2}'


def test_a_reset_is_not_undone_by_the_previous_generation(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = saved(path, a=HERE)
    state.reset_entries(["a"])
    state.save()
    path.write_bytes(b"damaged")
    assert State(path, FORM.name).load().entries == {}


def test_a_reset_whose_first_save_failed_is_not_undone_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "state.json"
    state = saved(path, a=HERE)
    state.reset_entries(["a"])
    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(StateError, match="No space left"):
        state.save()
    monkeypatch.undo()
    state.save()
    path.write_bytes(b"damaged")
    assert State(path, FORM.name).load().entries == {}


def test_a_failed_save_keeps_the_old_file_and_stays_dirty(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = saved(path, a=HERE)
    before = path.read_bytes()
    (tmp_path / "state.json.new").mkdir()
    state.advance_offsets({"b": HERE})
    with pytest.raises(StateError, match="Cannot write the state"):
        state.save()
    assert (path.read_bytes(), state.is_dirty) == (before, True)


def test_a_second_agent_is_told_who_holds_the_state(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from collector.keeping.lock import lock\n"
        "with lock(Path(sys.argv[1]), 'run'): print('held', flush=True); sys.stdin.read()"
    )
    path = tmp_path / "state.json"
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StateLocked, match=f"collector run, process {holder.pid}"), lock(path, "scan"):
        pass
    holder.communicate("")
    with lock(path, "scan"):
        pass


def test_a_file_system_that_knows_no_locks_is_not_taken_for_another_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    path = tmp_path / "state.json"
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StateError, match="No locks available") as refused, lock(path, "scan"):
        pass
    assert not isinstance(refused.value, StateLocked)
    assert holder(path) == ""


def test_marking_a_source_missing_does_not_cause_a_save_by_itself(tmp_path: Path) -> None:
    state = saved(tmp_path / "state.json", a=HERE)
    state.mark_missing("a", 1000)
    assert not state.is_dirty
    state.advance_offsets({"b": HERE})
    state.save()
    assert State(tmp_path / "state.json", FORM.name).load().entries["a"] == Entry(HERE, missing_since=1000)


def test_a_source_that_is_gone_for_good_is_dropped_from_the_file(tmp_path: Path) -> None:
    state = saved(tmp_path / "state.json", a=HERE, b=HERE)
    state.drop_entries(["a"])
    assert state.is_dirty
    state.save()
    assert set(State(tmp_path / "state.json", FORM.name).load().entries) == {"b"}


def test_advancing_offsets_returns_the_bytes_moved(tmp_path: Path) -> None:
    state = saved(tmp_path / "state.json", a=HERE)
    assert state.advance_offsets({"a": HERE._replace(offset=25), "b": HERE}) == 25


def test_each_agent_keeps_its_sources_in_its_own_section(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = State(path, "claude_code")
    for key, owner in (("ours", "claude_code"), ("theirs", "scribe"), ("gone", "scribe")):
        state.set_owner(key, owner)
        state.set_offset(key, HERE)
    state.drop_entries(["gone"])
    state.save()
    document = orjson.loads(path.read_bytes())
    assert {name: list(section["files"]) for name, section in document.items() if name != "version"} == {
        "claude_code": ["ours"],
        "scribe": ["theirs"],
    }
    loaded = State(path, "claude_code").load()
    assert (loaded.entries, loaded.owners) == (state.entries, {"theirs": "scribe"})
    assert loaded.owners == {"theirs": "scribe"}


def test_the_journal_says_which_agent_owns_a_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = State(path, "claude_code", journal_from=1)
    state.save()
    state.set_owner("theirs", "scribe")
    state.set_offset("theirs", HERE)
    state.save()
    assert not state.is_whole_on_disk
    assert State(path, "claude_code").load().owners == {"theirs": "scribe"}


@pytest.mark.parametrize("content", ['{"version":1}', '{"claude_code":{}}', '{"claude_code":{"files":[]}}'])
def test_a_file_without_any_agents_section_is_not_a_state(tmp_path: Path, content: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(content)
    loaded = State(path, "claude_code").load(may_repair=False)
    assert "does not have the shape" in loaded.notes[0]


def test_only_so_many_states_elsewhere_are_remembered(tmp_path: Path) -> None:
    """A command that keeps its state in a temporary directory leaves one each time; one that is used stays."""
    usual, used = tmp_path / "usual" / "state.json", tmp_path / "used" / "state.json"
    used.parent.mkdir()
    for number in range(MOST_ELSEWHERE + 5):
        note_elsewhere(used, usual)
        state = tmp_path / str(number) / "state.json"
        state.parent.mkdir()
        note_elsewhere(state, usual)
    known = states_elsewhere(usual)
    assert len(known) == MOST_ELSEWHERE
    assert {used, state} <= set(known)


def test_another_agent_may_be_faster_where_a_state_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "there" / "state.json"

    def beaten(held: HeldLock) -> None:
        lock_path(held.path).write_text("collector run, process 1, since today")
        raise FileExistsError

    path.parent.mkdir()
    monkeypatch.setattr(HeldLock, "_lock_again", beaten)
    with lock(path, "run") as held:
        lock_path(path).unlink()
        with pytest.raises(StateReplaced):
            held.keep()
