"""Interrupt: the request to stop what is in flight, from a signal handler or another thread to whoever is waiting.

One is given to the parts when they are assembled, and lives as long as they do. Asking twice is harmless.
"""

from __future__ import annotations

import threading


class Interrupt:
    """Not asked for, asked for, or urgent. Never wait for it in the thread whose signal handlers ask for it."""

    def __init__(self, event: threading.Event | None = None) -> None:
        self._event = event or threading.Event()
        self.is_urgent = False

    @property
    def is_set(self) -> bool:
        """Whether a stop is asked for."""
        return self._event.is_set()

    def stop(self) -> None:
        """Asks for what is in flight to be finished, within the time the settings allow."""
        self._event.set()

    def stop_at_once(self) -> None:
        """Asks for what is in flight to be given up."""
        self.is_urgent = True
        self._event.set()

    def clear(self) -> None:
        """Takes it back. Whoever clears must look again afterwards: a signal may have asked just before."""
        self._event.clear()
        self.is_urgent = False

    def wait(self, seconds: float) -> bool:
        """Waits for at most so long; whether a stop is asked for."""
        return self._event.wait(seconds)
