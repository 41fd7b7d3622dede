"""One POST: compression, the httpx client, deadlines, and what a transport failure means.

In: a request and the settings of the sink. Out: an answer, or the verdict that a failure amounts to. No retries here.
"""

from __future__ import annotations

import ssl
import sys
import time
from collections.abc import Callable, Mapping

import httpx
from isal import igzip

from collector import __version__
from collector.errors import ConfigurationError
from collector.options import SinkSettings
from collector.sinks import Answer, Halt, Request, Retry

MAX_ANSWER_BYTES = 1_000_000
CHECK_CERTIFICATE = "Check the certificate of the sink and sink.ca_file."


class Transport:
    """The client that every sink's requests go through."""

    def __init__(
        self,
        settings: SinkSettings,
        url: str,
        token: str | None,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url
        self.address = url.partition("?")[0]  # for messages: a query may hold a token
        self.timeout = settings.timeout
        self.is_compressed = settings.compression == "gzip"
        self._clock = clock
        headers = {
            "User-Agent": f"collector/{__version__}",
            "Accept": "application/json, */*;q=0.1",
            # An answer in another encoding would not be read, and what it rejects would be missed.
            "Accept-Encoding": "identity",
            **settings.headers,
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(settings.timeout, connect=settings.connect_timeout),
            verify=_trust(settings) if transport is None and url.startswith("https") else True,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=settings.window, keepalive_expiry=30),
            transport=transport,
        )

    def post(self, request: Request, idempotency_key: str) -> tuple[Answer | Retry | Halt, int]:
        """Sends one request; gives the answer (or what its absence means) and the bytes that went out."""
        body = compress(request.body) if self.is_compressed else request.body
        headers = {**request.headers, "Idempotency-Key": idempotency_key}
        if self.is_compressed:
            headers["Content-Encoding"] = "gzip"
        try:
            return self._exchange(body, headers), len(body)
        except httpx.TimeoutException:
            return Retry(f"no answer within {self.timeout:g} seconds"), 0
        except httpx.HTTPError as error:
            return _failure(error), 0
        except httpx.InvalidURL as error:
            return Halt(f"the URL cannot be used ({error})", "Check sink.url."), 0
        except (OSError, RuntimeError) as error:
            return Retry(f"{type(error).__name__}: {error}"[:200]), 0

    def _exchange(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        started = self._clock()
        with self._client.stream("POST", self.url, content=body, headers=dict(headers)) as response:
            parts: list[bytes] = []
            # An encoded answer was not asked for and is not decoded: its status counts, and no bomb can go off here.
            is_plain = response.headers.get("content-encoding", "identity") == "identity"
            for part in response.iter_bytes() if is_plain else ():
                parts.append(part)
                if sum(map(len, parts)) > MAX_ANSWER_BYTES or self._clock() - started > 3 * self.timeout:
                    break
            return Answer(response.status_code, response.headers, b"".join(parts))

    def close(self) -> None:
        """Closes every connection, also those in use."""
        self._client.close()


def compress(body: bytes) -> bytes:
    """gzip by isal: 1.3 CPU s/GB instead of 7.5 with zlib at level 1."""
    return bytes(igzip.compress(body, 1, mtime=0))


def _trust(settings: SinkSettings) -> ssl.SSLContext:
    """The system's trust store, or sink.ca_file instead; with a client certificate where there is one."""
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
    """What a failed exchange means: certificates need a person, everything else may pass."""
    reason = f"{type(error).__name__}: {error}"[:200]
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Halt(f"the certificate was not accepted ({cause.verify_message})", CHECK_CERTIFICATE)
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return Halt(f"TLS failed ({cause.reason or cause})", CHECK_CERTIFICATE)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        return Retry(f"the proxy refused ({error})"[:200])
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return Halt(reason, "Check sink.url and sink.headers.")
    return Retry(reason)
