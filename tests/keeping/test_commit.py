"""The committer: which offsets move when, and in which order things are written to a disk that may be full."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from collector.agents.claude_code import places
from collector.errors import StateError
from collector.flow.batch import Batch
from collector.flow.ledger import Ledger
from collector.flow.outcome import Quarantined
from collector.flow.receipt import Receipt
from collector.flow.selection import Selection
from collector.flow.source import Entry, Position, Source, Stamp
from collector.keeping.commit import SAVE_AFTER_SECONDS, TRY_AGAIN_SECONDS, Committer
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import State
from tests.scopes import FORM, root_of

KEY = "~/.claude/projects/-p/s.jsonl"
STAMP = Stamp(50, 6, 7)
SOURCE = Source(root_of("/r", ""), "/r/s.jsonl", KEY, places.SESSION, "-p", "s", "", STAMP)
NOTHING = Selection([], 0, {}, {}, {}, {}, [])


class Disk:
    """Records what was written, in order; `full` names what cannot be written right now."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.full: set[str] = set()

    def write(self, what: str) -> None:
        if what.split()[0] in self.full:
            raise StateError(f"no room for the {what}")
        self.written.append(what)


class ScriptedState(State):
    """Saves to a scripted disk."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(Path("/nowhere/state.json"), FORM.name)
        self.disk = disk

    def save(self, *, is_whole: bool = False) -> None:
        self.disk.write("state whole" if is_whole else "state")
        self.is_dirty = False


class ScriptedQuarantine(Quarantine):
    """Writes to a scripted disk."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(Path("/nowhere/quarantine.jsonl"), 10_000)
        self.disk = disk

    def add(self, things: Iterable[Quarantined]) -> int:
        if ids := [thing.id for thing in things]:
            self.disk.write(f"quarantine {' '.join(ids)}")
        return 0


