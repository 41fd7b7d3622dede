"""Health: what is known about the sink, across threads and passes.

In: the verdict on every request. Out: since when it has been failing and why, how large a request may be, an event that
it is known to accept (the canary), and how many events in a row it has refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from collector.delivery.sink import Accepted, Halt, Retry, Verdict
from collector.flow.outcome import Sealed

TRY_LARGER_AFTER = 50  # accepted requests
CANARY_AMONG = 10  # events to choose from: the smallest is the cheapest to send again


def size_of(events: Sequence[Sealed]) -> int:
    """In bytes; spans, which have no bodies, are just counted."""
    return sum(len(event.body) or 1 for event in events)


@dataclass(slots=True)
class Health:
    """Lives as long as its deliverer, so what one pass learns about the sink is known to the next."""

    clock: Callable[[], float] = time.monotonic
    canary: Sealed | None = None
    tries: int = 0
    failing_since: float | None = None
    reason: str = ""
    size_limit: int = 0
    _refused_in_a_row: int = 0
    _taken_since: int = 0  # requests accepted since the limit was learned or raised
    _split: int = 0  # the size of a request that was only accepted in pieces, until one as large is accepted
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Called when a pass begins: how long it waits for a failing sink counts from its own first failure."""
        self.failing_since = None

    def note(self, verdict: Verdict, events: Sequence[Sealed]) -> None:
        """Remembers the latest verdict."""
        with self._lock:
            if isinstance(verdict, Retry | Halt):
                self.failing_since = self.failing_since or self.clock()
                self.reason = verdict.reason
                self.tries += 1
                return
            self._is_well()
            taken: list[Sealed] = []
            if isinstance(verdict, Accepted) and not verdict.unnamed:  # otherwise nobody knows which were accepted
                left = verdict.rejected.keys() | verdict.later
                taken = list(islice((event for event in events if event.id not in left), CANARY_AMONG))
            if taken:
                self._refused_in_a_row = 0
                self.canary = min(taken, key=lambda event: len(event.body))
                self._taken_since += 1
                if self._split and size_of(events) >= self._split:
                    self._split = 0
                if self._taken_since >= TRY_LARGER_AFTER:  # the limit may have been a mistake, or be gone by now
                    self.size_limit, self._taken_since = self.size_limit * 2, 0

    def note_blamed(self) -> None:
        """Forgets the latest failures: they were the fault of an event, and the sink accepts others."""
        with self._lock:
            self._is_well()

    def _is_well(self) -> None:
        self.failing_since, self.tries, self.reason = None, 0, ""

    def note_too_large(self, size: int) -> None:
        """Remembers that requests of this size are too large."""
        with self._lock:
            self.size_limit, self._taken_since = min(self.size_limit or size, size), 0

    def note_split(self, size: int) -> None:
        """Remembers that a request of this size was only accepted in pieces. Of a sink that now and then fails on any
        request, large ones are soon accepted again; if not, they are too large."""
        with self._lock:
            is_too_large = 0 < self._split <= size
            self._split = 0 if is_too_large else size
        if is_too_large:
            self.note_too_large(size)

    def note_refused(self) -> int:
        """Counts a blamed event; returns how many were blamed in a row, with none accepted in between."""
        with self._lock:
            self._refused_in_a_row += 1
            return self._refused_in_a_row
