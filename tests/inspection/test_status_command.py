"""`collector status`: the same report from a running agent and from what one left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from typing import Any

import pytest

from collector.cli.status import lines_of
from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.sink import Answer, Sink


def told(agent: Agent) -> dict[str, Any]:
    """The report as data."""
    result = agent.run("status", "--json", *agent.places())
    assert result.code == 0, result.stderr
    return dict(json.loads(result.stdout))


def told_when(agent: Agent, name: str, value: object) -> dict[str, Any]:
    """The report, once it says so."""
    deadline = time.monotonic() + 60
    while (report := told(agent)).get(name) != value:
        assert time.monotonic() < deadline, report
    return report


def test_without_an_agent_the_state_and_the_roots_tell(home: Home, sink: Sink, agent: Agent) -> None:
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


def test_a_running_agent_tells_of_itself(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        report = told_when(agent, "delivered", 1)
        assert (report["is_running"], report["pid"]) == (True, running.process.pid)
        assert report["watcher"]["mode"] == "events"
        assert report["last_acknowledged"]
        assert report["problem"] is None
    report = told(agent)
    assert report["is_running"] is False
    assert report["last_acknowledged"]


def test_after_a_kill_it_is_not_running(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        told_when(agent, "delivered", 1)
        running.kill()
        assert told(agent)["is_running"] is False


def test_a_sink_that_is_failing_is_told_of_while_it_is_waited_for(home: Home, sink: Sink, agent: Agent) -> None:
    sink.then = Answer(503)
    home.session().prompt("one")
    with agent.start():
        deadline = time.monotonic() + 60
        while not (report := told(agent)).get("problem"):
            assert time.monotonic() < deadline
        assert report["problem"]["kind"] == "unavailable"
        assert "503" in report["problem"]["reason"]
        assert "Check that the sink is up" in report["problem"]["reason"]
        assert report["lag"] > 0


def test_what_it_says_of_a_scan_that_holds_the_state(home: Home, sink: Sink, agent: Agent) -> None:
    answered = threading.Event()
    sink.then = Answer(held=answered)
    home.session().prompt("one")
    with agent.start(command="scan") as running:
        sink.wait_for(lambda: sink.posts)
        report = told(agent)
        assert report["is_running"] is False
        assert f"scan, process {running.process.pid}" in report["holder"]
        answered.set()
        assert running.process.wait(30) == 0


def test_watch_tells_again_until_it_is_interrupted(home: Home, agent: Agent) -> None:
    command = [*COLLECTOR, "status", "--json", "--watch", *agent.places()]
    with subprocess.Popen(command, env=agent.environment, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        first, second = (json.loads(watching.stdout.readline()) for _ in range(2))
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 0
    assert first["lag"] == second["lag"] == 0


def test_others_cannot_read_the_status_file(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start():
        told_when(agent, "delivered", 1)
    assert os.stat(agent.state.with_name("state.status.json")).st_mode & 0o777 == 0o600


def test_neither_text_nor_secret_gets_into_the_status(home: Home, sink: Sink, agent: Agent) -> None:
    key = "AKIA" + "Q3EGRZPLMWXCVB7T"
    home.session().prompt(f"pomegranate {key}")
    sink.then = Answer(400, body=f"pomegranate {key}".encode())
    with agent.start():
        told_when(agent, "quarantine", 1)
    text = agent.state.with_name("state.status.json").read_text()
    assert key not in text
    assert "pomegranate" not in text


REPORT: dict[str, Any] = {
    "is_running": True,
    "pid": 12,
    "holder": "collector run, process 12",
    "since": "2026-03-01T10:00:00Z",
    "updated": "2026-03-01T11:00:00Z",
    "version": "1.0",
    "sink": "https://sink.example/",
    "last_acknowledged": "2026-03-01T12:59:55Z",
    "problem": {"kind": "halted", "reason": "HTTP 401", "since": "2026-03-01T12:58:00Z", "tries": 4},
    "roots": [{"path": "/home/ada/.claude", "is_there": True}, {"path": "/mnt/x", "is_there": False}],
    "priorities": {
        "P0": {"sources": 3, "behind": 1, "lag": 1500},
        "P1": {"sources": 40, "behind": 0, "lag": 0},
    },
    "lag": 1500,
    "watcher": {"mode": "polling", "reason": "limit reached"},
    "redaction_engine": "hyperscan",
    "redactions": {"aws": 2},
    "quarantine": 1,
    "unlisted_directories": 0,
}
NOW = 1772370000.0  # 2026-03-01T13:00:00Z


def test_a_person_reads_lines() -> None:
    assert lines_of(REPORT, NOW) == [
        "agent       running, process 12, for 3 h, version 1.0",
        "problem     halted for 2 min, 4 tries",
        "problem     HTTP 401",
        "sink        https://sink.example/, last acknowledged 5 s ago",
        "root        /home/ada/.claude",
        "root        /mnt/x is not there yet",
        "P0          3 sessions, 1 behind by 1.5 kB",
        "P1          40 subagents, all sent",
        "lag         1.5 kB",
        "watcher     polling: limit reached",
        "redaction   hyperscan; 2 values since the start",
        "quarantine  1; see `collector quarantine list`",
    ]


def test_a_person_reads_how_much_was_withheld() -> None:
    report = REPORT | {"is_running": False, "redactions": {"aws": 2, "withheld": 11}}
    [line] = [line for line in lines_of(report, NOW) if line.startswith("redaction")]
    assert line.endswith("hyperscan; 2 values since the start; 11 texts withheld, as they could not be redacted")


@pytest.mark.parametrize("is_running", [True, False])
def test_only_a_running_agent_has_a_start(is_running: bool) -> None:
    report = REPORT | {"is_running": is_running, "holder": None, "last_acknowledged": None}
    [line] = [line for line in lines_of(report, NOW) if line.startswith("sink")]
    assert line == "sink        https://sink.example/" + is_running * ", nothing acknowledged since the start"


@pytest.mark.parametrize("damage", ["[]", '{"problem": "x"}', '{"problem": {}}', '{"updated": 5}', '{"since": "x"}'])
def test_a_damaged_status_file_tells_nothing(home: Home, agent: Agent, damage: str) -> None:
    agent.directory.mkdir()
    (agent.directory / "state.status.json").write_text(damage)
    result = agent.run("status", *agent.places())
    assert (result.code, result.stdout.splitlines()[0]) == (0, "agent       not running")


@pytest.mark.parametrize("path", ["/home/\x1b[2J", "/home/\nroot"])
def test_names_cannot_move_the_cursor(path: str) -> None:
    report = REPORT | {"roots": [{"path": path, "is_there": True}]}
    assert all(line.isprintable() for line in lines_of(report, NOW))
