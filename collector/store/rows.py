"""From an event as it was sent to a row of the store, or to the reason why it is rejected.

In: a line, or a value of a JSON array. Out: a Row, or a Rejected. The sender is trusted to keep to the contract and no
further: whatever has the wrong type is left out of the columns, and the event itself is kept as it was sent.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from collector.flow.event import SCHEMA

NOT_JSON = "not valid JSON"
MAX_LABEL_CHARACTERS = 512
MAX_TOOLS = 1000
LARGEST_COUNT = 2**53

COLUMNS = (
    *("id", "kind", "time", "day", "session_id", "agent_id", "copied_from", "project", "host_id", "host_name", "user"),
    *("root", "origin", "model", "message_id", "request_id", "stop_reason", "quality"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cache_creation_5m_tokens"),
    *("cache_creation_1h_tokens", "thinking_tokens", "web_search_requests", "web_fetch_requests", "tools", "bytes"),
)
USAGE = COLUMNS[COLUMNS.index("input_tokens") : COLUMNS.index("tools")]
NO_USAGE = (None,) * len(USAGE)

_is_id = re.compile(r"[0-9a-f]{32}\Z").match
_is_time = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d").match
_find_id = re.compile(rb'"id"\s*:\s*"([\w-]{1,128})"').search


class Rejected(NamedTuple):
    """An event that is not stored; `id` is what the sender called it, or None where that cannot be found."""

    id: str | None
    reason: str


class Row(NamedTuple):
    """An event as it is stored, `facts` in the order of COLUMNS. Of two with the same id, the higher rank is kept."""

    id: str
    rank: tuple[int, bool]
    facts: tuple[str | int | None, ...]
    body: str


def from_line(line: bytes) -> Row | Rejected:
    """The row of one line of NDJSON."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _find_id(line)
        return Rejected(found.group(1).decode() if found else None, NOT_JSON)
    problem = _problem(event)
    return problem or _row(event, line.strip().decode())


def from_value(event: Any) -> Row | Rejected:
    """The row of one element of a JSON array."""
    problem = _problem(event)
    return problem or _row(event, orjson.dumps(event).decode())


def rank(output_tokens: int | None, copied_from: str | None) -> tuple[int, bool]:
    """Of two rows with the same id, the one with more output is right; if equal, the original and not a fork's copy."""
    return -1 if output_tokens is None else output_tokens, copied_from is None


def _problem(event: Any) -> Rejected | None:
    if not isinstance(event, dict):
        return Rejected(None, "not a JSON object")
    identity = event.get("id")
    if not isinstance(identity, str) or not _is_id(identity):
        return Rejected(_label(identity), "id must be 32 hexadecimal digits")
    if event.get("schema") != SCHEMA:
        return Rejected(identity, f"schema must be {SCHEMA}")
    if not isinstance(event.get("kind"), str) or not event["kind"]:
        return Rejected(identity, "kind must be a text")
    return None


def _row(event: dict[str, Any], body: str) -> Row:
    label, count = _label, _count
    host, usage = _table(event.get("host")), _table(event.get("usage"))
    time = label(event.get("time"))
    copied_from = label(_table(_table(event.get("attributes")).get("forked_from")).get("sessionId"))
    facts = (
        *(event["id"], label(event["kind"]), time, time[:10] if time and _is_time(time) else None),
        *(label(event.get("session_id")), label(event.get("agent_id")), copied_from, label(event.get("project"))),
        *(label(host.get("id")), label(host.get("name")), label(event.get("user")), label(event.get("root"))),
        *(label(event.get("origin")), label(event.get("model")), label(event.get("message_id"))),
        *(label(event.get("request_id")), label(event.get("stop_reason")), _quality(event.get("quality"))),
        *([count(usage.get(name)) for name in USAGE] if usage else NO_USAGE),
        *(_tools(event.get("blocks")), len(body)),
    )
    return Row(event["id"], rank(count(usage.get("output_tokens")), copied_from), facts, body)


def _label(value: Any) -> str | None:
    return value[:MAX_LABEL_CHARACTERS] if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < LARGEST_COUNT else None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _quality(value: Any) -> str | None:
    """`quality` is a word, or a list of words."""
    if isinstance(value, list):
        value = " ".join(word for word in value if isinstance(word, str))
    return _label(value)


def _tools(blocks: Any) -> str | None:
    """The tool calls among an event's blocks, as a JSON array of {call_id, name}."""
    if not isinstance(blocks, list):
        return None
    calls = [
        {"call_id": _label(block.get("call_id")), "name": _label(block.get("name"))}
        for block in blocks[:MAX_TOOLS]
        if isinstance(block, dict) and block.get("type") == "tool_call"
    ]
    return orjson.dumps(calls).decode() if calls else None
