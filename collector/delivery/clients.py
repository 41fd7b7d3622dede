"""Clients: makes the HTTP clients of one sink, with the token and certificates that its files hold at the moment.

In: the sink's settings and its credentials. Out: httpx clients that carry them. Invariant: a replaced token or
certificate takes effect with the next request, without a restart. One that cannot be used leaves the old one in force,
because it may be half written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import httpx

from collector import __version__
from collector.delivery.credentials import Credentials, proof_files, stamps_of
from collector.delivery.trust import NO_TRUST, trust_of, trust_of_proxy
from collector.errors import ConfigurationError
from collector.log import get_logger
from collector.settings.addresses import tokens_in
from collector.settings.options import SinkSettings, is_loopback
from collector.settings.proxies import Proxy, proxy_of

log = get_logger()
SHORTEST_IN_QUERY = 8  # characters: a shorter value, as in `v=1`, is not a key


class Clients:
    """Used by several threads at once. `generation` grows with every renewal; older clients are not used again."""

    def __init__(
        self,
        settings: SinkSettings,
        url: str,
        credentials: Credentials | None,
        transport: httpx.BaseTransport | None,
        renewed: Callable[[], Credentials | None] | None,
    ) -> None:
        self.generation = 0
        self.has_credentials = False
        self._settings, self._url, self._transport, self._renewed = settings, url, transport, renewed
        # http:// is allowed to loopback because nothing leaves this machine; a proxy would carry it elsewhere.
        self.proxy = proxy_of(url) if transport is None and not is_loopback(url) else None
        self._secrets: set[str] = set()
        self._lock = threading.Lock()
        self._files = [] if renewed is None else proof_files(settings)
        # Before anything is read, so that a file that is replaced in between counts as changed.
        self._seen = self._tried = self._stamps()
        self._new = self._maker(credentials)

    @property
    def secrets(self) -> list[str]:
        """Everything that must not be repeated, longest first, because one may contain another. Replaced secrets are
        included: they may still be in an answer."""
        return sorted(self._secrets, key=len, reverse=True)

    def new(self) -> httpx.Client:
        """A client with one connection."""
        try:
            return self._new()
        except (ValueError, ImportError, httpx.InvalidURL) as error:  # their texts may quote the proxy's password
            if self.proxy is None:
                raise
            why = ": SOCKS needs the socksio package" if isinstance(error, ImportError) else ""
            raise ConfigurationError(
                f"The proxy named by {self.proxy.named_by} cannot be used{why}. Nothing was sent. "
                "Write it as http://host:port, or name the sink's host in no_proxy."
            ) from None

    def renew(self) -> bool:
        """Takes over replaced files; returns whether there were any. Costs a stat per file."""
        if self._renewed is None or self._stamps() == self._seen:
            return False
        with self._lock:
            stamps = self._stamps()
            if stamps == self._seen:  # another thread was first
                return False
            try:
                self._new = self._maker(self._renewed())
            except ConfigurationError as error:
                if stamps != self._tried:
                    log.warning("token or certificate not applied, keeping the old one", reason=str(error))
                self._tried = stamps
                return False
            self._seen = self._tried = stamps
            self.generation += 1
        log.info("token or certificate changed, using the new one")
        return True

    def _stamps(self) -> list[tuple[int, ...]]:
        return stamps_of(self._files)

    def _trusted(self, proxy: Proxy) -> httpx.Proxy | str:
        """A proxy that speaks TLS itself is one more server to verify, and httpx would not apply sink.ca_file to it."""
        if not proxy.url.lower().startswith("https://"):
            return proxy.url
        return httpx.Proxy(proxy.url, ssl_context=trust_of_proxy(self._settings))

    def _maker(self, credentials: Credentials | None) -> Callable[[], httpx.Client]:
        settings = self._settings
        headers = {
            "User-Agent": f"collector/{__version__}",
            "Accept": "application/json, */*;q=0.1",
            "Accept-Encoding": "identity",  # not every encoding can be read here
            **settings.headers,
        }
        if credentials:
            mine = credentials.header.lower()  # given two headers with the same name, a receiver may take either
            headers = {name: value for name, value in headers.items() if name.lower() != mine}
            headers[credentials.header] = credentials.value
        is_encrypted = self._transport is None and httpx.URL(self._url).scheme == "https"
        trust = trust_of(settings) if is_encrypted else NO_TRUST
        proxy = None if self.proxy is None else self._trusted(self.proxy)
        in_url = _secrets_in(self._url)
        # Nobody should put a secret in a header, but `config show` masks these, so what a sink says is masked as well.
        told = {value for value in settings.headers.values() if len(value) >= SHORTEST_IN_QUERY}
        self._secrets |= {*in_url, *told, *(credentials.secrets if credentials else ())}
        named = {name.lower() for name in settings.headers}
        self.has_credentials = bool(credentials or in_url or "authorization" in named)

        def client() -> httpx.Client:
            return httpx.Client(
                headers=headers,
                timeout=httpx.Timeout(settings.timeout, connect=settings.connect_timeout),
                verify=trust,
                # httpx would also read no_proxy, and raise for `[::1]` and `fe80::/10`, which other programs accept.
                trust_env=False,
                proxy=proxy,
                follow_redirects=False,
                limits=httpx.Limits(max_connections=1, keepalive_expiry=30),
                transport=self._transport,
            )

        return client


def _secrets_in(url: str) -> list[str]:
    """The secrets that a URL may hold: in its query, only values as short as in `v=1` count as harmless."""
    queried = [value for _, value in httpx.URL(url).params.multi_items() if len(value) >= SHORTEST_IN_QUERY]
    return [*queried, *tokens_in(url)]
