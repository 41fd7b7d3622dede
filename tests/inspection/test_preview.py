"""`collector preview` shows exactly what would be sent, but sends and saves nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from collector.inspection.preview import moment
from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink

KEY = "AKIA" + "Q3EGRZPLMWXCVB7T"


def preview(agent: Agent, *flags: str) -> list[dict[str, Any]]:
    """The events that the preview shows."""
    result = agent.run("preview", "--raw", *agent.places(), *flags)
    assert result.code == 0, result.stderr
    assert "Nothing was sent." in result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [event["text"] for event in events]


def test_it_shows_exactly_what_the_next_pass_sends(home: Home, sink: Sink, agent: Agent) -> None:
    agent.scan()  # creates this installation's key for the markers
    session = home.session()
    session.prompt(f"the key is {KEY}")
    session.reply("Done.", tokens=3)
    before = agent.kept()
    shown = preview(agent)
    assert sink.posts == []
    assert agent.kept() == before
    assert KEY not in json.dumps(shown)
    assert agent.scan().code == 0
    assert shown == sink.events


def test_sent_events_are_shown_only_with_all(home: Home, agent: Agent) -> None:
    session = home.session()
    session.prompt("sent")
    agent.scan()
    assert preview(agent) == []
    session.prompt("waiting")
    assert texts(preview(agent)) == ["waiting"]
    assert texts(preview(agent, "--all")) == ["sent", "waiting"]


def test_source_and_limit_narrow_it_down(home: Home, agent: Agent) -> None:
    one, two = home.session(project="-work-one"), home.session(project="-work-two")
    for number in range(3):
        one.prompt(f"one {number}")
        two.prompt(f"two {number}")
    assert texts(preview(agent, "--source", "-work-two", "--limit", "2")) == ["two 0", "two 1"]
    assert texts(preview(agent, "--source", "*-work-one/*")) == ["one 0", "one 1", "one 2"]
    assert len(preview(agent, "--limit", "0")) == 6


def test_an_empty_preview_says_why(home: Home, agent: Agent) -> None:
    assert "0 events shown; there is nothing to read." in agent.run("preview", "--raw", *agent.places()).stderr
    home.session().prompt("one")
    assert "; no source matches zzz." in agent.run("preview", "--raw", *agent.places(), "--source", "zzz").stderr
    assert "`collector preview` lists them" in agent.run("preview", *agent.places(), str(home.root)).stderr
    assert "1 event shown." in agent.run("preview", *agent.places(), "--source", str(home.root / "projects")).stderr
    agent.scan()
    assert (
        "; everything has already been sent (--all shows it)." in agent.run("preview", "--raw", *agent.places()).stderr
    )


def test_since_leaves_out_older_events(home: Home, agent: Agent) -> None:
    session = home.session()
    session.prompt("old")
    moment = session.prompt("new")["timestamp"]
    assert texts(preview(agent, "--since", moment)) == ["new"]
    assert preview(agent, "--since", "30m") == []
    assert "; none is that recent." in agent.run("preview", "--raw", *agent.places(), "--since", "30m").stderr


def test_moments_are_dates_or_durations_before_now() -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    expected = {
        "90s": "2026-03-01T11:58:30.000Z",
        "30m": "2026-03-01T11:30:00.000Z",
        "12h": "2026-03-01T00:00:00.000Z",
        "3d": "2026-02-26T12:00:00.000Z",
        "2w": "2026-02-15T12:00:00.000Z",
        "2026-02-01": datetime(2026, 2, 1).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "2026-02-01T10:00+02:00": "2026-02-01T08:00:00.000Z",
    }
    assert {text: moment(text, now) for text in expected} == expected
    for text in ("yesterday", "5y", "2026-13-01", "9999999w"):
        with pytest.raises(ValueError, match=r".+"):
            moment(text, now)


def test_an_invalid_moment_is_a_usage_error(agent: Agent) -> None:
    assert agent.run("preview", "--raw", *agent.places(), "--since", "yesterday").code == 2


def test_it_works_beside_a_running_agent(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("sent")
    with agent.start():
        sink.wait_for(lambda: sink.ids())
        assert texts(preview(agent, "--all")) == ["sent"]


def test_a_damaged_state_is_left_alone(home: Home, agent: Agent) -> None:
    home.session().prompt("one")
    agent.directory.mkdir()
    agent.state.write_text("{")
    assert texts(preview(agent)) == ["one"]
    assert [path.name for path in agent.directory.iterdir()] == ["state.json"]
