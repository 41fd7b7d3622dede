"""The metadata level: what an event keeps when no text may leave the machine.

In: an event. Out: the event without words; what was taken out is counted in `omitted`. Invariant: only what is on an
allow-list stays, so a new field or an unknown record gives nothing away by accident. Paths stay where they say which
project it is (project, cwd, source); titles, branches, file names, prompts, tool inputs and answers go.
"""

from __future__ import annotations

import re
from typing import Any

from collector.flow.json_leaves import SCALARS, size_of

Record = dict[str, Any]

FIELDS = frozenset(
    {
        "id", "schema", "kind", "record_type", "record_subtype", "priority", "time", "time_from", "host",
        "installation_id", "user", "labels", "root", "client", "session_id", "file_session_id", "agent_id",
        "agent_type", "agent_model", "parent_agent_id", "parent_call_id", "spawn_depth", "uuid", "parent_uuid",
        "prompt_id", "sidechain", "project", "cwd", "account", "slug", "role", "origin", "provider", "model",
        "message_id", "request_id", "stop_reason", "usage", "quality", "source", "omitted",
    }
)  # fmt: skip
TOOL_FIELDS = frozenset(
    {
        "name", "call_id", "ok", "duration_ms", "exit_code", "interrupted", "denied_by", "agent_id", "lines_added",
        "lines_removed",
    }
)  # fmt: skip
BLOCK_FIELDS = frozenset({"type", "call_id", "name", "ok", "media_type", "bytes"})
# What may stand as a value: numbers, flags and words of a fixed vocabulary, such as names of models and tools.
WORD = re.compile(r"[A-Za-z0-9_.:@<>/\[\]-]{1,80}")


def to_metadata(event: Record, word_attributes: frozenset[str]) -> Record:
    """The event without text; of its attributes, only those whose values come from a fixed vocabulary stay."""
    kept = {key: value for key, value in event.items() if key in FIELDS}
    omitted = dict(event.get("omitted", {}))
    for key, value in event.items():
        if key not in FIELDS:
            size = size_of(value)
            if size:
                omitted[key] = omitted.get(key, 0) + size
    if omitted:
        kept["omitted"] = omitted
    if "record_type" in kept and not WORD.fullmatch(kept["record_type"]):
        del kept["record_type"]
    if "record_subtype" in kept and not WORD.fullmatch(kept["record_subtype"]):
        del kept["record_subtype"]
    if "usage" in kept:
        kept["usage"] = usage_shape(kept["usage"])
    if "blocks" in event:
        kept["blocks"] = [block_shape(block) for block in event["blocks"]]
    if "tool" in event:
        kept["tool"] = {key: value for key, value in event["tool"].items() if key in TOOL_FIELDS}
    attributes = {}
    for key, value in event.get("attributes", {}).items():
        word = words_only(value, 0) if key in word_attributes else None
        if word is not None:
            attributes[key] = word
    if attributes:
        kept["attributes"] = attributes
    return kept


def usage_shape(usage: Record) -> Record:
    """Usage without what its calls held beyond counts and names."""
    calls = usage.get("iterations")
    return usage if calls is None else {**usage, "iterations": [call_shape(call) for call in calls]}


def call_shape(call: Record) -> Record:
    """One call within a usage: its type, its model and its counts."""
    shape = {key: value for key, value in call.items() if type(value) is int or (type(value) is str and is_word(value))}
    return {"type": "unknown", **shape}


def is_word(text: str) -> bool:
    """Whether a text is a word of a vocabulary rather than something that somebody said."""
    return WORD.fullmatch(text) is not None


def block_shape(block: Record) -> Record:
    """What a block is and how large, without what it says."""
    shape = {key: value for key, value in block.items() if key in BLOCK_FIELDS}
    size = size_of([block.get(key) for key in ("text", "input", "blocks", "attributes")])
    if size:
        shape["characters"] = size
    if not WORD.fullmatch(shape["type"]):
        shape["type"] = "unknown"
    return shape


def words_only(value: Any, depth: int) -> Any:
    """The value reduced to numbers, flags and single words; None where nothing is left."""
    kind = type(value)
    if kind is str:
        return value if WORD.fullmatch(value) else None
    if kind in SCALARS:
        return value
    if depth > 3:
        return None
    if kind is dict:
        inner = {key: words_only(part, depth + 1) for key, part in value.items() if WORD.fullmatch(key)}
        return {key: part for key, part in inner.items() if part is not None} or None
    parts = [words_only(part, depth + 1) for part in value]
    return [part for part in parts if part is not None] or None
