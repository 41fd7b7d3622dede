"""Swept, for any order of events: whatever a failing pass saw is delivered in the end, whatever happens to its file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.world import World, marks, record, replace_atomically

SEQUENCES = 60
MANY = int(os.environ.get("SWEPT_SEQUENCES", "3000"))
ACTIONS = ["append", "append", "fail", "fail", "replace", "keep and grow", "delete", "move", "pass", "crash"]
actions = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 2), st.integers(1, 4)), min_size=3, max_size=14)


class Story:
    """A world, the files in it, and the marks that must arrive."""

    def __init__(self, directory: Path) -> None:
        self.world = World(directory)
        self.mark = 0
        self.owed: set[str] = set()

    def records(self, count: int) -> bytes:
        self.mark += count
        return b"".join(record(self.mark - number) for number in range(count))

    def act(self, action: str, name: int, count: int) -> None:
        projects = self.world.root / "projects"
        path, elsewhere = projects / "-work-a" / f"s{name}.jsonl", projects / "-work-b" / f"s{name}.jsonl"
        if action == "append":
            with path.open("ab") as file:
                file.write(self.records(count))
        elif action == "fail":
            self.fail()
        elif action == "pass":
            self.world.run()
        elif action == "crash":
            self.world.run("after commit", count)
        elif path.exists():
            self.change(action, path, elsewhere, count)

    def change(self, action: str, path: Path, elsewhere: Path, count: int) -> None:
        if action == "replace":
            replace_atomically(path, self.records(count))
        elif action == "keep and grow":
            replace_atomically(path, path.read_bytes() + self.records(count))
        elif action == "delete":
            path.unlink()
        elif not elsewhere.exists():
            path.rename(elsewhere)

    def fail(self) -> None:
        self.world.sink.mood = "down"
        self.world.run()
        self.world.sink.mood = "ok"
        for path in self.world.files():
            self.owed.update(marks(path.read_text()))


@contextmanager
def linking(works: bool) -> Iterator[None]:
    """Hard links work as on one mount, or fail as across two."""
    real = os.link

    def refuse(source: Path, target: Path, **options: bool) -> None:
        if Path(target).parent.name == "state.held":
            raise OSError(18, "Invalid cross-device link")
        real(source, target, **options)

    with mock.patch("os.link", real if works else refuse):
        yield


@pytest.mark.parametrize("sequences", [SEQUENCES, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("by", ["links", "copies"])
def test_whatever_a_failing_pass_saw_is_delivered(by: str, sequences: int) -> None:
    @settings(
        max_examples=sequences,
        derandomize=sequences == SEQUENCES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(actions)
    def check(steps: list[tuple[str, int, int]]) -> None:
        directory = Path(tempfile.mkdtemp(prefix="swept-"))
        try:
            story = Story(directory)
            with linking(by == "links"):
                for step in steps:
                    story.act(*step)
                ledgers = [story.world.run() for _ in range(3)]
            missing = story.owed - story.world.settled()
            assert not missing, f"lost: {sorted(missing)}"
            assert ledgers[-1] is not None
            assert (ledgers[-1].lag, ledgers[-1].as_dict()["delivered"]) == (0, 0)
            assert not story.world.state_path.with_name("state.held").exists()
        finally:
            shutil.rmtree(directory)

    check()
