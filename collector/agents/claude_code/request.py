"""The records that the newest versions keep of every API call: the call, its shape, and the messages it sent.

Shapes and messages mostly repeat the transcript. Only what was seen in this very pass is left out as a copy, so a
message that was sent to the model from outside the transcript (a title request, a system message) is kept.
"""

from __future__ import annotations

from typing import Any

from collector.agents.claude_code.attachment import put_tools
from collector.agents.claude_code.content import BINARY_TYPES, data_of, read_content
from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import omit
from collector.flow import reasons
from collector.flow.outcome import Skip

Record = dict[str, Any]

HASHES = ("tail", "hash", "shapeHash", "requestDigest")  # of messages, of system prompt and tools, of the whole request


def api_request(event: Record, record: Record, rest: Record, context: Context) -> None:
    """A call: which model and why. Its usage is in the assistant rows."""
    event["kind"] = "api_request"
    model = text_of(record.get("params"), "model")
    if model:
        event["model"] = model
    context.key_hashes(rest, *HASHES)
    # The hashes of the messages that this call adds to the previous one, each the `hash` of an api_message.
    tail = rest.get("tail")
    if type(tail) is list:
        rest["tail_count"] = len(tail)


def api_request_resumed(event: Record, record: Record, rest: Record, _context: Context) -> None:
    """A call that continued an answer which the API had paused (2.1.328). Both calls make one message."""
    event["kind"] = "api_request"
    for key, place in (("messageId", "message_id"), ("resumedRequestId", "request_id")):
        if text_of(record, key):
            event[place] = rest.pop(key)


def api_request_shape(event: Record, record: Record, rest: Record, context: Context) -> None:
    """The system prompt and tools of a call, once per shape."""
    event["kind"] = "api_request"
    context.key_hashes(rest, *HASHES)
    shape = record.get("shape")
    if type(shape) is not dict:
        if shape is not None:
            rest["shape"] = shape
        return
    body = dict(shape)
    text, blocks = read_content(event, body.pop("system", None), context)
    left = without_parts(text, context.system_prompt)
    if len(left) < len(text):
        omit(event, "system_prompt", text[len(left) :])
    if left:
        event["text"] = left
    if blocks:
        event["blocks"] = blocks
    put_tools(event, body, context)
    for key, value in body.items():
        rest[f"shape_{key}" if key in rest else key] = value


def without_parts(text: str, parts: list[str]) -> str:
    """A text minus the given parts, longest first, which this pass has already seen."""
    left = text
    for part in sorted(parts, key=len, reverse=True):
        if part:
            left = left.replace(part, "", 1)
    return text if left == text else left.strip()


def api_request_blob(event: Record, record: Record, rest: Record, context: Context) -> Skip | None:
    """A message as it was sent to the API: skipped if all of it has been seen, else reduced to what is new."""
    context.key_hashes(rest, *HASHES)
    message = record.get("message")
    content = message.get("content") if type(message) is dict else None
    if type(message) is not dict:
        if message is not None:
            rest["message"] = message
        event["kind"] = "api_message"
        return None
    parts: Any = [{"type": "text", "text": content}] if type(content) is str else content
    if type(parts) is list:
        fresh = [part for part in parts if not is_copy(part, context)]
        if parts and not fresh:
            return Skip(reasons.COPY.name)
        omit(event, "copies", [part for part in parts if is_copy(part, context)])
    else:
        fresh = parts
    event["kind"] = "api_message"
    text, blocks = read_content(event, fresh, context)
    if text:
        event["text"] = text
    if blocks:
        event["blocks"] = blocks
    for key, value in message.items():
        if key == "role" and type(value) is str:
            event["role"] = value
        elif key != "content":
            rest[f"message_{key}" if key in rest else key] = value
    return None


def is_rendered(text: str, context: Context) -> bool:
    """Whether a system message consists only of attachments seen in this pass."""
    return without_parts(text, context.rendered) == ""


def is_copy(part: Any, context: Context) -> bool:
    """Whether this pass has already seen a part of a message in another record."""
    if type(part) is not dict:
        return False
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        if type(text) is not str:
            return False
        return hash(text) in context.seen or hash(text.strip()) in context.seen or is_rendered(text, context)
    if kind == "tool_use":
        return text_of(part, "id") in context.calls
    if kind == "tool_result":
        return "result " + text_of(part, "tool_use_id") in context.seen
    if kind == "thinking":
        return part.get("thinking") == ""
    if type(kind) is str and kind in BINARY_TYPES:
        data = data_of(part)
        return data != "" and hash(data) in context.seen
    return False
