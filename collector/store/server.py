"""The HTTP server around the receiver: uvicorn, configured to be bounded and silent.

In: a database path, a token, limits, a listening socket. Out: a server that runs in this thread until a signal
(`collector receive`, `collector web`).
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from collector.store.connection import bounded
from collector.store.limits import KEEP_ALL, Keeping, ReceiverLimits
from collector.store.receiver import application
from collector.store.worker import working

MAX_HEADER_BYTES = 32 * 1024
STOP_SECONDS = 5


@contextmanager
def prepared(
    database: Path,
    token: str | None,
    limits: ReceiverLimits,
    certificate: Path | None = None,
    key: Path | None = None,
    keeping: Keeping = KEEP_ALL,
    pages: ASGIApp | None = None,
) -> Iterator[uvicorn.Server]:
    """A server that is ready to run, with its database open as long as the block lasts."""
    with working(database, limits, keeping) as worker:
        yield serving(application(worker, token, limits, pages), limits, certificate, key)


def serving(
    served: ASGIApp, limits: ReceiverLimits, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Server:
    """A server that is ready to run an application within these limits."""
    return uvicorn.Server(
        uvicorn.Config(
            served,
            loop="asyncio",
            http=bounded(limits.head_seconds, limits.connections),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limits.connections,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            timeout_graceful_shutdown=STOP_SECONDS,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
    )


def run_until_signal(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serves until SIGTERM or SIGINT, then finishes what is in flight."""
    before = {number: signal.signal(number, _do_nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])  # uvicorn handles the signal, and raises it again once it has stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _do_nothing(*_: object) -> None:
    """Swallows the signal that uvicorn raises again once it has stopped."""
