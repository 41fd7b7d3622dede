"""A pause while the service runs: it takes effect before anything else is sent, and ends on time."""

from __future__ import annotations

import errno
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from collector.errors import StateError
from collector.keeping.pause import Standstill, ask_to_leave_out, pause, pause_path, paused_since, read_pause, resume
from collector.service.notify import Notifier
from tests.agent import Agent, Running
from tests.build import Home
from tests.service.process import wait_until
from tests.service.steps import Clock, Steps
from tests.service.test_notify import Manager
from tests.sink import Answer, Sink, texts


def test_a_running_service_pauses_and_resumes(home: Home, sink: Sink, clock: Clock) -> None:
    with Steps(home, sink, clock, given={"heartbeat": {"interval": 60.0}}) as steps:
        home.session().prompt("one")
        steps.until_idle()
        sent = len(sink.requests)
        pause(steps.service.settings.state_path, clock.wall(), None)
        home.session().prompt("two")
        clock.forward(3600)
        assert steps.until_idle() <= 2
        assert len(sink.requests) == sent
        resume(steps.service.settings.state_path)
        steps.until_idle()
        assert "two" in sink.raw_bytes.decode()
        # An unreadable pause has no end.
        pause_path(steps.service.settings.state_path).write_text("{")
        home.session().prompt("three")
        clock.forward(100_000)
        steps.until_idle()
        assert "three" not in sink.raw_bytes.decode()
        resume(steps.service.settings.state_path)
        steps.until_idle()
        assert "three" in sink.raw_bytes.decode()


def test_the_service_manager_is_told_of_a_pause(home: Home, sink: Sink, clock: Clock) -> None:
    manager = Manager("@collector-test-pause")
    with closing(manager.socket), Steps(home, sink, clock, notifier=Notifier(manager.address)) as steps:
        steps.until_idle()
        steps.service._progress()
        assert manager.hear().startswith("STATUS=nothing waiting")
        pause(steps.service.settings.state_path, clock.wall(), None)
        home.session().prompt("one")
        clock.forward(60)
        steps.until_idle()
        steps.service._progress()
        assert manager.hear().startswith("STATUS=nothing is sent: paused since")


def test_while_a_request_to_leave_out_cannot_be_saved_nothing_is_sent(home: Home, sink: Sink, clock: Clock) -> None:
    with Steps(home, sink, clock) as steps:
        state = steps.service.settings.state_path
        session = home.session()
        session.prompt("one")
        steps.until_idle()
        in_the_way = state.with_name("state.json.new")
        in_the_way.mkdir()
        session.prompt("left out")
        ask_to_leave_out(state)
        for _ in range(3):
            clock.forward(60)
            steps.until_idle()
        in_the_way.rmdir()
        clock.forward(60)
        steps.until_idle()
        session.prompt("two")
        clock.forward(3600)
        steps.until_idle()
    assert [event["text"] for event in sink.events] == ["one", "two"]


def test_a_no_reaches_an_agent_that_runs_where_its_state_was_before(home: Home, sink: Sink) -> None:
    agent, session = Agent(home, sink), home.session()
    session.prompt("one")
    file = Path(agent.run("config", "init").stdout.removeprefix("Wrote ").strip())
    command = [*agent.program, "run", "--root", str(home.root), "--sink-url", sink.url]
    with Running(command, agent.environment, agent.directory, is_warm=True) as running:
        sink.wait_for(lambda: texts(sink) == ["one"])
        file.write_text(f'[state]\npath = "{agent.state}"\n')
        agent.run("pause")
        session.prompt("two")
        wait_until(lambda: '"event": "nothing is sent"' in running.stderr)
        assert "Resumed." in agent.run("resume").stdout
        sink.wait_for(lambda: texts(sink) == ["one", "two"])
        assert "The running agent has been told" in agent.run("exclude", session.cwd).stdout
        wait_until(lambda: "state.path cannot change while the agent runs" in running.stderr)
        session.prompt("three")
        assert running.stop() == 0
    assert texts(sink) == ["one", "two"]


def test_a_no_reaches_an_agent_whose_state_only_its_own_flags_name(home: Home, agent: Agent, sink: Sink) -> None:
    """As one that still runs where a file named its state, before the file named another."""
    session = home.session()
    session.prompt("one")
    with agent.start() as running:
        sink.wait_for(lambda: texts(sink) == ["one"])
        agent.run("pause")
        session.prompt("two")
        wait_until(lambda: '"event": "nothing is sent"' in running.stderr)
        assert "Resumed." in agent.run("resume").stdout
        sink.wait_for(lambda: texts(sink) == ["one", "two"])
        assert "The running agent has been told" in agent.run("exclude", session.cwd).stdout
        session.prompt("three")
        wait_until(lambda: '"event": "configuration applied"' in running.stderr)
        assert running.stop() == 0
    assert texts(sink) == ["one", "two"]


