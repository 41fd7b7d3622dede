"""One request: compression, connections that are used again, and a deadline for the whole.

In: a request from any sink, and the settings that all sinks share. Out: an answer, or the verdict that a failure
amounts to. No retries here. Whether to encrypt and whether to use a proxy depends on the URL, whatever the sink.
Invariants: one deadline bounds a whole exchange: httpx's time-outs start again with every byte that dribbles in.
What a server says beyond an answer is never taken for the next one: a refused batch would count as acknowledged.
"""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import httpx

from collector.delivery.clients import Clients
from collector.delivery.compression import COMPRESSIONS, ENDINGS, unpacked
from collector.delivery.credentials import Credentials
from collector.delivery.deadlines import Deadlines
from collector.delivery.failures import failure
from collector.delivery.names import addresses_of
from collector.delivery.sink import Answer, Halt, Request, Retry, Signer
from collector.delivery.unread import has_unread
from collector.errors import SinkHalted
from collector.log import get_logger
from collector.settings.addresses import told
from collector.settings.options import SinkSettings, refuse_clear_text

log = get_logger()
DEADLINES = Deadlines()  # of all sinks, so that a process has one thread for them
MAX_ANSWER_BYTES = 1_000_000
CHECK_SIGNER = "Requests to this sink are signed: docs/sinks.md says where the keys are looked up."
SLOWEST_UPLOAD = 10_000  # bytes a second; a larger body gets that much more time


