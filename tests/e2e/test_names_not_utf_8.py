"""In a home whose path is not UTF-8, such as one from the days of Latin-1, everything works as usual."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / os.fsdecode(b"jos\xe9"))
    home.session().prompt("one")
    return home


def test_a_scan_sends_everything_and_remembers_it(home: Home) -> None:
    with Sink() as sink:
        agent = Agent(home, sink, {"COLLECTOR_HEARTBEAT__INTERVAL": "300"})
        assert [agent.scan().assert_balanced().ledger["delivered"] for _ in range(2)] == [1, 0]
        assert {event["kind"] for event in sink.events} == {"user_prompt", "heartbeat"}


def test_a_scan_into_the_embedded_store_remembers_it(home: Home) -> None:
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(home.path.parent / "events.db")})
    first, second = agent.scan(), agent.scan()
    assert (first.code, first.ledger["delivered"]) == (0, 1), first.stderr
    assert (second.code, second.ledger["lines"]) == (0, 0), second.stderr


def test_the_service_reports_its_heartbeat_and_progress(home: Home) -> None:
    with Sink() as sink:
        agent = Agent(home, sink, {"COLLECTOR_HEARTBEAT__INTERVAL": "1"})
        with agent.start() as running:
            sink.wait_for(lambda: sum(event["kind"] == "heartbeat" for event in sink.events) > 1)
            status = agent.run("status", "--json", *agent.places())
            assert running.stop() == 0
        assert "TypeError" not in running.stderr
    assert status.code == 0
    assert json.loads(status.stdout)["last_acknowledged"] is not None


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_configuration_can_be_shown(home: Home, more: tuple[str, ...]) -> None:
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(home.path.parent / "events.db")})
    result = agent.run("config", "show", *more)
    assert result.code == 0, result.stderr
    assert "events.db" in result.stdout


def test_a_directory_that_cannot_be_written_as_toml_is_excluded_by_a_glob(home: Home) -> None:
    agent = Agent(home)
    result = agent.run("exclude", str(home.path.parent / "private"))
    assert result.code == 78
    assert "is not UTF-8" in result.stderr
    assert "projects.exclude" in result.stderr
