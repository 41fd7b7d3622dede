"""Promise 7: the sink may answer anything; every answer of docs/receiver.md, and every exit code of `scan`."""

from __future__ import annotations

import email.utils
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import (
    Answer,
    Request,
    Sink,
    at_most,
    drip,
    flood,
    is_poison,
    only_with_token,
    poison,
    redirect,
    rejecting,
    texts,
)
from tests.tls import Authority

pytestmark = pytest.mark.usefixtures("prompts")

QUARANTINED, UNREACHABLE, MISCONFIGURED, USAGE = 3, 75, 78, 2
NOT_A_ROOT, NO_ROOT = 65, 66
SHORT = ("--max-wait", "0.3")


def quarantine_of(agent: Agent) -> bytes:
    return b"".join(data for path, data in agent.kept().items() if "quarantine" in path.name)


# Accepted


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_any_2xx_acknowledges(sink: Sink, agent: Agent, prompts: list[str], status: int) -> None:
    sink.then = Answer(status)
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert texts(sink) == prompts
    assert result.ledger["delivered"] == len(prompts)


@pytest.mark.parametrize("body", [b"<html>ok", b"{", b'{"rejected": "7"}', b'{"rejected": {"id": 3}}', b"\xff\x00"])
def test_a_2xx_with_a_meaningless_body_acknowledges(sink: Sink, agent: Agent, body: bytes) -> None:
    sink.then = Answer(200, {"Content-Type": "application/json"}, body)
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert agent.scan().ledger["lines"] == 0


def test_an_event_rejected_in_the_body_is_quarantined(sink: Sink, agent: Agent, prompts: list[str]) -> None:
    sink.then = rejecting(is_poison, "too poisonous")
    result = agent.scan()
    assert result.code == QUARANTINED
    assert result.assert_balanced().ledger["quarantined"] == 1
    assert texts(sink) == [text for text in prompts if text != "poison"]
    assert b"too poisonous" in quarantine_of(agent)


def test_gigabytes_of_answer_are_not_read(sink: Sink, agent: Agent) -> None:
    sink.then = flood(5_000_000_000)
    result = agent.scan()
    assert result.code == 0, result.stderr
    sink.down()
    assert sink.answered_bytes < 100_000_000


# Retry


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_the_same_batch_is_tried_again_until_it_is_accepted(
    sink: Sink, agent: Agent, prompts: list[str], status: int
) -> None:
    sink.answer(Answer(status), Answer(status))
    result = agent.scan(COLLECTOR_BATCH__LINGER="60")  # one batch, however busy this machine is
    assert result.code == 0, result.stderr
    assert texts(sink) == prompts
    assert len(sink.posts) == 3
    assert len({request.key for request in sink.posts}) == 1
    assert len({request.body for request in sink.posts}) == 1


@pytest.mark.parametrize("ending", ["closed", "cut"])
def test_a_connection_that_breaks_is_tried_again(sink: Sink, agent: Agent, prompts: list[str], ending: str) -> None:
    sink.answer(Answer(ending="closed") if ending == "closed" else Answer(ending="cut", is_stored=False))
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert texts(sink) == prompts


@pytest.mark.parametrize("answer", [Answer(ending="silence"), drip()], ids=["silence", "slow-loris"])
def test_an_answer_that_does_not_come_is_tried_again(
    sink: Sink, agent: Agent, prompts: list[str], answer: Answer
) -> None:
    sink.answer(answer)
    result = agent.scan(COLLECTOR_SINK__TIMEOUT="0.5", COLLECTOR_SINK__CONNECT_TIMEOUT="0.5")
    assert result.code == 0, result.stderr
    assert set(texts(sink)) == set(prompts)


@pytest.mark.parametrize("value", ["1", "date"])
def test_retry_after_is_honoured_in_both_forms(sink: Sink, agent: Agent, value: str) -> None:
    def answer(request: Request) -> Answer:
        later = "1" if value == "1" else email.utils.formatdate(email.utils.localtime().timestamp() + 2, usegmt=True)
        return Answer(429, {"Retry-After": later})

    sink.answer(answer)
    # Everything goes into one batch, however slowly a busy machine reads.
    result = agent.scan(COLLECTOR_RETRY__MAX_INTERVAL="60", COLLECTOR_BATCH__LINGER="60")
    assert result.code == 0, result.stderr
    first, second = sink.posts
    assert second.arrived - first.arrived > 0.9


