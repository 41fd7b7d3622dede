"""The words that Claude Code itself writes: all that the level `metadata` keeps of its records besides numbers and ids.

A word that is not here may be somebody's, so it is not sent, or only as a pseudonym. Words of a new version are added
here once they have been reviewed (`make client-diff`).
"""

from __future__ import annotations

import re

from collector.agents.claude_code import bookkeeping, places
from collector.agents.claude_code.attachment import KINDS as ATTACHMENTS
from collector.agents.claude_code.content import BINARY_TYPES
from collector.agents.claude_code.dispatch import HANDLERS, JOURNAL_TYPES, PROGRESS_TYPES
from collector.agents.claude_code.origin import KINDS as ORIGINS
from collector.agents.claude_code.origin import PROGRAMS, TURNS
from collector.flow.vocabulary import Vocabulary

ATTRIBUTES = frozenset(
    {
        "agent_count", "api_block_index", "api_error_status", "api_error_type", "command_mode", "compact_metadata",
        "cost_usd", "duration_api_ms", "duration_ms", "effort", "exit_code", "has_output", "has_unknown_model_cost",
        "hook_count", "hook_event", "is_api_error_message", "is_error", "is_snapshot_update", "item_count", "keep",
        "level", "made_by", "max_retries", "message_count", "microcompact_metadata", "mode", "model_usage", "num_turns",
        "operation", "per_turn_effort", "permission_decision", "permission_mode", "prevented_continuation",
        "prompt_cache_requested", "prompt_source", "query_source", "requested_model", "retry_attempt", "retry_in_ms",
        "sandboxed", "session_kind", "side", "skill_count", "start_time", "status", "tail_count",
        "thinking_duration_ms", "tool_input_stream_ms", "total_api_duration", "total_api_duration_without_retries",
        "total_cost_usd", "total_duration", "total_lines_added", "total_lines_removed", "total_messages",
        "total_sessions", "total_tokens", "total_tool_calls", "total_tool_duration", "turn_origin", "turn_position",
        "version",
    }
)  # fmt: skip
# More attributes of the kinds that hold one sort of text: with a switch off, they count as text of that sort. Any other
# attribute may hold any text, so it is left out.
REVIEWED = frozenset(
    {
        "agent_color", "agent_setting", "backup", "command_run", "daily_activity", "daily_model_tokens", "error",
        "files", "first_session_date", "forked_from", "frame_url", "hour_counts", "last_computed_date",
        "longest_session", "mcp_call_not_read_only", "mcp_meta", "path", "paused_responses", "reason", "rendered",
        "repl_mode", "source", "thinking_display", "title", "todos", "tool_use_id", "tracking_path", "usage_rest",
        "user_feedback",
    }
)  # fmt: skip
# Attributes that name something of a person's, with the kind of thing.
NAMES = {
    "attribution_agent": "agent",
    "attribution_skill": "skill",
    "attribution_plugin": "plugin",
    "attribution_mcp_server": "mcp",
    "attribution_mcp_tool": "tool",
    "tools": "tool",
}
TOOLS = frozenset(
    {
        "Agent", "Artifact", "AskUserQuestion", "Bash", "BashOutput", "Brief", "ClaudeDesign", "Config",
        "CronCreate", "CronDelete", "CronList", "DeferredToolPlaceholder", "Edit", "EndConversation",
        "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell",
        "LS", "LSP", "ListAgents", "ListMcpResources", "ListMcpResourcesTool", "ListPeers", "Monitor", "MultiEdit",
        "NotebookEdit", "NotebookRead", "OfferChromeSetup", "PowerShell", "Projects", "ProposeGoal",
        "PushNotification", "REPL", "Read", "ReadMcpResource", "ReadMcpResourceDir", "ReadMcpResourceDirTool",
        "ReadMcpResourceTool", "ReadNotifications", "RefreshMcpTools", "RemoteTrigger", "ReportFindings",
        "ScheduleWakeup", "SendFeedback", "SendMessage", "SendUserFile", "SendUserMessage", "SetGoal",
        "ShareOnboardingGuide", "ShowOnboardingRolePicker", "Skill", "SlashCommand", "StructuredOutput",
        "SubagentHandback", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
        "TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch",
        "WebSearch", "Workflow", "Write", "advisor", "bash_code_execution", "code_execution",
        "text_editor_code_execution", "tool_search_tool_bm25", "tool_search_tool_regex", "web_fetch", "web_search",
    }
)  # fmt: skip
# Keys that hold paths, in records and in the input and output of tools.
PATHS = frozenset(
    {
        "absolute_path", "additional_directories", "cwd", "directories", "directory", "display_path", "displayPath",
        "file", "filePath", "file_path", "filename", "filenames", "files", "full_path", "fullPath", "import_path",
        "memory_path", "new_path", "notebookPath", "notebook_path", "old_path", "original_cwd", "original_path",
        "originalCwd", "originalPath", "outputFile", "output_file", "path", "paths", "persistedOutputPath",
        "planFilePath", "plan_file_path", "project", "projectPath", "project_path", "root", "scriptPath", "script_path",
        "transcriptDir", "transcriptPath", "transcript_path", "workdir", "working_directory", "worktreePath",
        "worktree_path",
    }
)  # fmt: skip
BLOCKS = frozenset(
    {
        "text", "thinking", "redacted_thinking", "tool_call", "tool_result", "image", "document", "paste",
        "tool_definition", "tool_reference", "value", "unknown", "container_upload", "search_result",
    }
) | BINARY_TYPES  # fmt: skip
AGENTS = frozenset(
    {
        "Explore", "Plan", "claude", "claude-code-guide", "fork", "general-purpose", "main", "output-style-setup",
        "statusline-setup", "teammate", "verification", "worker", "workflow-subagent",
    }
)  # fmt: skip
MEDIA = frozenset(
    {
        "application/json", "application/octet-stream", "application/pdf", "image/gif", "image/jpeg", "image/png",
        "image/svg+xml", "image/webp", "text/html", "text/markdown", "text/plain",
    }
)  # fmt: skip
CALLS = frozenset({"message", "compaction", "fallback_message", "advisor_message"})
HOOKS = frozenset(
    {
        "ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged",
        "InstructionsLoaded", "MessageDisplay", "Notification", "PermissionDenied", "PermissionRequest", "PostCompact",
        "PostModelSwitch", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreModelSwitch",
        "PreToolUse", "SessionEnd", "SessionStart", "Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
        "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion", "UserPromptSubmit", "WorktreeCreate",
        "WorktreeRemove",
    }
)  # fmt: skip
# What a request to the API was made for. What may follow `agent:custom` is somebody's own name.
QUERIES = frozenset(
    {
        "agent", "agent_classifier", "agent_namer", "agent_summary", "artifact_comment_analyst",
        "artifact_comment_fast_ack", "artifact_comment_reply", "artifact_comment_triage", "auto_dream", "auto_mode",
        "auto_mode_critique", "auto_mode_setup_propose", "away_summary", "compact", "comparison_fork",
        "extract_memories", "extract_memories_first_look", "feedback", "generate_session_title", "hook_agent",
        "hook_prompt", "insights", "mcp_datetime_parse", "model_validation", "plugin_eval_judge", "plugin_eval_mock",
        "prompt_suggestion", "rename_generate_name", "repl_main_thread", "resume_cache_warm", "sdk", "session_memory",
        "side_question", "subagent_config_classifier", "title", "tool_use_summary_generation", "web_fetch_apply",
        "web_search_tool",
        *("agent:custom", "agent:default", *(f"agent:builtin:{name}" for name in AGENTS)),
        *(f"repl_main_thread:outputStyle:{name}" for name in ("Concise", "Explanatory", "Learning", "Proactive")),
        "repl_main_thread:outputStyle:custom",
    }
)  # fmt: skip
# Values of fields and attributes, and keys inside attributes.
VALUES = frozenset(
    {
        # roles, ends, tiers
        "assistant", "system", "user", "end_turn", "max_tokens", "model_context_window_exceeded", "pause_turn",
        "refusal", "stop_sequence", "tool_use", "batch", "flex", "priority", "standard", "fast", "eu", "global", "us",
        # how it was started, who asked, in which mode
        "claude-desktop", "claude-vscode", "cli", "mcp", "remote", "local-agent", "ide", "jetbrains", "vscode",
        "acceptEdits", "ask", "auto", "bash", "bypassPermissions", "coordinator", "default", "delegate", "dontAsk",
        "manual", "normal", "plan", "prompt", "task-notification",
        "hook", "keep", "queued", "suggestion", "typed", "voice", "background", "bg", "daemon", "daemon-worker",
        "headless", "interactive",
        # what happened
        "accept", "accepted", "allow", "approve", "block", "cancelled", "canceled", "classifier", "completed", "config",
        "deny", "denied", "dequeue", "done", "enqueue", "error", "failed", "failure", "in_progress", "killed", "left",
        "mode", "ok", "pending", "permissionRule", "popAll", "popOne", "reject", "rejected", "remove", "right", "rule",
        "running", "safetyCheck", "skipped", "started", "stopped", "subcommandResults", "success", "timeout",
        "debug", "info", "notice", "warning", "high", "low", "max", "medium", "minimal", "none", "xhigh",
        "api_error", "authentication_error", "billing_error", "invalid_request_error", "not_found_error",
        "overloaded_error", "permission_error", "rate_limit_error", "request_too_large", "timeout_error",
        # who allowed or refused a call, and for how long
        "automode-blocked", "automode-parsing-error", "automode-unavailable", "permission-rule", "user-rejected",
        "once", "user_abort", "user_permanent", "user_reject", "user_temporary", "5m", "1h",
        # keys inside attributes
        "cache_creation_ephemeral1h_input_tokens", "cache_creation_ephemeral5m_input_tokens",
        "cache_creation_input_tokens", "cache_read_input_tokens", "context_window", "cost_usd", "decision",
        "durationMs", "grantScope", "input_tokens", "max_output_tokens", "output_tokens", "postTokens", "preTokens",
        "promptIndex", "reasonCode", "reasonType", "source", "thinking_tokens", "tokensSaved", "trigger", "turnIndex",
        "web_fetch_requests", "web_search_requests",
    }
)  # fmt: skip

