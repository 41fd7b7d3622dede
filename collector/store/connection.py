"""One connection to the receiver: bounds in time and number what uvicorn's protocol leaves unbounded.

uvicorn waits for ever for a request's headers, and answers 503 to everybody while too many connections are open. Here a
connection that has no request ends after `head_seconds`, however slowly it dribbles; and when all places are taken, the
one that has been without a request for longest makes room.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection that does not wait for ever. `bounded` makes the class with its bounds."""

    head_seconds: float
    most: int
    idle_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts, and makes room for itself where there is none."""
        super().connection_made(transport)
        self._expect_a_request()
        if len(self.connections) >= self.most:
            idle = [each for each in self.connections if isinstance(each, Connection) and each.is_idle]
            longest = min(idle, key=lambda each: each.idle_since)
            self.connections.discard(longest)  # now, because many more may come before it is really gone
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Has sent an answer: the rest of a refused body gets no more time than the next request."""
        self._expect_a_request()
        super().on_response_complete()

    def _expect_a_request(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.idle_since = self.loop.time()
        self._timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        if self.is_idle:
            self.transport.abort()


def bounded(head_seconds: float, most: int) -> type[Connection]:
    """The class of connections with these bounds: uvicorn wants a class, and makes the connections itself."""
    return type("BoundedConnection", (Connection,), {"head_seconds": head_seconds, "most": most})
