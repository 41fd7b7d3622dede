"""The HTTP server around the receiver: uvicorn, configured to be bounded and silent.

In: a database path, a token, limits, a listening socket. Out: a server that runs in this thread until a signal
(`collector receive`) or in a thread of its own while a `with` block lasts (the embedded store).
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from collector.log import get_logger, place_of
from collector.store.connection import bounded
from collector.store.database import StoreError
from collector.store.limits import KEEP_ALL, Keeping, ReceiverLimits
from collector.store.receiver import application
from collector.store.worker import working

log = get_logger()

MAX_HEADER_BYTES = 32 * 1024
STOP_SECONDS = 5


class Server(uvicorn.Server):
    """A server that says when it is listening."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts listening."""
        await super().startup(sockets)
        self.is_listening.set()


@contextmanager
def prepared(
    database: Path,
    token: str | None,
    limits: ReceiverLimits,
    certificate: Path | None = None,
    key: Path | None = None,
    keeping: Keeping = KEEP_ALL,
    make_pages: Callable[[], ASGIApp] | None = None,
) -> Iterator[Server]:
    """A server that is ready to run, with its database open for as long as the block lasts. `make_pages` is called once
    the database is there."""
    with working(database, limits, keeping) as worker:
        pages = None if make_pages is None else make_pages()
        yield serving(application(worker, token, limits, pages), limits, certificate, key)


def serving(
    served: ASGIApp, limits: ReceiverLimits, certificate: Path | None = None, key: Path | None = None
) -> Server:
    """A server that is ready to run an application within these limits."""
    return Server(
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


def run_until_signal(server: Server, listener: socket.socket) -> None:
    """Serves until SIGTERM or SIGINT, then finishes what is in flight."""
    before = {number: signal.signal(number, _do_nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])  # uvicorn handles the signal, and raises it again once it has stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def running(
    server: Server, listener: socket.socket, make_thread: Callable[..., threading.Thread] = threading.Thread
) -> Iterator[None]:
    """Serves in a thread of its own for as long as the block lasts."""

    def serve() -> None:
        try:
            server.run(sockets=[listener])
        except Exception as error:  # noqa: BLE001 - while stopping, the listener may be closed already
            if not server.should_exit:
                log.error("the embedded receiver stopped", error=type(error).__name__, place=place_of(error))
        finally:
            server.is_listening.set()

    thread = make_thread(target=serve, name="collector-receiver", daemon=True)
    try:
        thread.start()  # inside the try: Ctrl-C here must not close the listener under a running thread
        server.is_listening.wait()
        if not server.started:
            raise StoreError("The embedded receiver did not start. Set sink.url to send elsewhere.")
        yield
    finally:
        server.should_exit = True
        if thread.ident is not None:
            thread.join()


def _do_nothing(*_: object) -> None:
    """Swallows the signal that uvicorn raises again once it has stopped."""
