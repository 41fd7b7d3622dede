"""The contract every sink keeps, over a real server on loopback. A registered sink missing from it fails the suite."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import collector.delivery.sinks
from collector.delivery.credentials import Credentials, basic, bearer
from collector.delivery.sink import Accepted, Answer, Halt, Pending, Refused, Retry, TooLarge
from collector.delivery.sinks.registry import SINKS
from collector.errors import SinkHalted
from collector.flow.outcome import Sealed
from tests.delivery import made_up
from tests.delivery.contract import Receiving, deliverer, serving
from tests.delivery.receivers import RECEIVERS
from tests.delivery.sending import batch, names, sealed
from tests.sink import Answer as Scripted

ALL = {**RECEIVERS, "one that is made up": made_up.RECEIVING}
SECRET = "not-for-anybody-else"
TRANSPORTS_OWN = {"authorization", "content-encoding", "content-length", "host", "transfer-encoding", "user-agent"}
NONSENSE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"\xff"',
    b"<html>",
    b'{"a":' * 5000,
    b'{"rejected":7}',
    b'{"word":[]}',
    b"\0" * 99,
]


@pytest.fixture(params=list(ALL.values()), ids=list(ALL))
def receiving(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_every_sink_module_is_registered_under_its_name_and_has_a_receiver_here() -> None:
    directory = Path(str(collector.delivery.sinks.__file__)).parent
    assert {path.stem for path in directory.glob("*.py")} - {"__init__", "registry"} == set(SINKS)
    assert {name: sink.name for name, sink in SINKS.items()} == {name: name for name in SINKS}
    assert {receiving.sink.name for receiving in RECEIVERS.values()} == set(SINKS)


def those_that(can: Callable[[Receiving], object]) -> pytest.MarkDecorator:
    """Parametrizes a test over the receivers for which `can` holds."""
    found = {name: receiving for name, receiving in ALL.items() if can(receiving)}
    return pytest.mark.parametrize("receiving", list(found.values()), ids=list(found))


# Requests


def test_accepted_events_are_acknowledged_and_arrive_once(receiving: Receiving) -> None:
    with serving(receiving) as server:
        [receipt] = deliverer(server).deliver([batch(*names(7))])
    assert receipt.refused == []
    assert server.requests == [names(7)]
    assert receipt.sent_bytes == len(server.sink.posts[0].raw)


def test_equal_events_make_equal_requests(receiving: Receiving) -> None:
    events = [sealed("a"), sealed("b", 99)]
    first, again = (receiving.make().render(events, "key") for _ in range(2))
    assert first == again
    assert first != receiving.make().render(events[:1], "key")


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_the_same_events_arrive_with_every_compression(receiving: Receiving, compression: str) -> None:
    with serving(receiving) as server:
        list(deliverer(server, compression=compression).deliver([batch("a", size=700)]))
    [request] = server.sink.posts
    assert receiving.ids(request) == ["a"]
    assert request.headers.get("content-encoding", "none") == compression
    assert (len(request.raw) < len(request.body)) == (compression != "none")


def test_the_sinks_path_and_query_are_added_to_the_configured_url(receiving: Receiving) -> None:
    with serving(receiving) as server:
        for url in (f"http://127.0.0.1:{server.sink.port}/of/mine?v=a%2Fb", f"http://127.0.0.1:{server.sink.port}/"):
            list(deliverer(server, url=url).deliver([batch("a")]))
    first, second = (request.path.partition("?") for request in server.sink.posts)
    assert first[0] == f"/of/mine{receiving.path}"
    assert first[2].split("&")[0] == "v=a%2Fb"
    assert second[0] == (receiving.path or "/")


def test_a_sink_sets_none_of_the_transports_headers(receiving: Receiving) -> None:
    request = receiving.make().render([sealed("a")], "key")
    assert {name.lower() for name in request.headers} & TRANSPORTS_OWN == set()
    assert "content-type" in {name.lower() for name in request.headers}
    assert request.path == "" or request.path.startswith("/")


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", "no time", 7, None]
)
def test_events_with_odd_times_and_extreme_numbers_can_be_rendered(receiving: Receiving, time: Any) -> None:
    usage = {"input_tokens": 2**64 - 1, "output_tokens": -(2**63), "cache_read_tokens": 0}
    body = orjson.dumps({"id": "a", "kind": "system", "time": time, "usage": usage, "attributes": {"n": 1e308}})
    assert receiving.make().render([Sealed("a", body, {}, 1_790_000_000.0)], "key")


def test_no_request_is_larger_than_its_receiver_accepts(receiving: Receiving) -> None:
    limits = receiving.make().limits
    size = min((limits.event or 1_500) - 100, 1_400)
    with serving(receiving) as server:
        [receipt] = deliverer(server, compression="none").deliver([batch(*names(20), size=size)])
    assert receipt.refused == []
    assert server.stored == names(20)
    assert max(len(request.raw) for request in server.sink.posts) <= (limits.body or 10**9)


# Answers


@those_that(lambda receiving: receiving.rejected)
def test_a_rejected_event_costs_exactly_itself(receiving: Receiving) -> None:
    rejected = receiving.rejected
    assert rejected
    with serving(receiving) as server:
        server.say(lambda ids: rejected("e3", ids))
        [receipt] = deliverer(server).deliver([batch(*names(7))])
    assert [thing.id for thing in receipt.refused] == ["e3"]
    assert len(server.requests) == 1


def test_a_retry_sends_exactly_the_same_request(receiving: Receiving) -> None:
    answers = itertools.chain([receiving.later(0)] * 3, itertools.repeat(None))
    with serving(receiving) as server:
        server.say(lambda ids: next(answers))
        [receipt] = deliverer(server).deliver([batch(*names(5))])
    assert receipt.refused == []
    assert len({(request.path, request.raw, str(request.headers)) for request in server.sink.posts}) == 1
    assert server.requests == [names(5)] * 4


@pytest.mark.parametrize("seconds", [0, 7, 600])
def test_the_wait_that_a_receiver_asks_for_is_understood(receiving: Receiving, seconds: int) -> None:
    verdict = receiving.verdict(receiving.later(seconds))
    assert isinstance(verdict, Retry)
    assert verdict.after == seconds


def test_a_request_that_is_too_large_is_split(receiving: Receiving) -> None:
    with serving(receiving) as server:
        server.say(lambda ids: receiving.too_large if len(ids) > 2 else None)
        [receipt] = deliverer(server).deliver([batch(*names(9))])
    assert receipt.refused == []
    assert server.stored == names(9)


@those_that(lambda receiving: receiving.refused)
def test_the_bad_event_in_a_refused_request_is_found(receiving: Receiving) -> None:
    with serving(receiving) as server:
        server.say(lambda ids: receiving.refused if "e5" in ids else None)
        [receipt] = deliverer(server).deliver([batch(*names(9))])
    assert [thing.id for thing in receipt.refused] == ["e5"]
    assert sorted(server.stored) == sorted({*names(9)} - {"e5"})


def test_an_answer_that_needs_a_person_halts_after_one_request(receiving: Receiving) -> None:
    with serving(receiving) as server:
        server.say(lambda ids: receiving.halted)
        with pytest.raises(SinkHalted, match="All offsets are kept") as caught:
            list(deliverer(server).deliver([batch("a"), batch("b")]))
    assert len(server.requests) == 1
    verdict = receiving.verdict(receiving.halted)
    assert isinstance(verdict, Halt)
    assert verdict.advice in str(caught.value)


def test_a_2xx_that_acknowledges_nothing_is_retried() -> None:
    for receiving in ALL.values():
        for answer in receiving.unacknowledged:
            with serving(receiving) as server:
                server.sink.answer(answer)
                [receipt] = deliverer(server).deliver([batch("a")])
            assert receipt.refused == []
            assert server.requests == [["a"], ["a"]]
            assert server.stored == ["a"]


def test_every_answer_gives_a_verdict_and_only_a_2xx_can_accept(receiving: Receiving) -> None:
    sink = receiving.make()
    for status in (*range(100, 600), 999):
        for body in NONSENSE:
            verdict = sink.classify(Answer(status, {}, body, is_cut=len(body) > 50))
            assert isinstance(verdict, Accepted | Retry | TooLarge | Refused | Halt | Pending)
            assert 200 <= status < 300 or not isinstance(verdict, Accepted)


# Secrets


def told_by(receiving: Receiving, answer: Scripted, credentials: Credentials) -> str:
    """Everything that is said after a receiver gives this answer and echoes the secret in it."""
    assert isinstance(answer.body, bytes)
    said = SECRET.encode()
    body = answer.body.replace(b"no such kind", said).replace(b"a hawk", said) or said
    echo = replace(answer, body=body, headers={**answer.headers, "X-Echo": SECRET})
    with serving(receiving) as server:
        server.sink.answer(echo)
        way = deliverer(server, credentials, compression="none")
        try:
            receipts = [receipt.refused for receipt in way.deliver([batch("a", "b")])]
        except SinkHalted as error:
            return str(error)
        assert {request.headers[credentials.header.lower()] for request in server.sink.posts} == {credentials.value}
    return f"{receipts} {way.health} {way.complaint()}"


@pytest.mark.parametrize(
    "credentials",
    [bearer(SECRET), basic("ada", SECRET), Credentials("X-Api-Key", SECRET, (SECRET,))],
    ids=["bearer", "basic", "header"],
)
def test_the_secret_reaches_the_receiver_and_nobody_else(
    receiving: Receiving, credentials: Credentials, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = [receiving.accepted, receiving.later(0), receiving.halted]
    answers += [receiving.rejected("a", ["a"])] if receiving.rejected else []
    told = "".join(told_by(receiving, answer, credentials) for answer in answers)
    logged = capfd.readouterr()
    assert SECRET not in told + logged.out + logged.err
    assert credentials.value not in told + logged.out + logged.err
