"""Proxies: which one the environment names for requests to a URL.

In: a URL; `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, in upper or lower case. Out: a proxy, or none.
Invariant: entries of `no_proxy` that are not understood are ignored, because they may be meant for other programs and
must not stop the agent.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

_SEPARATORS = re.compile(r"[\s,]+")
_WITH_PORT = re.compile(r"(.*):(\d+)")
USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: where it is named, and its URL, which may hold credentials."""

    named_by: str
    url: str = field(repr=False)

    def __str__(self) -> str:
        scheme, _, rest = self.url.partition("://")
        return f"proxy {scheme}://{rest.rpartition('@')[2].partition('/')[0]} (from {self.named_by})"


def proxy_of(url: str) -> Proxy | None:
    """The proxy for requests to a URL; None if they go straight there."""
    from urllib.request import getproxies  # imported here, because it loads the HTTP modules, which only sending needs

    parts, named = urlsplit(url), getproxies()
    scheme = parts.scheme.lower()
    kind = next((kind for kind in (scheme, "all") if named.get(kind)), "")
    if not kind or _goes_straight((parts.hostname or "").rstrip("."), parts.port or USUAL_PORTS.get(scheme), named):
        return None
    variables = (f"{kind}_proxy", f"{kind}_proxy".upper())
    named_by = next((name for name in variables if os.environ.get(name)), "the system")
    return Proxy(named_by, named[kind] if "://" in named[kind] else f"http://{named[kind]}")


def _goes_straight(host: str, port: int | None, named: dict[str, str]) -> bool:
    entries = _SEPARATORS.split(named.get("no", "").lower())
    return any(entry == "*" or _means(entry.partition("://")[2] or entry, host, port) for entry in entries)


def _means(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of `no_proxy` covers this host: as its name, a domain above it, its address or a network."""
    with suppress(ValueError):
        network = ip_network(entry.strip("[]"), strict=False)
        return _is_address(host) and ip_address(host) in network
    if found := _WITH_PORT.fullmatch(entry):
        entry, its_port = found[1], int(found[2])
        if its_port != port:
            return False
    name = entry.strip("[]").removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(host))
    return False
