"""Attachment records: context that the program added to the conversation, in some 150 kinds.

Newer versions add the text as it was `rendered` for the model; the parts of it that are in no field are kept
(rendered.py).
"""

from __future__ import annotations

import re
from typing import Any

from collector.agents.claude_code.content import read_content
from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import omit, plain
from collector.agents.claude_code.identity import canonical
from collector.agents.claude_code.origin import PROMPTS, kind_of
from collector.agents.claude_code.rendered import put_rendered

Record = dict[str, Any]

HOOK_KINDS = frozenset(
    {
        "async_hook_response", "async_hook_response_batch", "hook_additional_context", "hook_blocking_error",
        "hook_cancelled", "hook_deferred_tool", "hook_error_during_execution", "hook_non_blocking_error",
        "hook_permission_decision", "hook_plugin_listing", "hook_stopped_continuation", "hook_success",
        "hook_system_message",
    }
)  # fmt: skip
# Messages to this session from another session, an agent or a plugin.
MESSAGE_KINDS = {
    "coordinator_context": "peer",
    "fork_briefing": "task",
    "plugin_note": "meta",
    "poll_events": "meta",
    "teammate_mailbox": "peer",
    "teammate_shutdown_batch": "peer",
}
# All other kinds in Claude Code's own list (2.1.328) and in earlier versions: each is an `attachment` with all its
# fields. They are listed so that `make client-diff` can tell a new kind from one that has been reviewed.
PLAIN_KINDS = frozenset(
    {
        "account_memory_recall", "advisor_stripped", "advisor_tool", "agent_ask_notice", "agent_listing_delta",
        "agent_mention", "already_read_file", "artifact_opening_prefetch", "at_mention_reference",
        "attention_budget", "auto_mode", "auto_mode_exit", "bash_output_audience_note", "batching_reminder",
        "batching_reminder_sent", "budget_usd", "claude_app_notice", "command_permissions",
        "compact_file_reference", "context_efficiency", "context_sections", "cowork_memory_context",
        "credential_org", "critical_system_reminder", "date", "date_change", "deferred_tools_delta",
        "deferred_tools_record", "diagnostics", "dir_sync_notice", "directory", "dynamic_skill",
        "edited_image_file", "edited_text_file", "elapsed_time_reminder", "environment", "file", "goal_status",
        "goals", "inlined_image_paths", "instruction_files_not_loaded", "instructions", "invoked_skills",
        "language", "linked_plugin_tools_note", "max_turns_reached", "mcp_dropped_tools_delta",
        "mcp_instructions_delta", "mcp_resource", "memory_update", "message_pdf_reads", "model",
        "nested_memory", "opened_file_in_ide", "output_limit_note", "output_style", "output_style_instructions",
        "output_token_usage", "pdf_reference", "peer_mention", "plan_file_reference", "plan_mode",
        "plan_mode_exit", "plan_mode_reentry", "prefix_delta", "proactivity", "project_doc_reads",
        "projects_thread_ask", "prompt_as_file", "prompt_render_point", "read_truncation_notice",
        "relevant_memories", "remote_session_change", "repl_mcp_needs_auth", "repl_mcp_servers",
        "sandbox_instructions", "secondary_reminder", "secondary_reminder_sent", "selected_lines_in_diff",
        "selected_lines_in_ide", "session_context", "session_cron_carry", "silent_turn_reminder",
        "skill_listing", "skill_mention", "structured_output", "task_reminder", "task_status", "team_context",
        "thinking_drop", "thinking_stripped", "thread_state", "todo_reminder", "token_usage",
        "tool_host_result_lines", "tool_hosts_correction", "tool_hosts_notice", "tool_offer_record",
        "tool_results_cut", "tool_search_usage_reminder", "total_tokens_reminder", "ultra_effort_enter",
        "ultra_effort_exit", "ultrathink_effort", "unknown_command_fallback", "whole_texts_withdrawn",
        "widget_context_hint", "withheld_memory", "workflow_keyword_request", "workflow_size_guideline_change",
    }
)  # fmt: skip
KINDS = HOOK_KINDS | MESSAGE_KINDS.keys() | PLAIN_KINDS | {"queued_command", "prompt_snapshot"}
TEXT_KEYS = ("text", "snippet", "planContent")
PROMPT_MODES = frozenset({"", "prompt", "bash"})
CALL_ID = re.compile(r"[a-z]{4,12}_[A-Za-z0-9_-]{6,64}")


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
    else:
        if kind is not None:
            rest["attachment_type"] = kind
        kind = ""
    put_rendered(event, found, rest, context)
    if kind == "queued_command":
        queued(event, body, context)
    elif kind == "prompt_snapshot":
        prompt_snapshot(event, body, context)
    else:
        if kind in HOOK_KINDS or kind.startswith("hook_"):
            hook(event, body)
        elif kind in MESSAGE_KINDS:
            event["kind"], event["origin"] = "user_context", MESSAGE_KINDS[kind]
        body_text(event, body)
    if "addedLines" in body and body["addedLines"] == body.get("addedNames"):
        omit(event, "added_lines", body.pop("addedLines"))
    for key, value in body.items():
        rest[f"attachment_{key}" if key in rest else key] = value


def hook(event: Record, body: Record) -> None:
    """The call_id and tool of a hook that ran for a call: `PostToolUse:Edit` is about a call of Edit."""
    event["kind"] = "hook"
    call_id = body.get("toolUseID")
    # Hooks without a call, such as Stop hooks, have an id of their own in this field.
    if type(call_id) is str and CALL_ID.fullmatch(call_id):
        event["tool"] = {"call_id": body.pop("toolUseID")}
        name = body.get("hookName")
        tool = name.partition(":")[2] if type(name) is str else ""
        if tool:
            event["tool"]["name"] = tool
    # What it printed is its content too, without surrounding space.
    printed = body.get("stdout")
    if type(printed) is str and printed.strip() == body.get("content"):
        omit(event, "stdout", body.pop("stdout"))


def body_text(event: Record, body: Record) -> None:
    """Moves the part that a person would read to `text`."""
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
    """A prompt or notification that reached the model while it was busy. No user record repeats it."""
    mode = text_of(body, "commandMode")
    origin = kind_of(body.get("origin")) or ("human" if mode in PROMPT_MODES else "task")
    if origin == "human" and event.get("sidechain"):
        origin = "task"
    event["kind"] = PROMPTS.get(origin, "user_context")
    event["origin"] = origin
    event["role"] = "user"
    text, blocks = read_content(event, body.pop("prompt", None), context)
    if text:
        event["text"] = text
        context.remember(hash(text))
    if blocks:
        event["blocks"] = blocks


def prompt_snapshot(event: Record, body: Record, context: Context) -> None:
    """The system prompt and tools at this moment, minus whatever this pass has already sent."""
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
    """Tool definitions: in full the first time in a pass, then only by name."""
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
    """A tool's definition. A snapshot wraps it in `schema`, next to a second name and description."""
    schema = tool.get("schema")
    if type(schema) is not dict:
        return tool
    return {**{key: value for key, value in tool.items() if key != "schema"}, **schema}
