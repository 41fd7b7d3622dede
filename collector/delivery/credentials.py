"""Credentials: the header that tells a sink who sends, made of a secret and what sink.auth says of it.

The secret comes from a file (sink.token_file) or from systemd's credential, never from the configuration. What must not
show up in a message is named beside the header: the secret itself, and the header's value where that holds it encoded.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

from collector.errors import ConfigurationError
from collector.settings.options import SinkSettings


class Credentials(NamedTuple):
    """A header, and what of it is secret."""

    header: str
    value: str
    secrets: tuple[str, ...]


def bearer(token: str) -> Credentials:
    """What most receivers take, ours included."""
    return Credentials("Authorization", f"Bearer {token}", (token,))


def basic(user: str, password: str) -> Credentials:
    """RFC 7617, in UTF-8."""
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Credentials("Authorization", f"Basic {encoded}", (password, encoded))


def credentials(settings: SinkSettings, secret: str | None) -> Credentials | None:
    """What goes with every request; None when nobody asks who sends."""
    if secret is None:
        if settings.auth == "bearer":
            return None
        raise ConfigurationError(
            f"sink.auth is {settings.auth}, but there is no secret. Put it into a file that only this user can read, "
            "and name that in sink.token_file."
        )
    match settings.auth:
        case "bearer":
            return bearer(secret)
        case "basic":
            return basic(settings.auth_user or "", secret)
        case "header":
            return Credentials(settings.auth_header or "", secret, (secret,))
