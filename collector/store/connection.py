"""One connection to the receiver, limited in time and number where uvicorn's protocol has no limits.

uvicorn waits for ever for a request's headers, and answers 503 to everybody while too many connections are open. Here,
a connection without a request ends after `head_seconds`, however slowly it dribbles. When all places are taken, the
connection that has been without a request for longest makes room.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """A connection that does not wait for ever. `bounded` makes the class with its limits."""

    head_seconds: float
    most: int
    idle_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the connection, and makes room for it if there is none."""
        super().connection_made(transport)
        self._expect_a_request()
        if len(self.connections) >= self.most:
            idle = [each for each in self.connections if isinstance(each, Connection) and each.is_idle]
            longest = min(idle, key=lambda each: each.idle_since)
            self.connections.discard(longest)  # now, because many more may come before it is really gone
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Called after an answer: the rest of a refused body gets no more time than the next request would."""
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
    """A class of connections with these limits: uvicorn wants a class, and makes the connections itself."""
    return type("BoundedConnection", (Connection,), {"head_seconds": head_seconds, "most": most})
