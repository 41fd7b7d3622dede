"""Events as a sender would make them, a client that posts them, and receivers with chosen limits."""

from __future__ import annotations

import itertools
import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import uvicorn

from collector.store import totals
from collector.store.limits import ReceiverLimits
from collector.store.queries import Selection
from collector.store.report import summarize
from collector.store.rows import Row, from_value
from collector.store.server import prepared

Event = dict[str, Any]
NDJSON = "application/x-ndjson"
numbers = itertools.count(1)


def event(kind: str = "user_prompt", **fields: Any) -> Event:
    """An event with a fresh id."""
    return {
        "id": f"{next(numbers):032x}",
        "schema": "collector.event/1",
        "kind": kind,
        "time": "2026-03-01T10:00:00.000Z",
        "session_id": "session-1",
        **fields,
    }


def reply(message_id: str | None, output: int, **fields: Any) -> Event:
    """One row of an assistant's message, with `output` tokens counted so far."""
    usage = {"input_tokens": 10, "output_tokens": output, "cache_read_tokens": 100, "cache_creation_tokens": 5}
    made = event(**{"kind": "assistant_response", "model": "claude-opus-4-5", "usage": usage, **fields})
    return made if message_id is None else made | {"message_id": message_id}


def calls(*tools: tuple[str, str], **fields: Any) -> Event:
    """A row that calls tools, each given as (call id, name)."""
    blocks = [{"type": "tool_call", "call_id": call_id, "name": name} for call_id, name in tools]
    return event(**{"kind": "tool_call", "blocks": blocks, **fields})


def lines(events: Iterable[Event]) -> bytes:
    """The events as NDJSON."""
    return b"".join(json.dumps(item).encode() + b"\n" for item in events)


def row_of(sent: Event) -> Row:
    """The event as a row of the database."""
    row = from_value(sent)
    assert isinstance(row, Row), row
    return row


class Client:
    """Talks to a receiver as a sender does."""

    def __init__(self, url: str, token: str | None, database: Path) -> None:
        self.url = url
        self.database = database
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(headers=self.headers, timeout=20)

    def post(self, body: bytes, content_type: str = NDJSON, encoding: str = "", **headers: str) -> httpx.Response:
        """Posts these bytes as they are."""
        given = {"Content-Type": content_type, **({"Content-Encoding": encoding} if encoding else {}), **headers}
        return self.http.post(self.url, content=body, headers=given)

    def send(self, *events: Event) -> dict[str, Any]:
        """Posts one batch and returns the receipt."""
        response = self.post(lines(events))
        assert response.status_code == 200, response.text
        return dict(response.json())

    def report(self, since: str = "") -> dict[str, Any]:
        """What `collector report --json` would show."""
        return summarize(self.database, Selection(since=since))

    def output(self) -> int:
        """The output tokens in total."""
        return int(self.report()["totals"]["output_tokens"])


def rebuild(connection: sqlite3.Connection) -> None:
    """Recomputes all totals from the rows; triggers update the totals by day."""
    for table in ("usage_totals", "call_totals", "call_days", "activity_totals", "kind_totals"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute(totals.ADD_USAGE.replace(f"AND message {totals.TOUCHED}", ""))
    connection.execute(totals.ADD_CALLS.replace(f"AND call_id {totals.TOUCHED}", ""))
    connection.execute(totals.ADD_CALLS_OF_DAYS.replace(f"WHERE call.call_id {totals.TOUCHED}", ""))
    connection.execute(totals.ADD_ACTIVITY, {"first": 0})
    connection.execute(totals.ADD_KINDS, {"first": 0})


@contextmanager
def running(server: uvicorn.Server, listener: socket.socket) -> Iterator[None]:
    """Serves in its own thread while the block runs. Clients that connect before it is up are kept waiting."""
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        while not server.started:  # a server that is still starting would miss `should_exit`
            time.sleep(0.01)
        server.should_exit = True
        thread.join()


@contextmanager
def serving(database: Path, token: str | None = None, **limits: Any) -> Iterator[Client]:
    """Runs a receiver with these limits, and gives a client for it."""
    bounds = ReceiverLimits()._replace(**limits)
    with (
        prepared(database, token, bounds) as server,
        socket.create_server(("127.0.0.1", 0)) as listener,
        running(server, listener),
    ):
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}/v1/events", token, database)
        with client.http:
            yield client


@contextmanager
def connected(client: Client) -> Iterator[socket.socket]:
    """A raw connection to the receiver."""
    address = urlsplit(client.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
        yield connection
