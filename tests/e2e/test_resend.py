"""`collector resend --from-store`: what was swept before there was a sink is in the store, and is sent from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.build import Home
from tests.inside import Inside
from tests.redact.secrets import secret
from tests.sink import Answer, Sink, rejecting

KEY = "AKIA" + "Q7RSTUVWXY2ZABCD"  # has the shape of a key, but is nobody's


class Laptop:
    """A laptop whose transcripts went into the embedded store and were then swept."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory)
        self.agent = Inside(self.home, environment={"COLLECTOR_BATCH__MAX_EVENTS": "1", "COLLECTOR_SINK__WINDOW": "1"})
        sessions = [self.home.session(project) for project in ("-work-app", "-work-secret")]
        for number, session in enumerate(sessions):
            session.prompt(f"old {number} {KEY}")
            session.prompt(f"new {number}")
        assert self.agent.scan().ledger["delivered"] == 4
        for session in sessions:
            session.path.unlink()

    def resend(self, sink: Sink | None, *flags: str, code: int = 0, env: dict[str, str] | None = None) -> int:
        """Resends; returns how many events were delivered."""
        where = ["--sink-url", sink.url] if sink else []
        command = ("resend", "--from-store", "--json", "--state", str(self.agent.state), *where, *flags)
        self.result = self.agent.run(*command, env=env)
        assert self.result.code == code, self.result.stderr
        return int(self.result.assert_balanced().ledger["delivered"]) if self.result.stdout else 0

    @property
    def resent(self) -> dict[str, int]:
        """How far each call came, by what it was asked for."""
        return dict(json.loads(self.agent.state.read_text())["sink"]["resent"])


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


def test_everything_in_the_store_is_sent_once_with_its_marks(laptop: Laptop) -> None:
    with Sink() as sink:
        assert laptop.resend(sink) == 4
        assert {event["text"].split()[0] for event in sink.events} == {"old", "new"}
        marked = [event for event in sink.events if "[REDACTED:" in event["text"]]
        assert len(marked) == 2
        assert KEY not in json.dumps(sink.events)
        assert {event["redactions"]["aws-access-key-id"] for event in marked} == {1}
        assert laptop.resend(sink) == 0
        assert laptop.resend(sink, "--again") == 4
        assert len({event["id"] for event in sink.events}) == 4
        laptop.agent.sink = sink
        assert laptop.agent.scan().ledger["delivered"] == 0


def test_an_interrupted_resend_continues_where_it_stopped(laptop: Laptop) -> None:
    with Sink(Answer(), Answer(), then=Answer(503)) as sink:
        laptop.resend(sink, "--max-wait", "0", code=75)
        assert len(sink.events) == 2
        sink.clear_script()
        assert laptop.resend(sink) == 2
        assert len({event["id"] for event in sink.events}) == 4


def test_exclusions_and_the_level_apply_to_a_resend(laptop: Laptop) -> None:
    with Sink() as sink:
        said_no = {"COLLECTOR_PROJECTS__EXCLUDE": "/work/secret", "COLLECTOR_CAPTURE__LEVEL": "metadata"}
        assert laptop.resend(sink, env=said_no) == 2
        assert laptop.result.ledger["skipped"] == {"project": 2}
        assert [event["project"].partition("-")[0] for event in sink.events] == ["project", "project"]
        assert b"work" not in sink.raw_bytes
        assert [event for event in sink.events if "text" in event] == []


@pytest.mark.parametrize("off", [{"COLLECTOR_ENABLED": "false"}, {"COLLECTOR_DISCLOSURE__REQUIRE_ACK": "true"}])
def test_a_resend_sends_nothing_while_sending_is_off(laptop: Laptop, off: dict[str, str]) -> None:
    with Sink() as sink:
        laptop.resend(sink, code=3, env=off)
        assert "Nothing is sent" in laptop.result.stderr
        assert sink.requests == []


