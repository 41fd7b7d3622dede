"""A real process against a real receiver that misbehaves: everything that was written arrives."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import Answer, Rule, Sink, at_most, drip, poison, redirect, rejecting
from tests.talking import dribble, talking

UNREACHABLE = 75


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    session = home.session()
    for number in range(6):
        session.prompt(f"prompt {number}")
    return home


def test_an_answer_after_the_timeout_causes_repeats_under_the_same_ids(home: Home) -> None:
    gate = threading.Event()
    with Sink(Answer(held=gate)) as sink:
        result = Agent(home, sink).scan(COLLECTOR_SINK__TIMEOUT="0.5")
        gate.set()
        sink.wait_for(lambda: len(sink.answers) == 2)
        assert result.code == 0, result.stderr
        assert result.ledger["delivered"] == 6
        assert len(sink.ids()) == 12
        assert len(set(sink.ids())) == 6


def test_headers_that_dribble_in_do_not_hold_up_the_agent(home: Home) -> None:
    with talking(dribble(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a")) as url:
        agent = Agent(home)
        times = {"COLLECTOR_SINK__TIMEOUT": "0.2", "COLLECTOR_SINK__CONNECT_TIMEOUT": "0.2"}
        result = agent.scan("--sink-url", url, "--max-wait", "1", **times)
    assert result.code == UNREACHABLE
    assert "the answer was not complete within" in result.stderr
    assert result.assert_balanced().ledger["lag"] > 0


def test_an_unresolvable_host_is_named(home: Home) -> None:
    result = Agent(home).scan("--sink-url", "https://sink.invalid/events", "--max-wait", "0.2")
    assert result.code == UNREACHABLE
    assert "sink.invalid" in result.stderr
    assert "All offsets are kept" in result.stderr


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        (
            "http:",
            b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00",
        ),  # the settings that HTTP/2 begins with
        ("https:", b"\x15\x03\x03\x00\x02\x02\x78"),  # the alert `no application protocol`
    ],
)
def test_the_port_of_grpc_is_recognized(home: Home, scheme: str, says: bytes) -> None:
    with talking(lambda connection, closing: connection.sendall(says)) as url:
        result = Agent(home).scan("--sink-url", url.replace("http:", scheme), "--max-wait", "0.2")
    assert result.code == UNREACHABLE
    assert "gRPC" in result.stderr


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"])
def test_a_proxy_that_refuses_is_named(home: Home, says: bytes) -> None:
    with talking(lambda connection, closing: connection.sendall(says)) as url:
        flags = ("--sink-url", "https://sink.invalid/events", "--max-wait", "0.2")
        result = Agent(home).scan(*flags, HTTPS_PROXY=url)
    assert result.code == UNREACHABLE
    assert ("Check the proxy" in result.stderr) == bool(says)
    assert "All offsets are kept" in result.stderr


def test_after_a_refused_connection_everything_is_delivered_later(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    agent = Agent(home)
    assert agent.scan("--sink-url", url, "--max-wait", "0").code == UNREACHABLE
    with Sink() as sink:
        assert agent.scan("--sink-url", sink.url).ledger["delivered"] == 6
        assert len(sink.ids()) == 6


MOODS: list[Rule] = [
    *(Answer(status) for status in (401, 403, 404, 429, 500, 503, 413, 400, 101)),
    Answer(429, {"Retry-After": "99999999"}),
    Answer(503, {"Retry-After": "Thu, 01 Jan 2099 00:00:00 GMT"}),
    redirect("http://127.0.0.1:9/"),
    Answer(ending="closed"),
    Answer(ending="cut", is_stored=False),
    Answer(ending="silence"),
    drip(),
    Answer(503, is_stored=True),
]


def test_a_service_survives_every_mood_of_a_sink_and_then_delivers_everything(home: Home) -> None:
    times = {"COLLECTOR_SINK__TIMEOUT": "0.2", "COLLECTOR_SINK__CONNECT_TIMEOUT": "0.2"}
    with Sink(*MOODS) as sink, Agent(home, sink, times).start() as running:
        sink.wait_for(lambda: len(sink.posts) > len(MOODS) and len(set(sink.ids())) >= 6)
        session = home.session()
        for number in range(6, 9):
            session.prompt(f"prompt {number}")
        sink.wait_for(lambda: len({event.get("text") for event in sink.events} & set(prompts(9))) == 9)
        assert running.stop() == 0
        found = {event["id"]: event["text"] for event in sink.events if event["kind"] == "user_prompt"}
        assert sorted(found.values()) == prompts(9)
        assert "Traceback" not in running.stderr


def test_what_a_sink_says_about_an_event_that_it_refuses_is_shown(home: Home) -> None:
    says = Answer(422, {"Content-Type": "application/json"}, b'{"error":"no such project"}')
    with Sink(then=lambda request: says if b"prompt 3" in request.body else Answer()) as sink:
        agent = Agent(home, sink)
        assert agent.scan().code == 3
        [entry] = agent.run("quarantine", "list", "--json", "--state", str(agent.state)).stdout.splitlines()
        assert json.loads(entry)["reason"] == 'refused by the sink (HTTP 422: {"error":"no such project"})'


def prompts(count: int) -> list[str]:
    return [f"prompt {number}" for number in range(count)]


@pytest.mark.parametrize(
    ("rule", "arrive"),
    [
        (poison(lambda event: event.get("text") == "prompt 3", 422), 5),
        (poison(lambda event: event.get("text") == "prompt 3", 500), 5),
        (poison(lambda event: event.get("text") == "prompt 3", 403), 5),
        (rejecting(lambda event: event.get("text") == "prompt 3"), 5),
        (at_most(1000), 6),
    ],
    ids=["poison 422", "poison 500", "blocked by a filter", "rejected by name", "a body limit for ever"],
)
def test_an_event_that_a_picky_sink_refuses_affects_no_other(home: Home, rule: Rule, arrive: int) -> None:
    with Sink(then=rule) as sink:
        agent = Agent(home, sink)
        result = agent.scan("--max-wait", "20").assert_balanced()
        assert result.code == (0 if arrive == 6 else 3), result.stderr
        assert result.ledger["delivered"] == arrive
        assert result.ledger["quarantined"] == 6 - arrive
        assert result.ledger["lag"] == 0
        assert len(set(sink.ids())) == arrive
        sink.then = Answer()
        assert agent.scan().ledger["lines"] == 0
