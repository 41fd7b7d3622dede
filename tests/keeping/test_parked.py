"""Offsets of other sinks, parked in the same file: what happens to them when the sink changes, and what others read."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from collector.flow.sink_identity import SinkIdentity
from collector.flow.source import Entry, Position
from collector.keeping.parked import MOST
from collector.keeping.state import State

AGENT = "claude_code"
OLD, NEW = SinkIdentity("http", "https://old.example/v1"), SinkIdentity("http", "https://new.example/v1")
MOVED = NEW._replace(formerly=(OLD.address,))


def at(offset: int) -> Position:
    return Position(offset, "h", "t")


def offsets(state: State) -> dict[str, int]:
    return {key: entry.position.offset for key, entry in state.entries.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def sent(path: Path, sink: SinkIdentity | None, **positions: int) -> State:
    """The state after a run that sent this much to this sink."""
    state = State(path, AGENT, sink=sink).load()
    state.advance_offsets({key: at(offset) for key, offset in positions.items()})
    if state.is_dirty:
        state.save()
    return state


def test_each_sink_continues_from_its_own_offsets(path: Path) -> None:
    sent(path, OLD, a=10, b=5)
    assert sent(path, NEW).entries == {}
    sent(path, NEW, a=3)
    assert offsets(State(path, AGENT, sink=OLD).load()) == {"a": 10, "b": 5}
    assert offsets(State(path, AGENT, sink=NEW).load()) == {"a": 3}
    sent(path, OLD, a=11)
    assert offsets(State(path, AGENT, sink=NEW).load()) == {"a": 3}


def test_a_sink_with_two_addresses_keeps_the_later_time_of_leaving_out(path: Path) -> None:
    for sink, moment in ((NEW, "2026-03-02T00:00:00Z"), (OLD, "2026-03-01T00:00:00Z")):
        state = State(path, AGENT, sink=sink).load()
        state.note_left_out({"sources": 1, "bytes": 1, "at": moment})
        state.save()
    assert State(path, AGENT, sink=MOVED).load().left_out_at() == "2026-03-02T00:00:00Z"


def test_a_state_that_names_no_sink_belongs_only_to_the_first_sink_that_loads_it(path: Path) -> None:
    sent(path, None, a=10)
    state = State(path, AGENT, sink=OLD).load()
    assert (offsets(state), state.is_new_sink, state.is_dirty) == ({"a": 10}, False, True)
    state.save()
    state = State(path, AGENT, sink=NEW).load()
    assert (offsets(state), state.is_new_sink) == ({}, True)


def test_a_sink_is_new_until_something_is_saved_for_it(path: Path) -> None:
    assert sent(path, OLD).is_new_sink
    assert sent(path, OLD, a=1).is_new_sink
    assert not sent(path, OLD).is_new_sink
    assert sent(path, NEW).is_new_sink
    assert not State(path, AGENT, sink=OLD).load().is_new_sink


def test_a_sink_is_not_new_even_if_nothing_had_to_be_left_out(path: Path) -> None:
    """Otherwise the flag in a unit file would, at the second start, leave out what was written since the first."""
    state = sent(path, OLD)
    state.note_left_out({"sources": 0, "bytes": 0, "at": "2026-03-01T10:00:00Z"})
    state.save()
    assert not State(path, AGENT, sink=OLD).load().is_new_sink
    sent(path, NEW, a=1)
    assert not State(path, AGENT, sink=OLD).load().is_new_sink


def test_an_earlier_version_reads_the_offsets_of_the_current_sink(path: Path) -> None:
    """It takes every object that contains `files` for an agent's section, and ignores everything else."""
    sent(path, OLD, a=10)
    sent(path, NEW, a=3)
    document = json.loads(path.read_bytes())
    sections = {name: each for name, each in document.items() if isinstance(each, dict) and "files" in each}
    assert (document["version"], list(sections)) == (1, [AGENT])
    assert sections[AGENT]["files"] == {"a": {"offset": 3, "head": "h", "tail": "t"}}


