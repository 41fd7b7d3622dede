"""Interrupt: the request to stop what is in flight, from a signal handler or another thread to whoever is waiting.

The parts get one when they are assembled, and it lives as long as they do. Asking twice is harmless.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Interrupt:
    """Not asked for, asked for, or urgent. Wait for it only in threads that handle no signals."""

    def __init__(self, make_event: Callable[[], threading.Event] = threading.Event) -> None:
        self._make_event = make_event
        self._event = make_event()
        self.is_urgent = False

    @property
    def is_set(self) -> bool:
        """Whether a stop has been asked for."""
        return self._event.is_set()

    def stop(self) -> None:
        """Asks for what is in flight to be finished, within the time the settings allow."""
        self._event.set()

    def stop_at_once(self) -> None:
        """Asks for what is in flight to be given up."""
        self.is_urgent = True
        self._event.set()

    def clear(self) -> None:
        """Takes the request back. A signal may ask at the same moment, so the caller must look again afterwards."""
        # A new event instead of clearing the old one: that takes its lock, and a signal handler that sets it meanwhile,
        # in the same thread, would wait for the lock for ever.
        self._event = self._make_event()
        self.is_urgent = False

    def wait(self, seconds: float) -> bool:
        """Waits for at most this long; returns whether a stop has been asked for."""
        return self._event.wait(seconds)