@pytest.mark.parametrize("value", ["99999999", "-5", "soon", "Thu, 01 Jan 2099 00:00:00 GMT", "1e999"])
def test_an_absurd_retry_after_does_not_cause_an_endless_wait(sink: Sink, agent: Agent, value: str) -> None:
    sink.answer(Answer(503, {"Retry-After": value}))
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert len(sink.posts) == 2


def test_a_sink_that_stays_away_costs_nothing_but_time(sink: Sink, agent: Agent, prompts: list[str]) -> None:
    sink.then = Answer(503)
    result = agent.scan(*SHORT)
    assert result.code == UNREACHABLE
    assert result.assert_balanced().ledger["lag"] > 0
    assert result.ledger["delivered"] == 0
    sink.then = Answer()
    assert agent.scan().code == 0
    assert texts(sink) == prompts


def test_a_sink_that_is_down_is_named(sink: Sink, agent: Agent, prompts: list[str]) -> None:
    sink.down()
    result = agent.scan(*SHORT)
    assert result.code == UNREACHABLE
    assert f"127.0.0.1:{sink.port}" in result.stderr
    sink.up()
    assert agent.scan().code == 0
    assert texts(sink) == prompts


# Too large


def test_a_batch_that_is_too_large_is_halved(sink: Sink, agent: Agent, prompts: list[str]) -> None:
    limit = 3000
    sink.then = at_most(limit)
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert sorted(texts(sink)) == sorted(prompts)
    assert len(texts(sink)) == len(prompts)


def test_an_event_that_is_too_large_alone_is_cut(home: Home, sink: Sink, agent: Agent, prompts: list[str]) -> None:
    home.session().prompt("long " * 10_000)
    sink.then = at_most(20_000)
    result = agent.scan()
    assert result.code == 0, result.stderr
    long = [event for event in sink.events if event["text"].startswith("long ")]
    assert len(long) == 1
    assert len(sink.events) == len(prompts) + 1
    assert long[0]["truncated"] == {"text": 50_000}


def test_a_sink_that_finds_everything_too_large_halts_and_quarantines_nothing(
    sink: Sink, agent: Agent, prompts: list[str]
) -> None:
    sink.then = Answer(413)
    result = agent.scan().assert_balanced()
    assert result.code == UNREACHABLE
    assert result.ledger["quarantined"] == 0
    sink.then = Answer()
    assert agent.scan().code == 0
    assert sorted(set(texts(sink))) == sorted(prompts)


# Refused


@pytest.mark.parametrize("status", [400, 422, 500])
def test_one_poison_event_costs_exactly_itself(sink: Sink, agent: Agent, prompts: list[str], status: int) -> None:
    sink.then = poison(is_poison, status)
    result = agent.scan("--max-wait", "20")
    assert result.code == QUARANTINED, result.stderr
    assert result.assert_balanced().ledger["quarantined"] == 1
    assert result.ledger["lag"] == 0
    assert set(texts(sink)) == {text for text in prompts if text != "poison"}
    assert b"poison" in quarantine_of(agent)
    sink.then = Answer()
    assert agent.scan().ledger["lines"] == 0


@pytest.mark.parametrize("status", [400, 422])
def test_a_sink_that_refuses_everything_halts_and_quarantines_nothing(
    sink: Sink, agent: Agent, prompts: list[str], status: int
) -> None:
    sink.then = Answer(status)
    result = agent.scan()
    assert result.code == UNREACHABLE
    assert result.assert_balanced().ledger["quarantined"] == 0
    assert result.ledger["lag"] > 0
    sink.then = Answer()
    assert agent.scan().code == 0
    assert sorted(set(texts(sink))) == sorted(prompts)


# Halt


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_token_or_url_costs_nothing_and_says_what_to_do(
    sink: Sink, agent: Agent, prompts: list[str], status: int
) -> None:
    sink.then = Answer(status)
    result = agent.scan()
    assert result.code == UNREACHABLE
    assert str(status) in result.stderr
    assert ("sink.token_file" if status != 404 else "sink.url") in result.stderr
    assert result.ledger["delivered"] == 0
    sink.then = Answer()
    assert agent.scan().code == 0
    assert texts(sink) == prompts


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(sink: Sink, agent: Agent, tmp_path: Path, status: int) -> None:
    token = tmp_path / "token"
    token.write_text("not-for-strangers\n")
    with Sink() as elsewhere:
        sink.then = redirect(f"{elsewhere.url}?key=not-a-key", status)
        result = agent.scan(COLLECTOR_SINK__TOKEN_FILE=str(token))
        assert elsewhere.requests == []
    assert result.code == UNREACHABLE
    assert "redirect" in result.stderr
    assert "not-a-key" not in result.stderr
    assert "not-for-strangers" not in result.stderr


