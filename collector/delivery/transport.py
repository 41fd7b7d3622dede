"""Sends one request: compression, reused connections, and one deadline for the whole exchange.

In: a request from any sink, and the settings that all sinks share. Out: the answer, or the verdict that a failure
amounts to. No retries here. Encryption and proxies depend on the URL alone, not on the sink.
Invariants: the deadline covers the whole exchange, because httpx's time-outs start again with every byte that dribbles
in. Bytes that a server sends beyond its answer are never taken for the next one, nor a success after half a request for
one after all of it: what the server refused, or never had, would count as acknowledged.
"""

from __future__ import annotations

import contextlib
import re
import socket
import string
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
from collector.delivery.lenient_json import in_utf_8
from collector.delivery.names import addresses_of
from collector.delivery.sink import Answer, Halt, Request, Retry, Signer
from collector.delivery.unread import has_unread
from collector.errors import SinkHalted
from collector.log import warn_once
from collector.settings.addresses import told
from collector.settings.options import SinkSettings, refuse_clear_text

DEADLINES = Deadlines()  # shared by all sinks, so that a process has only one thread for them
MAX_ANSWER_BYTES = 1_000_000
UNREAD = "the sink encodes its answers in a way that cannot be read here, so events they reject go unnoticed"
SAYS_MORE = "the sink sent more than one answer, so its connection is closed: the rest could pass for the next answer"
CHECK_SIGNER = "Requests to this sink are signed: docs/sinks.md says where the keys are looked up."
MOST_COOKIES = 20  # a load balancer needs one; a firewall may set another with every answer, and refuse them all later
SLOWEST_UPLOAD = 10_000  # bytes a second: the deadline is extended by the time the body takes at this rate


