"""Wakes the main loop, and collects the hints that say why: paths below the roots that may have changed.

In: hints from the watcher's threads, and rings from signal handlers. Out: for the main loop, which sleeps on a pipe,
all hints since it last asked. Invariant: memory is bounded; past MAX_PATHS paths, the hint is "look at everything".
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

MAX_PATHS = 1000


class Hints(NamedTuple):
    """What may have changed."""

    paths: frozenset[str]
    is_everything: bool


class Waker:
    """Lets the main loop sleep until another thread or a signal handler wakes it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.since: float | None = None  # when the oldest waiting hint arrived
        self._clock = clock
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._is_everything = False
        self._ear, self.bell = os.pipe()
        for end in (self._ear, self.bell):
            os.set_blocking(end, False)

    def hint(self, path: str) -> None:
        """Notes that this path may have changed."""
        with self._lock:
            if len(self._paths) < MAX_PATHS:
                self._paths.add(path)
            else:
                self._is_everything = True
            is_first = self.since is None
            if is_first:
                self.since = self._clock()
        if is_first:
            self.ring()

    def doubt(self) -> None:
        """Notes that anything may have changed."""
        with self._lock:
            self._is_everything = True
            self.since = self._clock() if self.since is None else self.since
        self.ring()

    def ring(self) -> None:
        """Ends the main loop's sleep. Safe in a signal handler."""
        with contextlib.suppress(OSError):  # a full pipe is ringing already
            os.write(self.bell, b"!")

    def wait(self, seconds: float) -> None:
        """Sleeps until somebody rings, but no longer than this."""
        ready, _, _ = select.select([self._ear], [], [], max(0.0, seconds))
        if ready:
            with contextlib.suppress(BlockingIOError):
                while os.read(self._ear, 4096):
                    pass

    def peek(self) -> frozenset[str]:
        """The paths so far, without removing them."""
        with self._lock:
            return frozenset(self._paths)

    def take(self) -> Hints:
        """Removes and returns the hints so far."""
        with self._lock:
            hints = Hints(frozenset(self._paths), self._is_everything)
            self._paths.clear()
            self._is_everything, self.since = False, None
        return hints

    def close(self) -> None:
        """Closes the pipe."""
        os.close(self._ear)
        os.close(self.bell)