def test_a_no_reaches_scans_whose_state_only_their_own_flags_name(home: Home, agent: Agent, sink: Sink) -> None:
    home.session().prompt("one")
    agent.scan()
    [link] = home.path.rglob("*.elsewhere")
    link.with_name("restored by a backup that follows links.elsewhere").mkdir()
    assert agent.run("pause").code == 0
    home.session().prompt("two")
    assert "paused since" in agent.scan().stderr
    assert texts(sink) == ["one"]


def test_forgetting_reaches_files_held_beside_another_state(home: Home, agent: Agent, sink: Sink) -> None:
    sink.then = Answer(503)
    session = home.session()
    session.prompt("one")
    agent.scan("--max-wait", "0")
    file = Path(agent.run("config", "init").stdout.removeprefix("Wrote ").strip())
    file.write_text('[state]\npath = "~/another/state.json"\n')
    forget = "forget", "--yes", "--session", session.session_id
    with agent.start():
        wait_until(lambda: agent.run(*forget).code == 3)  # it holds the file
    assert "1 held file" in agent.run(*forget).stdout


def test_what_a_first_run_sent_before_a_pause_does_not_count_as_left_out(home: Home, agent: Agent, sink: Sink) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        sink.wait_for(lambda: texts(sink) == ["one"])
        agent.run("pause")
        agent.run("resume", "--from-now")
        wait_until(lambda: '"event": "what was unsent is left out, as asked"' in running.stderr)
        assert running.stop() == 0
    [told] = map(json.loads, agent.run("preview", "--json", *agent.places()).stdout.splitlines())
    assert told["state"] == "sent"


def test_a_disk_that_hides_for_a_while_whether_to_leave_out_does_not_end_the_run(
    home: Home, sink: Sink, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for = os.stat

    def refuse(path: Any, **named: Any) -> os.stat_result:
        if str(path).endswith(".leave-out"):
            raise OSError(errno.ESTALE, "Stale file handle", str(path))
        return looked_for(path, **named)

    with Steps(home, sink, clock) as steps:
        steps.until_idle()
        with monkeypatch.context() as patch:
            patch.setattr("os.stat", refuse)
            home.session().prompt("one")
            clock.forward(60)
            steps.until_idle()
            assert sink.requests == []
        clock.forward(60)
        steps.until_idle()
    assert [event["text"] for event in sink.events] == ["one"]


def test_a_pause_ends_by_itself_on_time(tmp_path: Path) -> None:
    pause(tmp_path / "state.json", 1000.0, 8200.0)
    assert read_pause(tmp_path / "state.json", 8199.0) is not None
    assert read_pause(tmp_path / "state.json", 8200.0) is None


@pytest.mark.parametrize(
    "written",
    ["", "{", "[]", "null", "{}", '{"since": 0}', '{"since": "", "until": ""}', '{"since": 1e30, "until": 1e30}'],
)
def test_an_unreadable_pause_has_no_end(tmp_path: Path, written: str) -> None:
    pause_path(tmp_path / "state.json").write_text(written)
    assert read_pause(tmp_path / "state.json", 1000.0) == Standstill("pause", str(tmp_path / "paused.json"))


def test_a_pause_that_is_a_dangling_link_or_a_directory_has_no_end(tmp_path: Path) -> None:
    path = pause_path(tmp_path / "state.json")
    path.symlink_to(tmp_path / "unmounted" / "paused.json")
    assert read_pause(tmp_path / "state.json", 1000.0) is not None
    path.unlink()
    path.mkdir()
    said = f"perhaps paused: {path} cannot be read (it is not a plain file); `collector resume` removes it"
    assert str(read_pause(tmp_path / "state.json", 1000.0)) == said


def test_a_pause_that_is_over_no_longer_counts_as_paused(tmp_path: Path) -> None:
    pause(tmp_path / "state.json", 1000.0, 8200.0)
    assert paused_since(tmp_path / "state.json", 8199.0) == 1000.0
    assert paused_since(tmp_path / "state.json", 8200.0) is None


def test_a_pause_that_cannot_be_written_or_removed_is_reported(tmp_path: Path) -> None:
    pause_path(tmp_path / "state.json").mkdir()
    with pytest.raises(StateError, match="The pause continues"):
        resume(tmp_path / "state.json")
    with pytest.raises(StateError, match="If nothing may be sent, stop the service"):
        pause(tmp_path / "state.json", 1000.0, None)


@pytest.mark.parametrize("said", ["pause", "resume --from-now"])
def test_pause_and_resume_from_now_stop_a_running_pass(home: Home, clock: Clock, said: str) -> None:
    for number in range(12):
        home.session().prompt(f"number {number}")
    state = home.path.parent / "agent" / "state.json"

    def answer(_: object) -> Answer:
        pause(state, clock.wall(), None) if said == "pause" else ask_to_leave_out(state)
        return Answer()

    given = {"batch": {"max_events": 1}}
    with Sink(answer) as sink, Steps(home, sink, clock, given=given) as steps:
        steps.until_idle()
        assert 1 <= len(sink.requests) < 12
        sent = len(sink.requests)
        clock.forward(10_000)
        steps.until_idle()
        assert len(sink.requests) == sent
        assert steps.service.passes.lag.by_priority()["P0"]["behind"] == (12 - sent if said == "pause" else 0)
