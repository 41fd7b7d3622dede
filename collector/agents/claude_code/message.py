"""User and assistant records, and every other record that carries a message."""

from __future__ import annotations

from typing import Any

from collector.agents.claude_code.content import BINARY_KEYS, CALL_KEYS, RESULT_KEYS, read_content
from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import omit
from collector.agents.claude_code.origin import PROMPTS, origin_of
from collector.agents.claude_code.tool import drop_told_content, put_inputs_as_written, tool_of_call, tool_of_result
from collector.agents.claude_code.usage import facts_of_paused, flag_usage, put_usage
from collector.flow import reasons
from collector.flow.outcome import Skip

Record = dict[str, Any]

BARE_KEYS = CALL_KEYS | RESULT_KEYS | BINARY_KEYS
# What Claude Code also calls a denial, though nobody refused: the session, the turn or a call before it ended.
STOPPED = ("interrupted", "cancelled")
MESSAGE_PLACES = {"id": "message_id", "model": "model", "stop_reason": "stop_reason", "role": "role"}


def put_message(event: Record, message: Any, rest: Record, context: Context) -> list[Record]:
    """Puts an API message into the event and returns its blocks for the caller to inspect."""
    if type(message) is not dict:
        if message is not None:
            rest["message"] = message
        return []
    blocks: list[Record] = []
    for key, value in message.items():
        if value is None:
            continue
        place = MESSAGE_PLACES.get(key)
        if place is not None and type(value) is str:
            if value:
                event[place] = value
        elif key == "content":
            text, blocks = read_content(event, value, context)
            if text:
                event["text"] = text
                context.remember(hash(text))
            if blocks:
                event["blocks"] = blocks
        elif key == "usage" and type(value) is dict:
            put_usage(event, value, message.get("pausedResponses"))
        elif key == "pausedResponses":
            rest[f"message_{key}" if key in rest else key] = facts_of_paused(value)
        elif key != "type" or value != "message":
            rest[f"message_{key}" if key in rest or place or key == "type" else key] = value
    if "usage" in event:
        flag_usage(event, message.get("usage"))
    return blocks


def user(event: Record, record: Record, rest: Record, context: Context) -> None:
    """A prompt, a tool result, or something the program says in the user's role."""
    blocks = put_message(event, record.get("message"), rest, context)
    # 72 % of the records in the user's role are tool results, which nobody typed.
    answers = [block for block in blocks if block["type"] == "tool_result"] if blocks else blocks
    result = record.get("toolUseResult")
    if answers:
        if "parent_uuid" in event and rest.get("sourceToolAssistantUUID") == event["parent_uuid"]:
            del rest["sourceToolAssistantUUID"]
        event["kind"], event["origin"] = "tool_result", "tool"
        tool_of_result(event, answers, result)
        denied_by = rest.get("toolDenialKind")
        if type(denied_by) is str:
            if denied_by in STOPPED:
                event["tool"]["interrupted"] = True
            else:
                event["tool"]["denied_by"] = rest.pop("toolDenialKind")
        if "mcpMeta" in rest:
            drop_told_content(event, answers, rest)
        return
    origin = origin_of(event, record, rest)
    event["origin"] = origin
    event["kind"] = PROMPTS.get(origin, "user_context")
    if result is not None:
        rest["toolUseResult"] = result


def assistant(event: Record, record: Record, rest: Record, context: Context) -> None:
    """One row of a model's answer."""
    blocks = put_message(event, record.get("message"), rest, context)
    if tool_of_call(event, blocks):
        event["kind"] = "tool_call"
        if type(rest.get("wireToolInputs")) is dict:
            put_inputs_as_written(event, blocks, rest)
    elif rest.get("isApiErrorMessage") is True:
        event["kind"] = "api_error"
    else:
        event["kind"] = "assistant_response"


def progress(event: Record, record: Record, rest: Record, context: Context) -> Skip | None:
    """A subagent's progress: skipped unless it carries usage, of which it may be the only copy."""
    data = record.get("data")
    data = data if type(data) is dict else record
    # The message is wrapped once or twice, depending on the version.
    outer = data.get("message")
    row = outer.get("message") if type(outer) is dict and type(outer.get("message")) is dict else outer
    if type(row) is not dict or type(row.get("usage")) is not dict:
        return Skip(reasons.PROGRESS.name)
    event["kind"] = "progress"
    event["record_subtype"] = "agent_progress"
    # Without the content, which is in the subagent's own transcript.
    put_message(event, {key: value for key, value in row.items() if key != "content"}, rest, context)
    for key, place in (("agentId", "agent_id"), ("requestId", "request_id")):
        found = text_of(data, key) or text_of(outer, key)
        if found:
            event[place] = found
    parent_call = rest.pop("parentToolUseID", None)
    if type(parent_call) is str and parent_call:
        event["parent_call_id"] = parent_call
    for key in ("data", "message"):
        rest.pop(key, None)
    omit(event, "progress", {key: value for key, value in data.items() if key != "type"})
    return None


def bare_block(event: Record, record: Record, rest: Record, context: Context) -> None:
    """A content block as a record of its own, which occurs in some descriptions of the format."""
    block = {key: value for key, value in record.items() if key in BARE_KEYS}
    put_message(event, {"content": [block]}, rest, context)
    for key in block:
        rest.pop(key, None)
    kind = record["type"]
    blocks = event.get("blocks", [])
    if tool_of_call(event, blocks):
        event["kind"] = "tool_call"
    elif kind == "tool_result":
        event["kind"], event["origin"] = "tool_result", "tool"
        tool_of_result(event, blocks, None)
    else:
        event["kind"] = "attachment"


def unknown(event: Record, record: Record, rest: Record, context: Context) -> None:
    """A record of unknown type. If it contains a message, it is read as one; everything else is kept."""
    message = record.get("message")
    if type(message) is dict and ("content" in message or "usage" in message):
        rest.pop("message", None)
        tool_of_call(event, put_message(event, message, rest, context))
