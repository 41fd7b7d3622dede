"""At the level metadata, no word that anybody said reaches the sink, the heartbeat or the log by any route."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent import Agent, Result
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink, rejecting

WORD = "zorvynqlumpxtrig"
METADATA = {
    "COLLECTOR_CAPTURE__LEVEL": "metadata",
    "COLLECTOR_HEARTBEAT__INTERVAL": "300",
    "COLLECTOR_HOST__NAME": f"{WORD}-laptop",
    "COLLECTOR_LOG__LEVEL": "debug",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a word wherever somebody may put one: project, branch, tools, agents, new records, torn lines."""
    home = Home(tmp_path)
    session = home.session(project=f"-work-{WORD}")
    session.cwd = f"/work/{WORD}"
    session.prompt(f"say {WORD}")
    session.reply(f"{WORD}!", tokens=3)
    common: dict[str, Any] = {"sessionId": session.session_id, "cwd": f"/work/{WORD}", "gitBranch": WORD, "slug": WORD}
    call = {"type": "tool_use", "id": "toolu_01abcdef", "name": f"mcp__{WORD}__{WORD}", "input": {WORD: [WORD]}}
    message = {"role": "assistant", "model": f"{WORD}-9", "content": [call], "stop_reason": WORD, "id": WORD}
    records: list[dict[str, Any]] = [
        {"type": "assistant", "uuid": WORD, "message": message, "version": WORD, "entrypoint": WORD},
        {
            "type": WORD,
            "subtype": WORD,
            WORD: WORD,
            "mode": WORD,
            "status": {WORD: 1},
            "tools": [WORD],
            "agentId": WORD,
        },
        {"type": "attachment", "attachment": {"type": WORD, "content": WORD, WORD: {"a": [WORD]}}},
        {"type": "system", "subtype": WORD, "content": WORD, "level": WORD, "attributionSkill": WORD},
        {"type": "user", "message": {"role": WORD, "content": [{"type": WORD, "text": WORD, WORD: WORD}]}},
    ]
    for record in records:
        session.record(common | record)
    session.subagent(meta={"agentType": WORD, "description": WORD, "name": WORD}).user(WORD)
    home.history(f"about {WORD}", project=f"/work/{WORD}")
    home.index(session, firstPrompt=WORD, summary=WORD)
    session.path.write_bytes(session.path.read_bytes() + f'{{"type": "{WORD}", "torn\n'.encode())
    return home


def retry(agent: Agent, sink: Sink) -> Result:
    """Retries what is quarantined, at the level metadata."""
    environment = METADATA | {"COLLECTOR_SINK__URL": sink.url}
    return agent.run("quarantine", "retry", "--all", "--state", str(agent.state), env=environment)


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(then=rejecting(lambda event: event["kind"] == "assistant_response")) as sink:
        yield sink


def test_no_word_leaves_by_any_route(home: Home, sink: Sink) -> None:
    agent: Agent = Inside(home, sink)
    scan = agent.scan(**METADATA)
    assert scan.ledger["delivered"] > 8
    assert scan.ledger["quarantined"] >= 2
    retried = retry(agent, sink)
    assert "refused again 1" in retried.stdout + retried.stderr
    assert agent.run("doctor", *agent.places(), env=METADATA).stdout
    assert {"heartbeat", "unknown", "tool_call", "prompt_history"} <= {event["kind"] for event in sink.events}
    assert WORD.encode() not in sink.raw_bytes.lower()
    assert WORD not in scan.stderr + scan.stdout + retried.stderr
    # The same word has the same pseudonym in every kind of event, so sums still group.
    assert len({event["project"] for event in sink.events if "project" in event}) == 1


def test_an_event_quarantined_with_words_is_retried_without_them(home: Home) -> None:
    said = []

    def refuse_once(event: dict[str, Any]) -> bool:
        said.append(event)
        return event["kind"] == "user_prompt" and len([each for each in said if each["id"] == event["id"]]) == 1

    with Sink(then=rejecting(refuse_once)) as sink:
        agent: Agent = Inside(home, sink)
        assert agent.scan().ledger["quarantined"] >= 2
        before = len(sink.requests)
        retry(agent, sink)
        again = [event for request in sink.requests[before:] for event in request.events]
        assert {event["kind"] for event in again} == {"user_prompt"}
        assert WORD not in json.dumps(again)
