"""Events and requests that are too large for a sink: halved, then cut, then quarantined, and the limit remembered."""

from __future__ import annotations

import itertools

import httpx
import orjson
import pytest

from collector.errors import SinkHalted
from collector.flow.receipt import Receipt
from tests.delivery.sending import Receiver, batch, names
from tests.delivery.test_settle import settle, settling


def test_a_too_large_request_is_halved_and_the_limit_is_remembered() -> None:
    receiver = Receiver(lambda ids: httpx.Response(413 if len(ids) > 2 else 200))
    receipts = settle(receiver, batch(*names(8), size=100), batch(*[f"f{n}" for n in range(8)], size=100))
    assert [receipt.refused for receipt in receipts] == [[], []]
    assert receiver.stored == {*names(8), *[f"f{n}" for n in range(8)]}
    too_large = [ids for ids in receiver.requests if len(ids) > 2]
    assert not any("f0" in ids for ids in too_large)


def test_an_event_too_large_even_alone_is_truncated_and_marked() -> None:
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(413 if len(request.content) > 5_000 else 200)

    [receipt] = settle(answer, batch("a", size=50_000))
    assert receipt.refused == []
    sent = orjson.loads(bodies[-1])
    assert len(bodies[-1]) <= 5_000
    assert sent["truncated"] == {"text": 50_000}


def test_an_event_that_cannot_be_cut_small_enough_is_quarantined() -> None:
    receiver = Receiver(lambda ids: httpx.Response(413 if "a" in ids else 200))
    [receipt] = settle(receiver, batch("b", "a", size=10_000))
    assert [thing.id for thing in receipt.refused] == ["a"]


def test_a_sink_that_finds_every_event_too_large_halts_and_quarantines_nothing() -> None:
    receipts: list[Receipt] = []
    with pytest.raises(SinkHalted, match="too large"):
        receipts.extend(settling(Receiver(lambda _: httpx.Response(413)), [batch(*names(30))]))
    assert receipts == []


def test_a_limit_that_no_longer_applies_is_forgotten() -> None:
    limited = itertools.chain([True] * 3, itertools.repeat(False))
    receiver = Receiver(lambda ids: httpx.Response(413 if len(ids) > 1 and next(limited) else 200))
    many = [batch(*(f"{number}-{name}" for name in names(8)), size=100) for number in range(60)]
    settle(receiver, *many)
    assert receiver.requests[-1] == [event.id for event in many[-1].events]
    assert len(receiver.stored) == 480
