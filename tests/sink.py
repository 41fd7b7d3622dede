"""A real HTTP receiver on loopback that answers a script and remembers everything it was sent.

    with Sink(Answer(503, {"Retry-After": "0"}), then=poison(lambda event: event["id"] == bad)) as sink:
        ...                                 # the first request gets 503; `poison` answers all later ones
        sink.wait_for(lambda: len(sink.ids()) == 3)

Requests are recorded once their body has arrived; an event counts as stored once its request was answered with 2xx.
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

import zstandard

PATIENCE = 300.0  # seconds until a wait is taken for a hang; how busy the machine is must decide nothing
Event = dict[str, Any]
Ending = Literal["complete", "closed", "cut", "silence"]


@dataclass(frozen=True)
class Request:
    """One request as it arrived; `body` is decompressed, `raw` is what was on the wire."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    arrived: float

    @cached_property
    def body(self) -> bytes:
        """The decompressed body."""
        match self.headers.get("content-encoding", ""):
            case "gzip":
                return gzip.decompress(self.raw)
            case "deflate":
                return zlib.decompress(self.raw)
            case "zstd":
                return zstandard.ZstdDecompressor().decompressobj().decompress(self.raw)
            case _:
                return self.raw

    @cached_property
    def events(self) -> list[Event]:
        """The events of our own contract, one per line or in a JSON array; empty for anything else."""
        if "json" not in self.headers.get("content-type", ""):
            return []
        if self.body.lstrip().startswith(b"["):
            return list(json.loads(self.body))
        return [json.loads(line) for line in self.body.splitlines() if line.strip()]

    @property
    def key(self) -> str:
        """The Idempotency-Key."""
        return self.headers.get("idempotency-key", "")

    @property
    def ids(self) -> list[str]:
        """The ids of the events, in order."""
        return [event["id"] for event in self.events]


@dataclass(frozen=True)
class Answer:
    """The sink's answer to one request.

    `held` delays the answer until that event is set. `ending` says how the answer ends: "closed" closes the connection
    without an answer, "cut" closes it in the middle of the body, "silence" says nothing until the sink closes.
    `pause` is the wait between the pieces of a body given in several pieces (slow-loris).
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Iterable[bytes] = b""
    held: threading.Event | None = None
    ending: Ending = "complete"
    pause: float = 0.0
    is_stored: bool | None = None
    rejected: frozenset[str] = frozenset()

    def stores(self) -> bool:
        """Whether the events of the request count as stored."""
        if self.is_stored is not None:
            return self.is_stored
        return 200 <= self.status < 300 and self.ending != "closed"


Rule = Answer | Callable[[Request], Answer]


def is_poison(event: Event) -> bool:
    """Whether this is the event that a picky sink refuses."""
    return event.get("text") == "poison"


def poison(is_bad: Callable[[Event], bool], status: int = 400) -> Callable[[Request], Answer]:
    """Refuses every batch with a bad event in it, and stores the others."""
    return lambda request: Answer(status) if any(map(is_bad, request.events)) else Answer()


def at_most(size: int, status: int = 413) -> Callable[[Request], Answer]:
    """Refuses bodies larger than `size` bytes, decompressed."""
    return lambda request: Answer(status) if len(request.body) > size else Answer()


def rejecting(is_bad: Callable[[Event], bool], reason: str = "not wanted") -> Callable[[Request], Answer]:
    """Accepts the batch and names the bad events in the body."""

    def rule(request: Request) -> Answer:
        bad = [event["id"] for event in request.events if is_bad(event)]
        rejected = [{"id": event_id, "reason": reason} for event_id in bad]
        body = {"accepted": len(request.events) - len(bad), "duplicate": 0, "rejected": rejected}
        headers = {"Content-Type": "application/json"}
        return Answer(200, headers, json.dumps(body).encode(), rejected=frozenset(bad))

    return rule


def only_with_token(token: str, status: int = 401) -> Callable[[Request], Answer]:
    """Rejects requests without the bearer token."""
    return only_with("authorization", f"Bearer {token}", status)


def only_with(header: str, value: str, status: int = 401) -> Callable[[Request], Answer]:
    """Rejects requests without this header; its name must be in lower case."""
    return lambda request: Answer(200 if request.headers.get(header) == value else status)


def redirect(target: str, status: int = 307) -> Answer:
    """Sends the client elsewhere."""
    return Answer(status, {"Location": target})


def flood(size: int, status: int = 200) -> Answer:
    """A body of `size` bytes; `sink.answered_bytes` tells how many the client read."""
    piece = b"x" * 65536
    return Answer(status, {"Content-Length": str(size)}, (piece for _ in range(size // len(piece))))


def drip(size: int = 1_000_000, pause: float = 0.02, status: int = 200) -> Answer:
    """Slow-loris: a byte at a time."""
    return Answer(status, {"Content-Length": str(size)}, (b" " for _ in range(size)), pause=pause)


class Sink:
    """The receiver; used as a context manager, on a free port of 127.0.0.1 (or the given one)."""

    def __init__(
        self, *answers: Rule, then: Rule | None = None, tls: ssl.SSLContext | None = None, port: int = 0
    ) -> None:
        self.requests: list[Request] = []
        self.answers: list[tuple[Request, Answer]] = []
        self.answered_bytes = 0
        self.failures: list[BaseException] = []
        self.then: Rule = then or Answer()
        self._script = list(answers)
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._tls = tls
        self._port = port
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(self, *_: object) -> None:
        self.down()
        if self.failures:
            raise AssertionError(f"the scripted sink failed: {self.failures!r}") from self.failures[0]

    def up(self) -> None:
        """Starts listening; after `down`, on the same port as before."""
        self._closing.clear()
        self._server = Server(("127.0.0.1", self._port), self, self._tls)
        self._port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="sink")
        self._thread.start()

    def down(self) -> None:
        """Closes every connection; further connections are refused."""
        self._closing.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.disconnect()
            self._server.server_close()
        self._server = None

    @property
    def url(self) -> str:
        """Where to POST."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}/events"

    @property
    def port(self) -> int:
        """The port, once it has listened."""
        return self._port

    def answer(self, *answers: Rule) -> None:
        """Adds to the script: one answer for each of the next requests."""
        with self._changed:
            self._script.extend(answers)

    def clear_script(self, then: Rule | None = None) -> None:
        """Forgets the rest of the script; from now on every request gets `then` (200 by default)."""
        with self._changed:
            self._script.clear()
            self.then = then or Answer()

    # What arrived

    @property
    def posts(self) -> list[Request]:
        """The POST and PUT requests, in order of arrival."""
        with self._changed:
            return [request for request in self.requests if request.method in ("POST", "PUT")]

    @property
    def events(self) -> list[Event]:
        """The events that were stored, in order of arrival, repeats included."""
        with self._changed:
            pairs = sorted(self.answers, key=lambda pair: pair[0].arrived)
        return [
            event
            for request, answer in pairs
            if answer.stores()
            for event in request.events
            if event["id"] not in answer.rejected
        ]

    @property
    def seen(self) -> list[Event]:
        """The events of every request, whatever the answer was."""
        return [event for request in self.posts for event in request.events]

    def ids(self) -> list[str]:
        """The ids of the stored events, in order of arrival, repeats included."""
        return [event["id"] for event in self.events]

    @property
    def raw_bytes(self) -> bytes:
        """Everything that arrived, decompressed, with paths and headers: the place to search for leaks."""
        with self._changed:
            requests = list(self.requests)
        parts = [f"{r.method} {r.path}\n{json.dumps(r.headers)}\n".encode() + r.body for r in requests]
        return b"\n".join(parts)

    def wait_for(self, condition: Callable[[], object], timeout: float = PATIENCE) -> None:
        """Waits until the condition holds, checking it again after every request and answer."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not condition():
                left = deadline - time.monotonic()
                if left <= 0:
                    message = f"not within {timeout} s; {len(self.requests)} requests arrived"
                    raise AssertionError(message)
                self._changed.wait(min(left, 0.1))

    # Called by the handlers

    def take(self, request: Request) -> Answer:
        """Records a request and decides its answer."""
        with self._changed:
            self.requests.append(request)
            rule = self._script.pop(0) if self._script else self.then
            self._changed.notify_all()
        answer = rule if isinstance(rule, Answer) else rule(request)
        while answer.held is not None and not answer.held.wait(0.01) and not self._closing.is_set():
            pass
        if answer.ending == "silence":
            self._closing.wait()
        with self._changed:
            if answer.ending != "silence":
                self.answers.append((request, answer))
            self._changed.notify_all()
        return answer

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        """The pieces of an answer's body, at their pace; ends when the sink closes."""
        for piece in [answer.body] if isinstance(answer.body, bytes) else answer.body:
            yield piece
            with self._changed:
                self.answered_bytes += len(piece)
            if self._closing.wait(answer.pause) if answer.pause else self._closing.is_set():
                return


