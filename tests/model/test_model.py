"""Promises 1 to 3 under generated sequences of file actions, sink moods, crashes and restarts."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.model.world import World, marks, record, replace_atomically

STEPS = ["before commit", "after quarantine", "after commit", "before save", "after save", "never saves"]
SEQUENCES = int(os.environ.get("MODEL_SEQUENCES", "150"))
names = st.sampled_from(["s1", "s2", "s3"])
projects = st.sampled_from(["-work-a", "-work-b"])


class Model(RuleBasedStateMachine):
    """Everything that happens to transcripts and to the agent; `marks` are what must not be lost."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="model-"))
        self.world = World(self.directory)
        self.next_mark = 0
        self.halves: dict[Path, bytes] = {}
        self.moved: set[Path] = set()
        self.is_quiet = False

    def teardown(self) -> None:
        self.world.sink.mood, self.world.sink.poison = "ok", ""
        for path in self.world.files():
            self._finish_half(path)
        self.pass_succeeds()
        shutil.rmtree(self.directory)

    def _path(self, name: str, project: str) -> Path:
        return self.world.root / "projects" / project / f"{name}.jsonl"

    def _append(self, path: Path, data: bytes) -> None:
        self._finish_half(path)
        with path.open("ab") as file:
            file.write(data)
        self.is_quiet = False

    def _finish_half(self, path: Path) -> None:
        rest = self.halves.pop(path, b"")
        if rest and path.exists():
            with path.open("ab") as file:
                file.write(rest)
            self.is_quiet = False

    def _records(self, count: int, *, has_uuid: bool = True) -> bytes:
        self.next_mark += count
        return b"".join(record(self.next_mark - n, has_uuid=has_uuid) for n in range(count))

    @rule(name=names, project=projects, count=st.integers(1, 8), has_uuid=st.booleans())
    def append(self, name: str, project: str, count: int, has_uuid: bool) -> None:
        self._append(self._path(name, project), self._records(count, has_uuid=has_uuid))

    @rule(name=names, project=projects, cut=st.integers(1, 60))
    def append_half_a_line(self, name: str, project: str, cut: int) -> None:
        path, line = self._path(name, project), self._records(1)
        self._append(path, line[:cut])
        self.halves[path] = line[cut:]

    @rule(name=names, project=projects)
    def finish_the_line(self, name: str, project: str) -> None:
        self._finish_half(self._path(name, project))

    @rule(name=names, project=projects)
    def append_a_line_torn_by_the_next(self, name: str, project: str) -> None:
        torn, whole = self._records(1), self._records(1)
        self._append(self._path(name, project), torn[:-20] + whole)

    @rule(name=names, project=projects)
    def append_garbage(self, name: str, project: str) -> None:
        self.next_mark += 1
        self._append(self._path(name, project), b"\x00\xff not json <<m%d>>\n\r\n\n" % self.next_mark)

    @rule(name=names, project=projects, keep=st.floats(0, 1))
    def truncate(self, name: str, project: str, keep: float) -> None:
        path = self._path(name, project)
        if path.exists():
            self.halves.pop(path, None)
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[: int(len(lines) * keep)]))
            self.is_quiet = False

    @rule(name=names, project=projects)
    def replace_with_the_same(self, name: str, project: str) -> None:
        path = self._path(name, project)
        if path.exists():
            replace_atomically(path, path.read_bytes())
            # Another name and another inode at once: nothing is left to recognise it by, so it is sent again.
            self.is_quiet = self.is_quiet and path not in self.moved

    @rule(name=names, project=projects, count=st.integers(1, 6))
    def rewrite_and_regrow(self, name: str, project: str, count: int) -> None:
        path = self._path(name, project)
        if path.exists():
            self.halves.pop(path, None)
            old = path.read_bytes()
            replace_atomically(path, self._records(count) + old[len(old) // 2 :] + self._records(1))
            self.is_quiet = False

    @rule(name=names, project=projects)
    def delete(self, name: str, project: str) -> None:
        path = self._path(name, project)
        self.halves.pop(path, None)
        path.unlink(missing_ok=True)

    @rule(name=names, project=projects, other=names, goal=projects)
    def move(self, name: str, project: str, other: str, goal: str) -> None:
        old, new = self._path(name, project), self._path(other, goal)
        if old.exists() and not new.exists():
            rest = self.halves.pop(old, b"")
            os.rename(old, new)
            self.moved.add(new)
            if rest:
                self.halves[new] = rest

    @rule(name=names, project=projects, other=names, goal=projects)
    def copy(self, name: str, project: str, other: str, goal: str) -> None:
        old, new = self._path(name, project), self._path(other, goal)
        if old.exists() and not new.exists() and old not in self.halves:
            shutil.copy(old, new)
            self.is_quiet = False

    @rule(mood=st.sampled_from(["ok", "ok", "down", "halted", "forgets to answer"]))
    def change_the_mood_of_the_sink(self, mood: str) -> None:
        self.world.sink.mood = mood

    @precondition(lambda self: self.next_mark)
    @rule(back=st.integers(0, 5))
    def poison_one(self, back: int) -> None:
        self.world.sink.poison = f"<<m{max(1, self.next_mark - back)}>>"

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

    def pass_succeeds(self) -> None:
        assert self.world.run() is not None
        self._everything_is_settled()

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
        ids: dict[str, set[str]] = {}
        for event_id, event in self.world.sink.stored.items():
            for mark in marks(event.get("text", "")):
                ids.setdefault(mark, set()).add(event_id)
        assert all(len(each) == 1 for each in ids.values())


Model.TestCase.settings = settings(
    max_examples=SEQUENCES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestModel = Model.TestCase
