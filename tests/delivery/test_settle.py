"""Delivery: what each answer does to a batch, with scripted answers and no waiting."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import orjson
import pytest

from collector.delivery.settle import idempotency_key
from collector.delivery.sinks.http import HttpSink, retry_after
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.errors import SinkHalted, SinkUnavailable, Stopped
from collector.flow.batch import Batch
from collector.flow.outcome import Sealed
from collector.flow.receipt import Receipt
from collector.settings.options import RetrySettings, SinkSettings

QUICK = RetrySettings(initial_interval=0.001, max_interval=0.002)
Rule = Callable[[list[str]], httpx.Response]


def sealed(name: str, size: int = 0) -> Sealed:
    return Sealed(name, orjson.dumps({"id": name, "text": "x" * size}), {})


def batch(*names: str, size: int = 0) -> Batch:
    made = Batch()
    for number, name in enumerate(names):
        made.events.append(sealed(name, size))
        made.places.append(("s", number))
    return made


class Receiver:
    """Answers by rule; remembers what it took and in which requests."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.requests: list[list[str]] = []
        self.stored: set[str] = set()
        self.lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        ids = [orjson.loads(line)["id"] for line in request.content.splitlines()]
        with self.lock:
            self.requests.append(ids)
            answer = self.rule(ids)
            if answer.is_success:
                self.stored.update(ids)
        return answer


def deliverer(
    receiver: Receiver, *, window: int = 1, max_wait: float = 5.0, stop: threading.Event | None = None
) -> Deliverer:
    settings = SinkSettings(compression="none")
    transport = Transport(settings, "http://localhost/in?key=hidden", None, httpx.MockTransport(receiver))
    return Deliverer(HttpSink(), transport, QUICK, window=window, max_wait=max_wait, stop=stop)


def deliver(receiver: Receiver, *batches: Batch, max_wait: float = 5.0) -> list[Receipt]:
    return list(deliverer(receiver, max_wait=max_wait).deliver(iter(batches)))


def failing_on(*bad: str, status: int = 400) -> Rule:
    return lambda ids: httpx.Response(status if set(ids) & set(bad) else 200)


def names(count: int) -> list[str]:
    return [f"e{number}" for number in range(count)]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_acknowledges(status: int) -> None:
    [receipt] = deliver(Receiver(lambda _: httpx.Response(status, content=b"<html>fine</html>")), batch("a"))
    assert receipt.refused == []


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_passing_failure_sends_the_same_request_again(status: int) -> None:
    answers = itertools.chain(
        [httpx.Response(status, headers={"Retry-After": "0"})] * 2, itertools.repeat(httpx.Response(200))
    )
    receiver = Receiver(lambda _: next(answers))
    [receipt] = deliver(receiver, batch("a", "b"))
    assert receipt.refused == []
    assert receiver.requests == [["a", "b"]] * 3


@pytest.mark.parametrize("status", [301, 302, 307, 401, 403, 404, 405, 407, 410, 415])
def test_an_answer_that_needs_a_person_halts_with_advice_and_no_receipt(status: int) -> None:
    receiver = Receiver(lambda _: httpx.Response(status, headers={"Location": "https://elsewhere.example/"}))
    with pytest.raises(SinkHalted, match=f"HTTP {status}.*All offsets are kept") as caught:
        deliver(receiver, batch("a"))
    assert len(receiver.requests) == 1
    assert "hidden" not in str(caught.value)


def test_a_sink_that_stays_down_is_given_up_after_the_waiting_time() -> None:
    with pytest.raises(SinkUnavailable, match="did not acknowledge"):
        deliver(Receiver(lambda _: httpx.Response(503)), batch("a"), max_wait=0.05)


def test_a_broken_connection_is_a_passing_failure() -> None:
    answers = iter([True, False])

    def rule(ids: list[str]) -> httpx.Response:
        if next(answers):
            raise httpx.ConnectError("refused")
        return httpx.Response(200)

    [receipt] = deliver(Receiver(rule), batch("a"))
    assert receipt.refused == []


