"""Time and the sink: hours of trouble pass in milliseconds, because the tests set the clock."""

from __future__ import annotations

import email.utils
import itertools
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

from collector.delivery.channel import Channel
from collector.delivery.settle import Policy
from collector.delivery.sinks.http import HttpSink
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.errors import SinkUnavailable
from collector.flow.interrupt import Interrupt
from collector.flow.receipt import Receipt
from collector.settings.options import RetrySettings, SinkSettings
from tests.delivery.sending import Receiver, batch

HOUR = 3600.0
LONGEST = 60.0
WALL = 1_800_000_000.0  # wall-clock time when the test's clock starts


class Clock(threading.Event):
    """A clock, and an event that is never set: waiting for it makes the time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0
        return False


def deliverer(answer: Callable[[httpx.Request], httpx.Response], clock: Clock, max_wait: float) -> Deliverer:
    transport = Transport(SinkSettings(compression="none"), "http://localhost/", None, httpx.MockTransport(answer))
    channel = Channel(HttpSink(clock=lambda: WALL - 1000 + clock.now), transport, clock=clock)
    retry = RetrySettings(initial_interval=0.5, max_interval=LONGEST, max_wait=max_wait)
    policy = Policy(retry, window=1, clock=clock)
    return Deliverer(channel, policy, interrupt=Interrupt(lambda: clock))


@pytest.mark.parametrize("status", [503, 429, 502])
def test_hours_of_failure_cost_a_few_tries_a_minute_and_nothing_else(status: int) -> None:
    clock, tries = Clock(), []

    def rule(ids: list[str]) -> httpx.Response:
        tries.append(clock.now)
        return httpx.Response(status if clock.now < 1000 + 9 * HOUR else 200)

    receiver = Receiver(rule)
    [receipt] = deliverer(receiver, clock, 10 * HOUR).deliver([batch("a", "b")])
    waits = [after - before for before, after in itertools.pairwise(tries)]
    assert receipt.refused == []
    assert receiver.stored == {"a", "b"}
    assert max(waits) <= LONGEST + 1
    assert 9 * 60 < len(tries) < 9 * 60 * 5  # with full jitter, a wait is half a minute on average
    assert clock.now < 1000 + 9 * HOUR + LONGEST + 1


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("30", 29, 46),
        ("0", 0, 1),
        ("86400", LONGEST - 1, LONGEST + 1),
        ("9" * 300, LONGEST - 1, LONGEST + 1),
        (email.utils.formatdate(WALL + 30, usegmt=True), 29, 46),
        (email.utils.formatdate(WALL + 10**8, usegmt=True), LONGEST - 1, LONGEST + 1),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0, 1),
        ("-1", 0, 1),
        ("1e3", 0, 1),
        ("\u0661", 0, 1),
    ],
)
def test_retry_after_is_honoured_up_to_the_longest_wait(value: str, least: float, most: float) -> None:
    clock, tries = Clock(), []
    answers: Iterator[httpx.Response] = iter(
        [httpx.Response(429, headers=[(b"Retry-After", value.encode())]), httpx.Response(200)]
    )

    def rule(ids: list[str]) -> httpx.Response:
        tries.append(clock.now)
        return next(answers)

    list(deliverer(Receiver(rule), clock, HOUR).deliver([batch("a")]))
    assert least <= tries[1] - tries[0] <= most


@pytest.mark.parametrize("value", ["0", email.utils.formatdate(WALL - 300, usegmt=True)])
def test_a_sink_that_is_down_and_asks_for_no_wait_is_not_pressed(value: str) -> None:
    clock, tries = Clock(), []

    def rule(ids: list[str]) -> httpx.Response:
        tries.append(clock.now)
        return httpx.Response(503 if clock.now < 1000 + HOUR else 200, headers={"Retry-After": value})

    list(deliverer(Receiver(rule), clock, 2 * HOUR).deliver([batch("a")]))
    assert len(tries) < 60 * 5


def test_a_scan_gives_up_soon_after_its_waiting_time_is_over() -> None:
    clock = Clock()
    with pytest.raises(SinkUnavailable):
        list(deliverer(Receiver(lambda _: httpx.Response(503)), clock, 100).deliver([batch("a")]))
    assert clock.now <= 1000 + 101


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_sink_that_fails_in_every_way_is_not_pressed_as_the_waiting_time_runs_out(status: int) -> None:
    clock, tries = Clock(), []

    def rule(ids: list[str]) -> httpx.Response:
        clock.now += 0.005
        tries.append(clock.now)
        return httpx.Response(status)

    with pytest.raises(SinkUnavailable):
        list(deliverer(Receiver(rule), clock, 60).deliver([batch(*map(str, range(9)))]))
    assert clock.now <= 1000 + 61
    assert len([moment for moment in tries if moment > 1010]) < 60


def test_an_event_on_which_a_healthy_sink_fails_for_ever_costs_only_itself() -> None:
    clock = Clock()
    receiver = Receiver(lambda ids: httpx.Response(500 if "bad" in ids else 200))
    receipts: list[Receipt] = []
    many = [batch("a", "b"), batch("c", "bad", "d"), batch("e"), batch("bad"), batch("f")]
    receipts.extend(deliverer(receiver, clock, HOUR).deliver(many))
    assert [[thing.id for thing in receipt.refused] for receipt in receipts] == [[], ["bad"], [], ["bad"], []]
    assert receiver.stored == set("abcdef")
    assert clock.now < 1000 + HOUR / 2
