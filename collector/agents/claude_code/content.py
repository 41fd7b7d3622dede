"""The content of a message: text goes to `text`, everything else to `blocks`.

Thinking signatures and encrypted parts are left out, binary data becomes its size and hash; nothing else is dropped.
"""

from __future__ import annotations

from typing import Any

from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import binary, omit, plain

MAX_NESTING = 4

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
BINARY_TYPES = frozenset({"image", "document", "base64"})
CALL_KEYS = frozenset({"type", "id", "name", "input"})
RESULT_KEYS = frozenset({"type", "tool_use_id", "content", "is_error"})
THINKING_KEYS = frozenset({"type", "thinking", "signature"})
BINARY_KEYS = frozenset({"type", "source", "title", "media_type", "mediaType", "data"})
SEALED = frozenset({"encrypted_content", "encrypted_index", "data"})


def read_content(event: dict[str, Any], content: Any, context: Context) -> tuple[str, list[dict[str, Any]]]:
    """The text and the blocks of a message's content, which may be a string, a list, or anything else."""
    if type(content) is str:
        return content, []
    if type(content) is not list:
        return "", [] if content is None else [free("value", {"value": content})]
    texts: list[str] = []
    blocks: list[dict[str, Any]] = []
    for part in content:
        add_part(event, part, texts, blocks, context, 0)
    return (texts[0] if len(texts) == 1 else "\n".join(texts)), blocks


def add_part(
    event: dict[str, Any], part: Any, texts: list[str], blocks: list[dict[str, Any]], context: Context, depth: int
) -> None:
    """Sorts one part of a content list into texts and blocks."""
    if type(part) is str:
        texts.append(part)
        return
    if type(part) is not dict:
        blocks.append(free("value", {"value": part}))
        return
    kind = part.get("type")
    if kind == "text" and type(part.get("text")) is str:
        texts.append(part["text"])
        if len(part) > 2:
            add_rest(blocks, {"type": "text"}, part, ("type", "text"))
    elif kind == "thinking" and type(part.get("thinking")) is str:
        blocks.append(thinking(event, part))
    elif type(kind) is not str:
        blocks.append(free("unknown", part))
    elif kind in CALLS:
        blocks.append(call(part, kind, context))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        blocks.append(answer(event, part, kind, context, depth))
    elif kind in BINARY_TYPES:
        context.remember(hash(data_of(part)))
        blocks.append(binary_block(event, part, kind))
    else:
        blocks.append(sealed(event, part, kind))


def free(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """A block of unknown shape, its keys unchanged."""
    return {"type": kind, "attributes": plain(values)}


def add_rest(blocks: list[dict[str, Any]], block: dict[str, Any], part: dict[str, Any], known: Any) -> None:
    """Adds a block only if there are unknown keys to keep, such as the citations of a text."""
    put_rest(block, part, known)
    if "attributes" in block:
        blocks.append(block)


def put_rest(block: dict[str, Any], part: dict[str, Any], known: Any) -> None:
    """Puts the unknown keys of a block under `attributes`."""
    rest = {key: plain(value) for key, value in part.items() if key not in known and value is not None}
    if rest:
        block["attributes"] = rest


def thinking(event: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """A thinking block without its signature."""
    block: dict[str, Any] = {"type": "thinking"}
    if part["thinking"]:
        block["text"] = part["thinking"]
    if "signature" in part:
        omit(event, "signature", part["signature"])
    if len(part) > 3:
        put_rest(block, part, THINKING_KEYS)
    return block


def call(part: dict[str, Any], kind: str, context: Context) -> dict[str, Any]:
    """A tool call. Remembers the tool's name for the result."""
    block: dict[str, Any] = {"type": "tool_call"}
    call_id, name, given = part.get("id"), part.get("name"), part.get("input")
    if type(call_id) is str and type(name) is str:
        context.remember_call(call_id, name)
        block["call_id"] = call_id
        block["name"] = name
        known: Any = CALL_KEYS
    else:
        known = ("type", "input")
    if given is not None:
        block["input"] = plain(given)
    if kind != "tool_use":
        part = {**part, "block_type": kind}
    if len(part) > len(known):
        put_rest(block, part, known)
    return block


def answer(event: dict[str, Any], part: dict[str, Any], kind: str, context: Context, depth: int) -> dict[str, Any]:
    """A tool result, with its content sorted in the same way."""
    block: dict[str, Any] = {"type": "tool_result"}
    known = RESULT_KEYS
    call_id, failed, content = part.get("tool_use_id"), part.get("is_error"), part.get("content")
    if type(call_id) is str:
        block["call_id"] = call_id
        name = context.calls.get(call_id)
        if name:
            block["name"] = name
        context.remember("result " + call_id)
    else:
        known = RESULT_KEYS - {"tool_use_id"}
    block["ok"] = not failed
    if type(content) is str:
        if content:
            block["text"] = content
    elif type(content) is list and depth < MAX_NESTING:
        texts: list[str] = []
        inner: list[dict[str, Any]] = []
        for piece in content:
            add_part(event, piece, texts, inner, context, depth + 1)
        if texts:
            block["text"] = "\n".join(texts)
        if inner:
            block["blocks"] = inner
    elif content is not None:
        is_object = type(content) is dict
        if is_object and text_of(content, "type").endswith("_error"):  # of a tool that the API runs itself
            block["ok"] = False
        block["blocks"] = [sealed(event, content, "value") if is_object else free("value", {"value": content})]
    if kind != "tool_result":
        part = {**part, "block_type": kind}
    if len(part) > 3:
        put_rest(block, part, known)
    return block


def data_of(part: dict[str, Any]) -> str:
    """The content of an image or a document as the record holds it; empty if it is elsewhere."""
    source = part.get("source")
    return text_of(source if type(source) is dict else part, "data")


def binary_block(event: dict[str, Any], part: dict[str, Any], kind: str) -> dict[str, Any]:
    """An image or a document: its type, size and hash, not its bytes."""
    block: dict[str, Any] = {"type": "image" if kind == "base64" else kind}
    source = part.get("source")
    holder = source if type(source) is dict else part
    data = holder.get("data")
    if type(data) is str:
        described = binary(data)
        if described is None:  # a document given as text
            block["text"] = data
        else:
            block |= described
            omit(event, "binary", data)
    media_type = holder.get("media_type") or holder.get("mediaType")
    if type(media_type) is str:
        block["media_type"] = media_type
    if type(part.get("title")) is str:
        block["title"] = part["title"]
    if holder is part:
        put_rest(block, part, BINARY_KEYS - {"source"} if source is not None else BINARY_KEYS)
        return block
    rest = {key: value for key, value in part.items() if key not in BINARY_KEYS}
    inner = {key: value for key, value in holder.items() if key not in ("type", "media_type", "data")}
    put_rest(block, rest | ({"source": inner} if inner else {}), ())
    return block


def sealed(event: dict[str, Any], part: dict[str, Any], kind: str) -> dict[str, Any]:
    """A block of any other type, minus what only the API can read."""
    block: dict[str, Any] = {"type": kind}
    rest: dict[str, Any] = {}
    for key, value in part.items():
        if key in SEALED and type(value) is str and kind != "value":
            omit(event, "sealed", value)
        elif key != "type" and value is not None:
            rest[key] = plain(value)
    if kind == "value" and part.get("type") is not None:
        rest["type"] = plain(part["type"])
    if rest:
        block["attributes"] = rest
    return block
