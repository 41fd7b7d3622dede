"""Decides when the configuration is read again: as soon as somebody asks, but not again and again.

In: requests, also from signal handlers, and how each reload ended. Out: whether a reload is due, and why the last one
failed. Invariant: of many requests, the first few are served at once, because each may exclude a project, and the rest
together, with time to deliver something in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.delivery.credentials import proof_files, stamps_of
from collector.errors import ConfigurationError
from collector.service.figures import Problem
from collector.settings import Settings, token_of

REST_SECONDS = 1.0  # between two reloads, on average
SPARE_SECONDS = 2.0  # how much of that rest may be put off
TRY_AGAIN_SECONDS = 30.0  # after one that failed: the mistake may be corrected, or a file may be back
FOREVER = float("inf")


class Reloads:
    """Whether a reload was asked for, and how long it has to wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.is_wanted = False
        self.failure = ""
        self.problem: Problem | None = None
        self._clock = clock
        self._rests_until, self._again_at = -FOREVER, FOREVER

    def ask(self) -> None:
        """Asks for a reload."""
        self.is_wanted = True

    @property
    def due_in(self) -> float:
        """Seconds until a reload is due; forever if nobody has asked for one and the last one did not fail."""
        asked = self._rests_until if self.is_wanted else FOREVER
        return max(0.0, min(asked, self._again_at) - self._clock())

    @property
    def is_due(self) -> bool:
        """Whether it is time, so that the work under way should be interrupted."""
        return not self.due_in

    def begin(self) -> bool:
        """A reload begins: a request from now on asks for another. Returns whether anybody asked for this one."""
        was_wanted, self.is_wanted = self.is_wanted, False
        return was_wanted

    def end(self, failure: str, now: float) -> None:
        """A reload has ended, or has failed for a reason. After a few in a row, the next has to wait a little."""
        last, self.problem, self._again_at, self.failure = self.problem, None, FOREVER, failure
        if failure:
            since, tries = (last.since, last.tries) if last else (now, 0)
            said = f"nothing is sent until the configuration can be applied: {failure}"
            self.problem = Problem("configuration", said, since, tries + 1)
            self._again_at = self._clock() + TRY_AGAIN_SECONDS
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
