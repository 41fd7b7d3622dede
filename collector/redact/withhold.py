"""What is left of an event whose text could not be redacted: metadata whose field and shape both rule out text.

In: such an event. Out: the fields listed below, if their values have the right shape, and how many strings stayed home.
Fail closed (promise 5): an engine error, a timeout or a type that JSON does not have withholds everything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from collector.redact.lazy import regex

_HEX = regex(r"[0-9a-fA-F]{7,64}|[0-9a-fA-F-]{36}")
_WORD = regex(r"[a-z][a-z_]{1,39}")
_TIME = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_VERSION = regex(r"\d{1,4}(?:\.\d{1,5}){1,3}")
_SCHEMA = regex(r"collector\.event/\d{1,3}")

# What a field must look like to be kept: a pattern, or the name of one that the agent's format supplies.
_FIELDS: dict[str, re.Pattern[str] | str] = {
    "id": _HEX,
    "schema": _SCHEMA,
    "kind": _WORD,
    "time": _TIME,
    "time_from": _WORD,
    **dict.fromkeys(("session_id", "file_session_id", "agent_id", "uuid", "parent_uuid", "prompt_id"), "id"),
    "role": _WORD,
    "origin": _WORD,
    "model": "model",
    **dict.fromkeys(("message_id", "request_id"), "id"),
    "stop_reason": _WORD,
}
_FLAGS = ("sidechain", "priority")


def withheld(event: Any, shapes: Mapping[str, re.Pattern[str]]) -> dict[str, Any]:
    """The event without any text. `shapes` are the patterns of the agent's ids and models; without them, hex ids are
    kept."""
    if not isinstance(event, dict):
        return {"redactions": {"withheld": 1}}
    kept: dict[str, Any] = {}
    for field, wanted in _FIELDS.items():
        value, shape = event.get(field), shapes.get(wanted, _HEX) if isinstance(wanted, str) else wanted
        if isinstance(value, str) and shape.fullmatch(value):
            kept[field] = str(value)
    for field in _FLAGS:
        if type(event.get(field)) in (int, bool):
            kept[field] = event[field]
    client = event.get("client")
    if isinstance(client, dict):
        known = {"name": _WORD, "version": _VERSION}
        said = {key: client.get(key) for key in known}
        if all(isinstance(value, str) and known[key].fullmatch(value) for key, value in said.items()):
            kept["client"] = said
    usage = event.get("usage")
    if isinstance(usage, dict):
        kept["usage"] = _counts(usage)
        calls = usage.get("iterations")
        if isinstance(calls, list):
            kept["usage"]["iterations"] = [_call(call, shapes) for call in calls if isinstance(call, dict)]
    source = event.get("source")
    if isinstance(source, dict):
        kept["source"] = {key: source[key] for key in ("offset", "length") if type(source.get(key)) is int}
    kept["redactions"] = {"withheld": _texts(event) - sum(1 for value in kept.values() if isinstance(value, str))}
    return kept


def _counts(usage: dict[Any, Any]) -> dict[str, Any]:
    """The numbers in a usage."""
    return {
        key: value
        for key, value in usage.items()
        if isinstance(key, str)
        and _WORD.fullmatch(key.replace("5m", "").replace("1h", ""))
        and type(value) in (int, float)
    }


def _call(call: dict[Any, Any], shapes: Mapping[str, re.Pattern[str]]) -> dict[str, Any]:
    """One call within a usage: what it was, its model, and its numbers."""
    kind, model, models = call.get("type"), call.get("model"), shapes.get("model", _HEX)
    kept = {"type": kind if isinstance(kind, str) and _WORD.fullmatch(kind) else "unknown"}
    if isinstance(model, str) and models.fullmatch(model):
        kept["model"] = model
    return _counts(call) | kept


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
