"""Sequences that once failed, or are too rare to come up by chance, written out with the model's own actions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.test_model import STEPS, Model


@pytest.fixture
def model() -> Iterator[Model]:
    """A model that is checked after every story and torn down as hypothesis would do it."""
    model = Model()
    yield model
    check(model)
    model.teardown()


def check(model: Model) -> None:
    model.nothing_before_a_saved_offset_is_lost()
    model.one_thing_that_happened_has_one_id()
    model.nothing_outside_the_root_is_read()


@pytest.mark.parametrize("countdown", range(4))
@pytest.mark.parametrize("step", STEPS)
def test_a_crash_while_lines_are_quarantined_loses_nothing(model: Model, step: str, countdown: int) -> None:
    model.append("s2", "-work-a", count=3, has_uuid=False)
    model.link_hard("s2", "-work-a", "s1", "-work-b")
    model.append_a_line_torn_by_the_next("s1", "-work-b")
    model.append_garbage("s2", "-work-b")
    model.crash_in_a_pass(step, countdown)
    check(model)
    model.run_a_pass()


def test_an_old_state_is_trusted_only_as_long_as_the_bytes_agree(model: Model) -> None:
    model.append("s1", "-work-a", count=5, has_uuid=True)
    model.run_a_pass()
    model.back_the_state_up()
    model.rewrite_in_place_with_the_same_size("s1", "-work-a")
    model.append("s1", "-work-a", count=2, has_uuid=True)
    model.run_a_pass()
    model.restore_the_state()
    model.run_a_pass()
    check(model)


def test_a_file_moved_to_the_name_of_a_deleted_one_keeps_its_offset(model: Model) -> None:
    model.append("s1", "-work-a", count=5, has_uuid=True)
    model.append("s2", "-work-a", count=2, has_uuid=True)
    model.run_a_pass()
    before = len(model.world.sink.posted)
    model.delete("s2", "-work-a")
    model.move("s1", "-work-a", "s2", "-work-a")
    model.append("s2", "-work-a", count=1, has_uuid=True)
    model.run_a_pass()
    assert len(model.world.sink.posted) == before + 1


@pytest.mark.parametrize("by", ["fifo", "directory", "link out", "loop", "link in"])
def test_a_file_that_is_out_of_sight_for_one_pass_keeps_its_offset(model: Model, by: str) -> None:
    model.append("s1", "-work-a", count=5, has_uuid=False)
    model.run_a_pass()
    before = len(model.world.sink.posted)
    model.cover("s1", "-work-a", by)
    model.run_a_pass()
    model.uncover_one("s1", "-work-a")
    model.append("s1", "-work-a", count=1, has_uuid=False)
    model.run_a_pass()
    assert len(model.world.sink.posted) == before + 1


@pytest.mark.parametrize(
    "mood", ["takes little", "takes nothing", "refuses all", "breaks", "rejects", "stores and fails", "halted"]
)
def test_a_mood_of_the_sink_passes_and_leaves_nothing_behind(model: Model, mood: str) -> None:
    model.append("s1", "-work-a", count=8, has_uuid=True)
    model.change_the_mood_of_the_sink(mood)
    model.run_a_pass()
    check(model)
    model.change_the_mood_of_the_sink("ok")
    model.run_a_pass()
    assert len(model.world.sink.stored) == 8
    assert model.world.quarantine.entries() == []


def test_a_file_that_gets_a_former_name_back_keeps_its_offset(model: Model) -> None:
    """The older state that stands in for a damaged one knows less of the file under that name."""
    model.append("s2", "-work-b", count=7, has_uuid=False)
    model.run_a_pass()
    model.move("s2", "-work-b", "s1", "-work-a")
    model.damage_the_state()
    model.run_a_pass()
    before = len(model.world.sink.posted)
    model.move("s1", "-work-a", "s2", "-work-a")
    model.run_a_pass()
    assert len(model.world.sink.posted) == before
