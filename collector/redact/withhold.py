"""What is left of an event whose text could not be redacted: metadata whose field and shape both rule out text.

In: such an event. Out: the fields listed below, if their values have the right shape, and how many strings stayed home.
Fail closed (promise 5): an engine error, a time-out or a type that JSON does not have withholds everything else.
"""

from __future__ import annotations

import re
from typing import Any

_ID = re.compile(r"[0-9a-fA-F]{7,64}|[0-9a-fA-F-]{36}|(?:msg|req|toolu|srvtoolu)_[A-Za-z0-9]{6,40}|a[0-9a-f]{6,16}")
_WORD = re.compile(r"[a-z][a-z_]{1,39}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,5}){1,3}")
_MODEL = re.compile(r"(?:claude-[a-z0-9.-]{3,40}|<synthetic>)")
_SCHEMA = re.compile(r"collector\.event/\d{1,3}")

_SHAPES = {
    "id": _ID,
    "schema": _SCHEMA,
    "kind": _WORD,
    "time": _TIME,
    "time_from": _WORD,
    "session_id": _ID,
    "file_session_id": _ID,
    "agent_id": _ID,
    "uuid": _ID,
    "parent_uuid": _ID,
    "prompt_id": _ID,
    "role": _WORD,
    "origin": _WORD,
    "model": _MODEL,
    "message_id": _ID,
    "request_id": _ID,
    "stop_reason": _WORD,
}
_FLAGS = ("sidechain", "priority")


def withheld(event: Any) -> dict[str, Any]:
    """The event without any text."""
    if not isinstance(event, dict):
        return {"redactions": {"withheld": 1}}
    kept: dict[str, Any] = {}
    for field, shape in _SHAPES.items():
        value = event.get(field)
        if isinstance(value, str) and shape.fullmatch(value):
            kept[field] = str(value)
    for field in _FLAGS:
        if type(event.get(field)) in (int, bool):
            kept[field] = event[field]
    client = event.get("client")
    if isinstance(client, dict) and isinstance(client.get("version"), str) and _VERSION.fullmatch(client["version"]):
        kept["client"] = {"name": "claude_code", "version": client["version"]}
    if isinstance(event.get("usage"), dict):
        kept["usage"] = {
            key: value
            for key, value in event["usage"].items()
            if isinstance(key, str)
            and _WORD.fullmatch(key.replace("5m", "").replace("1h", ""))
            and type(value) in (int, float)
        }
    source = event.get("source")
    if isinstance(source, dict):
        kept["source"] = {key: source[key] for key in ("offset", "length") if type(source.get(key)) is int}
    kept["redactions"] = {"withheld": _texts(event) - sum(1 for value in kept.values() if isinstance(value, str))}
    return kept


def _texts(event: dict[str, Any]) -> int:
    """How many strings an event holds; a value of an unknown type counts as one."""
    nodes: list[Any] = [event]
    count = 0
    for node in nodes:
        for value in list(node.values()) if isinstance(node, dict) else node:
            if isinstance(value, dict | list):
                nodes.append(value)
            else:
                count += not isinstance(value, int | float | bool | type(None))
        if len(nodes) > 100_000:
            break
    return count
