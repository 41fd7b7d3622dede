"""An event as text for people: when, what, who said what, and what is missing from it and why.

In: the body of a sealed event. Out: lines of text, with redaction markers as they are sent. Invariant: nothing that
will be sent is left out but the event's id and its place in the file: fields without a line of their own share the last
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

# Fields that every event of a session repeats: shown once, and again when they change.
ABOUT = (
    *("host", "installation_id", "user", "labels", "root", "client", "session_id", "file_session_id", "project", "cwd"),
    *("git_branch", "slug", "agent_id", "agent_type", "agent_description", "schema", "priority", "source", "left_out"),
)
SAID = ("text", "blocks", "tool", "omitted", "redactions", "truncated", "replaced")
HEAD = ("time", "kind", "role", "origin", "model")


def lines_of(body: bytes, about: dict[str, Any]) -> Iterator[str]:
    """The lines of one event. `about` holds the repeated fields as last shown, and is updated."""
    event = orjson.loads(body)
    for name in ABOUT:
        value = event.get(name)
        if name == "source" and isinstance(value, dict):
            value = value.get("path")
        if value != about.get(name) and value is not None:
            about[name] = value
            yield f"{name} {_told(value)}"
    yield " ".join(["--", *(str(event[name]) for name in HEAD if name in event)])
    yield from _indented(event.get("text"))
    for block in event.get("blocks", []):
        yield from _block(block)
    if "tool" in event:
        yield f"    tool {_told(event['tool'])}"
    rest = {name: value for name, value in event.items() if name not in ("id", *ABOUT, *SAID, *HEAD)}
    if rest:
        yield f"    also {_told(rest)}"
    yield from _missing(event)


def _block(block: dict[str, Any]) -> Iterator[str]:
    names = [str(block[name]) for name in ("type", "name", "call_id") if name in block]
    yield f"    [{' '.join(names)}]"
    yield from _indented(block.get("text"), "      ")
    if "input" in block:
        given = block["input"]
        for name, value in given.items() if isinstance(given, dict) else [("", given)]:
            yield from _indented(f"{name}: {value if isinstance(value, str) else _told(value)}", "      ")
    rest = {key: value for key, value in block.items() if key not in ("type", "name", "call_id", "text", "input")}
    if rest:
        yield f"      {_told(rest)}"


def _missing(event: dict[str, Any]) -> Iterator[str]:
    if "redactions" in event:
        yield f"    redacted: {', '.join(f'{count} {rule}' for rule, count in event['redactions'].items())}"
    if "omitted" in event:
        told = ", ".join(f"{size} characters of {name}" for name, size in event["omitted"].items())
        why = f" ({', '.join(event['left_out'])})" if "left_out" in event else " (not sent at any level)"
        yield f"    left out: {told}{why}"
    if "truncated" in event:
        yield f"    cut: {', '.join(f'{name} from {size} bytes' for name, size in event['truncated'].items())}"
    if "replaced" in event:
        yield f"    replaced: {_told(event['replaced'])}"


def _indented(text: Any, by: str = "    ") -> Iterator[str]:
    if isinstance(text, str) and text:
        for line in text.split("\n"):
            yield by + line


def _told(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
