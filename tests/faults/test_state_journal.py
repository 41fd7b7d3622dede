"""A large state is only written whole from time to time; in between, each save appends what changed to a journal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from collector.errors import StateError
from collector.flow.source import Position, Stamp
from collector.keeping.state import State
from tests.scopes import FORM


def entry(number: int) -> Position:
    return Position(1000 + number, f"{number:016x}", f"{number:016x}", Stamp(2000, 1_768_263_841_305_000_000, number))


def large(path: Path, entries: int = 300) -> State:
    state = State(path, FORM.name, journal_from=10_000)
    state.advance_offsets({f"~/.claude/projects/-p/{number}.jsonl": entry(number) for number in range(entries)})
    state.save()
    return state


def test_saving_a_large_state_writes_only_what_changed(tmp_path: Path) -> None:
    state = large(tmp_path / "state.json")
    whole = (tmp_path / "state.json").read_bytes()
    state.advance_offsets({"a": entry(1)})
    state.reset_entries([])
    state.save()
    state.advance_offsets({"b": entry(2)})
    state.rename_entry("a", "c")
    state.save()
    assert (tmp_path / "state.json").read_bytes() == whole
    assert State(tmp_path / "state.json", FORM.name).load().entries == state.entries
    assert (tmp_path / "state.json.journal").stat().st_mode & 0o777 == 0o600


def test_a_journal_grows_no_larger_than_its_state(tmp_path: Path) -> None:
    state = large(tmp_path / "state.json")
    sizes = []
    for number in range(500):
        state.advance_offsets({f"~/.claude/projects/-p/{number % 300}.jsonl": entry(number)})
        state.save()
        journal = tmp_path / "state.json.journal"
        sizes.append(journal.stat().st_size if journal.exists() else 0)
    assert 0 < max(sizes) < 1.1 * (tmp_path / "state.json").stat().st_size
    assert min(sizes[10:]) < 1000
    assert State(tmp_path / "state.json", FORM.name).load().entries == state.entries


def test_a_first_pass_writes_the_whole_state_only_a_few_times(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state, wholes = State(path, FORM.name), set()
    for window in range(70):
        state.advance_offsets({f"~/.claude/projects/-p/{window}-{number}.jsonl": entry(number) for number in range(36)})
        state.save()
        wholes.add(path.stat().st_mtime_ns)
    assert len(wholes) < 15
    assert len(State(path, FORM.name).load().entries) == 70 * 36


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_journal_cut_short_by_a_crash_counts_up_to_the_cut(tmp_path: Path, cut: int) -> None:
    state = large(tmp_path / "state.json")
    for name in ("a", "b"):
        state.advance_offsets({name: entry(1)})
        state.save()
    journal = tmp_path / "state.json.journal"
    journal.write_bytes(journal.read_bytes()[:-cut])
    loaded = State(tmp_path / "state.json", FORM.name).load().entries
    assert ("a" in loaded, "b" in loaded) == (True, False)


@pytest.mark.parametrize("becomes", ["restored", "deleted", "damaged"])
def test_a_journal_is_never_applied_to_another_state(tmp_path: Path, becomes: str) -> None:
    path = tmp_path / "state.json"
    large(path, 200)
    backup = path.read_bytes()
    state = large(path, 300)
    state.reset_entries(["~/.claude/projects/-p/7.jsonl"])
    state.advance_offsets({"a": entry(1)})
    state._is_reset = False
    state.save()
    assert path.with_name("state.json.journal").exists()
    if becomes == "deleted":
        path.unlink()
    else:
        path.write_bytes(backup if becomes == "restored" else b"{")
    loaded = State(path, FORM.name).load().entries
    assert "a" not in loaded
    assert (len(loaded), "~/.claude/projects/-p/7.jsonl" in loaded) == (200, True)


def test_a_pipe_with_the_name_of_a_journal_is_not_waited_for(tmp_path: Path) -> None:
    large(tmp_path / "state.json", 200)
    os.mkfifo(tmp_path / "state.json.journal")
    assert len(State(tmp_path / "state.json", FORM.name).load().entries) == 200


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux whose reading fails")
def test_while_a_journal_cannot_be_read_nothing_is_sent_again(tmp_path: Path) -> None:
    state = large(tmp_path / "state.json")
    state.advance_offsets({"a": entry(1)})
    state.save()
    journal = tmp_path / "state.json.journal"
    whole = journal.rename(tmp_path / "elsewhere")
    journal.symlink_to("/proc/self/mem")
    with pytest.raises(StateError, match=r"Input/output error\. Nothing was sent"):
        State(tmp_path / "state.json", FORM.name).load()
    whole.replace(journal)
    assert "a" in State(tmp_path / "state.json", FORM.name).load().entries


def test_a_state_replaced_under_a_running_agent_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = large(path)
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    state.advance_offsets({"a": entry(1)})
    state.save()
    assert not path.with_name("state.json.journal").exists()
    assert State(path, FORM.name).load().entries == state.entries


def test_after_a_failed_journal_write_the_whole_state_is_saved(tmp_path: Path) -> None:
    state = large(tmp_path / "state.json")
    journal = tmp_path / "state.json.journal"
    journal.mkdir()
    state.advance_offsets({"a": entry(1)})
    with pytest.raises(Exception, match="Cannot write the state"):
        state.save()
    assert state.is_dirty
    journal.rmdir()
    state.save()
    assert "a" in State(tmp_path / "state.json", FORM.name).load().entries


def test_a_save_of_100_000_sources_costs_no_more_than_one_of_ten(tmp_path: Path) -> None:
    state = State(tmp_path / "state.json", FORM.name)
    state.advance_offsets(
        {f"~/.claude/projects/-home-someone-work/{number:036x}.jsonl": entry(number) for number in range(100_000)}
    )
    state.save()
    started = time.process_time()
    for number in range(20):
        state.advance_offsets({f"~/.claude/projects/-home-someone-work/{number:036x}.jsonl": entry(number + 1)})
        state.save()
    assert (time.process_time() - started) / 20 < 0.01
    loaded = State(tmp_path / "state.json", FORM.name).load()
    assert list(loaded.entries.written()) == list(state.entries.written())
