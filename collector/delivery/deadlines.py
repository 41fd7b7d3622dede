"""Deadlines: breaks off anything that takes too long. One thread watches it all: a timer for each would cost 0.2 ms.

In: a number of seconds, and a function that breaks the work off. Invariant: that function is never called once the
`with` has been left. The thread starts when there is something to watch, and ends when it wakes at a deadline with
nothing left to watch, so an idle process has none.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator


class Deadlines:
    """Everything under way, with its deadline. Used by several threads at once."""

    def __init__(self) -> None:
        self._watched: dict[Callable[[], None], float] = {}  # break_off -> deadline
        self._wakes_at: float | None = None  # when the thread wakes; None: there is no thread
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def within(self, seconds: float, break_off: Callable[[], None]) -> Iterator[None]:
        """Calls `break_off` from another thread if the body of the `with` takes longer. `break_off` must not block."""
        deadline = time.monotonic() + seconds
        with self._changed:
            if self._wakes_at is None:
                # Before anything is recorded: if no thread can be started, this raises, and the next caller has to try.
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
                self._wakes_at = None  # whatever went wrong, the next caller starts a new thread