def test_fields_kept_here_by_a_switch_still_show_the_redactor_what_is_secret(tmp_path: Path) -> None:
    home, name = Home(tmp_path), secret("drawn", 3)
    text = {"type": "text", "text": f"I look for {name}."}
    call = {"type": "tool_use", "id": "toolu_1", "name": "mcp__crm__find", "input": {"customer_name": name}}
    message = {"role": "assistant", "id": "msg_1", "model": "claude-opus-4-5", "content": [text, call]}
    home.session().record({"type": "assistant", "uuid": "a", "message": message})
    since = {"COLLECTOR_REDACTION__FIELDS": '["customer_name"]', "COLLECTOR_CAPTURE__TOOL_INPUT": "false"}
    with Sink() as sink:
        agent = Inside(home)
        assert agent.scan().ledger["delivered"] == 1
        to = ("--state", str(agent.state), "--sink-url", sink.url)
        assert agent.run("resend", "--from-store", *to, env=since).code == 0
        assert [event["text"].startswith("I look for [REDACTED:") for event in sink.events] == [True]
        assert name not in json.dumps(sink.events)


def test_what_a_session_says_about_an_excluded_directory_stays_here(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session("-work-app")
    for session.cwd in ("/work/app", "/work/secret", "/work/app"):
        session.prompt(f"in {session.cwd}")
    session.record({"type": "ai-title", "aiTitle": "title of a secret", "sessionId": session.session_id})
    home.history("typed in secret", project="/work/app", session_id=session.session_id)
    with Sink(then=rejecting(lambda event: "secret" in event["text"])) as sink:
        roots = f"{home.root},{home.path}"  # the second root knows nothing about the session
        agent = Inside(home, environment={"COLLECTOR_PROJECTS__EXCLUDE": "/work/secret", "COLLECTOR_ROOTS": roots})
        everything = {"COLLECTOR_PROJECTS__EXCLUDE": ""}
        assert agent.scan(**everything).ledger["delivered"] == 5
        other, to_sink = Inside(home, sink), {"COLLECTOR_SINK__URL": sink.url}
        other.state = agent.directory / "other.json"
        assert other.scan(**everything).ledger["quarantined"] == 3
        before = len(sink.requests)
        retried = agent.run("quarantine", "retry", "--all", "--state", str(other.state), env=to_sink)
        assert "from an excluded project 3" in retried.stdout
        assert len(sink.requests) == before
        session.path.unlink()
        assert agent.run("resend", "--from-store", "--state", str(agent.state), "--sink-url", sink.url).code == 0
        again = [event["text"] for request in sink.requests[before:] for event in request.events]
        assert again == ["in /work/app", "in /work/app"]


def test_a_resend_can_be_limited_by_time(laptop: Laptop) -> None:
    with Sink() as sink:
        assert laptop.resend(sink, "--since", "2100-01-01") == 0
        assert laptop.resend(sink, "--since", "2000-01-01") == 4
        assert laptop.resend(sink, "--since", "9000d") == 4
        # By what was said: meant is another moment at every call, and each would send all of it again.
        assert sum(name.endswith(" since 9000d") for name in laptop.resent) == 1
        assert laptop.resend(sink, "--since", "9000d") == 0
    laptop.resend(None, code=78)
    assert "embedded store" in laptop.result.stderr
    assert laptop.agent.run("resend", "--sink-url", "http://127.0.0.1:9/").code == 2


@pytest.mark.parametrize(
    ("exclude", "kinds"), [("[]", {"user_prompt", "stats"}), ('["/work/secret"]', {"user_prompt"})]
)
def test_statistics_over_all_projects_stay_here_if_one_is_excluded(
    tmp_path: Path, exclude: str, kinds: set[str]
) -> None:
    home = Home(tmp_path)
    home.session().prompt("hello")
    home.stats()
    agent = Inside(home)
    assert agent.scan().ledger["delivered"] == 2
    with Sink() as sink:
        env = {"COLLECTOR_PROJECTS__EXCLUDE": exclude, "COLLECTOR_SINK__URL": sink.url}
        assert agent.run("resend", "--from-store", "--state", str(agent.state), env=env).code == 0
        assert {event["kind"] for event in sink.events} == kinds
