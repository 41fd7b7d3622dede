"""Servers that speak bytes, not HTTP: for what no HTTP server would ever say.

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
    """A server that reads a request and then does what `talk` does; gives its URL."""
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
    """A port where each connection gets a thread that serves it. At the end, all of them are waited for."""
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
    """Says `start`, then `piece` again and again, always in time for a time-out that begins anew with every byte."""

    def talk(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(start)
        while not closing.wait(0.02):
            connection.sendall(piece)

    return talk
