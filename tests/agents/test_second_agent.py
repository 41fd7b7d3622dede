"""A second agent needs a format and a line in the registry, and everything works for it as it does for the first."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.redact.secrets import ALNUM, pick
from tests.sink import Answer, Sink, texts

PROGRAM = (sys.executable, "-m", "tests.agents.scribe")
KEY = "ghp_" + pick(random.Random(7), ALNUM, 36)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, name=".scribe")


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    return Agent(home, sink, program=PROGRAM, names_its_root=False)


def log(home: Home, *words: str, desk: str = "novel", where: str = "/work/novel", name: str = "s1") -> Path:
    """Appends these words to a log of the scribe; returns its path."""
    path = home.root / "desks" / desk / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number, word in enumerate(words):
            line = {"at": 1_772_359_200 + number, "where": where, "who": "me", "words": word}
            file.write(json.dumps(line) + "\n")
    return path


def test_the_second_agents_files_are_found_redacted_and_delivered(home: Home, sink: Sink, agent: Agent) -> None:
    log(home, "Once upon a time", f"the key is {KEY}").with_suffix(".about").write_text('{"style": "dry"}')
    (home.root / "ledger.json").write_text('{"pages": [{"at": 1, "words": "page one"}]}')
    ledger = agent.scan().assert_balanced().ledger
    assert ledger["files"]["read"] == 2
    assert {"page one", "Once upon a time"} < set(texts(sink))
    event = next(event for event in sink.events if event["text"] == "Once upon a time")
    assert (event["client"]["name"], event["session_id"], event["project"]) == ("scribe", "s1", "novel")
    assert (event["priority"], event["attributes"]) == (1, {"style": "dry"})
    assert KEY not in str(sink.events)
    assert ledger["redactions"] == {"github-token": 1}


def test_the_second_agents_root_is_recognised_when_it_is_named(home: Home, sink: Sink, agent: Agent) -> None:
    log(home, "Once upon a time")
    assert agent.scan("--root", str(home.root)).ledger["delivered"] == 1


def test_the_message_for_a_missing_root_names_the_second_agent(home: Home, agent: Agent) -> None:
    home.root.rmdir()
    result = agent.run("scan", "--root", str(home.root))
    assert result.code == 66
    assert "Scribe creates it when it first starts" in result.stderr
    assert "--root or $SCRIBE_HOME" in result.stderr


def test_the_second_agents_offsets_have_a_section_of_their_own(home: Home, sink: Sink, agent: Agent) -> None:
    path = log(home, "one")
    agent.scan()
    state = json.loads(agent.state.read_bytes())
    assert state["scribe"]["files"]["~/.scribe/desks/novel/s1.log"]["offset"] == path.stat().st_size
    assert state["claude_code"] == {"files": {}}
    log(home, "two")
    assert agent.scan().ledger["delivered"] == 1
    assert sorted(texts(sink)) == ["one", "two"]


def test_both_agents_are_collected_side_by_side(home: Home, sink: Sink, agent: Agent) -> None:
    log(home, "of the scribe")
    other = Home(home.path.parent)
    other.session().prompt("of Claude Code")
    assert agent.scan().ledger["delivered"] == 2
    assert {event["client"]["name"] for event in sink.events} == {"scribe", "claude_code"}
    state = json.loads(agent.state.read_bytes())
    assert [len(state[name]["files"]) for name in ("claude_code", "scribe")] == [1, 1]
    assert agent.scan().ledger["files"]["unchanged"] == 2


def test_a_stub_waits_until_it_grows(home: Home, sink: Sink, agent: Agent) -> None:
    path = log(home)
    path.write_text('{"blank": true}\n')
    assert agent.scan().ledger["files"]["skipped"] == {"warmup": 1}
    log(home, "words at last")
    agent.scan()
    assert "words at last" in texts(sink)


def test_an_excluded_directory_is_excluded(home: Home, sink: Sink, agent: Agent) -> None:
    log(home, "nobody's business", desk="diary", where="/work/diary/2026")
    log(home, "for everybody")
    agent.scan(COLLECTOR_PROJECTS__EXCLUDE="/work/diary")
    assert texts(sink) == ["for everybody"]


def test_status_and_doctor_report_the_second_agent(home: Home, agent: Agent) -> None:
    log(home, "one")
    status = json.loads(agent.run("status", "--json", *agent.places()).stdout)
    assert status["priorities"]["P1"]["behind"] == 1
    assert [root["agent"] for root in status["roots"]] == ["scribe"]
    assert "1 log, 1 behind" in agent.run("status", *agent.places()).stdout
    Home(home.path.parent).session().prompt("of Claude Code")
    assert "1 subagent or log, 1 behind" in agent.run("status", *agent.places()).stdout
    doctor = agent.run("doctor", *agent.places()).stdout
    assert f"{home.root}: 1 source" in doctor


def test_a_log_deleted_while_the_sink_is_down_is_held_and_delivered(home: Home, sink: Sink, agent: Agent) -> None:
    path = log(home, "do not forget me")
    path.with_suffix(".about").write_text('{"style": "dry"}')
    sink.then = Answer(503)
    assert agent.scan("--max-wait", "0").code == 75
    path.unlink()
    path.with_suffix(".about").unlink()
    sink.then = Answer()
    agent.scan()
    assert texts(sink) == ["do not forget me"]
    assert sink.events[0]["attributes"] == {"style": "dry"}


def test_the_service_notices_what_is_written(home: Home, sink: Sink, agent: Agent) -> None:
    log(home, "one")
    with agent.start():
        sink.wait_for(lambda: texts(sink) == ["one"])
        log(home, "two")
        sink.wait_for(lambda: texts(sink) == ["one", "two"])
