"""The id of an event: from what the record says, never from where it stands (promise 3)."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

import orjson

from collector.flow.json_leaves import leaves

MAX_UUID = 128


def identity(record: dict[str, Any]) -> str:
    """32 hex digits from the record's uuid, else from its content."""
    uuid = record.get("uuid")
    if type(uuid) is str and 0 < len(uuid) <= MAX_UUID:
        return blake2b(b"uuid\0" + uuid.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return blake2b(b"record\0" + canonical(record), digest_size=16).hexdigest()


def canonical(record: dict[str, Any]) -> bytes:
    """The same bytes for the same content, whatever the order of its keys."""
    try:
        return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return json.dumps(record, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError):
        # Nested deeper than any serializer goes: its leaves in reading order, with their types.
        return "\0".join(f"{type(leaf).__name__}:{leaf!r}" for leaf in leaves(record)).encode("utf-8", "surrogatepass")
