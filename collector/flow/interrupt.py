"""Interrupt: how a signal handler or another thread asks the waiting thread to stop what is in flight.

The parts get one when they are assembled, and it lives as long as they do. Asking twice is harmless.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Interrupt:
    """Not requested, requested, or urgent. Only wait on it in threads that handle no signals."""

    def __init__(self, make_event: Callable[[], threading.Event] = threading.Event) -> None:
        self._make_event = make_event
        self._event = make_event()
        self.is_urgent = False

    @property
    def is_set(self) -> bool:
        """Whether a stop has been requested."""
        return self._event.is_set()

    def stop(self) -> None:
        """Requests a stop once what is in flight is finished, within the time the settings allow."""
        self._event.set()

    def stop_at_once(self) -> None:
        """Requests a stop now, abandoning what is in flight."""
        self.is_urgent = True
        self._event.set()

    def clear(self) -> None:
        """Withdraws the request. A signal may arrive at the same moment, so the caller must check again afterwards."""
        # Replace the event instead of clearing it: clearing takes its lock, and a signal handler that sets it meanwhile
        # in the same thread would wait for that lock forever.
        self._event = self._make_event()
        self.is_urgent = False

    def wait(self, seconds: float) -> bool:
        """Waits for at most this long; returns whether a stop has been requested."""
        return self._event.wait(seconds)
