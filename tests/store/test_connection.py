"""Connections that say nothing, or too little, keep nobody else out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from collector.store import connection
from tests.store.samples import Client, event

HEAD = b"POST /v1/events HTTP/1.1\r\nHost: x\r\n"


@contextmanager
def connected(client: Client) -> Iterator[socket.socket]:
    address = urlsplit(client.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as opened:
        yield opened


def ended(opened: socket.socket) -> bool:
    """Waits until the receiver ends the connection."""
    try:
        while opened.recv(65536):
            pass
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize("said", [b"", b"PO", HEAD, HEAD + b"X: "], ids=["nothing", "a word", "headers", "a header"])
def test_a_request_whose_headers_never_end_is_given_up(
    client: Client, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    with connected(client) as opened:
        opened.sendall(said)
        assert ended(opened)
    assert client.send(event())["accepted"] == 1


def test_the_rest_of_a_refused_body_is_not_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    with connected(client) as opened:
        opened.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n{")
        assert opened.recv(12) == b"HTTP/1.1 401"
        assert ended(opened)


def test_a_request_that_is_worked_on_is_not_cut_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.05)
    token = client.headers["Authorization"].encode()
    with connected(client) as opened, connected(client) as other:
        start = HEAD + b"Content-Type: application/x-ndjson\r\nContent-Length: 2\r\nAuthorization: " + token
        opened.sendall(start + b"\r\n\r\n{")
        assert ended(other)  # as old as the first one, so the time is over
        opened.sendall(b"}")
        assert opened.recv(12) == b"HTTP/1.1 200"


def test_a_crowd_of_silent_connections_keeps_nobody_out(client: Client) -> None:
    with ExitStack() as crowd:
        silent = [crowd.enter_context(connected(client)) for _ in range(connection.MAX_CONNECTIONS + 40)]
        assert client.send(event())["accepted"] == 1
        assert ended(silent[0])
        silent[-1].sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert silent[-1].recv(12) == b"HTTP/1.1 200"
