"""What happens to each field of an event when text may not leave: one row per field. docs/privacy.md is generated from
these rows.

A row applies at the level `metadata`, and at the level `content` if any switch that the field needs is off. Invariant:
a field without a row is left out, so a new field gives nothing away by accident; a test compares the rows with the
schema.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

SWITCHES = ("prompts", "answers", "thinking", "tool_input", "tool_output", "file_paths")
METADATA = "metadata"
BY_KIND, BY_BLOCK = "kind", "block"

Action = Literal["kept", "id", "word", "model", "tool", "name", "version", "counts", "parts", "attributes", "left out"]


class Field(NamedTuple):
    """`needs` are switches, or BY_KIND or BY_BLOCK if the kind of the event or of the block decides. `kind` is the
    prefix of the pseudonym."""

    action: Action
    needs: tuple[str, ...] = ()
    kind: str = ""


KEPT, ID, WORD, PARTS, MODEL = Field("kept"), Field("id"), Field("word"), Field("parts"), Field("model")
OUT = Field("left out")
_counts = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "cache_creation_5m_tokens"),
    *("cache_creation_1h_tokens", "thinking_tokens", "web_search_requests", "web_fetch_requests"),
)
_usage = {**dict.fromkeys(_counts, KEPT), **dict.fromkeys(("service_tier", "speed", "inference_geo"), WORD)}

FIELDS: dict[str, Field] = {
    **dict.fromkeys(("id", "schema", "kind", "priority", "time", "time_from", "installation_id", "labels"), KEPT),
    **dict.fromkeys(("spawn_depth", "sidechain", "origin", "provider", "quality", "redactions", "left_out"), KEPT),
    "replaced": KEPT,
    "record_type": Field("word", kind="type"),
    "record_subtype": Field("word", kind="type"),
    "host": PARTS,
    "host.id": KEPT,
    "host.name": Field("name", kind="host"),
    "user": Field("name", kind="user"),
    "root": Field("name", kind="root"),
    "client": PARTS,
    "client.name": KEPT,
    "client.version": Field("version"),
    "client.entrypoint": WORD,
    **dict.fromkeys(("session_id", "file_session_id", "agent_id", "parent_agent_id", "parent_call_id"), ID),
    **dict.fromkeys(("uuid", "parent_uuid", "prompt_id", "message_id", "request_id"), ID),
    "agent_type": Field("word", kind="agent"),
    "agent_description": Field("left out", ("prompts", "tool_input")),
    "agent_model": MODEL,
    "workflow_phase": Field("left out", ("tool_input",)),
    "project": Field("name", ("file_paths",), "project"),
    "cwd": Field("left out", ("file_paths",)),
    "git_branch": Field("name", kind="branch"),
    "repository": Field("name", kind="repository"),
    "pull_request": PARTS,
    "pull_request.number": KEPT,
    "pull_request.url": OUT,
    "pull_request.repository": Field("name", kind="repository"),
    "account": PARTS,
    "account.id": ID,
    "account.organization_id": ID,
    "account.organization": OUT,
    "account.email": OUT,
    "slug": OUT,
    "role": WORD,
    "text": Field("left out", (BY_KIND,)),
    "blocks": PARTS,
    "blocks.type": Field("word", kind="unknown"),
    "blocks.text": Field("left out", (BY_BLOCK,)),
    "blocks.call_id": ID,
    "blocks.name": Field("tool", (BY_BLOCK,)),
    "blocks.input": Field("left out", (BY_BLOCK,)),
    "blocks.ok": KEPT,
    "blocks.media_type": WORD,
    "blocks.bytes": KEPT,
    "blocks.sha256": Field("left out", (BY_BLOCK,)),
    "blocks.title": Field("left out", (BY_BLOCK,)),
    "blocks.characters": KEPT,
    "blocks.blocks": Field("left out", (BY_BLOCK,)),
    "blocks.attributes": Field("left out", (BY_BLOCK,)),
    "tool": PARTS,
    "tool.name": Field("tool"),
    "tool.call_id": ID,
    **dict.fromkeys(("tool.ok", "tool.duration_ms", "tool.exit_code", "tool.interrupted"), KEPT),
    "tool.denied_by": WORD,
    "tool.file": Field("left out", ("file_paths",)),
    "tool.agent_id": ID,
    "tool.lines_added": KEPT,
    "tool.lines_removed": KEPT,
    "tool.patch": Field("left out", ("tool_input", "tool_output")),
    "tool.message": Field("left out", ("tool_output",)),
    "tool.details": Field("left out", ("tool_input", "tool_output")),
    "attributes": Field("attributes", (BY_KIND,)),
    "model": MODEL,
    "stop_reason": WORD,
    "usage": PARTS,
    **{f"usage.{name}": field for name, field in _usage.items()},
    "usage.iterations": PARTS,
    "usage.iterations.type": Field("word", kind="unknown"),
    "usage.iterations.model": MODEL,
    **{f"usage.iterations.{name}": field for name, field in _usage.items()},
    "usage.iterations.attributes": Field("left out", (BY_KIND,)),
    "source": PARTS,
    "source.path": Field("name", ("file_paths",), "file"),
    "source.offset": KEPT,
    "source.length": KEPT,
    "omitted": Field("counts"),
    "truncated": OUT,
}

# Required fields: when names are left out, they contain their kind instead.
NEEDED = frozenset({"host.name", "source.path"})

# The switches that the text of an event needs, by what its kind may contain. A kind that is not listed needs all.
_SAID = ("prompts", "answers")
_DONE = ("tool_input", "tool_output")
KINDS_NEED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("user_prompt", "prompt_history"), ("prompts",)),
    **dict.fromkeys(("assistant_response", "tool_call", "api_error"), ("answers",)),
    # The tools' answers are in blocks; the text beside them is what a person typed meanwhile, or a fork's instructions.
    "tool_result": ("prompts", *_DONE),
    "local_command": (*_SAID, "tool_output"),  # a recap is the model's
    "title": _SAID,
    **dict.fromkeys(
        ("summary", "compaction", "user_context", "session_index", "workflow", "session"), (*_SAID, *_DONE)
    ),
    # Background commands and agents that have ended wait in the queue too, with their answers. The last prompt may be a
    # plan, a hook the goal that a person set, judged by a model.
    **dict.fromkeys(("api_request", "attachment", "system", "turn", "queue", "last_prompt", "hook"), (*_SAID, *_DONE)),
    "file_snapshot": ("prompts", "file_paths"),  # the file of a plan has words of the prompt in its name
    "file_change": (*_DONE, "file_paths"),
    "link": ("answers", "tool_input"),  # the title the model gave to a page it made
    **dict.fromkeys(("mode", "session_cost", "stats", "progress", "heartbeat", "canary"), ()),
}
# The same for the blocks of a message. A block of any other type needs what its event needs.
BLOCKS_NEED: dict[str, tuple[str, ...]] = {
    "thinking": ("thinking",),
    "redacted_thinking": ("thinking",),
    "tool_call": ("tool_input",),
    "tool_result": ("tool_output",),
    "paste": ("prompts",),
}


def needs_of_kind(kind: str) -> tuple[str, ...]:
    """The switches that the text of an event of this kind needs."""
    return KINDS_NEED.get(kind, SWITCHES)


def may_hold_anything(kind: str) -> bool:
    """Whether an event of this kind may hold whatever was said and done, so that its text needs all those switches."""
    return {*_SAID, *_DONE} <= set(needs_of_kind(kind))


def needs_of_block(block: str, kind: str) -> tuple[str, ...]:
    """The switches that the text of a block needs, in an event of this kind."""
    return BLOCKS_NEED.get(block, needs_of_kind(kind))
