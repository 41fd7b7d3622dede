"""The caller of `deliver` is told about the first failed request: at once, once, and in its own thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import httpx
import orjson
import pytest

from collector.delivery.channel import Channel
from collector.delivery.settle import Policy
from collector.delivery.sinks.http import HttpSink
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.errors import SinkHalted, SinkUnavailable
from collector.flow.batch import Batch
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings
from tests.delivery.sending import patient

NEVER = 3600.0  # seconds between two polls: a caller that is told in time was woken for it
PATIENCE = 30.0


def batches(count: int) -> Iterator[Batch]:
    for number in range(count):
        event = Sealed(f"e{number}", orjson.dumps({"id": f"e{number}"}), {})
        yield Batch(events=[event], places=[("s", number)])


def deliverer(
    answer: Callable[[httpx.Request], httpx.Response],
    *,
    window: int = 1,
    max_wait: float = 60,
    observer: Observer = UNOBSERVED,
) -> Deliverer:
    transport = Transport(SinkSettings(compression="none"), "http://localhost/in", None, httpx.MockTransport(answer))
    policy = Policy(patient(max_wait), window=window)
    return Deliverer(Channel(HttpSink(), transport), policy, observer=observer, poll=NEVER)


class Told:
    """Records the threads in which it was called, and can be waited for."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.is_told = threading.Event()

    def __call__(self) -> None:
        self.threads.append(threading.current_thread())
        self.is_told.set()


@pytest.mark.parametrize("window", [1, 4])
def test_the_waiting_thread_is_told_before_the_sink_recovers(window: int) -> None:
    told, asked = Told(), threading.Semaphore(0)

    def answer(_: httpx.Request) -> httpx.Response:
        """503 once, then no answer until the caller has been told."""
        if asked.acquire(blocking=False):
            assert told.is_told.wait(PATIENCE)
            return httpx.Response(200)
        asked.release(100)
        return httpx.Response(503)

    receipts = list(deliverer(answer, window=window).deliver(batches(5), when_failing=told))
    assert (len(receipts), told.threads) == (5, [threading.current_thread()])


def test_the_caller_is_told_once_however_often_the_sink_fails() -> None:
    told, failures = Told(), iter(range(20))

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200 if next(failures, None) is None else 503)

    assert len(list(deliverer(answer, window=4).deliver(batches(8), when_failing=told))) == 8
    assert len(told.threads) == 1


def test_each_delivery_reports_its_own_failures() -> None:
    told, answers = Told(), iter([503, 200, 200, 503, 200])
    to = deliverer(lambda _: httpx.Response(next(answers)))
    told_after = []
    for _ in range(3):
        list(to.deliver(batches(1), when_failing=told))
        told_after.append(len(told.threads))
    assert told_after == [1, 1, 2]


def test_the_caller_is_told_while_it_is_still_reading() -> None:
    """The window is not full, so nothing waits for a receipt yet; the caller is told as the next batch is read."""
    told, failed = Told(), threading.Event()

    def answer(_: httpx.Request) -> httpx.Response:
        if not failed.is_set():
            failed.set()
            return httpx.Response(503)
        assert told.is_told.wait(PATIENCE)
        return httpx.Response(200)

    def read() -> Iterator[Batch]:
        for batch in batches(100):
            yield batch
            assert failed.wait(PATIENCE)
            if told.is_told.is_set():
                return

    assert list(deliverer(answer, window=1000).deliver(read(), when_failing=told))
    assert told.threads == [threading.current_thread()]


def test_nothing_is_reported_about_a_sink_that_works() -> None:
    told = Told()
    list(deliverer(lambda _: httpx.Response(200), window=4).deliver(batches(8), when_failing=told))
    assert told.threads == []


def test_a_refusal_does_not_count_as_a_failure() -> None:
    """A poison event is quarantined, and a wrong token raises at once, which the caller sees anyway."""
    told = Told()

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(422 if b"e3" in request.content else 200)

    list(deliverer(answer).deliver(batches(5), when_failing=told))
    with pytest.raises(SinkHalted):
        list(deliverer(lambda _: httpx.Response(401)).deliver(batches(5), when_failing=told))
    assert told.threads == []


def test_delivery_works_without_a_callback() -> None:
    answers = iter([503, 503, 200])
    assert len(list(deliverer(lambda _: httpx.Response(next(answers))).deliver(batches(1)))) == 1
    with pytest.raises(SinkUnavailable):
        list(deliverer(lambda _: httpx.Response(503), max_wait=0.0).deliver(batches(1)))


def test_the_waiting_thread_is_woken_only_once() -> None:
    looks, answers = [], iter([503])

    class Counter(Observer):
        def waiting(self) -> None:
            looks.append(1)

    def answer(_: httpx.Request) -> httpx.Response:
        if status := next(answers, 0):
            return httpx.Response(status)
        threading.Event().wait(0.1)  # time for ten thousand polls
        return httpx.Response(200)

    assert len(list(deliverer(answer, observer=Counter()).deliver(batches(1), Told()))) == 1
    assert len(looks) <= 2
