"""One POST: credentials, compression, TLS, proxies, deadlines, and what a transport failure means.

In: a request from any sink, and the settings that all sinks share. Out: an answer, or the verdict that a failure
amounts to. No retries here. Whether to encrypt and whether to use a proxy depends on the URL, whatever the sink.
Invariant: one deadline bounds a whole exchange, because httpx's time-outs start again with every byte that dribbles in.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx

from collector import __version__
from collector.delivery.compression import COMPRESSIONS
from collector.delivery.credentials import Credentials
from collector.delivery.sink import Answer, Halt, Request, Retry
from collector.errors import ConfigurationError
from collector.settings.options import SinkSettings, is_loopback, refuse_clear_text

MAX_ANSWER_BYTES = 1_000_000
SHORTEST_IN_QUERY = 8  # characters that a key has at least; `v=1` is not one
SLOWEST_UPLOAD = 10_000  # bytes a second; a larger body gets that much more time
# Trusts nobody; for URLs where nothing is encrypted. httpx would load every root certificate: 1 to 3 MB a connection.
NO_TRUST = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CHECK_CERTIFICATE = "Check the sink's certificate and sink.ca_file."
CHECK_PROXY = "Check the proxy in the environment (https_proxy, http_proxy), its credentials and what it allows."


class Transport:
    """The client through which every sink's requests go. Used by several threads at once."""

    def __init__(
        self,
        settings: SinkSettings,
        url: str,
        credentials: Credentials | None = None,
        transport: httpx.BaseTransport | None = None,
        *,
        deadline: float | None = None,
    ) -> None:
        refuse_clear_text(url, is_allowed=settings.allow_http)
        self.address = url.partition("?")[0]  # for messages: a query may hold a token
        self.deadline = deadline or settings.connect_timeout + 3 * settings.timeout
        self._url = url.partition("#")[0]
        self._timeout, self._connect_timeout = settings.timeout, settings.connect_timeout
        self._encoding = settings.compression
        self._compress = COMPRESSIONS.get(settings.compression)
        self._secrets = _secrets(url, credentials)
        headers = {
            "User-Agent": f"collector/{__version__}",
            "Accept": "application/json, */*;q=0.1",
            # An encoded answer is not read (see `Exchange.post`), so the events it rejects would be missed.
            "Accept-Encoding": "identity",
            **settings.headers,
        }
        if credentials:
            mine = credentials.header.lower()  # of two headers with one name, a receiver may take either
            headers = {name: value for name, value in headers.items() if name.lower() != mine}
            headers[credentials.header] = credentials.value
        # http:// is allowed to loopback because nothing leaves this machine; a proxy would carry it elsewhere.
        may_use_proxy = not is_loopback(url)
        trust = _trust(settings) if transport is None and httpx.URL(url).scheme == "https" else NO_TRUST

        def client() -> httpx.Client:
            return httpx.Client(
                headers=headers,
                timeout=httpx.Timeout(settings.timeout, connect=settings.connect_timeout),
                verify=trust,
                trust_env=may_use_proxy,
                follow_redirects=False,
                limits=httpx.Limits(max_connections=1, keepalive_expiry=30),
                transport=transport,
            )

        self._new_client = client
        try:
            self._is_closed = False
            self._idle = deque([Exchange(client())])  # here, so that a mistake shows at the start
        except (ValueError, ImportError, httpx.InvalidURL) as error:  # their texts may quote the proxy's password
            why = ": SOCKS needs the package socksio" if isinstance(error, ImportError) else ""
            raise ConfigurationError(
                f"A proxy variable in the environment cannot be used{why}. Nothing was sent. Write https_proxy, "
                "http_proxy and all_proxy as http://host:port, and no_proxy as names with commas between them."
            ) from None

    def post(self, request: Request) -> tuple[Answer | Retry | Halt, int]:
        """Sends one request; returns the answer (or what its absence means) and the bytes that went out."""
        body, headers = request.body, dict(request.headers)
        if self._compress is not None:
            body = self._compress(body)
            headers["Content-Encoding"] = self._encoding
        url = _with_target(self._url, request)
        seconds = self.deadline + len(body) / SLOWEST_UPLOAD
        exchange = self._take()
        try:
            with exchange.within(seconds):
                answer = exchange.post(url, body, headers)
            return answer, len(body)
        except httpx.ConnectTimeout:
            through = exchange.proxy_of(url)
            return Retry(f"no connection{through and ' to ' + through} within {self._connect_timeout:g} seconds"), 0
        except httpx.ConnectError as error:
            through, failed = exchange.proxy_of(url), _failure(error)
            is_unreachable = through and isinstance(failed, Retry)  # else it was reached, and TLS failed beyond it
            return (Retry(f"{through} cannot be reached ({error})"[:200]) if is_unreachable else failed), 0
        except httpx.TimeoutException as error:
            has_seen_it = isinstance(error, httpx.ReadTimeout)
            return Retry(f"no answer within {self._timeout:g} seconds", may_be_poison=has_seen_it), 0
        except httpx.HTTPError as error:
            if exchange.is_overdue:
                # Without the extra seconds for the body: the same reason is logged only once if it reads the same.
                return Retry(f"the answer was not complete within {self.deadline:g} seconds"), 0
            return _failure(error), 0
        except (httpx.InvalidURL, ValueError) as error:
            return Halt(f"the URL cannot be used ({error})", "Check sink.url."), 0
        except (OSError, RuntimeError) as error:
            return Retry(f"{type(error).__name__}: {error}"[:200]), 0
        finally:
            if exchange.is_overdue:  # its connection has been shut down
                exchange.client.close()
            else:
                # Put back before asking: if the transport is closed in between, one of the two closes this connection.
                self._idle.append(exchange)
                if self._is_closed:
                    self.close()

    def without_secrets(self, text: str) -> str:
        """The text without this transport's secrets: a server may well repeat them."""
        for secret in self._secrets:
            text = text.replace(secret, "********")
        return text

    def _take(self) -> Exchange:
        """The connection that was used last, or a new one if all are in use."""
        try:
            return self._idle.pop()
        except IndexError:
            return Exchange(self._new_client())

    def close(self) -> None:
        """Closes the connections that are not in use; each of the others is closed when its request ends."""
        self._is_closed = True
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().client.close()