class Clock:
    """Time that moves only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def committer_on(
    disk: Disk, clock: Clock, *, window: int = 3, is_dry_run: bool = False, max_waiting_bytes: int = 100
) -> Committer:
    return Committer(
        ScriptedState(disk),
        ScriptedQuarantine(disk),
        window,
        is_dry_run=is_dry_run,
        clock=clock,
        max_waiting_bytes=max_waiting_bytes,
    )


def thing(name: str, payload: str = "text") -> Quarantined:
    return Quarantined(name, "torn line", KEY, 0, payload)


def receipt(offset: int, *quarantined: Quarantined, refused: Iterable[Quarantined] = ()) -> Receipt:
    """An acknowledgement that makes the source safe up to an offset."""
    return Receipt(Batch(ends={KEY: Position(offset, "h", "t")}, quarantined=list(quarantined)), list(refused))


def offsets(committer: Committer) -> dict[str, int]:
    return {key: entry.position.offset for key, entry in committer.state.entries.items()}


def test_a_receipt_moves_the_offset_and_the_lag(disk: Disk, clock: Clock) -> None:
    committer, ledger = committer_on(disk, clock), Ledger(lag=50)
    committer.commit(receipt(20), ledger)
    assert (offsets(committer), ledger.lag) == ({KEY: 20}, 30)
    committer.commit(receipt(50), ledger)
    assert (offsets(committer), ledger.lag) == ({KEY: 50}, 0)


def test_the_state_is_saved_once_per_window(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock, window=3)
    written = []
    for offset in range(1, 8):
        committer.commit(receipt(offset), Ledger())
        written.append(len(disk.written))
    assert written == [0, 0, 1, 1, 1, 2, 2]


def test_a_commit_is_saved_within_a_second(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    due_in = []
    for number in range(2):
        committer.commit(receipt(number), Ledger())
        due_in.append(committer.due_in)
        clock.now += SAVE_AFTER_SECONDS
        due_in.append(committer.due_in)
    assert due_in == [SAVE_AFTER_SECONDS, 0.0, None, None]
    assert disk.written == ["state"]


def test_quarantined_items_are_on_disk_before_the_offset_passes_them(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.commit(receipt(1, thing("torn"), refused=[thing("refused")]), Ledger())
    committer.save()
    assert disk.written == ["quarantine torn refused", "state"]


def test_no_offset_is_saved_while_the_quarantine_cannot_be_written(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    disk.full = {"quarantine"}
    committer.commit(receipt(1, thing("a")), Ledger())
    committer.save()
    committer.commit(receipt(2, thing("b")), Ledger())
    committer.save()
    assert (disk.written, "no room" in committer.problem) == ([], True)
    disk.full = set()
    committer.save()
    assert (disk.written, committer.problem) == (["quarantine a b", "state"], "")
    assert committer.due_in is None


def test_retrying_a_failed_save_does_not_write_the_quarantine_twice(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    disk.full = {"state"}
    committer.commit(receipt(1, thing("a")), Ledger())
    committer.save()
    disk.full = set()
    committer.save()
    assert disk.written == ["quarantine a", "state"]


def test_a_full_disk_is_tried_again_later(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    disk.full = {"state"}
    committer.commit(receipt(1), Ledger())
    committer.save()
    assert committer.due_in == TRY_AGAIN_SECONDS
    clock.now += TRY_AGAIN_SECONDS
    assert committer.due_in == 0.0


def test_a_pass_goes_on_with_a_full_disk_until_too_much_waits_in_memory(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock, max_waiting_bytes=100)
    disk.full = {"quarantine"}
    committer.commit(receipt(1, thing("a", "x" * 99)), Ledger())
    committer.commit(receipt(2, thing("b", "x" * 99)), Ledger())
    with pytest.raises(StateError, match="no room"):
        committer.commit(receipt(3, thing("c")), Ledger())
    assert offsets(committer) == {KEY: 2}
    disk.full = set()
    committer.commit(receipt(3, thing("c")), Ledger())
    committer.save()
    assert disk.written == ["quarantine a b", "quarantine c", "state"]


def test_finishing_a_pass_raises_if_acknowledged_offsets_cannot_be_saved(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.commit(receipt(1), Ledger())
    disk.full = {"state"}
    with pytest.raises(StateError, match="no room"):
        committer.finish()
    disk.full = set()
    committer.finish()
    assert disk.written == ["state whole"]


def test_nothing_is_written_when_nothing_changed(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.apply(NOTHING)
    committer.save()
    committer.finish()
    assert disk.written == []


def test_a_dry_run_moves_offsets_in_memory_only(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock, window=1, is_dry_run=True)
    committer.commit(receipt(9, thing("a")), Ledger())
    committer.finish()
    assert (offsets(committer), disk.written) == ({KEY: 9}, [])
    assert committer.reset([KEY]) == [KEY]
    assert (offsets(committer), disk.written) == ({}, [])


def test_a_selection_is_applied_in_memory(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    entries = committer.state.entries
    here = Entry(Position(5, "h", "t", STAMP))
    entries.update({"old": here._replace(missing_since=3), "gone": here, "back": here._replace(missing_since=3)})
    entries["long gone"] = here
    committer.apply(
        NOTHING._replace(
            starts={"held": Position(9, "h", "t")},
            moved={"old": "new"},
            missing_since={"gone": 4, "back": 0},
            forgotten=["long gone"],
        )
    )
    assert entries == {
        "new": here,
        "gone": here._replace(missing_since=4),
        "back": here,
        "held": Entry(Position(9, "h", "t")),
    }
    assert (disk.written, committer.state.is_dirty) == ([], True)


def test_a_missing_source_alone_causes_no_save(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.state.entries["gone"] = Entry(Position(5, "h", "t", STAMP))
    committer.apply(NOTHING._replace(missing_since={"gone": 4}))
    committer.finish()
    assert disk.written == []


def test_leaving_a_source_alone_again_saves_nothing(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    for _ in range(2):
        committer.leave_alone(SOURCE, "warmup")
        committer.save()
    assert committer.state.entries == {KEY: Entry(Position(0, "", "", STAMP), skip="warmup")}
    assert disk.written == ["state"]


def test_a_reset_is_saved_at_once_and_returns_the_known_sources(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.commit(receipt(9), Ledger())
    assert committer.reset([KEY, "unknown"]) == [KEY]
    assert (offsets(committer), disk.written) == ({}, ["state"])
    assert committer.reset(["unknown"]) == []
    assert disk.written == ["state"]


def test_a_reset_that_cannot_be_saved_raises(disk: Disk, clock: Clock) -> None:
    committer = committer_on(disk, clock)
    committer.commit(receipt(9), Ledger())
    disk.full = {"state"}
    with pytest.raises(StateError, match="no room"):
        committer.reset([KEY])


def test_a_new_configuration_takes_over_what_still_waits_for_the_disk(disk: Disk, clock: Clock) -> None:
    before = committer_on(disk, clock)
    disk.full = {"quarantine"}
    before.commit(receipt(1, thing("a")), Ledger())
    before.save()
    after = Committer(before.state, ScriptedQuarantine(disk), 3, clock=clock)
    after.go_on_from(before)
    assert after.problem == before.problem
    disk.full = set()
    after.save()
    assert disk.written == ["quarantine a", "state"]
