"""The heartbeat: the agent's figures, on time, once per interval, and never any content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.service.figures import Problem
from tests.agent import Agent
from tests.build import Home
from tests.flow.event_schema import json_schema
from tests.service.process import serving
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


def test_a_heartbeat_with_the_agents_figures_is_sent_every_interval(
    home: Home, sink: Sink, beating: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt(f"{WORD} AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzKq93vQ2x")
    session.path.write_bytes(session.path.read_bytes() + b"not json\n")
    beating.until_idle()
    assert len(beats(sink)) == 1, "the first comes at once"
    clock.forward(INTERVAL)
    beating.until_idle()
    _, beat = beats(sink)
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
    assert len({beat["id"] for beat in beats(sink)}) == 3


def test_a_heartbeat_names_the_versions_the_configuration_and_what_is_held_back(
    home: Home, sink: Sink, beating: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt("one")
    session.path.write_bytes(session.path.read_bytes() + b"not json\n")
    beating.until_idle()
    clock.forward(INTERVAL)
    beating.until_idle()
    said = beats(sink)[-1]["attributes"]
    assert (said["command"], said["capture_level"], said["quarantine"], said["held"]) == ("run", "content", 1, 0)
    assert said["withheld"] == 0
    assert re.fullmatch("[0-9a-f]{16}", said["configuration"])
    written = next(event for event in sink.events if event["kind"] == "user_prompt")
    assert said["writers"] == {"claude_code": [written["client"]["version"]]}


def test_the_writer_versions_in_a_heartbeat_are_bounded(home: Home, sink: Sink, beating: Steps, clock: Clock) -> None:
    session = home.session()
    for number in range(300):
        session.prompt("one")
        last = json.loads(session.path.read_bytes().splitlines()[-1])
        session.raw(json.dumps({**last, "uuid": f"u{number}", "version": f"2.{number}"}).encode() + b"\n")
        session.raw(json.dumps({**last, "uuid": f"v{number}", "version": f"2.{number}" + "x" * 1000}).encode() + b"\n")
    beating.until_idle()
    clock.forward(INTERVAL)
    beating.until_idle()
    assert len(beating.service.flow.writers) == 100
    assert len(json.dumps(beats(sink)[-1]["attributes"]["writers"])) < 1000


def test_the_same_configuration_has_the_same_fingerprint_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(home: str, level: str) -> str:
        monkeypatch.setenv("HOME", home)
        given = {"sink": {"url": "https://sink.test", "token_file": "~/token"}, "capture": {"level": level}}
        return settings.fingerprint(settings.load(None, given, sinks=SINKS))

    assert named("/home/alice", "full") == named("/home/bob", "full") != named("/home/bob", "metadata")


def test_a_heartbeat_is_sent_during_a_long_first_pass(home: Home, sink: Sink, clock: Clock) -> None:
    given = {"heartbeat": {"interval": INTERVAL}, "batch": {"max_events": 1, "linger": 0.5}, "sink": {"url": sink.url}}
    session = home.session()
    for number in range(20):
        session.prompt(f"prompt {number}")
    with Steps(home, sink, clock, given=given) as steps:
        steps.service.step()
    kinds = [event["kind"] for event in sink.events]
    assert kinds.index("heartbeat") < len(kinds) - 1
    first = beats(sink)[0]["attributes"]
    assert 0 < first["lag"] < session.path.stat().st_size


def test_a_heartbeat_is_sent_while_offsets_cannot_be_saved(
    home: Home, sink: Sink, beating: Steps, clock: Clock
) -> None:
    """The sink is up, and the heartbeat is the only way its owner learns of the problem."""
    beating.until_idle()
    beating.service.passes.problem = Problem("state", "no space left", clock.wall())
    beating.service.passes.retry_at = clock.now + 10 * INTERVAL
    clock.forward(INTERVAL)
    assert beating.until_idle() == pytest.approx(INTERVAL)
    assert [beat["attributes"].get("problem") for beat in beats(sink)] == [None, "state"]


def test_the_last_error_is_forgotten_once_deliveries_work_again(
    home: Home, sink: Sink, beating: Steps, clock: Clock
) -> None:
    beating.until_idle()
    sink.then = Answer(401)
    home.session().prompt("one")
    beating.service.wake.doubt()
    clock.forward(1)
    beating.until_idle()
    assert beating.service.describe()["last_error"] == "SinkHalted"
    sink.then = Answer()
    clock.forward(INTERVAL)
    beating.until_idle()
    assert beating.service.describe()["last_error"] is None
    assert "last_error" not in beats(sink)[-1]["attributes"]


def test_a_service_ends_with_a_last_heartbeat_that_has_its_own_id(home: Home, sink: Sink) -> None:
    home.session().prompt("one")
    with serving(home, sink, given={"heartbeat": {"interval": INTERVAL}}):
        sink.wait_for(lambda: len(sink.events) >= 2)
    first, last = beats(sink)
    assert first["id"] != last["id"]
    assert (first["attributes"].get("is_last"), last["attributes"]["is_last"]) == (None, True)
    assert last["attributes"]["delivered"] == 1


def test_every_scan_ends_with_a_heartbeat_of_its_own(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    for _ in range(2):
        assert agent.scan(COLLECTOR_HEARTBEAT__INTERVAL="300").code == 0
    for beat in beats(sink):
        jsonschema.validate(beat, json_schema())
    said = beats(sink)[0]["attributes"]
    assert (said["command"], said["delivered"], said["lag"], said["sources"]) == ("scan", 1, 0, 1)
    assert len({beat["id"] for beat in beats(sink)}) == 2
    assert agent.scan("--dry-run", COLLECTOR_HEARTBEAT__INTERVAL="300").code == 0
    assert len(beats(sink)) == 2


def test_a_restart_within_the_interval_repeats_the_heartbeats_id(home: Home, sink: Sink, clock: Clock) -> None:
    for _ in range(2):
        with Steps(home, sink, clock, given={"heartbeat": {"interval": INTERVAL}}) as steps:
            steps.service.flow.frame = steps.service.flow.frame._replace(installation_id="the same")
            steps.until_idle()
    first, second = beats(sink)
    assert first["id"] == second["id"]


def test_the_heartbeat_can_be_turned_off(sink: Sink, steps: Steps, clock: Clock) -> None:
    for _ in range(5):
        clock.forward(INTERVAL)
        steps.until_idle()
    assert sink.posts == []


def test_a_failed_heartbeat_does_not_stop_collecting(home: Home, sink: Sink, beating: Steps, clock: Clock) -> None:
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


@pytest.mark.parametrize("rejected", [b"1", b'["another id"]', b'[{"reason": "no heartbeats, please"}]'])
def test_a_heartbeat_that_the_sink_rejects_does_not_count_as_acknowledged(
    sink: Sink, beating: Steps, capsys: pytest.CaptureFixture[str], rejected: bytes
) -> None:
    sink.then = Answer(200, {}, b'{"rejected": ' + rejected + b"}")
    beating.until_idle()
    assert len(beats(sink)) == 1
    assert beating.service.describe()["last_acknowledged"] is None
    assert "heartbeat refused" in "".join(capsys.readouterr())


def test_a_heartbeat_moves_no_offset_and_is_not_in_the_ledger(home: Home, beating: Steps, clock: Clock) -> None:
    home.session().prompt("one")
    beating.until_idle()
    before = dict(beating.state.entries)
    clock.forward(INTERVAL)
    beating.until_idle()
    assert beating.state.entries == before
    assert beating.service.describe()["lines"] == 1
    assert Path(next(iter(before))).suffix == ".jsonl"