VOCABULARY = Vocabulary(
    words=frozenset(
        {
            *HANDLERS, *JOURNAL_TYPES, *bookkeeping.SYSTEM_KINDS, *bookkeeping.NOTICES, *ATTACHMENTS, *PROGRESS_TYPES,
            *places.KINDS, "run", *BLOCKS, *AGENTS, *MEDIA, *CALLS, *HOOKS, *QUERIES, *VALUES,
            *ORIGINS, *TURNS, *PROGRAMS,
        }
    ),
    attributes=ATTRIBUTES,
    reviewed=REVIEWED,
    names=NAMES,
    tools=TOOLS,
    paths=PATHS,
    answers=frozenset({"AskUserQuestion", "ExitPlanMode"}),
    answer=re.compile(r"(?:The user|User|Your questions have been answered)\b"),
    reports=frozenset({"Agent", "AgentOutputTool", "Task", "TaskOutput"}),
    id=re.compile(
        r"[0-9a-fA-F]{7,64}|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
        r"|(?:msg|req|toolu|srvtoolu|mcptoolu)_(?:bdrk_|vrtx_)?[A-Za-z0-9]{6,40}"
    ),
    model=re.compile(
        r"(?:[a-z]{2,6}\.)?(?:anthropic\.)?claude-[a-z0-9.:@\[\]-]{3,60}|<synthetic>|fable|haiku|inherit|opus|sonnet"
    ),
)  # fmt: skip
