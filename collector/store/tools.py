"""The tool calls and results in an event, as rows of their own.

In: an event. Out: one row for each call and result it holds. The target of a call is kept only if it is a name: the
skill, the kind of subagent, the MCP server. Durations here are the event's own; if it has none, the database computes
them from the times of call and result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from collector.store.calls import LARGEST_COUNT, label

MAX_TOOLS = 1000
# The fields of a tool's input that name what it runs.
TARGETS = {"Skill": ("skill", "command"), "Agent": ("subagent_type",), "Task": ("subagent_type",)}
MCP = "mcp__"


class ToolRow(NamedTuple):
    """One call, or one result, in an event."""

    call_id: str | None
    is_result: int
    name: str | None
    target: str | None
    ok: int | None
    duration_ms: int | None


def tool_rows(event: dict[str, Any], kind: str) -> tuple[ToolRow, ...]:
    """The calls and results among an event's blocks, or else the one in its `tool`."""
    blocks = event.get("blocks")
    facts = event.get("tool")
    if type(blocks) is not list and type(facts) is not dict:
        return ()
    table: dict[str, Any] = facts if type(facts) is dict else {}
    found = []
    for block in blocks[:MAX_TOOLS] if type(blocks) is list else ():
        if type(block) is not dict:
            continue
        if block.get("type") == "tool_call":
            name = label(block.get("name"))
            found.append(ToolRow(label(block.get("call_id")), 0, name, _target(name, block.get("input")), None, None))
        elif block.get("type") == "tool_result":
            found.append(_result(block, table))
    if not found and kind in {"tool_call", "tool_result"} and type(table.get("call_id")) is str:
        name = label(table.get("name"))
        if kind == "tool_result":
            return (_result(table, table),)
        return (ToolRow(label(table["call_id"]), 0, name, _target(name, None), None, None),)
    return tuple(found)


def _result(block: dict[str, Any], facts: dict[str, Any]) -> ToolRow:
    call_id, ok = label(block.get("call_id")), block.get("ok")
    duration: Any = facts.get("duration_ms") if facts.get("call_id") == call_id else None  # of the first result
    return ToolRow(
        call_id,
        1,
        label(block.get("name")) or (label(facts.get("name")) if facts.get("call_id") == call_id else None),
        None,
        int(ok) if type(ok) is bool else None,
        round(duration) if type(duration) in (int, float) and 0 <= duration < LARGEST_COUNT else None,
    )


def _target(name: str | None, given: Any) -> str | None:
    if name is None:
        return None
    if name.startswith(MCP):
        return name[len(MCP) :].partition("__")[0] or None
    if type(given) is dict:
        for key in TARGETS.get(name, ()):
            if (target := label(given.get(key))) is not None:
                return target
    return None
