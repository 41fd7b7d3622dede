"""Off is off: a pause or `enabled = false` holds back everything, on every route out, until a person says otherwise."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.agents.claude_code.sample_requests import blob
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink

BEATS = {"COLLECTOR_HEARTBEAT__INTERVAL": "300"}


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    return Inside(home, sink)


def command(agent: Agent, *words: str, code: int = 0) -> str:
    """What a command on this state prints."""
    result = agent.run(*words, "--state", str(agent.state))
    assert result.code == code, result.stderr
    return result.stdout


def test_nothing_leaves_a_paused_machine_by_any_route(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("written before")
    assert "until `collector resume`" in command(agent, "pause")
    paused = agent.scan(**BEATS)
    assert (paused.code, paused.ledger["lines"]) == (0, 0)
    assert "paused since" in paused.stderr
    checks = {
        each["name"]: each for each in json.loads(agent.run("doctor", "--json", *agent.places()).stdout)["checks"]
    }
    assert "not contacted, because nothing may leave" in checks["sink"]["finding"]
    status = json.loads(agent.run("status", "--json", *agent.places()).stdout)
    assert status["paused"]["by"] == "pause"
    assert "nothing is sent: paused since" in agent.run("status", *agent.places()).stdout
    assert sink.requests == []
    assert "Resumed." in command(agent, "resume")
    assert agent.scan().ledger["delivered"] == 1
    assert "Was not paused." in command(agent, "resume")


def test_a_pause_works_without_a_valid_configuration(home: Home, sink: Sink, agent: Agent) -> None:
    # The running agent may have another configuration, or the one from before somebody edited it.
    home.session().prompt("no")
    no_url = {"COLLECTOR_SINK__TYPE": "otlp"}
    assert "Paused until" in agent.run("pause", "--state", str(agent.state), env=no_url).stdout
    assert "Resumed." in agent.run("resume", "--state", str(agent.state), env=no_url).stdout
    broken = home.path / "broken.toml"
    broken.write_text("[sink\n")
    said = agent.run("pause", "--config", str(broken), "--state", str(agent.state))
    assert (said.code, f"Paused anyway: every agent that keeps its state in {agent.directory}" in said.stderr) == (
        78,
        True,
    )
    assert "paused since" in agent.scan(**BEATS).stderr
    assert sink.requests == []


def test_the_configuration_can_switch_it_off(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("no")
    assert "enabled = false (in the environment variable" in agent.scan(COLLECTOR_ENABLED="false", **BEATS).stderr
    assert sink.requests == []


@pytest.mark.parametrize("how_long", ["", "2", "two hours", "0h", "-1h"])
def test_an_invalid_duration_is_refused(agent: Agent, how_long: str) -> None:
    command(agent, "pause", "--for", how_long, code=2)


def test_nothing_written_later_reveals_what_was_left_out(home: Home, sink: Sink, agent: Agent) -> None:
    # An index is read whole whenever it changes, and a session may be summarized long afterwards.
    home.pen.now = datetime.now(UTC) - timedelta(hours=1)
    agent.scan()
    command(agent, "pause")
    private = home.session()
    private.prompt("private")
    home.index(private, firstPrompt="private")
    began = home.pen.now
    run = private.path.with_suffix("") / "workflows" / "wf_1.json"
    run.parent.mkdir(parents=True)
    told = {"runId": "1", "startTime": began.timestamp() * 1000, "result": "private"}
    run.write_text(json.dumps(told))
    command(agent, "resume", "--from-now")
    assert agent.scan().ledger["lines"] == 0
    home.pen.now += timedelta(hours=2)
    later = home.session()
    for session, word in ((private, "private"), (later, "open")):
        session.prompt(f"open, said after {word}")
        session.record({"type": "last-prompt", "lastPrompt": word, "sessionId": session.session_id})
        session.record({"type": "ai-title", "aiTitle": word, "sessionId": session.session_id})
        session.record(blob("user", f"{word}, as the model is sent it again", "a1") | {"sessionId": session.session_id})
        session.user(f"{word}, in short", isCompactSummary=True)
    path = home.index(private, later)
    index = json.loads(path.read_text())
    index["entries"][0] |= {"firstPrompt": "private", "summary": "private", "created": began.isoformat()}
    index["entries"][1] |= {"firstPrompt": "open", "summary": "open"}
    path.write_text(json.dumps(index))
    run.write_text(json.dumps(told | {"status": "done"}))
    newer = told | {"startTime": home.pen.now.timestamp() * 1000, "result": "open"}
    run.with_name("wf_2.json").write_text(json.dumps(newer))
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 6}
    texts = sorted(event["text"] for event in sink.events)
    assert texts == [
        *["open"] * 4,
        "open, as the model is sent it again",
        "open, in short",
        "open, said after open",
        "open, said after private",
    ]
    agent.run("reset", "--all", "--state", str(agent.state), env={"COLLECTOR_SINK__URL": sink.url})
    assert agent.scan().ledger["delivered"] == 15


def test_what_was_left_out_stays_out_when_a_file_is_rewritten(home: Home, sink: Sink, agent: Agent) -> None:
    home.pen.now = datetime.now(UTC) - timedelta(hours=1)
    session = home.session()
    session.prompt("old, with a pass word in it")
    history = home.history("old", session_id=session.session_id)
    assert agent.scan("--from-now").ledger["lines"] == 0
    home.pen.now += timedelta(hours=2)
    session.prompt("new")
    home.history("also new", session_id=session.session_id)
    for path in (session.path, history.path):  # as somebody does to scrub what should not be there
        path.write_bytes(path.read_bytes().replace(b"pass word", b"xxxxxxxxx").replace(b"old", b"old, too"))
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 2}
    for more in (
        {},
        {"sessionId": home.pen.uuid(), "forkedFrom": {"sessionId": session.session_id}},
    ):  # a fork as older and as newer versions write it
        fork = home.session()
        records = [json.loads(line) | more for line in session.lines]
        fork.records(each | ({"sessionId": fork.session_id} if more else {}) for each in records)
        fork.prompt("of the fork")
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 2}
    assert {event["text"] for event in sink.events} == {"new", "also new", "of the fork"}


def test_a_summary_of_what_was_left_out_stays_out_after_garbage_collection(
    home: Home, sink: Sink, agent: Agent
) -> None:
    home.pen.now = datetime.now(UTC) - timedelta(hours=1)
    session = home.session()
    session.prompt("canary")
    assert agent.scan("--from-now").ledger["lines"] == 0
    home.pen.now += timedelta(hours=2)
    session.compact("canary, in short")
    session.prompt("new")
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 1}
    session.collect_garbage()
    session.prompt("newer")
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 1}
    assert "canary" not in str(sink.events)
    assert {event.get("text") for event in sink.events} == {None, "new", "newer"}


def test_an_unmounted_project_is_left_out_together_with_the_rest(home: Home, sink: Sink, agent: Agent) -> None:
    home.pen.now = datetime.now(UTC) - timedelta(hours=1)
    session = home.session()
    session.prompt("before")
    agent.scan()
    command(agent, "pause")
    session.prompt("during")
    away = session.path.parent.rename(home.path / "unmounted")
    command(agent, "resume", "--from-now")
    assert agent.scan().ledger["lines"] == 0
    away.rename(session.path.parent)
    home.pen.now += timedelta(hours=2)
    session.prompt("after")
    assert agent.scan().assert_balanced().ledger["skipped"] == {
        "left_out": 2
    }  # "before", though it was sent, and "during"
    assert [event["text"] for event in sink.events] == ["before", "after"]


def test_what_was_left_out_after_a_pause_reaches_no_later_sink(home: Home, sink: Sink, agent: Agent) -> None:
    now = datetime.now(UTC)
    home.pen.now = now - timedelta(hours=2)
    session = home.session()
    session.prompt("before")
    agent.scan()
    command(agent, "pause")
    paused, left_out = agent.directory / "paused.json", agent.directory / "paused.left-out.json"
    paused.write_text(json.dumps({"since": (now - timedelta(hours=1)).timestamp(), "until": None}))
    home.pen.now = now - timedelta(minutes=30)
    session.prompt("during")
    home.history("during", session_id=session.session_id)
    os.utime(home.session().journal().path, (home.pen.now.timestamp(),) * 2)
    os.utime(home.session().journal().path, ((now - timedelta(minutes=90)).timestamp(),) * 2)
    command(agent, "resume", "--from-now")
    assert agent.scan().ledger["lines"] == 0
    home.pen.now = now + timedelta(hours=1)
    unknown = home.session()
    unknown.path.unlink()
    unknown.path.symlink_to(os.devnull)  # nobody can tell when it began
    newer = home.session()
    newer.prompt("newer")
    for each in (unknown, newer):
        os.utime(each.journal().path, (home.pen.now.timestamp(),) * 2)
    session.prompt("after")
    session.record({"type": "last-prompt", "lastPrompt": "during", "sessionId": session.session_id})
    home.index(session, firstPrompt="during", created=(now - timedelta(hours=2)).isoformat())
    with Sink() as later:
        agent.sink = later
        assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 8}
        texts = [event["text"] for event in later.events if "text" in event]
        assert sorted(texts) == [*["Found 3 files."] * 2, "after", "before", "newer"]
        agent.run("reset", "--all", "--state", str(agent.state), env={"COLLECTOR_SINK__URL": later.url})
        assert agent.scan().ledger["delivered"] == 15
    with Sink() as last:
        agent.sink = last
        left_out.write_text("{")
        refused = agent.scan()
        assert (refused.code, "which pauses to leave out for good" in refused.stderr) == (74, True)
        assert last.requests == []


def test_a_pause_that_is_made_longer_began_when_it_began(home: Home, sink: Sink, agent: Agent) -> None:
    now = datetime.now(UTC)
    command(agent, "pause", "--for", "2h")
    since = (now - timedelta(hours=1)).timestamp()
    paused = {"since": since, "until": (now + timedelta(hours=1)).timestamp()}
    (agent.directory / "paused.json").write_text(json.dumps(paused))
    home.pen.now = now - timedelta(minutes=30)
    home.session().prompt("during")
    command(agent, "pause")
    command(agent, "resume", "--from-now")
    assert agent.scan().ledger["lines"] == 0
    with Sink() as later:
        agent.sink = later
        assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 1}
        assert later.requests == []


def test_what_has_no_time_may_be_from_the_pause_that_came_before_the_next_that_has_one(
    home: Home, sink: Sink, agent: Agent
) -> None:
    now = datetime.now(UTC)
    home.pen.now = now - timedelta(hours=3)
    sessions = home.session(), home.session()
    for session in sessions:
        session.prompt("before")
        session.record({"type": "custom-title", "customTitle": "long before", "sessionId": session.session_id})
    home.pen.now = now - timedelta(hours=2)
    for session in sessions:
        session.prompt("before, too")
    command(agent, "pause")
    earlier = [f"{now - timedelta(hours=hours):%Y-%m-%dT%H:%M:%S.000Z}" for hours in (9, 8)]
    (agent.directory / "paused.left-out.json").write_text(json.dumps({"pauses": [earlier]}))
    (agent.directory / "paused.json").write_text(
        json.dumps({"since": (now - timedelta(hours=1)).timestamp(), "until": None})
    )
    for session in sessions:
        session.record({"type": "custom-title", "customTitle": "during", "sessionId": session.session_id})
    command(agent, "resume", "--from-now")
    assert agent.scan().ledger["delivered"] == 0
    home.pen.now = now + timedelta(hours=1)
    sessions[0].prompt("after")  # of the other, only the file says when it was written last
    with Sink() as later:
        agent.sink = later
        assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 2}
    texts = sorted(event["text"] for event in later.events)
    assert texts == ["after", "before", "before", "before, too", "before, too", "long before", "long before"]


def test_a_reset_says_that_it_sends_what_was_left_out(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("before")
    agent.scan()
    again = "The next pass sends 1 source again from the start"
    place = {"COLLECTOR_SINK__URL": sink.url}
    assert agent.run("reset", "--all", "--state", str(agent.state), env=place).stdout == f"{again}.\n"
    agent.scan()
    command(agent, "pause")
    session.prompt("during")
    command(agent, "resume", "--from-now")
    said = agent.run("reset", "--all", "--state", str(agent.state), env=place).stdout
    assert said == f"{again}, and what was left out of them with --from-now.\n"
    assert agent.scan().ledger["delivered"] == 2


def test_what_was_once_wanted_again_says_nothing_of_a_later_pause(home: Home, sink: Sink, agent: Agent) -> None:
    now = datetime.now(UTC)
    home.pen.now = now - timedelta(hours=3)
    session = home.session()
    session.prompt("before")
    with Sink() as other:
        agent.sink = other
        agent.scan()
        agent.run("reset", "--all", "--state", str(agent.state), env={"COLLECTOR_SINK__URL": other.url})
        assert agent.scan().ledger["delivered"] == 1
        agent.sink = sink
        agent.scan()
        command(agent, "pause")
        (agent.directory / "paused.json").write_text(
            json.dumps({"since": (now - timedelta(hours=1)).timestamp(), "until": None})
        )
        home.pen.now = now - timedelta(minutes=30)
        session.prompt("during")
        command(agent, "resume", "--from-now")
        assert agent.scan().ledger["delivered"] == 0
        agent.sink = other
        assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 1}


def test_leaving_out_with_a_wrong_clock_holds_back_nothing_later(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("before")
    agent.scan("--from-now")
    state = json.loads(agent.state.read_text())
    state["sink"]["left_out"]["at"] = "2124-01-01T00:00:00Z"
    agent.state.write_text(json.dumps(state))
    home.session().prompt("after")
    assert agent.scan().assert_balanced().ledger["skipped"] == {}
    assert [event["text"] for event in sink.events] == ["after"]


def test_what_was_written_during_a_pause_can_be_left_out_for_good(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("before")
    agent.scan()
    command(agent, "pause")
    session.prompt("during")
    command(agent, "resume", "--from-now")
    session.prompt("after, however long it takes until somebody looks")
    with Sink() as other:  # one that was never sent anything has nothing to do with it
        agent.sink = other
        agent.scan()
    agent.sink = sink
    agent.scan()
    assert [event["text"] for event in sink.events] == ["before", "after, however long it takes until somebody looks"]


def test_what_is_left_out_of_roots_that_only_flags_name_is_for_the_next_pass(
    tmp_path: Path, sink: Sink, home: Home
) -> None:
    agent = Inside(Home(tmp_path, name="elsewhere"), sink)
    home.session().prompt("where nobody looks")
    session = agent.home.session()
    session.prompt("before")
    agent.scan()
    command(agent, "pause")
    session.prompt("during")
    command(agent, "resume", "--from-now")
    assert agent.offsets() == {
        "~/elsewhere/projects/-work-app/" + session.path.name: session.size - len(session.lines[1])
    }
    agent.scan()
    assert [event["text"] for event in sink.events] == ["before"]


def test_what_is_to_be_left_out_before_anything_was_sent_is_not_announced_as_sent(
    home: Home, sink: Sink, agent: Agent
) -> None:
    home.session().prompt("written before the first scan")
    command(agent, "pause")
    command(agent, "resume", "--from-now")
    said = agent.run("status", *agent.places()).stdout
    assert "nothing sent to it yet" not in said
    assert "what is unsent is to be left out, as you asked; the next pass starts with that" in said
    assert agent.scan("--dry-run").ledger["lines"] == 0
    assert agent.scan().ledger["lines"] == 0
    assert "what is unsent" not in agent.run("status", *agent.places()).stdout
    assert sink.events == []
