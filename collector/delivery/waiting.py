"""Waiting: how long to wait before the next try, and what ends the waiting early.

This is the only backoff, both for a failed request and for a pass that was given up. It uses full jitter: after an
outage, a fleet of thousands comes back spread over the whole interval, where half jitter would crowd it into the second
half. The price is a try every half interval on average: about 1,090 requests in an outage of nine hours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from collector.flow.interrupt import Interrupt
from collector.settings.options import RetrySettings

POLL_SECONDS = 0.5  # how late a waiting thread may notice that the walk was abandoned
LARGEST_EXPONENT = 40  # beyond this the wait is at its maximum anyway, and 2.0 ** 1024 would overflow
SPREAD = 0.5  # at most this much longer than asked: a sink may tell a whole fleet the same moment

Uniform = Callable[[float, float], float]


def backoff(failures: int, retry: RetrySettings, asked: float | None = None, *, uniform: Uniform) -> float:
    """Seconds to wait after the first failure and `failures` more: exponential, with full jitter, up to max_interval.

    What the sink asks for (`asked`, its Retry-After) takes precedence, up to max_interval as well. If that is no time,
    as with a date that by our clock has passed, it asks for nothing: otherwise we would try 20 times a second.
    """
    if asked:
        return min(asked + uniform(0, SPREAD * asked), retry.max_interval)
    longest = retry.initial_interval * 2.0 ** min(failures, LARGEST_EXPONENT)
    return uniform(0, min(retry.max_interval, longest))


class Waiting:
    """All the waiting during one walk through the batches. A stop ends it, and so does the end of the walk."""

    def __init__(self, interrupt: Interrupt, clock: Callable[[], float] = time.monotonic) -> None:
        self._interrupt = interrupt
        self._clock = clock
        self._abandoned = threading.Event()

    @property
    def is_over(self) -> bool:
        """Whether nobody is waiting for a result any more."""
        return self._interrupt.is_set or self._abandoned.is_set()

    def abandon(self) -> None:
        """The walk has ended: requests that are still being retried give up."""
        self._abandoned.set()

    def pause(self, seconds: float) -> None:
        """Waits this long, or until the waiting is over."""
        # In short steps, because a single wait cannot be woken by both the stop and the end of the walk.
        deadline = self._clock() + seconds
        while not self._abandoned.is_set():
            left = deadline - self._clock()
            if left <= 0 or self._interrupt.wait(min(left, POLL_SECONDS)):
                return
