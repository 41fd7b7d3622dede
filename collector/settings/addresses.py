"""Addresses as they are shown, logged and kept: without the parts that may be secret.

In: a URL. Out: the same without credentials and query, and with a short hash in place of each part of its path that
looks like a token: some receivers identify the sender by nothing else. Text without `//` is a name, and is unchanged.
Also: a path, as text that fits into JSON.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote

SHORTEST_TOKEN = 20
_may_be_one = re.compile(r"[\w~+=%-]+")
_long_or_uuid = re.compile(r"[A-Za-z0-9]{16}|(?:[0-9a-fA-F]{4,12}-){4}")


def told(url: str) -> str:
    """A URL that is safe to show."""
    scheme, slashes, rest = url.partition("?")[0].partition("//")
    if not slashes:
        return url
    host, *parts = rest.split("/")
    return "/".join([f"{scheme}//{host.rpartition('@')[2]}", *map(_part, parts)])


def in_utf_8(path: Path | str) -> str:
    """A path as text that can be shown and kept as JSON: a byte that is not UTF-8 becomes \\xe9 or the like."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def tokens_in(url: str) -> list[str]:
    """The parts of a URL's path that look like tokens, as written there and as a server may repeat them."""
    parts = url.partition("?")[0].partition("//")[2].split("/")[1:]
    return [form for part in parts if _is_token(part) for form in dict.fromkeys((part, unquote(part)))]


def _part(part: str) -> str:
    return f"secret-{blake2b(part.encode(), digest_size=4).hexdigest()}" if _is_token(part) else part


def _is_token(part: str) -> bool:
    if len(part) < SHORTEST_TOKEN or not _may_be_one.fullmatch(part):
        return False
    has_digit, has_upper, has_lower = (any(map(each, part)) for each in (str.isdigit, str.isupper, str.islower))
    is_drawn = has_digit and (has_upper or has_lower)
    return is_drawn and ((has_upper and has_lower) or _long_or_uuid.search(part) is not None)
