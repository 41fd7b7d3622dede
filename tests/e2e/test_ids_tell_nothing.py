"""Promises 3 and 5: neither an id nor one of Claude Code's own hashes helps to guess the part of a record kept here.

The attacker has the events, knows how ids are made (docs/events.md) and nearly the whole record, and guesses the rest.
"""

from __future__ import annotations

from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink, rejecting

SECRET = "db password: Tulip7Xk93"
METADATA = {"COLLECTOR_CAPTURE__LEVEL": "metadata"}
NO_PROMPTS = {"COLLECTOR_CAPTURE__PROMPTS": "false"}


def guessed(record: dict[str, Any]) -> str:
    """The id that somebody would compute for a line of the prompt history after guessing it right."""
    return blake2b(b"record\0" + orjson.dumps(record, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def ids(home: Home, place: Path, environment: dict[str, str] | None = None) -> list[str]:
    """The ids of a first scan's events; that of the prompt history comes last."""
    with Sink() as sink:
        agent: Agent = Inside(home, sink, environment)
        agent.state = place / "state.json"
        assert agent.scan().code == 0
        return [event["id"] for event in sorted(sink.events, key=lambda event: event["kind"] == "prompt_history")]


@pytest.fixture
def told(home: Home) -> str:
    """Writes a secret as a prompt with a uuid and as one in the history; returns the id the latter must not have."""
    home.session().prompt(SECRET)
    return guessed(orjson.loads(home.history(SECRET).path.read_bytes()))


@pytest.mark.parametrize("environment", [{}, NO_PROMPTS, METADATA], ids=["content", "no prompts", "metadata"])
def test_an_id_does_not_reveal_what_stays_here(
    home: Home, told: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    first = ids(home, tmp_path / "one", environment)
    assert told not in first
    (tmp_path / "one" / "state.json").unlink()
    assert ids(home, tmp_path / "one", environment) == first  # the same installation gives the same ids again
    other = ids(home, tmp_path / "two", environment)
    assert other[0] == first[0]  # a uuid reveals nothing, so its record has the same id everywhere
    assert other[1] not in (told, first[1])


def test_an_id_comes_from_the_content_where_all_of_it_leaves(home: Home, tmp_path: Path) -> None:
    record = orjson.loads(home.history("hello").path.read_bytes())
    assert ids(home, tmp_path / "one") == ids(home, tmp_path / "two") == [guessed(record)]
    assert ids(home, tmp_path / "three", METADATA) != [guessed(record)]


def test_machines_that_share_the_fleets_key_agree(home: Home, told: str, tmp_path: Path) -> None:
    key = tmp_path / "marker.key"
    key.write_text("a key for all of the fleet, 0123456789")
    key.chmod(0o600)
    of_fleet = {"COLLECTOR_REDACTION__KEY_FILE": str(key)}
    one, two = ids(home, tmp_path / "one", of_fleet), ids(home, tmp_path / "two", of_fleet)
    assert one == two
    assert told not in one


def test_an_event_keeps_its_id_wherever_it_is_sent_from(home: Home, told: str, tmp_path: Path) -> None:
    """It is sent from the transcript, from the quarantine and from the store."""
    stored: Agent = Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})
    assert stored.scan().ledger["delivered"] == 2
    with Sink(then=rejecting(lambda event: True)) as sink:
        agent: Agent = Inside(home, sink)
        agent.state = stored.state
        assert agent.scan().ledger["quarantined"] == 2
        sink.clear_script()
        env = {"COLLECTOR_SINK__URL": sink.url}
        assert agent.run("quarantine", "retry", "--all", "--state", str(agent.state), env=env).code == 0
        assert agent.run("resend", "--from-store", "--state", str(agent.state), env=env).code == 0
        assert len(sink.events) == 4
        assert len({event["id"] for event in sink.events} - {told}) == 2


def test_claude_codes_own_hashes_do_not_reveal_what_stays_here(home: Home, sink: Sink, tmp_path: Path) -> None:
    message = {"content": [{"text": SECRET, "type": "text"}], "role": "user"}
    found = sha256(orjson.dumps(message, option=orjson.OPT_SORT_KEYS)).hexdigest()
    session = home.session()
    session.prompt(SECRET)
    common = {"sessionId": session.session_id, "timestamp": session.pen.timestamp(), "version": "2.1.328"}
    session.record({"type": "api-request-blob", **common, "hash": found, "message": message})
    call = {"type": "api-request", **common, "id": session.pen.uuid(), "tail": [found], "requestDigest": found}
    session.record(call | {"params": {"model": "claude-opus-5-5"}, "shapeHash": found})
    session.record({"type": "api-request-shape", **common, "shapeHash": found, "shape": {"system": "You are."}})
    home.history("look", session_id=session.session_id).record(
        {"display": "[Pasted text #1]", "pastedContents": {"1": {"id": 1, "type": "text", "contentHash": found[:16]}}}
    )
    for name in ("one", "two"):
        agent: Agent = Inside(home, sink)
        agent.state = tmp_path / name / "state.json"
        agent.scan()
    assert found[:16].encode() not in sink.raw_bytes
    calls = [event["attributes"] for event in sink.events if event.get("record_type") == "api-request"]
    asked, again = ({*call["tail"], call["shape_hash"], call["request_digest"]} for call in calls)
    assert len(asked) == 1  # equal hashes stay equal
    assert asked.isdisjoint(again)  # another installation has another key