class Transport:
    """The client through which every sink's requests go. Used by several threads at once.

    `renewed` gives the credentials as their files have them now; without it, they stay as they are. `sign` is asked for
    further headers once the rest of a request is ready.
    """

    def __init__(
        self,
        settings: SinkSettings,
        url: str,
        credentials: Credentials | None = None,
        transport: httpx.BaseTransport | None = None,
        *,
        deadline: float | None = None,
        renewed: Callable[[], Credentials | None] | None = None,
        sign: Signer | None = None,
    ) -> None:
        refuse_clear_text(url, is_allowed=settings.allow_http)
        self.address = told(url)
        self.deadline = deadline or settings.connect_timeout + 3 * settings.timeout
        self._url = url.partition("#")[0]
        self._timeout, self._connect_timeout = settings.timeout, settings.connect_timeout
        self._encoding = settings.compression
        self._compress = COMPRESSIONS.get(settings.compression)
        self._settings = settings
        self._sign = sign
        self._clients = Clients(settings, url, credentials, transport, renewed)
        self._proxy = self._clients.proxy
        self._is_closed = False
        self._idle = deque([self._connected()])  # here, so that a mistake shows at the start

    def post(self, request: Request) -> tuple[Answer | Retry | Halt, int]:
        """Sends one request; returns the answer (or what its absence means) and the bytes that went out."""
        body, headers = request.body, dict(request.headers)
        if body and self._compress is not None:
            body = self._compress(body)
            headers["Content-Encoding"] = self._encoding
            if request.names_encoding:
                request = request._replace(path=request.path + ENDINGS[self._encoding])
        url = _with_target(self._url, request)
        if self._sign is not None:
            try:
                headers |= self._sign(request.method, url, headers, body)
            except SinkHalted as error:
                return Halt(str(error), CHECK_SIGNER), 0
        seconds = self.deadline + len(body) / SLOWEST_UPLOAD
        exchange = self._take()
        try:
            with DEADLINES.within(seconds, exchange.break_off):
                answer = exchange.send(request.method, url, body, headers)
            return answer, len(body)
        except httpx.ConnectTimeout:
            behind = f"; {self._proxy}" if self._proxy else ""
            return Retry(f"no connection within {self._connect_timeout:g} seconds{behind}"), 0
        except httpx.TimeoutException as error:
            has_seen_it = isinstance(error, httpx.ReadTimeout)
            return Retry(f"no answer within {self._timeout:g} seconds", may_be_poison=has_seen_it), 0
        except httpx.HTTPError as error:
            if exchange.is_overdue:
                # Without the extra seconds for the body: the same reason is logged only once if it reads the same.
                return Retry(f"the answer was not complete within {self.deadline:g} seconds"), 0
            return failure(error, self._settings, self._proxy), 0
        except (httpx.InvalidURL, ValueError) as error:
            return Halt(f"the URL cannot be used ({error})", "Check sink.url."), 0
        except (OSError, RuntimeError) as error:
            return Retry(f"{type(error).__name__}: {error}"), 0
        finally:
            if exchange.is_overdue or exchange.has_more:  # shut down, or it has an answer to nothing in it
                exchange.client.close()
            else:
                # Put back before asking: if the transport is closed in between, one of the two closes this connection.
                self._idle.append(exchange)
                if self._is_closed:
                    self.close()

    @property
    def has_credentials(self) -> bool:
        """Whether requests say who is sending."""
        return self._clients.has_credentials or self._sign is not None

    def without_secrets(self, text: str) -> str:
        """The text without this transport's secrets: a server may well repeat them."""
        for secret in self._clients.secrets:
            text = text.replace(secret, "********")
        return text

    def _take(self) -> Exchange:
        """The connection that was used last, or a new one if all are in use. One whose token or certificate has been
        replaced is closed instead: it may have been in flight then."""
        if self._clients.renew():
            self._close_idle()
        with contextlib.suppress(IndexError):
            while True:
                exchange = self._idle.pop()
                if exchange.generation == self._clients.generation:
                    return exchange
                exchange.client.close()
        return self._connected()

    def _connected(self) -> Exchange:
        # The generation first: if something is renewed in between, the new client merely counts as an old one.
        generation = self._clients.generation
        return Exchange(self._clients.new(), generation, self.address)

    def close(self) -> None:
        """Closes the connections that are not in use; each of the others is closed when its request ends."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().client.close()


class Exchange:
    """A client with one connection, so that a deadline cuts off this exchange and no other."""

    def __init__(self, client: httpx.Client, generation: int = 0, address: str = "") -> None:
        self.client = client
        self.generation = generation
        self.is_overdue = False
        self.has_more = False
        self._address = address
        self._stream: Any = None
        self._headers = [(name.decode(), value.decode()) for name, value in client.headers.raw]
        self._extensions = {"trace": self._trace, "timeout": client.timeout.as_dict()}

    def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """One request and its answer."""
        # Built here rather than by the client, which would merge URLs and headers anew for every request: 0.2 ms.
        named = {name.lower() for name in headers}
        mine = [(name, value) for name, value in self._headers if name.lower() not in named]
        request = httpx.Request(
            method,
            _parsed(url),
            headers=[*mine, *headers.items()],
            cookies=self.client.cookies,
            content=body,
            extensions=self._extensions,
        )
        response = self.client.send(request, stream=True)
        try:
            parts: list[bytes] = []
            size = 0
            stream: Any = response.stream  # as it is on the wire: httpx would unpack it without a limit
            for part in stream:
                parts.append(part)
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    break
            encoding = response.headers.get("content-encoding", "")
            said = unpacked(sent := b"".join(parts), encoding, MAX_ANSWER_BYTES + 1)
            if said is None:
                say_unread(self._address)
                said = sent  # not nothing, which some engines say when all is well
            is_cut = max(size, len(said)) > MAX_ANSWER_BYTES
            return Answer(response.status_code, response.headers, said, is_cut)
        finally:
            response.close()
            self.has_more = has_unread(self.client, request.url)
            if self.has_more:
                say_more(self._address)
            # httpx ties an answer to its stream and back, and the body that was sent hangs on that knot. It would stay
            # until the garbage collector runs: 60 MB in a scan of 400 MB.
            response.stream = httpx.ByteStream(b"")

    def _trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Hears of every step of an exchange from httpx; those that open a connection give its stream."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._stream = details["return_value"]
        elif event.endswith("connect_tcp.started"):
            _find(details["host"], details["port"], details["timeout"])

    def break_off(self) -> None:
        """Ends a read or write that is under way in the other thread, which closing the socket would not."""
        self.is_overdue = True
        opened = self._stream.get_extra_info("socket") if self._stream is not None else None
        if isinstance(opened, socket.socket):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)


def _find(host: str, port: int, seconds: float) -> None:
    """Has a name looked up in time, before httpx does so without a limit."""
    try:
        addresses_of(host, port, seconds)
    except OSError as error:
        raise httpx.ConnectError(str(error)) from error


@lru_cache(100)
def say_unread(address: str) -> None:
    """Says, once, that only the status of this sink's answers counts."""
    log.warning(
        "the sink encodes its answers in a way that cannot be read here, so events they reject go unnoticed",
        sink=address,
    )


@lru_cache(100)
def say_more(address: str) -> None:
    """Says, once, that this sink says more than it is asked."""
    log.warning(
        "the sink sent more than one answer, so its connection is closed: the rest could pass for the next answer",
        sink=address,
    )


@lru_cache(8)
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _with_target(url: str, request: Request) -> str:
    """The URL with the path and query that the sink adds. What a person wrote in it is not encoded again."""
    if not request.path and not request.query:
        return url
    place, _, query = url.partition("?")
    path = place.rstrip("/") + request.path if request.path else place
    queries = [part for part in (query, urlencode(request.query)) if part]
    return "?".join([path, "&".join(queries)]) if queries else path
