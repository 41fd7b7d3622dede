"""Servers that speak raw bytes, for answers that no HTTP server would ever give.

with talking(dribble(b"HTTP/1.1 200 OK\\r\\nX-Slow: ", b"a")) as url:
    ...
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Talk = Callable[[socket.socket, threading.Event], None]


@contextmanager
def talking(talk: Talk) -> Iterator[str]:
    """Runs a server that reads a request and then calls `talk`; yields its URL."""
    closing = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            talk(connection, closing)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):  # closing with bytes unread would reset the connection
                pass

    with serving(serve) as port:
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            closing.set()


@contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Yields a port where each connection is served by its own thread; joins all of them at the end."""
    threads: list[threading.Thread] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def dribble(start: bytes, piece: bytes) -> Talk:
    """Sends `start`, then `piece` over and over, often enough that a timeout restarted by every byte never expires."""

    def talk(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(start)
        while not closing.wait(0.02):
            connection.sendall(piece)

    return talk
