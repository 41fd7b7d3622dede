"""The marker that stands where a secret stood: the same for equal values, useless without the key."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import re
from urllib.parse import unquote

MARKER = re.compile(r"\[REDACTED:[a-z0-9][a-z0-9_.-]{0,63}:[0-9a-f]{12}\]")
MARKER_BYTES = re.compile(MARKER.pattern.encode())
OPENING = b"[REDACTED:"


def marker(rule: str, value: str, key: bytes) -> str:
    """`[REDACTED:<rule>:<12 hex>]`, keyed so that nobody can guess values from markers."""
    digest = hmac.new(key, _plain(value).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"[REDACTED:{rule}:{digest[:12]}]"


def _plain(value: str) -> str:
    """The value without the escapes of JSON and of URLs: a copy that is found by itself may have more of them."""
    for _ in range(4):
        with contextlib.suppress(ValueError):
            value = json.loads(f'"{value}"', strict=False) if "\\" in value else value
        value = unquote(value) if "%" in value else value
    return value


def marker_length(rule: str) -> int:
    """How long the markers of a rule are."""
    return len(OPENING) + len(rule) + 14
