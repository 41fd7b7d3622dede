"""The window: several batches in flight, receipts in order, and what ends the wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

from collector.delivery.settle import Policy
from collector.delivery.sink import Accepted, Retry
from collector.delivery.window import Deliverer
from collector.errors import SinkUnavailable, Stopped
from collector.flow.batch import Batch
from collector.flow.interrupt import Interrupt
from collector.flow.observer import Observer
from collector.flow.receipt import Receipt
from tests.delivery.sending import Receiver, answering, batch, channel, patient, sealed, taking

PATIENCE = 30.0  # seconds; only a failing test waits this long


def deliverer(
    receiver: Callable[[httpx.Request], httpx.Response], *, window: int = 1, max_wait: float = 5.0, **parts: object
) -> Deliverer:
    return Deliverer(channel(receiver), Policy(patient(max_wait), window=window), **parts)  # type: ignore[arg-type]


def test_receipts_come_in_order_even_if_answers_do_not() -> None:
    second_done = threading.Event()

    def rule(request: httpx.Request) -> httpx.Response:
        if b'"a"' in request.content:
            assert second_done.wait(PATIENCE)
        else:
            second_done.set()
        return httpx.Response(200)

    receipts = deliverer(rule, window=2).deliver(iter([batch("a"), batch("b")]))
    assert [receipt.batch.events[0].id for receipt in receipts] == ["a", "b"]


@pytest.mark.parametrize("window", [1, 2, 5])
def test_reading_never_runs_further_ahead_than_the_window(window: int) -> None:
    pulled = 0

    def endless() -> Iterator[Batch]:
        nonlocal pulled
        for number in range(50):
            pulled += 1
            yield batch(f"b{number}")

    for done, _ in enumerate(deliverer(Receiver(taking), window=window).deliver(endless()), 1):
        assert pulled <= done + window


def test_a_batch_without_events_needs_no_request() -> None:
    receiver = Receiver(taking)
    empty = Batch()
    [receipt] = deliverer(receiver).deliver([empty])
    assert receipt.batch is empty
    assert receiver.requests == []


def test_a_stop_ends_a_retry_at_once() -> None:
    interrupt = Interrupt()

    def rule(ids: list[str]) -> httpx.Response:
        interrupt.stop()
        return httpx.Response(503, headers={"Retry-After": "1000"})

    with pytest.raises(Stopped):
        list(deliverer(Receiver(rule), interrupt=interrupt).deliver(iter([batch("a")])))


def test_after_a_stop_requests_in_flight_finish_and_no_more_are_started() -> None:
    interrupt, has_arrived = Interrupt(), threading.Event()

    def several() -> Iterator[Batch]:
        yield batch("a")
        assert has_arrived.wait(PATIENCE)
        interrupt.stop()
        yield batch("b")
        pytest.fail("it read on")

    def slow(request: httpx.Request) -> httpx.Response:
        has_arrived.set()
        assert interrupt.wait(PATIENCE)
        return httpx.Response(200)

    receipts: list[Receipt] = []
    with pytest.raises(Stopped, match="Stopped before everything was sent"):
        receipts.extend(deliverer(slow, window=4, interrupt=interrupt).deliver(several()))
    assert [receipt.batch.events[0].id for receipt in receipts] == ["a"]


def test_a_stop_ends_the_reading_even_with_nothing_to_send() -> None:
    interrupt = Interrupt()

    def several() -> Iterator[Batch]:
        yield Batch()
        interrupt.stop()
        yield Batch()
        pytest.fail("it read on")

    assert len(list(deliverer(Receiver(taking), interrupt=interrupt).deliver(several()))) == 2


@pytest.mark.parametrize(("shutdown_timeout", "is_urgent"), [(0.0, False), (PATIENCE, True)])
def test_a_missing_answer_is_awaited_no_longer_than_a_stop_allows(shutdown_timeout: float, is_urgent: bool) -> None:
    interrupt, done = Interrupt(), threading.Event()

    def silent(request: httpx.Request) -> httpx.Response:
        interrupt.stop()
        if is_urgent:
            interrupt.stop_at_once()
        assert done.wait(PATIENCE)
        return httpx.Response(200)

    waits = deliverer(silent, interrupt=interrupt, shutdown_timeout=shutdown_timeout)
    with pytest.raises(Stopped, match="while waiting for the sink"):
        list(waits.deliver([batch("a")]))
    done.set()


def test_the_observer_is_called_while_the_window_waits() -> None:
    heard = threading.Event()

    class Listener(Observer):
        def waiting(self) -> None:
            heard.set()

    def slow(request: httpx.Request) -> httpx.Response:
        assert heard.wait(PATIENCE)
        return httpx.Response(200)

    [receipt] = deliverer(slow, observer=Listener()).deliver([batch("a")])
    assert receipt.refused == []


def test_health_carries_over_to_the_next_pass_but_the_waiting_time_does_not() -> None:
    receiver = Receiver(answering(httpx.Response(200), httpx.Response(503)))
    waits = deliverer(receiver, max_wait=0.0)
    list(waits.deliver([batch("a")]))
    with pytest.raises(SinkUnavailable):
        list(waits.deliver([batch("b")]))
    assert waits.health.canary == sealed("a")
    assert "HTTP 503" in waits.complaint()
    assert "hidden" not in waits.complaint()
    [receipt] = waits.deliver([batch("b")])
    assert receipt.refused == []


def test_an_error_in_a_thread_is_raised_where_receipts_are_consumed() -> None:
    def breaks(request: httpx.Request) -> httpx.Response:
        raise KeyError("nobody expected this")

    with pytest.raises(KeyError):
        list(deliverer(breaks).deliver([batch("a")]))


def test_ask_within_waits_no_longer_than_its_time_for_a_silent_sink() -> None:
    interrupt, done = Interrupt(), threading.Event()

    def silent(request: httpx.Request) -> httpx.Response:
        assert done.wait(PATIENCE)
        return httpx.Response(200)

    waits = deliverer(silent, interrupt=interrupt, poll=0.01)
    assert waits.ask_within(sealed("a"), 0.05) is None
    done.set()
    interrupt.stop()
    posted = waits.ask_within(sealed("a"), PATIENCE, after_stop=True)
    assert posted is not None
    assert posted.verdict == Accepted()


def test_a_stop_ends_the_wait_for_an_answer() -> None:
    interrupt, done = Interrupt(), threading.Event()

    def silent(request: httpx.Request) -> httpx.Response:
        interrupt.stop()
        assert done.wait(PATIENCE)
        return httpx.Response(200)

    assert deliverer(silent, interrupt=interrupt, poll=0.01).ask_within(sealed("a"), 2 * PATIENCE) is None
    done.set()


def test_ask_gives_one_answer_and_does_not_retry() -> None:
    receiver = Receiver(answering(httpx.Response(503)))
    waits = deliverer(receiver)
    assert isinstance(waits.ask(sealed("a")).verdict, Retry)
    posted = waits.ask(sealed("a"))
    assert posted.verdict == Accepted()
    assert posted.answer is not None
    assert receiver.requests == [["a"], ["a"]]
    assert waits.health.canary is None
