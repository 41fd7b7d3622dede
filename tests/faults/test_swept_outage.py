"""Swept during an outage: a transcript that is deleted while the sink fails arrives whole, however soon that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.service.process import NO_RESCANS
from tests.service.steps import Clock, Steps
from tests.sink import PATIENCE, Answer, Sink

LINES = 1000
GIVEN_UP_AFTER = 3.0
# The whole outage is one pass.
ONE_PASS = {"COLLECTOR_RETRY__MAX_WAIT": "3600"}


def session(home: Home, prompts: int) -> Path:
    made = home.session()
    for number in range(prompts):
        made.prompt(f"prompt {number} of {made.path.name}")
    return made.path


def held(agent: Agent) -> list[Path]:
    return sorted(agent.state.with_name("state.held").glob("*.jsonl"))


def after(sink: Sink, seconds: float) -> Callable[[], bool]:
    """A condition: whether the first request was answered at least this many seconds ago."""
    return lambda: bool(sink.answers) and time.monotonic() - sink.answers[0][0].arrived >= seconds


def test_a_service_delivers_a_transcript_deleted_a_second_after_the_first_failure(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home, LINES)
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink, {"COLLECTOR_RETRY__MAX_WAIT": "2"})
        with agent.start() as running:
            sink.wait_for(after(sink, 1.0))
            path.unlink()
            sink.wait_for(after(sink, GIVEN_UP_AFTER))
            sink.clear_script()
            sink.wait_for(lambda: len(set(sink.ids())) == LINES)
            assert running.stop() == 0
        assert len(sink.ids()) == LINES
        assert held(agent) == []


def test_a_scan_delivers_a_transcript_deleted_a_second_after_the_first_failure(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home, LINES)
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink)
        with agent.start("--max-wait", "2", command="scan") as running:
            sink.wait_for(after(sink, 1.0))
            path.unlink()
            assert running.process.wait(PATIENCE) == 75
        sink.clear_script()
        result = agent.scan().assert_balanced()
        assert (result.code, result.ledger["delivered"], result.ledger["lag"]) == (0, LINES, 0)
        assert len(sink.ids()) == LINES
        assert held(agent) == []


@pytest.mark.parametrize("command", ["scan", "run"])
def test_a_file_deleted_before_its_turn_is_delivered_by_the_same_pass(tmp_path: Path, command: str) -> None:
    """The sink recovers before the pass gives up: files found but not yet opened are read from what is held."""
    home = Home(tmp_path)
    paths = [session(home, 20) for _ in range(4)]
    with Sink(then=Answer(503)) as sink:
        batches = {"COLLECTOR_BATCH__MAX_EVENTS": "1", "COLLECTOR_SINK__WINDOW": "1"}
        agent = Agent(home, sink, NO_RESCANS | ONE_PASS | batches)
        with agent.start(command=command) as running:
            sink.wait_for(lambda: len(held(agent)) == 4)
            for path in paths:
                path.unlink()
            sink.clear_script()
            sink.wait_for(lambda: len(set(sink.ids())) == 80)
            assert (running.process.wait(PATIENCE) if command == "scan" else running.stop()) == 0
        assert len(sink.ids()) == 80
        assert agent.scan().ledger["lines"] == 0
        assert held(agent) == []


def test_a_file_written_and_deleted_while_the_sink_is_down_arrives(tmp_path: Path) -> None:
    """The pass that met the failing sink lasts as long as the outage, but what is written meanwhile is held, too."""
    home = Home(tmp_path)
    session(home, 5)
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink, NO_RESCANS | ONE_PASS)
        with agent.start() as running:
            sink.wait_for(lambda: len(held(agent)) == 1)
            later = session(home, 20)
            sink.wait_for(lambda: len(held(agent)) == 2)
            later.unlink()
            sink.clear_script()
            sink.wait_for(lambda: len(set(sink.ids())) == 25)
            assert running.stop() == 0
        assert agent.scan().ledger["lines"] == 0
        assert held(agent) == []


def test_a_sink_that_works_causes_no_links(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, 5)
    with Sink() as sink:
        agent = Agent(home, sink)
        with agent.start() as running:
            sink.wait_for(lambda: len(sink.ids()) == 5)
            running.stop()
        assert not agent.state.with_name("state.held").exists()
        assert "held" not in running.stderr


def test_one_failed_request_leaves_nothing_behind(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home, 5)
    with Sink(Answer(503)) as sink:
        agent = Agent(home, sink)
        result = agent.scan().assert_balanced()
        assert (result.code, result.ledger["delivered"]) == (0, 5)
        assert not agent.state.with_name("state.held").exists()
        assert path.stat().st_nlink == 1


def test_one_failed_request_of_a_glance_leaves_nothing_behind_and_causes_no_walk(tmp_path: Path) -> None:
    home, clock = Home(tmp_path), Clock()
    made = home.session()
    made.prompt("before")
    retry = {"initial_interval": 0.01, "max_interval": 0.02, "max_wait": 30.0}
    with Sink() as sink, Steps(home, sink, clock, given={"retry": retry}) as steps:
        steps.until_idle()
        walked = steps.service.passes.seen.at
        sink.answer(Answer(503))
        made.prompt("after")
        steps.hint(made.path)
        clock.forward(1.0)
        steps.until_idle()
        assert [event["text"] for event in sink.events] == ["before", "after"]
        assert len(sink.posts) == 3
        assert steps.service.passes.seen.at == walked
        assert steps.saved() == {made.path.name: made.path.stat().st_size}
        assert steps.service.describe()["held"] == {"files": 0, "bytes": 0, "left_out": 0}
        assert made.path.stat().st_nlink == 1
