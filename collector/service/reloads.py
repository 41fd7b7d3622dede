"""Decides when the configuration is read again: as soon as somebody asks, but not again and again.

In: requests, also from signal handlers. Out: whether a reload is due. Invariant: of many requests, the first few are
served at once, because each may exclude a project, and the rest together, with time to deliver something in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.delivery.credentials import proof_files, stamps_of
from collector.errors import ConfigurationError
from collector.settings import Settings, token_of

REST_SECONDS = 1.0  # between two reloads, on average
SPARE_SECONDS = 2.0  # how much of that rest may be put off
FOREVER = float("inf")


class Reloads:
    """Whether a reload was asked for, and how long it has to wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.is_wanted = False
        self._clock = clock
        self._rests_until = -FOREVER

    def ask(self) -> None:
        """Asks for a reload."""
        self.is_wanted = True

    @property
    def due_in(self) -> float:
        """Seconds until a reload is due; forever if nobody has asked for one."""
        return max(0.0, self._rests_until - self._clock()) if self.is_wanted else FOREVER

    @property
    def is_due(self) -> bool:
        """Whether it is time, so that the work under way should be interrupted."""
        return not self.due_in

    def begin(self) -> None:
        """A reload begins: a request from now on asks for another."""
        self.is_wanted = False

    def end(self) -> None:
        """A reload has ended. After a few in a row, the next has to wait a little."""
        self._rests_until = max(self._rests_until, self._clock() - SPARE_SECONDS) + REST_SECONDS


def secrets_of(settings: Settings) -> Any:
    """What may be replaced while the configuration stays the same: the sink's token and the TLS files."""
    return token_of(settings.sink), stamps_of(proof_files(settings.sink))


def secrets_now(settings: Settings, known: Any) -> Any:
    """The same, read again; `known` if they cannot be read."""
    try:
        return secrets_of(settings)
    except ConfigurationError:
        return known
