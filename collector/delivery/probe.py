"""Probe: checks the way to a sink below HTTP: its name, a connection, its certificate.

In: a URL and the sink's settings. Out: what was found, or the OSError that the attempt failed with. Invariant: only
handshakes are sent: no request, no token, no event.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx

from collector.delivery.trust import trust_of
from collector.settings.options import SinkSettings

PORTS = {"http": 80, "https": 443}


class Place(NamedTuple):
    """Where a URL leads."""

    host: str
    port: int
    is_encrypted: bool


class Certificate(NamedTuple):
    """The result of a handshake: the TLS version, who issued the certificate, and when it ends (seconds since 1970).

    If the system's own verifier says nothing but yes, as on macOS, the issuer is empty and the end is None.
    """

    version: str
    issuer: str
    ends: float | None


def place_of(url: str) -> Place:
    """Where requests to this URL go. Raises httpx.InvalidURL."""
    parts = httpx.URL(url)
    return Place(parts.host, parts.port or PORTS.get(parts.scheme, 443), parts.scheme == "https")


def connect(place: Place, settings: SinkSettings) -> Certificate | None:
    """Connects, does the handshake if the place is encrypted, and closes the connection at once."""
    with socket.create_connection((place.host, place.port), settings.connect_timeout) as plain:
        if not place.is_encrypted:
            return None
        with trust_of(settings).wrap_socket(plain, server_hostname=place.host) as encrypted:
            told: Mapping[str, Any] = encrypted.getpeercert() or {}
            return Certificate(encrypted.version() or "TLS", _issuer(told), _end(told))


def _issuer(told: Mapping[str, Any]) -> str:
    """The authority's name, as people know it."""
    named = {key: value for part in told.get("issuer", ()) for key, value in part}
    return str(named.get("commonName") or named.get("organizationName") or "")


def _end(told: Mapping[str, Any]) -> float | None:
    return float(ssl.cert_time_to_seconds(told["notAfter"])) if "notAfter" in told else None