class Exchange:
    """A client with one connection, so that a deadline cuts off this exchange and no other."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.is_overdue = False
        self._stream: Any = None
        self._towards = ("", 0)

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Cuts the connection if the body of the `with` takes longer. The timer costs 0.1 ms a request."""
        timer = threading.Timer(seconds, self._break_off)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """One request and its answer."""
        extensions = {"trace": self._trace}
        with self.client.stream("POST", url, content=body, headers=dict(headers), extensions=extensions) as response:
            parts: list[bytes] = []
            size = 0
            # An encoded answer was not asked for and is not decoded: its status is enough, and it may be a zip bomb.
            is_plain = response.headers.get("content-encoding", "identity") == "identity"
            for part in response.iter_bytes() if is_plain else ():
                parts.append(part)
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    break
            return Answer(response.status_code, response.headers, b"".join(parts), size > MAX_ANSWER_BYTES)

    def _trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Hears of every step of an exchange from httpx; those that open a connection give its stream."""
        if event.endswith("connect_tcp.started"):
            self._towards = (str(details["host"]), int(details["port"]))
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._stream = details["return_value"]

    def proxy_of(self, url: str) -> str:
        """The proxy that the last connection was to go through, in words; empty where there was none."""
        parts = httpx.URL(url)
        host, port = self._towards
        is_direct = host in {"", parts.host, parts.raw_host.decode()}
        return "" if is_direct else f"the proxy {host}:{port} from the environment"

    def _break_off(self) -> None:
        """Ends a read or write that is under way in the other thread, which closing the socket would not."""
        self.is_overdue = True
        opened = self._stream.get_extra_info("socket") if self._stream is not None else None
        if isinstance(opened, socket.socket):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)


def _with_target(url: str, request: Request) -> str:
    """The URL with the path and query that the sink adds. What a person wrote in it is not encoded again."""
    if not request.path and not request.query:
        return url
    place, _, query = url.partition("?")
    path = place.rstrip("/") + request.path if request.path else place
    queries = [part for part in (query, urlencode(request.query)) if part]
    return "?".join([path, "&".join(queries)]) if queries else path


def _secrets(url: str, credentials: Credentials | None) -> list[str]:
    """What must not be repeated. The longest come first, because one may contain another. Of a query, only values as
    short as in `v=1` count as harmless.
    """
    queried = [value for _, value in httpx.URL(url).params.multi_items() if len(value) >= SHORTEST_IN_QUERY]
    return sorted({*queried, *(credentials.secrets if credentials else ())}, key=len, reverse=True)


def _trust(settings: SinkSettings) -> ssl.SSLContext:
    """The system's trust store, or sink.ca_file instead of it; with the client certificate, if there is one."""
    try:
        if settings.ca_file is None and sys.platform == "darwin":
            import truststore

            context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            context = ssl.create_default_context(cafile=str(settings.ca_file) if settings.ca_file else None)
        if settings.client_cert is not None:
            key = str(settings.client_key) if settings.client_key else None
            context.load_cert_chain(str(settings.client_cert), key, password=_no_passphrase)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise ConfigurationError(
            f"The certificates of the sink cannot be used: {error}. "
            "sink.ca_file, sink.client_cert and sink.client_key must be unencrypted PEM files."
        ) from None
    return context


def _no_passphrase() -> str:
    raise ValueError("the private key is encrypted")


def _failure(error: httpx.HTTPError) -> Retry | Halt:
    """What a failed exchange means: a bad certificate, proxy or URL needs a person, anything else may pass."""
    reason = f"{type(error).__name__}: {error}"[:200]
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Halt(f"the certificate was not accepted ({cause.verify_message})", CHECK_CERTIFICATE)
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return Halt(f"TLS failed ({cause.reason or cause})", CHECK_CERTIFICATE)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        refusal = f"the proxy refused ({error})"[:200]
        return Halt(refusal, CHECK_PROXY) if str(error)[:1] == "4" else Retry(refusal)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):  # the text may quote a header's value
        return Halt(f"the request cannot be made ({type(error).__name__})", "Check sink.url and sink.headers.")
    # A server, or a filter in front of it, may hang up because of what it was sent.
    has_hung_up = isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)
    return Retry(reason, may_be_poison=has_hung_up)
