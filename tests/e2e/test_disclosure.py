"""People are told once and plainly what leaves; where agreement is required, nothing leaves before they agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.settings import Settings
from collector.settings.disclosure import destination, is_remote, name_of, statement
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink

# No name server knows this host, so a scan cannot reach it.
FAR = {"COLLECTOR_SINK__URL": "https://sink.invalid/events", "COLLECTOR_RETRY__MAX_WAIT": "0"}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Inside]:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        yield Inside(home, sink)


def told(agent: Inside, *words: str, **environment: str) -> str:
    """What a scan that sends to another machine says on stderr."""
    given = ["scan", "--root", str(agent.home.root), "--state", str(agent.state), *words]
    return agent.run(*given, env=FAR | environment).stderr


def test_the_first_scan_to_another_machine_says_once_what_leaves(agent: Inside) -> None:
    first = told(agent)
    assert "collector sends to https://sink.invalid/events, at level content: what people type" in first
    assert "`collector exclude PATH` leaves a project out" in first
    assert "collector sends" not in told(agent)
    # Something else leaves now, so it is stated again.
    changed = told(agent, COLLECTOR_CAPTURE__LEVEL="metadata")
    assert "at level metadata: kinds, ids, times, counts" in changed
    assert "collector sends" not in agent.scan().stderr  # this one goes to this machine


def test_nothing_leaves_before_somebody_agrees(agent: Inside) -> None:
    asked = {"COLLECTOR_DISCLOSURE__REQUIRE_ACK": "true", "COLLECTOR_DISCLOSURE__TEXT": "Questions: privacy@acme."}
    result = told(agent, **asked)
    assert "Questions: privacy@acme." in result
    assert "Nothing was read or sent: nobody has acknowledged what would be sent" in result
    status = agent.run("status", "--json", "--state", str(agent.state), env=FAR | asked)
    assert json.loads(status.stdout)["paused"]["by"] == "disclosure"
    agreed = agent.run("agree", "--state", str(agent.state), env=FAR | asked)
    assert agreed.stdout.endswith("Agreed.\n")
    assert "Nothing was read or sent" not in told(agent, **asked)
    # A changed text is not the one that was agreed to.
    assert "Nothing was read or sent" in told(agent, **(asked | {"COLLECTOR_DISCLOSURE__TEXT": "Other words."}))


def test_a_sink_on_this_machine_needs_agreement_too_because_it_may_pass_events_on(agent: Inside) -> None:
    asked = {"COLLECTOR_DISCLOSURE__REQUIRE_ACK": "true"}
    assert "nobody has acknowledged what would be sent" in agent.scan(**asked).stderr
    assert agent.sink is not None
    assert agent.sink.requests == []
    agent.run("agree", "--sink-url", agent.sink.url, "--state", str(agent.state), env=asked)
    agent.scan(**asked)
    assert len(agent.sink.ids()) == 1


def test_who_has_agreed_may_say_no_to_a_project_without_agreeing_again(agent: Inside) -> None:
    asked = {"COLLECTOR_DISCLOSURE__REQUIRE_ACK": "true"}
    assert agent.sink is not None
    there = {**asked, "COLLECTOR_SINK__URL": agent.sink.url}
    agent.run("agree", "--state", str(agent.state), env=there)
    agent.run("exclude", "/work/private", "--state", str(agent.state), env=there)
    assert "nobody has acknowledged" not in agent.scan(**asked).stderr
    assert len(agent.sink.ids()) == 1


def test_the_embedded_store_needs_no_agreement(agent: Inside) -> None:
    given = ["scan", "--root", str(agent.home.root), "--state", str(agent.state)]
    result = agent.run(*given, env={"COLLECTOR_DISCLOSURE__REQUIRE_ACK": "true"})
    assert "nobody has acknowledged" not in result.stderr


def test_the_configuration_ends_with_the_same_statement(agent: Inside) -> None:
    shown = agent.run("config", "show", env=FAR).stdout.splitlines()[-1]
    assert shown.startswith("collector sends to https://sink.invalid/events, at level content:")
    assert json.loads(agent.run("config", "show", "--json", env=FAR).stdout)["disclosure"] == [shown]


def test_the_statement_describes_the_settings_in_force() -> None:
    def settings(**given: object) -> Settings:
        return Settings.model_validate(given)

    near = settings(sink={"url": "http://127.0.0.1:1/"})
    far = settings(
        sink={"url": "https://a.example/in?key=hidden"}, capture={"prompts": False}, projects={"exclude": ["/a"]}
    )
    assert (is_remote(near), is_remote(far), is_remote(settings())) == (False, True, False)
    assert destination(far) == "https://a.example/in"
    assert "what people type" not in statement(far)
    assert "1 projects.exclude pattern leaves projects out" in statement(far)
    assert "the embedded store on this machine" in statement(settings())
    assert name_of(near) != name_of(far)
    more = settings(sink={"url": "https://a.example/in?key=hidden"}, capture={"prompts": True})
    assert name_of(more) != name_of(far)
    for level, words in (
        ("content", "the account's e-mail address and organisation"),
        ("metadata", "ids of the account"),
    ):
        named = settings(capture={"account": True, "level": level})
        assert (words in statement(named), words in statement(settings(capture={"level": level}))) == (True, False)
