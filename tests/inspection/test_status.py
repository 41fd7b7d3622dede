"""`collector status`: the same report from a running agent and from the files that one left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.inside import Inside
from tests.service.process import NO_RESCANS
from tests.sink import PATIENCE, Answer, Sink


def told(agent: Agent) -> dict[str, Any]:
    """The report as data."""
    result = agent.run("status", "--json", *agent.places())
    assert result.code == 0, result.stderr
    return dict(json.loads(result.stdout))


def told_when(agent: Agent, name: str, value: object) -> dict[str, Any]:
    """The report, once it has this value."""
    deadline = time.monotonic() + PATIENCE
    while (report := told(agent)).get(name) != value:
        assert time.monotonic() < deadline, report
    return report


def test_without_an_agent_the_report_comes_from_the_state_and_the_roots(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("one")
    session.subagent().prompt("below")
    home.history("one")
    report = told(agent)
    assert (report["is_running"], report["holder"]) == (False, None)
    assert report["priorities"]["P0"] == {"sources": 1, "behind": 1, "lag": session.path.stat().st_size}
    assert report["priorities"].keys() == {"P0", "P1", "P2"}
    agent.scan()
    report = told(agent)
    assert (report["lag"], report["quarantine"]) == (0, 0)
    assert not agent.state.with_name("state.status.json").exists()


def test_a_running_agent_reports_about_itself(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        report = told_when(agent, "delivered", 1)
        assert (report["is_running"], report["pid"]) == (True, running.process.pid)
        assert report["watcher"]["mode"] == "events"
        assert report["last_acknowledged"]
        assert report["problem"] is None
        assert report["offsets"]["is_new"] is False, "it was sent something since the agent started"
    report = told(agent)
    assert report["is_running"] is False
    assert report["last_acknowledged"]


def test_what_is_written_during_a_pause_is_reported_as_waiting(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("one")
    with agent.start():
        told_when(agent, "delivered", 1)
        agent.run("pause", "--state", str(agent.state))
        before = session.size
        session.prompt("two")
        assert told_when(agent, "lag", session.size - before)["priorities"]["P0"]["behind"] == 1


def test_what_is_held_of_a_deleted_transcript_counts_as_waiting(home: Home, sink: Sink, agent: Agent) -> None:
    sink.then = Answer(503)
    session = home.session()
    session.prompt("one")
    assert agent.scan("--max-wait", "0").code == 75
    size = session.size
    session.delete()
    report = told(agent)
    assert (report["lag"], report["priorities"]["P0"]) == (size, {"sources": 1, "behind": 1, "lag": size})
    assert report["held"]["files"] == 1
    listed = agent.run("preview", *agent.places()).stdout
    assert session.session_id in listed
    assert "held" in listed
    assert "one" in agent.run("preview", session.session_id, *agent.places()).stdout


def test_what_a_former_sink_acknowledged_is_not_said_of_another(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start():
        told_when(agent, "delivered", 1)
    assert told(agent)["last_acknowledged"]
    with Sink() as another:
        report = told(Agent(home, another))
    assert (report["sink"], report["last_acknowledged"]) == (another.url, None)


def test_a_killed_agent_is_reported_as_not_running(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        told_when(agent, "delivered", 1)
        running.kill()
        assert told(agent)["is_running"] is False


def test_a_failing_sink_is_reported_while_the_agent_waits_for_it(home: Home, sink: Sink, agent: Agent) -> None:
    sink.then = Answer(503)
    home.session().prompt("one")
    with agent.start():
        deadline = time.monotonic() + PATIENCE
        while not (report := told(agent)).get("problem"):
            assert time.monotonic() < deadline
        assert report["problem"]["kind"] == "unavailable"
        assert "503" in report["problem"]["reason"]
        assert "Check that the sink is up" in report["problem"]["reason"]
        assert report["lag"] > 0


def test_what_is_written_while_the_sink_fails_is_reported_as_waiting(home: Home, sink: Sink, agent: Agent) -> None:
    sink.then = Answer(503)
    session = home.session()
    session.prompt("one")
    with agent.start(COLLECTOR_RETRY__MAX_WAIT="600", **NO_RESCANS):  # one pass lasts as long as the test
        sink.wait_for(lambda: sink.posts)
        told_when(agent, "is_running", True)
        session.prompt("two")
        assert told_when(agent, "lag", session.size)["problem"]["kind"] == "unavailable"
        another = home.session()
        another.prompt("three")
        lag = session.size + another.size
        assert told_when(agent, "lag", lag)["priorities"]["P0"] == {"sources": 2, "behind": 2, "lag": lag}


@pytest.mark.parametrize(
    ("what", "found", "reason"),
    [
        ("shutil.disk_usage", SimpleNamespace(free=0), "No space is left in {}"),
        ("os.access", False, "{} is not writable"),
    ],
)
def test_a_state_that_cannot_be_written_is_reported_although_the_agent_cannot_report_it(
    home: Home, sink: Sink, agent: Agent, monkeypatch: pytest.MonkeyPatch, what: str, found: object, reason: str
) -> None:
    home.session().prompt("one")
    with agent.start():
        told_when(agent, "delivered", 1)
        monkeypatch.setattr(what, lambda *_, **__: found)
        problem = told(Inside(home, sink))["problem"]
    assert problem["kind"] == "state"
    assert problem["reason"].startswith(reason.format(agent.directory))


def test_a_scan_that_holds_the_state_is_named(home: Home, sink: Sink, agent: Agent) -> None:
    answered = threading.Event()
    sink.then = Answer(held=answered)
    home.session().prompt("one")
    with agent.start(command="scan") as running:
        sink.wait_for(lambda: sink.posts)
        report = told(agent)
        assert report["is_running"] is False
        assert f"scan, process {running.process.pid}" in report["holder"]
        answered.set()
        assert running.process.wait(PATIENCE) == 0


def test_watch_repeats_the_report_until_it_is_interrupted(home: Home, agent: Agent) -> None:
    command = [*COLLECTOR, "status", "--json", "--watch", *agent.places()]
    with subprocess.Popen(command, env=agent.environment, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        first, second = (json.loads(watching.stdout.readline()) for _ in range(2))
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    assert first["lag"] == second["lag"] == 0


def test_others_cannot_read_the_status_file(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start():
        told_when(agent, "delivered", 1)
    assert os.stat(agent.state.with_name("state.status.json")).st_mode & 0o777 == 0o600


def test_no_text_and_no_secret_gets_into_the_status(home: Home, sink: Sink, agent: Agent) -> None:
    key = "AKIA" + "Q3EGRZPLMWXCVB7T"
    home.session().prompt(f"pomegranate {key}")
    sink.then = Answer(400, body=f"pomegranate {key}".encode())
    with agent.start():
        told_when(agent, "quarantine", 1)
    text = agent.state.with_name("state.status.json").read_text()
    assert key not in text
    assert "pomegranate" not in text


@pytest.mark.parametrize("damage", ["[]", '{"problem": "x"}', '{"problem": {}}', '{"updated": 5}', '{"since": "x"}'])
def test_a_damaged_status_file_counts_as_not_running(home: Home, agent: Agent, damage: str) -> None:
    agent.directory.mkdir()
    (agent.directory / "state.status.json").write_text(damage)
    result = agent.run("status", *agent.places())
    assert (result.code, result.stdout.splitlines()[0]) == (0, "agent       not running")
