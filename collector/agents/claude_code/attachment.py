"""Attachment records: context that the program added to the conversation, in some forty kinds.

Newer writers add the text as it was `rendered` for the model, up to twice. For the kinds listed here that text says
what the attachment's own fields say, so it is left out and counted; for any other kind it is kept.
"""

from __future__ import annotations

from typing import Any

from collector.agents.claude_code.content import read_content
from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import omit, plain
from collector.agents.claude_code.identity import canonical
from collector.agents.claude_code.message import ORIGINS
from collector.flow.json_leaves import leaves

Record = dict[str, Any]

# The kinds whose rendered text was compared with their fields and found to repeat them.
RENDERED_FROM_FIELDS = frozenset(
    {
        "agent_listing_delta",
        "agent_mention",
        "async_hook_response",
        "auto_mode",
        "auto_mode_exit",
        "budget_usd",
        "command_permissions",
        "compact_file_reference",
        "critical_system_reminder",
        "date",
        "date_change",
        "deferred_tools_delta",
        "diagnostics",
        "directory",
        "edited_image_file",
        "edited_text_file",
        "environment",
        "file",
        "goal_status",
        "hook_additional_context",
        "hook_blocking_error",
        "hook_cancelled",
        "hook_non_blocking_error",
        "hook_success",
        "hook_system_message",
        "invoked_skills",
        "mcp_instructions_delta",
        "model",
        "nested_memory",
        "opened_file_in_ide",
        "output_style",
        "plan_file_reference",
        "plan_mode",
        "plan_mode_exit",
        "queued_command",
        "remote_session_change",
        "selected_lines_in_ide",
        "session_context",
        "skill_listing",
        "task_reminder",
        "task_status",
        "todo_reminder",
        "token_usage",
        "ultrathink_effort",
    }
)
TEXT_KEYS = ("text", "snippet", "planContent")
PROMPT_MODES = frozenset({"", "prompt", "bash"})


def attachment(event: Record, record: Record, rest: Record, context: Context) -> None:
    """One attachment: its text, and its fields as attributes."""
    event["kind"] = "attachment"
    found = record.get("attachment")
    if type(found) is not dict:
        if found is not None:
            rest["attachment"] = found
        return
    body = dict(found)
    kind = body.pop("type", None)
    if type(kind) is str and kind:
        event["record_subtype"] = kind
    elif kind is not None:
        rest["attachment_type"] = kind
        kind = ""
    if kind in RENDERED_FROM_FIELDS:
        leave_rendered(event, rest, context)
    if kind == "queued_command":
        queued(event, body, context)
    elif kind == "prompt_snapshot":
        prompt_snapshot(event, body, context)
    else:
        if kind and (kind.startswith("hook_") or kind == "async_hook_response"):
            event["kind"] = "hook"
        body_text(event, body)
    if "addedLines" in body and body["addedLines"] == body.get("addedNames"):
        omit(event, "added_lines", body.pop("addedLines"))
    for key, value in body.items():
        rest[f"attachment_{key}" if key in rest else key] = value


def leave_rendered(event: Record, rest: Record, context: Context) -> None:
    """Drops the rendered copies, remembering each so that the API's own copy is recognised too."""
    for key in ("rendered", "renderedInHumanTurn"):
        copies = rest.get(key)
        if type(copies) is not list:
            continue
        for text in leaves(copies):
            if type(text) is str:
                context.remember_rendered(text)
        omit(event, "rendered", rest.pop(key))


def body_text(event: Record, body: Record) -> None:
    """Moves the part a person would read to `text`."""
    content = body.get("content")
    if type(content) is str:
        event["text"] = body.pop("content")
    elif type(content) is list and content and all(type(part) is str for part in content):
        event["text"] = "\n".join(body.pop("content"))
    elif type(content) is dict:
        file = content.get("file")
        holder, outer = (file, "file") if type(file) is dict else (content, "")
        if type(holder.get("content")) is str:
            event["text"] = holder["content"]
            left = {key: value for key, value in holder.items() if key != "content"}
            body["content"] = {**content, "file": left} if outer else left
    if "text" not in event:
        for key in TEXT_KEYS:
            if type(body.get(key)) is str:
                event["text"] = body.pop(key)
                break
    if not event.get("text"):
        event.pop("text", None)


def queued(event: Record, body: Record, context: Context) -> None:
    """A prompt or notification that reached the model while it was busy: no user record repeats it."""
    mode = text_of(body, "commandMode")
    said = text_of(body.get("origin"), "kind")
    origin = ORIGINS.get(said, "meta") if said else ("human" if mode in PROMPT_MODES else "task")
    if origin == "human" and event.get("sidechain"):
        origin = "task"
    event["kind"] = "user_prompt" if origin == "human" else "user_context"
    event["origin"] = origin
    event["role"] = "user"
    text, blocks = read_content(event, body.pop("prompt", None), context)
    if text:
        event["text"] = text
        context.remember(hash(text))
    if blocks:
        event["blocks"] = blocks


def prompt_snapshot(event: Record, body: Record, context: Context) -> None:
    """The system prompt and the tools at this moment; whatever this pass already sent is not sent again."""
    parts = body.get("systemPrompt")
    if type(parts) is list and parts and all(type(part) is str for part in parts):
        del body["systemPrompt"]
        fresh = [part for part in parts if hash(part) not in context.seen]
        omit(event, "system_prompt", [part for part in parts if hash(part) in context.seen])
        for part in fresh:
            context.remember(hash(part))
        context.system_prompt = parts
        if fresh:
            event["text"] = "\n\n".join(fresh)
    put_tools(event, body, context)


def put_tools(event: Record, holder: Record, context: Context) -> None:
    """Tool definitions: in full the first time in a pass, by name from then on."""
    tools = holder.get("tools")
    if type(tools) is not list or not all(type(tool) is dict for tool in tools):
        return
    names = [tool["name"] for tool in tools if type(tool.get("name")) is str]
    fresh = []
    for tool in tools:
        definition = definition_of(tool)
        mark = hash(canonical(definition))
        if mark in context.seen:
            omit(event, "tools", tool)
            continue
        context.remember(mark)
        fresh.append({"type": "tool_definition", "attributes": plain(definition)})
    holder["tools"] = names
    if fresh:
        event.setdefault("blocks", []).extend(fresh)


def definition_of(tool: Record) -> Record:
    """A tool's definition, which a snapshot wraps in `schema` with a second name and description."""
    schema = tool.get("schema")
    if type(schema) is not dict:
        return tool
    return {**{key: value for key, value in tool.items() if key != "schema"}, **schema}
