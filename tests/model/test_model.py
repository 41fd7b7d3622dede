"""Checks promises 1 to 3 under generated sequences of file actions, sink moods, crashes and restarts.

`make test` runs the same 2,000 sequences every time, `make soak` MODEL_SEQUENCES new ones; a sequence that fails there
becomes a story in `test_stories.py`.
"""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from tests.model.actions import FileActions
from tests.model.world import files_in, marks, replace_atomically

STEPS = [
    *("before commit", "in quarantine", "after quarantine", "after commit"),
    *("before save", "in save", "after save", "never saves"),
]
MOODS = [
    *("ok", "ok", "ok", "down", "halted", "forgets to answer", "stores and fails"),
    *("takes little", "takes nothing", "refuses all", "breaks", "rejects"),
]
SEQUENCES = 2000
MANY = int(os.environ.get("MODEL_SEQUENCES", "20000"))


class Model(FileActions):
    """Everything that can happen to transcripts, to the sink and to the agent."""

    def __init__(self) -> None:
        super().__init__()
        self.backup: dict[str, bytes] | None = None

    def teardown(self) -> None:
        """Puts everything right again: after one pass, nothing may be missing."""
        try:
            self._settle()
        finally:
            shutil.rmtree(self.directory)

    def _settle(self) -> None:
        self.world.sink.mood, self.world.sink.poison = "ok", b""
        for path in list(self.hidden):
            self.uncover(path)
        for path in self.world.files():
            self.finish_half(path)
        assert self.world.run() is not None
        self._everything_is_settled()

    @rule(mood=st.sampled_from(MOODS))
    def change_the_mood_of_the_sink(self, mood: str) -> None:
        self.world.sink.mood = mood

    @precondition(lambda self: self.next_mark)
    @rule(back=st.integers(0, 5))
    def poison_one(self, back: int) -> None:
        self.world.sink.poison = b"<<m%d>>" % max(1, self.next_mark - back)

    @rule(step=st.sampled_from(STEPS), countdown=st.integers(0, 6))
    def crash_in_a_pass(self, step: str, countdown: int) -> None:
        self.world.run(step, countdown)
        self.is_quiet = False

    @rule()
    def damage_the_state(self) -> None:
        if self.world.state_path.exists():
            self.world.state_path.write_bytes(self.world.state_path.read_bytes()[:-7])
            self.is_quiet = False

    @rule()
    def back_the_state_up(self) -> None:
        self.backup = self._state_files()

    @precondition(lambda self: self.backup is not None)
    @rule()
    def restore_the_state(self) -> None:
        """Restores the backed-up state. The quarantine stays as it is, because nobody restores that."""
        assert self.backup is not None
        for name in self._state_files():
            self.world.state_path.with_name(name).unlink()
        for name, data in self.backup.items():
            replace_atomically(self.world.state_path.with_name(name), data)
        self.is_quiet = False

    def _state_files(self) -> dict[str, bytes]:
        found = files_in(self.world.state_path.parent)
        return {name: data for name, data in found.items() if name.startswith("state.json")}

    @rule()
    def run_a_pass(self) -> None:
        before = len(self.world.sink.posted)
        ledger = self.world.run()
        if ledger is None:
            return
        data = ledger.as_dict()
        assert data["lines"] == data["delivered"] + sum(data["skipped"].values()) + data["quarantined"]
        if self.is_quiet:
            assert len(self.world.sink.posted) == before, "nothing changed, yet something was sent"
        self._everything_is_settled()
        self.is_quiet = True
        self.moved.clear()
        self.altered.clear()

    def _everything_is_settled(self) -> None:
        settled = self.world.settled()
        for path in self.world.files():
            data = path.read_bytes()
            complete = data if path not in self.halves else data[: data.rfind(b"\n") + 1]
            missing = [mark for mark in marks(complete.decode("utf-8", "replace")) if mark not in settled]
            assert not missing, f"lost from {path.name}: {missing}"

    @invariant()
    def nothing_before_a_saved_offset_is_lost(self) -> None:
        assert self.world.unsafe() == []

    @invariant()
    def one_thing_that_happened_has_one_id(self) -> None:
        # Without a uuid, an id also depends on what precedes the record, and the model rewrites that. Those ids are
        # tested in tests/model/test_anchor.py.
        ids: dict[str, set[str]] = {}
        for event_id, event in self.world.sink.stored.items():
            for mark in marks(event.get("text", "")) if "uuid" in event else ():
                ids.setdefault(mark, set()).add(event_id)
        assert all(len(each) == 1 for each in ids.values())

    @invariant()
    def nothing_outside_the_root_is_read(self) -> None:
        assert "m0" not in self.world.settled()


COMMON = settings(
    max_examples=SEQUENCES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestModel = Model.TestCase
TestModel.settings = COMMON


@pytest.mark.slow
def test_promises_hold_under_newly_drawn_sequences() -> None:
    run_state_machine_as_test(Model, settings=settings(COMMON, max_examples=MANY, derandomize=False))
