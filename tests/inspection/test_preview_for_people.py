"""`collector preview` for people: the list of sessions, what would be sent of one, and the exact bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import PATIENCE, Sink

KEY = "AKIA" + "Q3EGRZPLMWXCVB7T"
LEVELS = [
    {},
    {"COLLECTOR_CAPTURE__LEVEL": "metadata"},
    {"COLLECTOR_CAPTURE__LEVEL": "metadata", "COLLECTOR_CAPTURE__NAMES": "omit"},
    {"COLLECTOR_CAPTURE__PROMPTS": "false", "COLLECTOR_CAPTURE__FILE_PATHS": "false"},
    {"COLLECTOR_CAPTURE__TOOL_INPUT": "false", "COLLECTOR_CAPTURE__TOOL_OUTPUT": "false"},
    {"COLLECTOR_CAPTURE__THINKING": "false", "COLLECTOR_CAPTURE__ANSWERS": "false", "COLLECTOR_BATCH__MAX_EVENTS": "3"},
]


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    return Inside(home, sink)


@pytest.mark.parametrize("environment", LEVELS, ids=lambda each: " ".join(each.values()) or "content")
def test_the_bytes_shown_are_the_bytes_sent(home: Home, sink: Sink, agent: Agent, environment: dict[str, str]) -> None:
    agent.scan()  # creates this installation's key for markers and pseudonyms
    home.with_everything()
    home.session().prompt(f"the key is {KEY}")
    shown = agent.run("preview", "--raw", *agent.places(), env=environment)
    assert shown.code == 0, shown.stderr
    assert sink.posts == []
    assert agent.scan(**environment).code == 0
    sent = sorted(line for request in sink.posts for line in request.body.splitlines())
    assert sorted(shown.stdout.encode().splitlines()) == sent
    assert len(sent) > 5


def test_sessions_are_listed_with_their_state(home: Home, agent: Agent) -> None:
    sent, partly, excluded, pending = (home.session(project=f"-work-{name}") for name in ("a", "b", "c", "d"))
    excluded.cwd = "/work/c"
    for session in (sent, partly):
        session.prompt("one")
    agent.scan()
    for session in (partly, excluded, pending):
        session.prompt("two")
    said_no = {"COLLECTOR_PROJECTS__EXCLUDE": "/work/c"}
    rows = [
        json.loads(line) for line in agent.run("preview", "--json", *agent.places(), env=said_no).stdout.splitlines()
    ]
    states = {row["session"]: row["state"] for row in rows}
    assert states == {
        sent.session_id: "sent",
        partly.session_id: "partly sent",
        excluded.session_id: "excluded",
        pending.session_id: "pending",
    }
    assert agent.run("preview", sent.session_id, "--json", *agent.places()).code == 2, "it would not print JSON"
    assert [row["changed"] for row in rows] == sorted((row["changed"] for row in rows), reverse=True)
    listed = agent.run("preview", *agent.places(), env=said_no).stdout
    assert re.search(rf"excluded +\d+ bytes  {excluded.session_id}  -work-c", listed)
    assert re.search(rf"partly sent +\d+ bytes of \d+ bytes  {partly.session_id}", listed)


def test_statistics_are_listed_as_excluded_while_any_project_is(home: Home, agent: Agent) -> None:
    home.stats()
    for said, state in (("", "pending"), ("/work/elsewhere", "excluded")):
        answer = agent.run("preview", "--json", *agent.places(), env={"COLLECTOR_PROJECTS__EXCLUDE": said})
        assert [json.loads(line)["state"] for line in answer.stdout.splitlines()] == [state]
    assert agent.scan(COLLECTOR_PROJECTS__EXCLUDE="/work/elsewhere").ledger["delivered"] == 0


def test_history_left_out_by_from_now_is_neither_sent_nor_pending(home: Home, agent: Agent) -> None:
    before = time.time() - 60
    old, unseen, newer = (home.session(project=f"-work-{name}") for name in ("a", "b", "c"))
    unseen.cwd = "/work/b"
    for session in (old, unseen):
        session.prompt("one")
        os.utime(session.path, (before, before))
    said_no = {"COLLECTOR_PROJECTS__EXCLUDE": "/work/b"}
    assert agent.scan("--from-now", **said_no).ledger["lines"] == 0
    home.pen.now = datetime.now(UTC) + timedelta(hours=1)
    newer.prompt("two")
    os.utime(newer.path, (before + 3600, before + 3600))
    rows = map(json.loads, agent.run("preview", "--json", *agent.places()).stdout.splitlines())
    assert {row["session"]: (row["state"], row["unsent"]) for row in rows} == {
        old.session_id: ("left out", 0),
        unseen.session_id: ("left out", 0),
        newer.session_id: ("pending", newer.path.stat().st_size),
    }
    assert agent.scan().ledger["delivered"] == 1


def test_a_session_sent_before_its_rest_was_left_out_is_shown_as_sent(home: Home, agent: Agent) -> None:
    home.session().prompt("one")
    agent.scan()
    agent.run("pause", "--state", str(agent.state))
    agent.run("resume", "--from-now", "--state", str(agent.state))
    agent.scan()
    [row] = map(json.loads, agent.run("preview", "--json", *agent.places()).stdout.splitlines())
    assert row["state"] == "sent"


def test_what_is_to_be_left_out_by_the_first_pass_is_not_pending(home: Home, agent: Agent) -> None:
    home.session().prompt("one")
    agent.run("pause", "--state", str(agent.state))
    agent.run("resume", "--from-now", "--state", str(agent.state))
    assert list(agent.directory.glob("*.leave-out")), "no pass yet"
    [row] = map(json.loads, agent.run("preview", "--json", *agent.places()).stdout.splitlines())
    assert (row["state"], row["unsent"]) == ("left out", 0)
    assert "0 events shown" in agent.run("preview", "--limit", "5", *agent.places()).stderr
    assert list(agent.directory.glob("*.leave-out")), "a preview changes nothing"
    assert agent.scan().ledger["lines"] == 0


def test_a_session_is_shown_as_readable_text(home: Home, agent: Agent) -> None:
    session = home.session()
    session.prompt(f"please use {KEY}\nfor this")
    session.reply("Done.", tokens=3)
    home.session().prompt("of another session")
    shown = agent.run("preview", session.session_id[:12], *agent.places())
    lines = shown.stdout.splitlines()
    assert re.fullmatch(r"-- \S+ user_prompt user human", next(line for line in lines if line.startswith("--")))
    assert any(re.fullmatch(r"    please use \[REDACTED:[a-z-]+:[0-9a-f]{12}\]", line) for line in lines)
    assert "    for this" in lines
    assert "    Done." in lines
    assert any(re.fullmatch(r"    redacted: 1 [a-z-]+", line) for line in lines)
    assert "of another session" not in shown.stdout
    assert KEY not in shown.stdout
    assert lines[-1].startswith("collector sends to http://127.0.0.1:")
    assert "2 events shown. Nothing was sent." in shown.stderr


def test_readable_text_leaves_out_nothing_that_will_be_sent(home: Home, agent: Agent) -> None:
    agent.scan()  # creates this installation's ids
    session = home.with_everything()
    session.record({"type": "brand-new", "subtype": "of-a-kind", "said": "hello", "sessionId": session.session_id})
    raw = agent.run("preview", "--raw", "--all", *agent.places()).stdout
    shown = agent.run("preview", "--limit", "0", "--all", *agent.places()).stdout
    events = [json.loads(line) for line in raw.splitlines()]
    assert {word for event in events for word in words(event | {"id": ""}) if word not in shown} == set()
    assert "of-a-kind" in shown


def words(value: Any) -> Iterator[str]:
    """The words of every text in a JSON value."""
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from words(each)


def test_left_out_content_is_named_with_its_reason(home: Home, agent: Agent) -> None:
    session = home.session()
    session.prompt("x" * 41)
    session.record({"type": "progress", "data": {"type": "bash_progress"}, "sessionId": session.session_id})
    environment = {"COLLECTOR_CAPTURE__PROMPTS": "false"}
    shown = agent.run("preview", session.session_id, *agent.places(), env=environment).stdout
    assert "left out: 41 characters of text (prompts)" in shown
    assert "not sent: 1 line, progress." in shown
    assert "at level content: what the model answers" in shown


def test_content_that_no_level_sends_is_named(home: Home, agent: Agent) -> None:
    session = home.session()
    session.thinking("Let me look.")
    shown = agent.run("preview", session.session_id, *agent.places()).stdout
    assert "characters of signature (not sent at any level)" in shown


def test_a_reader_that_closes_the_pipe_is_not_an_error(home: Home, sink: Sink) -> None:
    for _ in range(60):
        home.session().prompt("word " * 400)
    agent = Agent(home, sink)
    command = " ".join([*COLLECTOR, "preview", "--limit", "0", *agent.places(), "|", "head", "-1"])
    ended = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        check=False,
        env=agent.environment,
        cwd=home.path,
        timeout=PATIENCE,
    )
    assert ended.stderr == b""
    assert ended.returncode in (0, 141)
    assert ended.stdout.count(b"\n") == 1
