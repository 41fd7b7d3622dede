"""Which directories are read, by default and when configured, and which projects are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink


@pytest.fixture
def both(home: Home, tmp_path: Path) -> tuple[Home, Home]:
    """The two places that Claude Code uses, with one prompt each."""
    other = Home(tmp_path, seed=2, name=".config/claude")
    home.session().prompt("in ~/.claude")
    other.session().prompt("in ~/.config/claude")
    return home, other


def texts(sink: Sink) -> set[str]:
    return {event["text"] for event in sink.events}


def scan(agent: Agent, *flags: str, **environment: str) -> int:
    """Runs a scan without telling it where the root is."""
    sink = agent.sink
    assert sink is not None
    places = ["--state", str(agent.state), "--sink-url", sink.url]
    return agent.run("scan", *places, *flags, env=environment).code


def test_by_default_both_usual_directories_are_found(both: tuple[Home, Home], sink: Sink, agent: Agent) -> None:
    assert scan(agent) == 0
    assert texts(sink) == {"in ~/.claude", "in ~/.config/claude"}


def test_claude_codes_variable_names_one_or_several_roots(both: tuple[Home, Home], sink: Sink, agent: Agent) -> None:
    home, other = both
    assert scan(agent, CLAUDE_CONFIG_DIR=str(other.root)) == 0
    assert texts(sink) == {"in ~/.config/claude"}
    assert scan(agent, CLAUDE_CONFIG_DIR=f"{other.root},{home.root}") == 0
    assert texts(sink) == {"in ~/.claude", "in ~/.config/claude"}


def test_a_flag_comes_before_everything(both: tuple[Home, Home], sink: Sink, agent: Agent) -> None:
    home, other = both
    assert scan(agent, "--root", str(home.root), CLAUDE_CONFIG_DIR=str(other.root)) == 0
    assert texts(sink) == {"in ~/.claude"}


def test_a_file_reached_through_two_roots_keeps_its_ids(both: tuple[Home, Home], sink: Sink, agent: Agent) -> None:
    home, _ = both
    link = home.path / "link"
    link.symlink_to(home.root)
    assert scan(agent, "--root", str(home.root), "--root", str(link)) == 0
    assert len(set(sink.ids())) == 1


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("INCLUDE", "-work-wanted*", {"-work-wanted"}),
        ("EXCLUDE", "-work-secret*", {"-work-wanted", "-work-other"}),
        ("EXCLUDE", "/work/secret", {"-work-wanted", "-work-other"}),
    ],
)
def test_nothing_of_an_unwanted_project_is_sent(
    home: Home, sink: Sink, agent: Agent, setting: str, value: str, expected: set[str]
) -> None:
    for name in ("-work-wanted", "-work-secret", "-work-other"):
        session = home.session(project=name)
        session.prompt(name)
        session.subagent().user(name)
        home.history(name, project=name.replace("-", "/"), session_id=session.session_id)
        home.index(session, firstPrompt=name)
    result = agent.scan(**{f"COLLECTOR_PROJECTS__{setting}": value})
    assert result.code == 0, result.stderr
    result.assert_balanced()
    assert {event["project"] for event in sink.events if "project" in event} == expected
    unwanted = {"-work-wanted", "-work-secret", "-work-other"} - expected
    for name in unwanted:
        assert name.encode() not in sink.raw_bytes
        assert name.replace("-", "/").encode() not in sink.raw_bytes


def test_a_root_that_cannot_be_reached_is_not_reported_as_missing(home: Home, agent: Agent) -> None:
    loop = home.path / "loop"
    loop.symlink_to(loop)
    agent.names_its_root = False
    result = agent.run("scan", *agent.places(), "--root", str(loop / ".claude"))
    assert result.code == 3
    assert "left     ~/loop/.claude: Too many levels of symbolic links" in result.stdout