@pytest.mark.parametrize("is_in_force", [True, False], ids=["in force", "parked"])
def test_a_former_address_means_the_same_sink_and_the_larger_offset_counts(path: Path, is_in_force: bool) -> None:
    sent(path, NEW, a=3, c=7)
    sent(path, OLD, a=10, b=5, c=1)
    if not is_in_force:
        sent(path, NEW, a=4)
    state = sent(path, MOVED)
    assert (offsets(state), state.about["formerly"]) == ({"a": 10, "b": 5, "c": 7}, [OLD.address])
    again = State(path, AGENT, sink=MOVED).load()
    assert (again.entries, again.about, again.parked, again.is_dirty) == (state.entries, state.about, [], False)
    assert State(path, AGENT, sink=NEW).load().entries == state.entries  # naming the former address once is enough


def test_a_sink_keeps_its_offsets_when_it_is_named_or_renamed(path: Path) -> None:
    sent(path, OLD, a=10)
    sent(path, NEW, a=3)
    named = SinkIdentity("sink", "engine", (OLD.address,))
    own = path.with_name("state.engine.json")
    state = State(own, AGENT, sink=named).load()
    assert (offsets(state), state.is_new_sink, state.is_dirty) == ({"a": 10}, False, True)
    state.advance_offsets({"a": at(12)})
    state.save()
    renamed = SinkIdentity("sink", "motor", ("engine",))
    assert offsets(State(path.with_name("state.motor.json"), AGENT, sink=renamed).load()) == {"a": 12}
    stranger = SinkIdentity("sink", "other", ("https://elsewhere.example",))
    assert State(path.with_name("state.other.json"), AGENT, sink=stranger).load().is_new_sink
    assert offsets(State(path, AGENT, sink=OLD).load()) == {"a": 10}


def test_agents_keep_their_sources_through_a_change_of_sink(path: Path) -> None:
    state = State(path, AGENT, sink=OLD).load()
    state.set_owner("theirs", "scribe")
    state.advance_offsets({"theirs": at(1), "ours": at(2)})
    state.save()
    sent(path, NEW, ours=1)
    back = State(path, AGENT, sink=MOVED).load()
    assert (offsets(back), back.owners) == ({"theirs": 1, "ours": 2}, {"theirs": "scribe"})


def test_a_journal_is_applied_only_to_the_offsets_of_its_own_sink(path: Path) -> None:
    state = State(path, AGENT, journal_from=1, sink=OLD).load()
    for offset in (1, 2):
        state.advance_offsets({"a": at(offset)})
        state.save()
    assert not state.is_whole_on_disk
    assert State(path, AGENT, sink=NEW).load().entries == {}
    sent(path, NEW, a=1)
    assert offsets(State(path, AGENT, sink=OLD).load()) == {"a": 2}


def test_the_number_of_parked_sinks_is_bounded(path: Path) -> None:
    for number in range(MOST + 3):
        sent(path, SinkIdentity("http", f"https://sink-{number}.example"), a=number + 1)
    parked = [each["sink"]["address"] for each in orjson.loads(path.read_bytes())["other_sinks"]]
    assert parked == [f"https://sink-{number}.example" for number in range(2, MOST + 2)]


def test_malformed_parked_sinks_are_ignored(path: Path) -> None:
    odd = [7, {}, {"sink": {}}, {"sink": {"type": "http", "address": "https://x.example"}}]
    path.write_bytes(orjson.dumps({"version": 1, "sink": 3, AGENT: {"files": {}}, "other_sinks": odd}))
    state = State(path, AGENT, sink=OLD).load()
    assert ([each.text for each in state.parked], state.notes) == (["http https://x.example"], [])
    state.advance_offsets({"a": at(1)})
    state.save()
    assert State(path, AGENT, sink=OLD).load().entries == {"a": Entry(at(1))}
