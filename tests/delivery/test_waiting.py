"""The one backoff, and what ends a wait."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest

from collector.delivery.waiting import Waiting, backoff
from collector.flow.interrupt import Interrupt
from collector.settings.options import RetrySettings

RETRY = RetrySettings(initial_interval=0.5, max_interval=60.0)


def shortest(low: float, high: float) -> float:
    return low


def longest(low: float, high: float) -> float:
    return high


@pytest.mark.parametrize(
    ("failures", "most"), [(0, 0.5), (1, 1.0), (2, 2.0), (6, 32.0), (7, 60.0), (40, 60.0), (100_000, 60.0)]
)
def test_the_wait_doubles_up_to_the_maximum_with_full_jitter(failures: int, most: float) -> None:
    assert backoff(failures, RETRY, uniform=longest) == most
    assert backoff(failures, RETRY, uniform=shortest) == 0.0


@pytest.mark.parametrize(("asked", "most"), [(7.0, 10.5), (59.95, 60.0), (1e12, 60.0)])
def test_the_wait_that_a_sink_asks_for_wins_up_to_the_maximum(asked: float, most: float) -> None:
    assert backoff(9, RETRY, asked, uniform=longest) == pytest.approx(most)
    assert backoff(9, RETRY, asked, uniform=shortest) == pytest.approx(min(asked, 60.0))


def test_a_fleet_that_is_told_one_moment_does_not_come_back_all_at_once() -> None:
    uniform, opens = random.Random(1).uniform, 60.0
    failed = [uniform(0, opens) for _ in range(1000)]
    back = Counter(int(at + backoff(9, RETRY, opens - at, uniform=uniform) - opens) for at in failed)
    assert (min(back), max(back.values()) < 200) == (0, True)


def test_a_sink_that_asks_for_no_wait_gets_the_usual_one() -> None:
    assert backoff(9, RETRY, 0.0, uniform=longest) == 60.0


class Clock(threading.Event):
    """A clock that moves forward whenever somebody waits on it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()


def test_a_pause_lasts_as_long_as_it_should() -> None:
    clock = Clock()
    Waiting(Interrupt(lambda: clock), clock).pause(7.3)
    assert clock.now == pytest.approx(7.3)


def is_over(waiting: Waiting) -> bool:
    return waiting.is_over


@pytest.mark.parametrize("ends", ["stop", "abandon"])
def test_a_pause_ends_when_it_is_stopped_or_abandoned(ends: str) -> None:
    clock = Clock()
    interrupt = Interrupt(lambda: clock)
    waiting = Waiting(interrupt, clock)
    assert not is_over(waiting)
    (interrupt.stop if ends == "stop" else waiting.abandon)()
    assert is_over(waiting)
    waiting.pause(1000.0)
    assert clock.now < 1.0