def texts(sink: Sink) -> list[str]:
    """The texts of the stored events, in order of arrival, repeats included."""
    return [event["text"] for event in sink.events]


class Server(ThreadingHTTPServer):
    """The listening socket, and the connections that are open."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], sink: Sink, tls: ssl.SSLContext | None) -> None:
        super().__init__(address, Handler)
        self.sink = sink
        self.connections: set[socket.socket] = set()
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remembers the connection, to close it with the sink."""
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forgets a connection that has ended."""
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tolerates a client that goes away; anything else fails the test."""
        failure = sys.exc_info()[1]
        if failure is not None and not isinstance(failure, OSError):
            self.sink.failures.append(failure)

    def disconnect(self) -> None:
        """Ends every connection, so that its thread ends too."""
        for connection in list(self.connections):
            try:
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
            except OSError:
                continue


class Handler(BaseHTTPRequestHandler):
    """Reads a request, asks the sink for its answer, and sends it."""

    protocol_version = "HTTP/1.1"
    server: Server
    disable_nagle_algorithm = True

    def answer(self) -> None:
        """Answers one request."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = self.read_body()
        request = Request(self.command, self.path, headers, raw, time.monotonic())
        answer = self.server.sink.take(request)
        if answer.ending in {"closed", "silence"}:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if not {"content-length", "transfer-encoding"} & {name.lower() for name in answer.headers}:
            size = len(answer.body) if isinstance(answer.body, bytes) else 0
            self.send_header("Content-Length", str(size + 1000 if answer.ending == "cut" else size))
        self.end_headers()
        for piece in self.server.sink.pieces(answer):
            self.wfile.write(piece)
        self.close_connection = self.close_connection or answer.ending == "cut"

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815

    def read_body(self) -> bytes:
        """Reads the body, by length or in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", "0"))
            body = self.rfile.read(length)
            if len(body) < length:
                raise ConnectionAbortedError("the client went away in the middle of its body")
            return body
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: Any) -> None:
        """Says nothing: the sink remembers everything."""
