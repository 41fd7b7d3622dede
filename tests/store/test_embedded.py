"""The embedded store starts and stops inside another program and leaves nothing behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from collector.store import EmbeddedStore
from collector.store.database import StoreError
from collector.store.limits import ReceiverLimits
from collector.store.server import prepared, running
from tests.store.samples import Client, event


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def test_it_can_be_started_and_stopped_again_and_again(database: Path) -> None:
    threads, open_files = threading.active_count(), descriptors()
    for number in range(1, 6):
        with EmbeddedStore(database) as store:
            client = Client.of(store, database)
            with client.http:
                client.send(event())
                assert client.report()["events"] == number
    assert threading.active_count() <= threads  # what an earlier test left may have been ending
    assert descriptors() <= open_files


def test_a_client_that_keeps_its_connection_does_not_hold_up_the_stop(database: Path) -> None:
    started = time.monotonic()
    with EmbeddedStore(database) as store:
        client = Client.of(store, database)
        client.send(event())
    assert time.monotonic() - started < 3
    with pytest.raises(httpx.ConnectError):
        client.send(event())
    client.http.close()


def test_it_stops_when_the_program_around_it_fails(database: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(KeyError), EmbeddedStore(database):
        raise KeyError
    assert threading.active_count() <= threads


def test_an_interrupt_while_it_starts_leaves_no_thread_behind(database: Path) -> None:
    made: list[threading.Thread] = []

    class Interrupted(threading.Thread):
        def start(self) -> None:
            super().start()
            made.append(self)
            raise KeyboardInterrupt

    with (
        prepared(database, None, ReceiverLimits()) as server,
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(KeyboardInterrupt),
        running(server, listener, Interrupted),
    ):
        pytest.fail("it started")
    assert [thread.is_alive() for thread in made] == [False]


def test_a_database_that_cannot_be_opened_is_told_at_the_start(tmp_path: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(StoreError), EmbeddedStore(tmp_path):
        pytest.fail("it started")
    assert threading.active_count() <= threads


def test_only_this_program_may_write_to_it(client: Client) -> None:
    assert client.url.startswith("http://127.0.0.1:")
    assert httpx.post(client.url, content=b"").status_code == 401


def test_two_stores_of_one_program_have_tokens_of_their_own(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "a.db") as one, EmbeddedStore(tmp_path / "b.db") as other:
        assert one.token != other.token
        assert one.url != other.url


def test_naming_it_does_not_load_the_web_server() -> None:
    program = "import sys, collector.store; print({'starlette', 'uvicorn', 'sqlite3'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