@pytest.mark.parametrize("status", [400, 422, 409])
@pytest.mark.parametrize("bad", [{"e0"}, {"e6"}, {"e3", "e4"}, {"e0", "e1", "e6"}])
def test_poison_costs_exactly_itself(status: int, bad: set[str]) -> None:
    receiver = Receiver(failing_on(*bad, status=status))
    [receipt] = deliver(receiver, batch(*names(7)))
    assert {thing.id for thing in receipt.refused} == bad
    assert receiver.stored == set(names(7)) - bad


def test_a_sink_that_refuses_everything_halts_and_sets_nothing_aside() -> None:
    with pytest.raises(SinkHalted, match="refuses every event"):
        deliver(Receiver(lambda _: httpx.Response(400)), batch(*names(30)))


def test_a_sink_that_begins_to_refuse_everything_halts_after_a_few() -> None:
    answers = itertools.chain([httpx.Response(200)], itertools.repeat(httpx.Response(400)))
    receipts: list[Receipt] = []
    flow = deliverer(Receiver(lambda _: next(answers))).deliver(batch(name) for name in names(40))
    with pytest.raises(SinkHalted):
        receipts.extend(flow)
    assert sum(len(receipt.refused) for receipt in receipts) < 10


def test_many_poisoned_events_in_a_row_do_not_halt_a_sink_that_takes_others() -> None:
    bad = names(60)[5:35]
    receiver = Receiver(failing_on(*bad))
    [receipt] = deliver(receiver, batch(*names(60)))
    assert {thing.id for thing in receipt.refused} == set(bad)


@pytest.mark.parametrize("bad", [{"e0"}, {"e8"}, {"e0", "e8"}, {"e3", "e4"}])
def test_an_event_that_always_breaks_a_healthy_sink_is_set_aside(bad: set[str]) -> None:
    receiver = Receiver(failing_on(*bad, status=500))
    first, second = deliver(receiver, batch("good"), batch(*names(9)))
    assert first.refused == []
    assert {thing.id for thing in second.refused} == bad
    assert receiver.stored >= (set(names(9)) - bad)


@pytest.mark.parametrize("how", [httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.ReadTimeout])
def test_an_event_that_makes_a_healthy_sink_hang_up_or_fall_silent_is_set_aside(how: type[httpx.HTTPError]) -> None:
    def rule(ids: list[str]) -> httpx.Response:
        if "e3" in ids:
            raise how("gone")
        return httpx.Response(200)

    first, second = deliver(Receiver(rule), batch("good"), batch(*names(9)))
    assert first.refused == []
    assert [thing.id for thing in second.refused] == ["e3"]


def test_a_request_that_a_sink_cannot_answer_in_time_is_not_repeated_for_ever() -> None:
    def rule(ids: list[str]) -> httpx.Response:
        if len(ids) > 2:
            raise httpx.ReadTimeout("no answer")
        return httpx.Response(200)

    receiver = Receiver(rule)
    [receipt] = deliver(receiver, batch(*names(9)))
    assert (receipt.refused, receiver.stored) == ([], set(names(9)))


def test_an_event_that_a_healthy_sink_fails_on_slowly_is_set_aside_all_the_same() -> None:
    passed = 0.0

    def rule(ids: list[str]) -> httpx.Response:
        nonlocal passed
        passed += 20.0 if "e3" in ids else 0.1
        return httpx.Response(504 if "e3" in ids else 200)

    slow = deliverer(Receiver(rule), max_wait=60.0)
    slow.clock = slow.health.clock = lambda: time.monotonic() + passed
    first, second = slow.deliver(iter([batch("good"), batch(*names(9))]))
    assert first.refused == []
    assert [thing.id for thing in second.refused] == ["e3"]


def test_a_sink_that_fails_on_many_and_refuses_each_is_given_up_after_the_waiting_time() -> None:
    receiver = Receiver(lambda ids: httpx.Response(500 if len(ids) > 1 else 400))
    with pytest.raises(SinkUnavailable):
        deliver(receiver, batch(*names(9)), max_wait=0.2)


