"""What is never a secret: ids, hashes and uuids, if both their place and their shape say so."""

from __future__ import annotations

from typing import Any

from collector.redact.lazy import regex

_keys = regex(
    r"(?i)(?:^|_|[a-z])(?:id|ids|uuid|uuids|sha|sha1|sha256|sha512|md5|hash|shapehash|digest|checksum|integrity|commit|revision"
    r"|head|digests|tail|sum|fingerprint|etag|requestref|slug|path|file_session_id|session)$"
)
_shapes = regex(
    r"(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{7,128}|a[0-9a-f]{6,16}|\d{1,20}"
    r"|(?:msg|toolu|req|srvtoolu|mcptoolu|call|chatcmpl|resp|file|container|batch|wrkf|wf|session|agent|task|cse|evt)_[A-Za-z0-9]{6,64}"
    r"|sha(?:1|256|384|512)[-:][A-Za-z0-9+/=]{20,100})"
)


# A journal calls its hashes `key`, so the place alone says nothing: only the full shape does.
_hashed_key = regex(r"v\d{1,3}:[0-9a-f]{64}")


def is_exempt(path: tuple[Any, ...], text: str) -> bool:
    """Whether a text is an id, a hash or a uuid, and stands where one belongs."""
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if name == "key":
        return bool(_hashed_key.fullmatch(text))
    return len(text) <= 140 and bool(_keys.search(name)) and bool(_shapes.fullmatch(text))
