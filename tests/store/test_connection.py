"""Connections that send nothing, or too little, keep nobody else out."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from collector.store.limits import ReceiverLimits
from tests.store.samples import Client, connected, event, serving

HEAD = b"POST /v1/events HTTP/1.1\r\nHost: x\r\n"
TOKEN = "a token of this test"


def ended(opened: socket.socket) -> bool:
    """Waits until the receiver ends the connection."""
    try:
        while opened.recv(65536):
            pass
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize("said", [b"", b"PO", HEAD, HEAD + b"X: "], ids=["nothing", "a word", "headers", "a header"])
def test_a_request_whose_headers_never_end_is_dropped(database: Path, said: bytes) -> None:
    with serving(database, head_seconds=0.1) as client:
        with connected(client) as opened:
            opened.sendall(said)
            assert ended(opened)
        assert client.send(event())["accepted"] == 1


def test_the_rest_of_a_refused_body_is_not_awaited(database: Path) -> None:
    with serving(database, TOKEN, head_seconds=0.1) as client, connected(client) as opened:
        opened.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n{")
        assert opened.recv(12) == b"HTTP/1.1 401"
        assert ended(opened)


def test_a_request_that_is_being_answered_is_not_cut_off(database: Path) -> None:
    start = HEAD + b"Content-Type: application/x-ndjson\r\nContent-Length: 2\r\n\r\n{"
    with serving(database, head_seconds=0.05) as client, connected(client) as opened, connected(client) as other:
        opened.sendall(start)
        assert ended(other)  # opened at the same time as the first, so time is up for both
        opened.sendall(b"}")
        assert opened.recv(12) == b"HTTP/1.1 200"


def test_a_crowd_of_silent_connections_keeps_nobody_out(client: Client) -> None:
    with ExitStack() as crowd:
        silent = [crowd.enter_context(connected(client)) for _ in range(ReceiverLimits().connections + 40)]
        assert client.send(event())["accepted"] == 1
        assert ended(silent[0])
        silent[-1].sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert silent[-1].recv(12) == b"HTTP/1.1 200"