def test_a_sink_that_comes_and_goes_is_not_blamed_on_an_event() -> None:
    posts: dict[str, int] = {}

    def flapping(ids: list[str]) -> httpx.Response:
        """Well for the canary, and down whenever `e` is tried, the last time but one excepted: bad luck, not poison."""
        posts[ids[0]] = posts.get(ids[0], 0) + 1
        is_down = "e" in ids and posts["e"] != 2 * QUICK.poison_tries + 3
        return httpx.Response(500 if is_down else 200)

    receipts = deliver(Receiver(flapping), batch("good"), batch("e"))
    assert [receipt.refused for receipt in receipts] == [[], []]


def test_an_outage_is_never_blamed_on_an_event() -> None:
    down = itertools.chain([False], itertools.repeat(True, 60), itertools.repeat(False))
    receiver = Receiver(lambda _: httpx.Response(500 if next(down) else 200))
    receipts = deliver(receiver, batch("good"), batch(*names(9)))
    assert [receipt.refused for receipt in receipts] == [[], []]


def test_a_request_that_is_too_large_is_halved_and_the_limit_is_remembered() -> None:
    receiver = Receiver(lambda ids: httpx.Response(413 if len(ids) > 2 else 200))
    receipts = deliver(receiver, batch(*names(8), size=100), batch(*[f"f{n}" for n in range(8)], size=100))
    assert [receipt.refused for receipt in receipts] == [[], []]
    assert receiver.stored == {*names(8), *[f"f{n}" for n in range(8)]}
    too_large = [ids for ids in receiver.requests if len(ids) > 2]
    assert not any("f0" in ids for ids in too_large)


def test_an_event_that_is_too_large_alone_is_cut_and_says_so() -> None:
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(413 if len(request.content) > 5_000 else 200)

    transport = Transport(SinkSettings(compression="none"), "http://localhost/", None, httpx.MockTransport(answer))
    [receipt] = Deliverer(HttpSink(), transport, QUICK).deliver(iter([batch("a", size=50_000)]))
    assert receipt.refused == []
    sent = orjson.loads(bodies[-1])
    assert len(bodies[-1]) <= 5_000
    assert sent["truncated"] == {"text": 50_000}


def test_an_event_that_no_cut_makes_small_enough_is_set_aside() -> None:
    receiver = Receiver(lambda ids: httpx.Response(413 if "a" in ids else 200))
    [receipt] = deliver(receiver, batch("b", "a", size=10_000))
    assert [thing.id for thing in receipt.refused] == ["a"]


def test_a_sink_that_finds_every_event_too_large_halts_and_sets_nothing_aside() -> None:
    receipts: list[Receipt] = []
    with pytest.raises(SinkHalted, match="too large"):
        receipts.extend(deliverer(Receiver(lambda _: httpx.Response(413))).deliver([batch(*names(30))]))
    assert receipts == []


def test_a_limit_that_is_gone_is_forgotten() -> None:
    limited = itertools.chain([True] * 3, itertools.repeat(False))
    receiver = Receiver(lambda ids: httpx.Response(413 if len(ids) > 1 and next(limited) else 200))
    many = [batch(*(f"{number}-{name}" for name in names(8)), size=100) for number in range(60)]
    list(deliverer(receiver).deliver(many))
    assert receiver.requests[-1] == [event.id for event in many[-1].events]
    assert len(receiver.stored) == 480


def test_events_that_the_body_names_are_set_aside_with_its_reason() -> None:
    body = b'{"accepted":1,"duplicate":0,"rejected":[{"id":"a","reason":"no such project"},{"id":"stranger"},7]}'
    [receipt] = deliver(Receiver(lambda _: httpx.Response(200, content=body)), batch("a", "b"))
    assert [(thing.id, thing.reason) for thing in receipt.refused] == [("a", "rejected by the sink: no such project")]