def test_the_token_is_sent_and_shown_nowhere(sink: Sink, agent: Agent, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("only-for-the-sink\n")
    sink.then = only_with_token("only-for-the-sink")
    result = agent.scan(COLLECTOR_SINK__TOKEN_FILE=str(token), COLLECTOR_LOG__LEVEL="debug")
    assert result.code == 0, result.stderr
    assert "only-for-the-sink" not in result.stderr + result.stdout
    assert all(b"only-for-the-sink" not in data for data in agent.kept().values())


@pytest.mark.parametrize(
    ("name", "days", "is_trusted"),
    [("127.0.0.1", 2, False), ("127.0.0.1", -1, True), ("127.0.0.2", 2, True)],
    ids=["unknown authority", "expired", "wrong name"],
)
def test_a_certificate_that_is_wrong_halts(
    home: Home, authority: Authority, name: str, days: int, is_trusted: bool
) -> None:
    with Sink(tls=authority.server(name, days)) as sink:
        trusted = {"COLLECTOR_SINK__CA_FILE": str(authority.certificate)} if is_trusted else {}
        result = Agent(home, sink).scan(**trusted)
        assert result.code == UNREACHABLE
        assert "certificate" in result.stderr
        assert sink.requests == []


def test_a_private_authority_and_a_client_certificate_work(
    home: Home, authority: Authority, prompts: list[str]
) -> None:
    certificate, key = authority.issue("agent.test")
    with Sink(tls=authority.server(asks_client=True)) as sink:
        result = Agent(home, sink).scan(
            COLLECTOR_SINK__CA_FILE=str(authority.certificate),
            COLLECTOR_SINK__CLIENT_CERT=str(certificate),
            COLLECTOR_SINK__CLIENT_KEY=str(key),
        )
        assert result.code == 0, result.stderr
        assert texts(sink) == prompts


# Exit codes that are not about the sink


@pytest.mark.parametrize(
    ("arrange", "expected", "said"),
    [
        pytest.param(lambda _: (["--colour"], {}), USAGE, "--colour", id="unknown flag"),
        pytest.param(lambda _: ([], {"COLLECTOR_SINK__ULR": "x"}), MISCONFIGURED, "COLLECTOR_SINK__URL", id="typo"),
        pytest.param(lambda _: ([], {"COLLECTOR_BATCH__LINGER": "soon"}), MISCONFIGURED, "linger", id="no number"),
        pytest.param(
            lambda _: (["--sink-url", "http://sink.invalid/"], {}), MISCONFIGURED, "in the clear", id="http abroad"
        ),
        pytest.param(lambda _: (["--config", "none.toml"], {}), MISCONFIGURED, "none.toml", id="no such file"),
        pytest.param(lambda home: (["--root", str(home / "nowhere")], {}), NO_ROOT, "nowhere", id="no root"),
        pytest.param(
            lambda home: (["--root", str(home / "home")], {}),
            NOT_A_ROOT,
            "Did you mean {}/home/.claude?",
            id="not a root",
        ),
        pytest.param(
            lambda home: (["--root", str(home / "home/.claude/projects")], {}),
            *(NOT_A_ROOT, "Did you mean {}/home/.claude?"),
            id="one level too deep",
        ),
        pytest.param(
            lambda home: (["--root", f"{next((home / 'home/.claude').rglob('*.jsonl'))}"], {}),
            *(NOT_A_ROOT, ".jsonl is a file."),
            id="a file",
        ),
    ],
)
def test_bad_input_gets_its_code_and_a_sentence(
    agent: Agent,
    tmp_path: Path,
    sink: Sink,
    arrange: Callable[[Path], tuple[list[str], dict[str, str]]],
    expected: int,
    said: str,
) -> None:
    flags, environment = arrange(tmp_path)
    places = [] if "--root" in flags else agent.places()
    result = agent.run("scan", *places, *flags, env=environment)
    assert result.code == expected, result.stderr
    assert said.format(tmp_path) in result.stderr
    assert "Traceback" not in result.stderr
    assert sink.requests == []
