"""Deadlines: breaks off what takes too long. One thread watches all that is under way: a timer for each costs 0.2 ms.

In: within how many seconds something must be over, and what breaks it off. Invariant: that is never called once the
`with` has been left. The thread is started when there is something to watch, and ends when it wakes at a deadline and
there is nothing left, so an idle process has none.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator


class Deadlines:
    """What is under way, and until when. Used by several threads at once."""

    def __init__(self) -> None:
        self._watched: dict[Callable[[], None], float] = {}  # what breaks it off -> when
        self._wakes_at: float | None = None  # the thread; None: there is none
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def within(self, seconds: float, break_off: Callable[[], None]) -> Iterator[None]:
        """Calls `break_off`, from another thread, if the body of the `with` takes longer. It must not block."""
        deadline = time.monotonic() + seconds
        with self._changed:
            if self._wakes_at is None:
                # Before anything is noted: it fails where there may be no more threads, and the next one has to try.
                threading.Thread(target=self._watch, name="deadlines", daemon=True).start()
                self._wakes_at = deadline
            elif deadline < self._wakes_at:
                self._changed.notify()
            self._watched[break_off] = deadline
        try:
            yield
        finally:
            with self._changed:
                self._watched.pop(break_off, None)

    def _watch(self) -> None:
        with self._changed:
            try:
                while self._watched:
                    now = time.monotonic()
                    for break_off in [each for each, deadline in self._watched.items() if deadline <= now]:
                        del self._watched[break_off]
                        break_off()
                    self._wakes_at = min(self._watched.values(), default=now)
                    self._changed.wait(self._wakes_at - now)
            finally:
                self._wakes_at = None  # whatever went wrong, the next one starts another thread