@pytest.mark.parametrize("before", [b"\n", b"\r\n \t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_what_a_server_writes_before_its_answer_hides_nothing_it_rejects(before: bytes) -> None:
    body = before + b'{"rejected":[{"id":"a","reason":"no"}]}'
    [receipt] = deliver(Receiver(lambda _: httpx.Response(200, content=body)), batch("a", "b"))
    assert [thing.id for thing in receipt.refused] == ["a"]


def test_an_answer_that_rejects_more_than_is_read_loses_nothing() -> None:
    def rule(ids: list[str]) -> httpx.Response:
        rejected = [{"id": each, "reason": "x" * 50_000} for each in ids if each != "e7"]
        body = orjson.dumps({"accepted": len(ids) - len(rejected), "rejected": rejected})
        return httpx.Response(200, content=(body[at : at + 65536] for at in range(0, len(body), 65536)))

    [receipt] = deliver(Receiver(rule), batch(*names(60)))
    assert {thing.id for thing in receipt.refused} == set(names(60)) - {"e7"}


def rejecting_all(request: httpx.Request) -> httpx.Response:
    ids = [orjson.loads(line)["id"] for line in request.content.splitlines()]
    return httpx.Response(200, json={"accepted": 0, "rejected": [{"id": each, "reason": "no schema"} for each in ids]})


@pytest.mark.parametrize("takes_one_first", [False, True])
def test_a_sink_whose_answers_reject_every_event_halts_after_a_few(takes_one_first: bool) -> None:
    answers = [httpx.Response(200)] if takes_one_first else []
    mock = httpx.MockTransport(lambda request: answers.pop() if answers else rejecting_all(request))
    transport = Transport(SinkSettings(compression="none"), "http://localhost/", None, mock)
    receipts: list[Receipt] = []
    with pytest.raises(SinkHalted, match=r"refuses every event.*no schema"):
        receipts.extend(Deliverer(HttpSink(), transport, QUICK, window=1).deliver(batch(name) for name in names(40)))
    assert sum(len(receipt.refused) for receipt in receipts) < 10


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"rejected":"a"}', b'{"rejected":[{"id":1}]}', b"\xff", b'{"duplicate":"x"}']
)
def test_a_body_that_makes_no_sense_changes_nothing(body: bytes) -> None:
    [receipt] = deliver(Receiver(lambda _: httpx.Response(200, content=body)), batch("a"))
    assert receipt.refused == []


def test_receipts_come_in_order_although_answers_do_not() -> None:
    second_done = threading.Event()

    def rule(request: httpx.Request) -> httpx.Response:
        if b'"a"' in request.content:
            assert second_done.wait(10)
        else:
            second_done.set()
        return httpx.Response(200)

    transport = Transport(SinkSettings(compression="none"), "http://localhost/", None, httpx.MockTransport(rule))
    receipts = Deliverer(HttpSink(), transport, QUICK, window=2).deliver(iter([batch("a"), batch("b")]))
    assert [receipt.batch.events[0].id for receipt in receipts] == ["a", "b"]


def test_reading_never_runs_further_ahead_than_the_window() -> None:
    pulled = 0

    def endless() -> Iterator[Batch]:
        nonlocal pulled
        for number in range(50):
            pulled += 1
            yield batch(f"b{number}")

    flow = deliverer(Receiver(lambda _: httpx.Response(200)), window=3).deliver(endless())
    for done, _ in enumerate(flow, 1):
        assert pulled <= done + 3


def test_a_stop_ends_a_retry_at_once() -> None:
    stop = threading.Event()

    def rule(ids: list[str]) -> httpx.Response:
        stop.set()
        return httpx.Response(503, headers={"Retry-After": "1000"})

    with pytest.raises(Stopped):
        list(deliverer(Receiver(rule), stop=stop).deliver(iter([batch("a")])))


def test_the_key_of_a_request_is_the_same_for_a_repeat_and_for_nothing_else() -> None:
    assert idempotency_key([sealed("a"), sealed("b")]) == idempotency_key([sealed("a"), sealed("b")])
    others = [[sealed("b"), sealed("a")], [sealed("a")], [sealed("a", 9), sealed("b")]]
    assert len({idempotency_key(events) for events in [*others, [sealed("a"), sealed("b")]]}) == 4


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("", None),
        ("9" * 400, float("9" * 12)),
        ("Thu, 99 Foo 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_nonsense_is_ignored(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, 1000.0) == seconds


def test_an_absurd_retry_after_waits_no_longer_than_the_longest_wait() -> None:
    answers = iter([httpx.Response(503, headers={"Retry-After": "999999999"}), httpx.Response(200)])
    [receipt] = deliver(Receiver(lambda _: next(answers)), batch("a"))
    assert receipt.refused == []
