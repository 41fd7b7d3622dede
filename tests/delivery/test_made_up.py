"""A sink that is one module and one line, in the real program: configured, checked, delivered to, examined."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.delivery.made_up import RECEIVING, letters
from tests.sink import Sink

PROGRAM = """
from collector.__main__ import main
from collector.delivery.sinks.registry import SINKS
from tests.delivery import made_up

SINKS["pigeon"] = made_up.SINK
raise SystemExit(main())
"""
TO_PIGEONS = {"COLLECTOR_SINK__TYPE": "pigeon", "COLLECTOR_SINK__PIGEON__LOFT": "north"}
UNREACHABLE, MISCONFIGURED = 75, 78


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(then=RECEIVING.accepted) as sink:
        yield sink


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    session = home.session()
    for number in range(6):
        session.prompt(f"prompt {number} " + "x" * 400 * number)
    return home


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    return Agent(home, sink, TO_PIGEONS, program=(sys.executable, "-c", PROGRAM))


def test_every_event_arrives_in_the_form_its_receiver_expects(agent: Agent, sink: Sink) -> None:
    result = agent.scan("--max-wait", "5", COLLECTOR_SINK__PIGEON__IS_EXPRESS="true").assert_balanced()
    assert result.code == 0, result.stderr
    assert result.ledger["delivered"] == 6
    assert {request.path.partition("?")[0] for request in sink.posts} == {"/events/lofts/north"}
    assert {request.headers["x-pigeon"] for request in sink.posts} == {"express"}
    assert len({request.path.partition("?flight=")[2] for request in sink.posts}) == len(sink.posts) > 1
    arrived = [letter for request in sink.posts for letter in letters(request)]
    assert sorted(letter["text"][:8] for letter in arrived) == [f"prompt {number}" for number in range(6)]
    assert max(len(request.body) for request in sink.posts) <= 3_000
    assert max(len(letter["text"]) for request in sink.posts for letter in json.loads(request.body)["letters"]) <= 1_500
    assert agent.scan().ledger["lines"] == 0


def test_the_verdict_in_the_body_is_obeyed(agent: Agent, sink: Sink) -> None:
    sink.then = RECEIVING.halted
    result = agent.scan()
    assert result.code == UNREACHABLE
    assert "Check sink.pigeon.loft." in result.stderr
    sink.answer(RECEIVING.unacknowledged[0], RECEIVING.later(0))
    sink.then = RECEIVING.accepted
    assert agent.scan().assert_balanced().ledger["delivered"] == 6


def test_a_misspelt_option_is_named(agent: Agent, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[sink]\nurl = "https://a.example/"\n[sink.pigeon]\nlofft = "north"\n')
    result = agent.run("config", "check", "--config", str(path))
    assert result.code == MISCONFIGURED
    assert f"sink.pigeon.lofft (in {path}) is not a setting. Did you mean `sink.pigeon.loft`?" in result.stderr


def test_a_missing_option_is_reported(home: Home, sink: Sink) -> None:
    agent = Agent(home, sink, {"COLLECTOR_SINK__TYPE": "pigeon"}, program=(sys.executable, "-c", PROGRAM))
    result = agent.scan()
    assert (result.code, result.stdout) == (MISCONFIGURED, "")
    assert "sink.pigeon.loft: field required" in result.stderr


def test_config_init_and_config_show_include_its_options(agent: Agent) -> None:
    text = agent.run("config", "init", "-").stdout
    assert '# [sink.pigeon]\n# loft = "north"  # where they fly to\n# is_express = false  # the fast ones\n' in text
    assert "pigeon: letters, by air" in text
    shown = json.loads(agent.run("config", "show", "--json", env={"COLLECTOR_SINK__URL": "https://a.example/"}).stdout)
    told = {key: option["value"] for key, option in shown["options"].items() if key.startswith("sink.pigeon.")}
    assert told == {"sink.pigeon.loft": "north", "sink.pigeon.is_express": False}


def test_doctor_status_and_help_treat_it_like_any_other_sink(agent: Agent, sink: Sink) -> None:
    checks = json.loads(agent.run("doctor", *agent.places(), "--json").stdout)["checks"]
    [check] = [check for check in checks if check["name"] == "sink"]
    assert (check["level"], check["finding"].partition(" accepted")[0]) == ("ok", sink.url)
    assert json.loads(agent.run("status", *agent.places(), "--json").stdout)["sink"] == sink.url
    assert "pigeon" in agent.run("scan", "--help").stdout


def test_it_is_not_sent_to_in_the_clear_either(agent: Agent) -> None:
    result = agent.run("scan", "--root", str(agent.home.root), "--sink-url", "http://sink.invalid/")
    assert result.code == MISCONFIGURED
    assert "would send to sink.invalid in the clear" in result.stderr


def test_a_dry_run_sends_nothing_and_needs_no_answer(agent: Agent, sink: Sink) -> None:
    result = agent.scan("--dry-run").assert_balanced()
    assert (result.code, result.ledger["delivered"], sink.requests) == (0, 6, [])


@pytest.mark.parametrize("command", ["preview", "report"])
def test_commands_that_do_not_send_understand_its_options_too(agent: Agent, tmp_path: Path, command: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[sink]\nurl = "https://a.example/"\n[sink.pigeon]\nloft = "south"\n')
    assert "not a setting" not in agent.run(command, "--config", str(path)).stderr
    path.write_text('[sink]\nurl = "https://a.example/"\n[sink.pigeon]\nlofft = "south"\n')
    assert "not a setting" in agent.run(command, "--config", str(path)).stderr
