"""The token usage of an API message, under our names, once per row; and whether its output count can be trusted."""

from __future__ import annotations

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
LARGEST = 2**53  # what is larger is no count, and a database with 64 bits for it would refuse the event
SYNTHETIC = "<synthetic>"
MESSAGE = "message"


def put_usage(event: dict[str, Any], found: dict[str, Any], paused: Any) -> None:
    """Puts the usage into the event, including that of `paused` responses; unknown keys go to the attributes."""
    usage, rest = counts_of(found)
    calls = found.get("iterations")
    iterations = iterations_of(calls)
    if type(calls) is list:
        odd = [call for call in calls if type(call) is not dict]
        if odd:
            rest["iterations"] = odd
    elif calls is not None:
        rest["iterations"] = calls
    if type(paused) is list:
        iterations = add_paused(usage, iterations, paused)
    # A message with a single call would say everything twice.
    if len(iterations) > 1 or (iterations and iterations[0]["type"] != MESSAGE):
        usage["iterations"] = iterations
    if usage:
        event["usage"] = usage
    if rest:
        event.setdefault("attributes", {})["usage_rest"] = plain(rest)


def counts_of(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The counts under our names, and what is left."""
    usage: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in found.items():
        kind = type(value)
        if kind is int and key in COUNTS and 0 <= value < LARGEST:
            usage[COUNTS[key]] = value
        elif kind is dict and key in NESTED:
            names = NESTED[key]
            for inner, count in value.items():
                if type(count) is int and inner in names and 0 <= count < LARGEST:
                    usage[names[inner]] = count
                elif count is not None:
                    rest.setdefault(key, {})[inner] = count
        elif kind is str and key in WORDS:
            if value not in NOTHING:
                usage[key] = value
        elif value is not None and value != "" and key != "iterations":
            rest[key] = value
    return usage, rest


def iterations_of(calls: Any) -> list[dict[str, Any]]:
    """The calls within a message."""
    return [iteration_of(call) for call in calls if type(call) is dict] if type(calls) is list else []


def add_paused(usage: dict[str, Any], iterations: list[dict[str, Any]], paused: list[Any]) -> list[dict[str, Any]]:
    """Adds what a message used before it was resumed: its own usage covers only the last request, but every request is
    charged (2.1.328). Returns all of its calls."""
    own = iterations or [{"type": MESSAGE, **usage}]
    before: list[dict[str, Any]] = []
    for found in filter(None, map(usage_of_paused, paused)):
        counts, _ = counts_of(found)
        for name, count in counts.items():
            if type(count) is int:
                usage[name] = usage.get(name, 0) + count
        before += iterations_of(found.get("iterations")) or [{"type": MESSAGE, **counts}]
    return before + own if before else iterations


def usage_of_paused(response: Any) -> dict[str, Any] | None:
    """What a message used until it was paused."""
    found = response.get("usage") if type(response) is dict else None
    return found if type(found) is dict else None


def facts_of_paused(paused: Any) -> Any:
    """Why and when a message was paused, without the usage, which has been added already."""
    if type(paused) is not list:
        return paused
    return [
        {key: value for key, value in response.items() if key != "usage"} if usage_of_paused(response) else response
        for response in paused
    ]


def iteration_of(call: dict[str, Any]) -> dict[str, Any]:
    """One call within a message: its type, model and counts."""
    counts, rest = counts_of(call)
    kind, model = rest.pop("type", None), rest.pop("model", None)
    iteration: dict[str, Any] = {"type": kind if type(kind) is str else MESSAGE}
    if type(model) is str:
        iteration["model"] = model
    iteration |= counts
    if rest:
        iteration["attributes"] = plain(rest)
    return iteration


def flag_usage(event: dict[str, Any], usage: Any) -> None:
    """Marks a row that was written before the final output count was known; stop_reason and iterations come with that.

    Whether the count of a message is unknown only shows across all of its rows, and those may be in different batches,
    so that is left to the receiver (docs/events.md).
    """
    if "stop_reason" not in event and event.get("model") != SYNTHETIC:
        calls = usage.get("iterations") if type(usage) is dict else None
        if type(calls) is not list or not calls:
            event["quality"] = ["output_tokens_unknown"]
