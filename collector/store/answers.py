"""Answers: what a sender is told, whether its request came over HTTP or from inside this process.

In: the outcome of a request, or what went wrong. Out: a reply. Invariant: the log says once what is wrong with the
store, not for every request, and says when it is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from collector.log import get_logger, place_of
from collector.store.body import Refusal
from collector.store.database import StoreUnavailable
from collector.store.worker import Outcome

log = get_logger()


class Reply(NamedTuple):
    """A status, JSON, and headers besides its Content-Type."""

    status: int
    content: Mapping[str, Any]
    headers: Mapping[str, str] = {}

    @property
    def body(self) -> bytes:
        """The JSON."""
        return orjson.dumps(self.content)


class Answers:
    """Answers the requests to one store. `trouble` says what is wrong with it; empty if nothing is."""

    def __init__(self) -> None:
        self.trouble = ""

    def stored(self, outcome: Outcome) -> Reply:
        """The receipt."""
        if self.trouble:
            self.trouble = ""
            log.info("store recovered")
        rejected = [{"id": item.id, "reason": item.reason} for item in outcome.rejected]
        counts = outcome.stored
        return Reply(200, {"accepted": counts.accepted, "duplicate": counts.duplicate, "rejected": rejected})

    def failed(self, error: Exception, meant: str = "accept") -> Reply:
        """The reply when nothing in a request was done, with the reason."""
        if isinstance(error, Refusal):
            return Reply(error.status, {"error": error.reason}, error.headers)
        if isinstance(error, StoreUnavailable):
            self._note_trouble(str(error))
            reason = f"The store cannot {meant} events now; the receiver's log says why."
            return Reply(503, {"error": reason}, {"retry-after": str(error.retry_after)})
        # Its own message may quote an event, so it is not logged.
        self._note_trouble(f"{type(error).__name__} at {place_of(error)}")
        return Reply(500, {"error": "The receiver failed; its log says why."})

    def _note_trouble(self, reason: str) -> None:
        if reason != self.trouble:
            log.error("store failing", reason=reason)
        self.trouble = reason
