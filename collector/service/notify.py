"""Tells the service manager (by sd_notify) that the agent is ready, what it is doing, and that it makes progress.

In: what happens in the main loop. Out: one datagram for each message to $NOTIFY_SOCKET, or nothing without one.
Invariant: only the main loop calls `alive`, and only when it gets something done or waits on purpose, so that a hanging
loop stops feeding the watchdog and the manager restarts it.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable

from collector.log import printable

FEEDS_PER_TIMEOUT = 3
SECONDS_TO_SEND = 1.0  # a manager that is busy for a moment must not miss READY


class Notifier:
    """Sends the messages. A socket that nobody reads is not an error."""

    def __init__(
        self,
        address: str | None = None,
        watchdog_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = "\0" + address[1:] if address and address.startswith("@") else address
        self._clock = clock
        self._interval = watchdog_seconds / FEEDS_PER_TIMEOUT if watchdog_seconds else None
        self._fed_at = clock()
        self._status = ""

    def ready(self) -> None:
        """The agent has started or finished reloading."""
        self._send("READY=1")

    def reloading(self) -> None:
        """The agent is reading the configuration again. READY must follow, whether or not that succeeds."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """The agent is shutting down."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`; sent only if it has changed."""
        if text != self._status:
            self._status = text
            self._send(f"STATUS={printable(text)}")  # another line would be a command, such as WATCHDOG_USEC=1

    def alive(self) -> None:
        """The main loop makes progress. Costs nothing if called again within a moment."""
        if self._interval is not None and self._clock() - self._fed_at >= self._interval:
            self._fed_at = self._clock()
            self._send("WATCHDOG=1")

    @property
    def next_feed(self) -> float:
        """Seconds until the watchdog must be fed; infinite without a watchdog."""
        return float("inf") if self._interval is None else max(0.0, self._fed_at + self._interval - self._clock())

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(SECONDS_TO_SEND)
            channel.sendto(message.encode("utf-8", "replace"), self._address)
