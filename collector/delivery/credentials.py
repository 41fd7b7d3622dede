"""Credentials: the header that tells a sink who is sending.

In: a secret, and sink.auth, which says how to present it. Out: the header, and what must not show up in any message:
the secret itself, and its encoded form if the header holds that. The secret comes from a file (sink.token_file) or from
systemd's credential, never from the configuration.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from collector.delivery.trust import systems_authorities
from collector.errors import ConfigurationError
from collector.settings import token_of, token_places
from collector.settings.options import SinkSettings


class Credentials(NamedTuple):
    """A header, and which parts of it are secret."""

    header: str
    value: str
    secrets: tuple[str, ...]


def bearer(token: str, scheme: str = "Bearer") -> Credentials:
    """What most receivers accept, ours included; some use a word of their own instead of Bearer."""
    return Credentials("Authorization", f"{scheme} {token}", (token,))


def basic(user: str, password: str) -> Credentials:
    """RFC 7617, in UTF-8."""
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Credentials("Authorization", f"Basic {encoded}", (password, encoded))


def proof_files(settings: SinkSettings) -> list[Path]:
    """Every file that proves who is sending or who is receiving. Each may be replaced at any time."""
    trusted = settings.ca_file or (systems_authorities() if settings.is_encrypted else None)
    files = (*token_places(settings), trusted, settings.client_cert, settings.client_key)
    return [path for path in files if path is not None]


def stamps_of(files: Iterable[Path]) -> list[tuple[int, ...]]:
    """Stamps that change when a file is replaced; an empty one for a file that cannot be examined."""
    return list(map(_stamp, files))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def credentials_now(settings: SinkSettings, scheme: str) -> Credentials | None:
    """The credentials, with the secret read from its file now."""
    return credentials(settings, token_of(settings), scheme)


def credentials(settings: SinkSettings, secret: str | None, scheme: str) -> Credentials | None:
    """The credentials that go with every request; None for a sink that does not ask who is sending."""
    if secret is None:
        if settings.auth == "bearer":  # the default: nothing says that this sink wants a secret
            return None
        raise ConfigurationError(
            f"sink.auth is {settings.auth}, but there is no secret. Put it in a file that only this user can read, "
            "and name that file in sink.token_file."
        )
    match settings.auth:
        case "bearer":
            if " " in secret:
                raise ConfigurationError(
                    f"sink.token_file: a token holds no spaces. Put only the token in the file: {scheme} is added "
                    'to it. To send the file as it is, set sink.auth = "header".'
                )
            return bearer(secret, scheme)
        case "basic":
            return basic(settings.auth_user or "", secret)
        case "header":
            return Credentials(settings.auth_header or "", secret, (secret,))