class Transport:
    """Sends all requests to one sink. Used by several threads at once.

    `renewed` reads the credentials from their files again; without it, they never change. `sign` is called for
    additional headers once the rest of a request is ready.
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
        self._compress = COMPRESSIONS.get(settings.compression)
        self._settings = settings
        self._sign = sign
        self._clients = Clients(settings, url, credentials, transport, renewed)
        self._proxy = self._clients.proxy
        self._behind = f"; {self._proxy}" if self._proxy else ""
        self._is_closed = False
        self._idle = deque([self._connected()])  # made here, so that a mistake shows at the start

    def post(self, request: Request) -> tuple[Answer | Retry | Halt, int]:
        """Sends one request; returns the answer (or what its absence means) and the bytes that went out."""
        body, headers = request.body, dict(request.headers)
        if body and self._compress is not None:
            body = self._compress(body)
            headers["Content-Encoding"] = self._settings.compression
            if request.names_encoding:
                request = request._replace(path=request.path + ENDINGS[self._settings.compression])
        url = _with_target(self._url, request)
        if self._sign is not None:
            try:
                headers |= self._sign(request.method, str(_parsed(url)), headers, body)  # as it goes out
            except SinkHalted as error:
                return Halt(str(error), CHECK_SIGNER), 0
        seconds = self.deadline + len(body) / SLOWEST_UPLOAD
        exchange = self._take()
        try:
            with DEADLINES.within(seconds, exchange.break_off):
                answer = exchange.send(request.method, url, body, headers)
            return answer, len(body)
        except httpx.ConnectTimeout:
            return Retry(f"no connection within {self._settings.connect_timeout:g} seconds{self._behind}"), 0
        except httpx.TimeoutException as error:
            has_seen_it = isinstance(error, httpx.ReadTimeout)
            reason = f"no answer within {self._settings.timeout:g} seconds{self._behind}"
            return Retry(reason, may_be_poison=has_seen_it), 0
        except httpx.HTTPError as error:
            if exchange.is_overdue:
                # Leaves out the extra seconds for the body: a reason is logged only once if its text stays the same.
                return Retry(f"the answer was not complete within {self.deadline:g} seconds{self._behind}"), 0
            return failure(error, self._settings, self._proxy), 0
        except (httpx.InvalidURL, ValueError) as error:
            return Halt(f"the URL cannot be used ({error})", "Check sink.url."), 0
        except (OSError, RuntimeError) as error:
            return Retry(f"{type(error).__name__}: {error}"), 0
        finally:
            if exchange.is_overdue or exchange.has_more:  # shut down, or holding bytes that answer nothing
                exchange.client.close()
            else:
                # Put it back before checking: if the transport is closed in between, one of the two closes it.
                self._idle.append(exchange)
                if self._is_closed:
                    self.close()

    @property
    def has_credentials(self) -> bool:
        """Whether requests identify the sender."""
        return self._clients.has_credentials or self._sign is not None

    def without_secrets(self, text: str) -> str:
        """The text with this transport's secrets masked: a server may echo them."""
        for secret in self._clients.secrets:
            text = _written(secret).sub("********", text)
        return text

    def _take(self) -> Exchange:
        """The connection that was used last, or a new one if all are in use. One that was in flight when its token or
        certificate was replaced is closed instead."""
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
        # Read the generation first: if something is renewed in between, the new client merely counts as old.
        generation = self._clients.generation
        return Exchange(self._clients.new(), generation, self.address)

    def close(self) -> None:
        """Closes idle connections; one that is in use is closed when its request ends."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().client.close()


class Exchange:
    """A client with one connection, so that a deadline cuts off this exchange and no other."""

    def __init__(self, client: httpx.Client, generation: int, address: str) -> None:
        self.client = client
        self.generation = generation
        self.is_overdue = False
        self.has_more = False
        self._address = address
        self._stream: Any = None
        self._is_half_sent = False
        self._headers = [(name.decode(), value.decode()) for name, value in client.headers.raw]
        self._extensions = {"trace": self._trace, "timeout": client.timeout.as_dict()}

    def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Sends one request and returns its answer."""
        self._is_half_sent = False
        if len(self.client.cookies) > MOST_COOKIES:
            self.client.cookies.clear()
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
            if self._is_half_sent and response.is_success:  # httpx passes on any answer, for the sake of a 413
                raise httpx.WriteError(f"it answered HTTP {response.status_code} before it had the whole request")
            parts: list[bytes] = []
            size = 0
            stream: Any = response.stream  # raw, as on the wire: httpx would decompress it without a limit
            for part in stream:
                parts.append(part)
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    break
            encoding = response.headers.get("content-encoding", "")
            said = unpacked(sent := b"".join(parts), encoding, MAX_ANSWER_BYTES + 1)
            if said is None:
                warn_once(UNREAD, sink=self._address)
                said = sent  # not an empty body, by which some engines mean success
            is_cut = max(size, len(said)) > MAX_ANSWER_BYTES
            return Answer(response.status_code, response.headers, in_utf_8(said), is_cut)
        finally:
            response.close()
            self.has_more = has_unread(self.client, request.url)
            if self.has_more:
                warn_once(SAYS_MORE, sink=self._address)
            # httpx makes a response and its stream refer to each other, and they keep the request's body alive until
            # the garbage collector runs: 60 MB in a scan of 400 MB.
            response.stream = httpx.ByteStream(b"")

    def _trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Called by httpx at every step of an exchange; the steps that open a connection provide its stream."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._stream = details["return_value"]
        elif event.endswith(".failed") and ".send_request" in event:
            self._is_half_sent = True
        elif event.endswith("connect_tcp.started"):
            _find(details["host"], details["port"], details["timeout"])

    def break_off(self) -> None:
        """Ends a read or write that is under way in another thread, which closing the socket would not do."""
        self.is_overdue = True
        opened = self._stream.get_extra_info("socket") if self._stream is not None else None
        if isinstance(opened, socket.socket):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)


def _find(host: str, port: int, seconds: float) -> None:
    """Looks up a name within a time limit, before httpx does it without one."""
    try:
        addresses_of(host, port, seconds)
    except OSError as error:
        raise httpx.ConnectError(str(error)) from error


@lru_cache(100)
def _written(secret: str) -> re.Pattern[str]:
    """Finds a secret as it is, or as JSON may write it, such as `\\/` or `\\u002f`, even within a string."""
    plain = frozenset(string.ascii_letters + string.digits)
    return re.compile(
        "".join(each if each in plain else rf"\\{{0,4}}(?:{re.escape(each)}|(?i:u{ord(each):04x}))" for each in secret)
    )


@lru_cache(8)
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


def _with_target(url: str, request: Request) -> str:
    """The URL with the path and query that the sink adds. The configured part is not encoded again."""
    if not request.path and not request.query:
        return url
    place, _, query = url.partition("?")
    path = place.rstrip("/") + request.path if request.path else place
    queries = [part for part in (query, urlencode(request.query)) if part]
    return "?".join([path, "&".join(queries)]) if queries else path
