"""One connection to the receiver: what uvicorn's protocol leaves open, bounded in time and number.

uvicorn waits for ever for a request's headers, and answers 503 to everybody while too many connections are open. Here a
connection without a request ends after HEAD_SECONDS, however slowly it dribbles, and when all places are taken the one
that has been without a request for longest makes room.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
MAX_CONNECTIONS = 128


class Connection(H11Protocol):
    """A connection that does not wait for ever."""

    idle_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection; makes room for it."""
        super().connection_made(transport)
        self._expect_a_request()
        if len(self.connections) >= MAX_CONNECTIONS:
            idle = [each for each in self.connections if isinstance(each, Connection) and each.is_idle]
            longest = min(idle, key=lambda each: each.idle_since)
            self.connections.discard(longest)  # now, for there may be many more before it is really gone
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """An answer is out: what is left of its request is not waited for any longer than the next one."""
        self._expect_a_request()
        super().on_response_complete()

    def _expect_a_request(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.is_idle:
            self.transport.abort()
