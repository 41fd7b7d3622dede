"""The heartbeat: figures of the agent, on time, once per interval, and never any content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from collector.flow.event import json_schema
from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Answer, Event, Sink

INTERVAL = 300.0
WORD = "pomegranate"


@pytest.fixture
def beating(home: Home, sink: Sink, clock: Clock) -> Iterator[Steps]:
    given = {"heartbeat": {"interval": INTERVAL}, "run": {"rescan_interval": 100_000.0}, "labels": {"team": "platform"}}
    with Steps(home, sink, clock, given=given) as steps:
        yield steps


def beats(sink: Sink) -> list[Event]:
    return [event for event in sink.events if event["kind"] == "heartbeat"]


def test_a_heartbeat_is_sent_every_interval_and_says_how_the_agent_is(
    home: Home, sink: Sink, beating: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt(f"{WORD} AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzKq93vQ2x")
    session.path.write_bytes(session.path.read_bytes() + b"not json\n")
    beating.until_idle()
    assert beats(sink) == []
    clock.forward(INTERVAL)
    beating.until_idle()
    (beat,) = beats(sink)
    jsonschema.validate(beat, json_schema())
    assert beat["installation_id"] == beating.service.flow.frame.installation_id
    assert beat["labels"] == {"team": "platform"}
    said = beat["attributes"]
    assert (said["sources"], said["lag"], said["delivered"], said["quarantined"]) == (1, 0, 1, 1)
    assert sum(said["redactions"].values()) == 1
    assert said["uptime_seconds"] == INTERVAL
    assert WORD not in json.dumps(beat)
    clock.forward(INTERVAL)
    beating.until_idle()
    assert len({beat["id"] for beat in beats(sink)}) == 2


def test_a_restart_within_the_interval_does_not_count_twice(home: Home, sink: Sink, clock: Clock) -> None:
    for _ in range(2):
        with Steps(home, sink, clock, given={"heartbeat": {"interval": INTERVAL}}) as steps:
            steps.service.flow.frame = steps.service.flow.frame._replace(installation_id="the same")
            steps.until_idle()
            steps.service.passes.beat(steps.service.describe(), 1.0, INTERVAL)
    first, second = beats(sink)
    assert first["id"] == second["id"]


def test_it_can_be_turned_off(sink: Sink, steps: Steps, clock: Clock) -> None:
    for _ in range(5):
        clock.forward(INTERVAL)
        steps.until_idle()
    assert sink.posts == []


def test_one_that_fails_changes_nothing(home: Home, sink: Sink, beating: Steps, clock: Clock) -> None:
    beating.until_idle()
    sink.then = Answer(401)
    clock.forward(INTERVAL)
    beating.until_idle()
    assert beating.service.describe()["last_error"] == "SinkHalted"
    sink.then = Answer()
    home.session().prompt("still collected")
    clock.forward(INTERVAL)
    beating.service.wake.doubt()
    clock.forward(1)
    beating.until_idle()
    assert [event["text"] for event in sink.events if event["kind"] == "user_prompt"] == ["still collected"]


def test_it_moves_no_offset_and_enters_no_ledger(home: Home, beating: Steps, clock: Clock) -> None:
    home.session().prompt("one")
    beating.until_idle()
    before = dict(beating.state.entries)
    clock.forward(INTERVAL)
    beating.until_idle()
    assert beating.state.entries == before
    assert beating.service.describe()["lines"] == 1
    assert Path(next(iter(before))).suffix == ".jsonl"
