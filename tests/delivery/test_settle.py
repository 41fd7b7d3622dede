"""Settling a batch: what each kind of answer does to it, with scripted answers and no waiting."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import httpx
import orjson
import pytest

from collector.delivery.channel import Posted
from collector.delivery.health import Health
from collector.delivery.settle import Policy, Settling
from collector.delivery.sink import Accepted, Request, Retry, Sink, TooLarge
from collector.delivery.sinks.http import HttpSink
from collector.delivery.waiting import Waiting
from collector.errors import SinkHalted, SinkUnavailable, Stopped
from collector.flow.batch import Batch
from collector.flow.interrupt import Interrupt
from collector.flow.outcome import Sealed
from collector.flow.receipt import Receipt
from collector.settings.options import RetrySettings
from tests.delivery.sending import QUICK, Receiver, answering, batch, channel, failing_on, names, patient, taking

Answering = Callable[[httpx.Request], httpx.Response]


PATIENT = Policy(patient(5.0), window=1)


def settling(
    receiver: Answering, batches: Iterable[Batch], policy: Policy = PATIENT, sink: Sink | None = None
) -> Iterator[Receipt]:
    """Settles one batch after another with shared health, as an agent does."""
    health, way, waiting = Health(policy.clock), channel(receiver, sink), Waiting(Interrupt(), policy.clock)
    for each in batches:
        yield Settling(each, way.post, health, policy, waiting, way.address).receipt()


def settle(receiver: Answering, *batches: Batch, policy: Policy = PATIENT, sink: Sink | None = None) -> list[Receipt]:
    return list(settling(receiver, batches, policy, sink))


def waiting_at_most(seconds: float) -> Policy:
    return Policy(patient(seconds), window=1)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_acknowledges(status: int) -> None:
    [receipt] = settle(Receiver(lambda _: httpx.Response(status, content=b"<html>fine</html>")), batch("a"))
    assert receipt.refused == []


@pytest.mark.parametrize("status", [408, 409, 423, 424, 425, 429, 500, 502, 503, 504, 599])
def test_a_transient_failure_sends_the_same_request_again(status: int) -> None:
    receiver = Receiver(answering(*[httpx.Response(status, headers={"Retry-After": "0"})] * 2))
    [receipt] = settle(receiver, batch("a", "b"))
    assert receipt.refused == []
    assert receiver.requests == [["a", "b"]] * 3


@pytest.mark.parametrize("status", [301, 302, 307, 401, 403, 404, 405, 407, 410, 415, 421])
def test_an_answer_that_needs_a_person_halts_with_advice_and_no_receipt(status: int) -> None:
    receiver = Receiver(lambda _: httpx.Response(status, headers={"Location": "https://elsewhere.example/"}))
    with pytest.raises(SinkHalted, match=f"HTTP {status}.*All offsets are kept") as caught:
        settle(receiver, batch("a"))
    assert len(receiver.requests) == 1
    assert "hidden" not in str(caught.value)


def test_a_sink_that_stays_down_is_given_up_after_the_waiting_time() -> None:
    with pytest.raises(SinkUnavailable, match="did not acknowledge"):
        settle(Receiver(lambda _: httpx.Response(503)), batch("a"), policy=waiting_at_most(0.05))


def test_a_sink_that_fails_batch_after_batch_is_asked_less_and_less_often() -> None:
    longest: list[float] = []

    def at_most(low: float, high: float) -> float:
        longest.append(high)
        return high

    clock = itertools.count()
    policy = Policy(RetrySettings(max_wait=4), window=1, clock=lambda: next(clock), uniform=at_most)
    health, way = Health(policy.clock), channel(Receiver(lambda _: httpx.Response(503)))
    waiting = Waiting(Interrupt(), lambda: next(clock) * 1e6)
    for _ in range(2):
        health.begin()
        with pytest.raises(SinkUnavailable):
            Settling(batch("a"), way.post, health, policy, waiting, way.address).receipt()
    assert len(longest) > 2
    assert longest == [RetrySettings().initial_interval * 2**failures for failures in range(1, len(longest) + 1)]


def test_a_broken_connection_is_a_transient_failure() -> None:
    answers = iter([True, False])

    def rule(ids: list[str]) -> httpx.Response:
        if next(answers):
            raise httpx.ConnectError("refused")
        return httpx.Response(200)

    [receipt] = settle(Receiver(rule), batch("a"))
    assert receipt.refused == []


@pytest.mark.parametrize("status", [400, 422, 409, 423])
@pytest.mark.parametrize("bad", [{"e0"}, {"e6"}, {"e3", "e4"}, {"e0", "e1", "e6"}])
def test_poison_events_cost_exactly_themselves(status: int, bad: set[str]) -> None:
    receiver = Receiver(failing_on(*bad, status=status))
    [receipt] = settle(receiver, batch(*names(7)))
    assert {thing.id for thing in receipt.refused} == bad
    assert receiver.stored == set(names(7)) - bad


def test_a_sink_that_refuses_everything_halts_and_quarantines_nothing() -> None:
    with pytest.raises(SinkHalted, match="refuses everything"):
        settle(Receiver(lambda _: httpx.Response(400)), batch(*names(30)))


@pytest.mark.parametrize("taken_before", [0, 1])
def test_a_sink_that_refuses_everything_is_not_asked_about_every_event(taken_before: int) -> None:
    answers = itertools.chain([httpx.Response(200)] * taken_before, itertools.repeat(httpx.Response(400)))
    receiver = Receiver(lambda _: next(answers))
    with pytest.raises(SinkHalted, match="refuses everything"):
        list(settling(receiver, [*[batch("first")] * taken_before, batch(*names(1000))]))
    assert len(receiver.requests) <= 14
    assert sum(map(len, receiver.requests)) < 2100


@pytest.mark.parametrize("good", [{"e0"}, {"e999"}, {"e450", "e451", "e452", *names(300)[200:]}])
def test_the_few_events_of_a_first_batch_that_a_sink_accepts_are_found(good: set[str]) -> None:
    bad = set(names(1000)) - good
    receiver = Receiver(failing_on(*bad))
    with contextlib.suppress(SinkHalted):  # it may halt, but only after finding an event that is accepted
        settle(receiver, batch(*names(1000)))
    assert receiver.stored & good


def test_a_sink_that_starts_refusing_everything_halts_after_a_few_events() -> None:
    answers = itertools.chain([httpx.Response(200)], itertools.repeat(httpx.Response(400)))
    receipts: list[Receipt] = []
    with pytest.raises(SinkHalted):
        receipts.extend(settling(Receiver(lambda _: next(answers)), map(batch, names(40))))
    assert sum(len(receipt.refused) for receipt in receipts) < 10


def test_a_conflict_is_waited_for_with_the_whole_and_a_single_event_but_not_at_each_step_of_the_search() -> None:
    receiver = Receiver(failing_on("e3", status=409))
    [receipt] = settle(receiver, batch(*names(64)))
    assert [thing.id for thing in receipt.refused] == ["e3"]
    tries = Counter(len(ids) for ids in receiver.requests if "e3" in ids)
    assert tries == {64: QUICK.poison_tries, 32: 1, 16: 1, 8: 1, 4: 1, 2: 1, 1: QUICK.poison_tries}


def test_many_poison_events_in_a_row_do_not_halt_a_sink_that_accepts_others() -> None:
    bad = names(60)[5:35]
    receiver = Receiver(failing_on(*bad))
    [receipt] = settle(receiver, batch(*names(60)))
    assert {thing.id for thing in receipt.refused} == set(bad)


def test_events_rejected_in_the_body_are_quarantined_with_its_reason() -> None:
    body = b'{"accepted":1,"duplicate":0,"rejected":[{"id":"a","reason":"no such project"}]}'
    [receipt] = settle(Receiver(lambda _: httpx.Response(200, content=body)), batch("a", "b"))
    assert [(thing.id, thing.reason) for thing in receipt.refused] == [("a", "rejected by the sink: no such project")]


@pytest.mark.parametrize(
    ("rejected", "refused", "reason"),
    [
        (["b"], "b", "rejected by the sink: no reason given"),
        (2, "abc", "perhaps rejected by the sink: 2 of 3"),
        (["B", {"id": "x"}], "abc", "perhaps rejected by the sink: 2 of 3"),  # spelt differently, or the sink's own ids
        ([{"id": 7}, {"reason": "no"}], "abc", "perhaps rejected by the sink: 2 of 3"),
    ],
)
def test_rejections_without_a_known_id_quarantine_every_possible_event(
    rejected: object, refused: str, reason: str
) -> None:
    answer = httpx.Response(200, json={"accepted": 1, "rejected": rejected})
    [receipt] = settle(Receiver(lambda _: answer), batch("a", "b", "c"))
    assert {thing.id: thing.reason for thing in receipt.refused} == dict.fromkeys(refused, reason)


def test_an_event_that_cannot_be_rendered_costs_exactly_itself() -> None:
    class Clumsy(HttpSink):
        def render(self, events: Sequence[Sealed], key: str) -> Request:
            if any(event.id == "e3" for event in events):
                raise OverflowError("a number that no field holds")
            return super().render(events, key)

    receiver = Receiver(taking)
    [receipt] = settle(receiver, batch(*names(7)), sink=Clumsy())
    assert [thing.id for thing in receipt.refused] == ["e3"]
    assert receiver.stored == set(names(7)) - {"e3"}


RECEIPT = b'{"accepted":1,"duplicate":0,"rejected":[{"id":"a","reason":"no such caf\xc3\xa9"}]}'


@pytest.mark.parametrize(
    "body",
    [
        RECEIPT.replace(b"\xc3\xa9", b"\xe9"),  # not UTF-8
        RECEIPT.replace(b"\xc3\xa9", b"\\ud83d"),  # half an emoji, from cutting the event's text
        RECEIPT.replace(b"no such", b"in line 1\n\tno such"),  # not escaped
        RECEIPT.replace(b"{", b'{"load":NaN,', 1),
        RECEIPT.replace(b"{", b'{"load":1e999,', 1),
        RECEIPT.replace(b"{", b'{"load":-' + b"9" * 5_000 + b",", 1),
        RECEIPT + b"\n<!-- served by proxy 7 -->",
        RECEIPT + b"\n{}",
    ],
)
def test_a_receipt_that_is_not_quite_valid_hides_no_rejection(body: bytes) -> None:
    [receipt] = settle(Receiver(lambda _: httpx.Response(200, content=body)), batch("a", "b"))
    assert [(thing.id, "no such caf" in thing.reason) for thing in receipt.refused] == [("a", True)]
    assert receipt.refused[0].reason.encode()


@pytest.mark.parametrize("left", range(RECEIPT.index(b":"), len(RECEIPT)))
def test_a_receipt_that_is_cut_short_is_a_lost_answer(left: int) -> None:
    receiver = Receiver(answering(httpx.Response(200, content=RECEIPT[:left]), httpx.Response(200, content=RECEIPT)))
    [receipt] = settle(receiver, batch("a", "b"))
    assert [thing.id for thing in receipt.refused] == ["a"]
    assert receiver.requests == [["a", "b"]] * 2


@pytest.mark.parametrize("before", [b"\n", b"\r\n \t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_whitespace_or_a_byte_order_mark_before_the_body_hides_no_rejection(before: bytes) -> None:
    body = before + b'{"rejected":[{"id":"a","reason":"no"}]}'
    [receipt] = settle(Receiver(lambda _: httpx.Response(200, content=body)), batch("a", "b"))
    assert [thing.id for thing in receipt.refused] == ["a"]


def test_rejections_beyond_the_part_of_an_answer_that_is_read_are_not_lost() -> None:
    def rule(ids: list[str]) -> httpx.Response:
        rejected = [{"id": each, "reason": "x" * 50_000} for each in ids if each != "e7"]
        body = orjson.dumps({"accepted": len(ids) - len(rejected), "rejected": rejected})
        return httpx.Response(200, content=(body[at : at + 65536] for at in range(0, len(body), 65536)))

    [receipt] = settle(Receiver(rule), batch(*names(60)))
    assert {thing.id for thing in receipt.refused} == set(names(60)) - {"e7"}


def rejecting_all(request: httpx.Request) -> httpx.Response:
    ids = [orjson.loads(line)["id"] for line in request.content.splitlines()]
    return httpx.Response(200, json={"accepted": 0, "rejected": [{"id": each, "reason": "no schema"} for each in ids]})


@pytest.mark.parametrize("takes_one_first", [False, True])
def test_a_sink_that_rejects_every_event_in_its_answers_halts_after_a_few(takes_one_first: bool) -> None:
    answers = [httpx.Response(200)] if takes_one_first else []

    def receiver(request: httpx.Request) -> httpx.Response:
        return answers.pop() if answers else rejecting_all(request)

    receipts: list[Receipt] = []
    with pytest.raises(SinkHalted, match=r"refuses everything.*no schema"):
        receipts.extend(settling(receiver, map(batch, names(40))))
    assert sum(len(receipt.refused) for receipt in receipts) < 10


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"took":3,',
        b"{ok}",
        b"[]",
        b"{" * 100_000 + b"}",
        b'{"rejected":"a"}',
        b'{"rejected":{}}',
        b"\xff",
        b'{"duplicate":"x"}',
    ],
)
def test_a_nonsensical_body_of_a_2xx_is_ignored(body: bytes) -> None:
    [receipt] = settle(Receiver(lambda _: httpx.Response(200, content=body)), batch("a"))
    assert receipt.refused == []


def test_an_absurd_retry_after_waits_no_longer_than_the_longest_wait() -> None:
    busy = httpx.Response(503, headers={"Retry-After": "999999999"})
    [receipt] = settle(Receiver(answering(busy)), batch("a"))
    assert receipt.refused == []


def test_with_may_halt_off_refusing_every_event_does_not_halt() -> None:
    policy = Policy(QUICK, window=1, may_halt=False)
    [receipt] = settle(Receiver(lambda _: httpx.Response(400)), batch(*names(30)), policy=policy)
    assert {thing.id for thing in receipt.refused} == set(names(30))


def test_an_abandoned_batch_is_not_retried() -> None:
    waiting = Waiting(Interrupt())

    def rule(ids: list[str]) -> httpx.Response:
        waiting.abandon()
        return httpx.Response(503, headers={"Retry-After": "1000"})

    receiver = Receiver(rule)
    way = channel(receiver)
    with pytest.raises(Stopped):
        Settling(batch("a"), way.post, Health(), PATIENT, waiting, way.address).receipt()
    assert len(receiver.requests) == 1


def test_a_batch_over_the_sinks_own_limit_is_halved_without_a_request_and_without_affecting_health() -> None:
    posted: list[list[str]] = []
    health = Health(clock=lambda: 7.0)
    health.note(Retry("down"), [])

    def post(events: Sequence[Sealed], waiting: Waiting) -> Posted:
        if len(events) > 2:
            return Posted(TooLarge("two at most"), was_asked=False)
        posted.append([event.id for event in events])
        assert health.failing_since == (7.0 if len(posted) == 1 else None)
        return Posted(Accepted())

    receipt = Settling(batch(*names(5)), post, health, PATIENT, Waiting(Interrupt()), "here").receipt()
    assert posted == [["e0", "e1"], ["e2"], ["e3", "e4"]]
    assert receipt.refused == []


def test_deferred_events_are_resent_on_their_own_until_accepted() -> None:
    requests: list[list[str]] = []

    def post(events: Sequence[Sealed], waiting: Waiting) -> Posted:
        requests.append([event.id for event in events])
        return Posted(Accepted(later=frozenset(event.id for event in events[1:])))

    waiting = Waiting(Interrupt(), PATIENT.clock)
    many = batch(*names(400))  # one after another, which must not run into the recursion limit
    receipt = Settling(many, post, Health(PATIENT.clock), PATIENT, waiting, "here").receipt()
    assert receipt.refused == []
    assert requests == [names(400)[number:] for number in range(400)]
