"""Token usage of an API message, in our names, once per row; and whether its output can be trusted."""

from __future__ import annotations

import re
from typing import Any

from collector.agents.claude_code.free_values import plain

COUNTS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_creation_tokens",
}
NESTED = {
    "cache_creation": {
        "ephemeral_5m_input_tokens": "cache_creation_5m_tokens",
        "ephemeral_1h_input_tokens": "cache_creation_1h_tokens",
    },
    "output_tokens_details": {"thinking_tokens": "thinking_tokens"},
    "server_tool_use": {
        "web_search_requests": "web_search_requests",
        "web_fetch_requests": "web_fetch_requests",
    },
}
WORDS = frozenset({"service_tier", "speed", "inference_geo"})
NOTHING = frozenset({"", "not_available"})
# `iterations` repeats the same numbers call by call; adding them would count twice.
REPEATED = frozenset({"iterations"})

# These versions wrote stop_reason null on every row, and never the final output count (54,021 messages compared).
FIRST_UNKNOWN, LAST_UNKNOWN = (2, 1, 12), (2, 1, 51)
VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def put_usage(event: dict[str, Any], found: dict[str, Any]) -> None:
    """Puts the usage into the event; unknown keys go to the attributes."""
    usage: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in found.items():
        kind = type(value)
        name = COUNTS.get(key)
        if name is not None and kind is int and value >= 0:
            usage[name] = value
        elif kind is dict and key in NESTED:
            put_nested(usage, rest, key, value)
        elif key in WORDS and kind is str:
            if value not in NOTHING:
                usage[key] = value
        elif value is not None and value != "" and key not in REPEATED:
            rest[key] = value
    if usage:
        event["usage"] = usage
    if rest:
        event.setdefault("attributes", {})["usage_rest"] = plain(rest)


def put_nested(usage: dict[str, Any], rest: dict[str, Any], key: str, found: dict[str, Any]) -> None:
    """One nested group of counts."""
    places = NESTED[key]
    for inner, value in found.items():
        name = places.get(inner)
        if name is not None and type(value) is int and value >= 0:
            usage[name] = value
        elif value is not None:
            rest.setdefault(key, {})[inner] = value


def is_output_unknown(version: Any) -> bool:
    """Whether this version never wrote the final output count."""
    match = VERSION.match(version) if type(version) is str else None
    if match is None:
        return False
    return FIRST_UNKNOWN <= (int(match[1]), int(match[2]), int(match[3])) <= LAST_UNKNOWN
