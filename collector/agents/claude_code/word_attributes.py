"""The attributes whose values are words of a fixed vocabulary, such as names of models, tools and modes."""

from __future__ import annotations

WORD_ATTRIBUTES = frozenset(
    {
        "agent_count", "api_block_index", "api_error_status", "api_error_type", "attribution_agent",
        "attribution_mcp_server", "attribution_mcp_tool", "attribution_plugin", "attribution_skill",
        "command_mode", "compact_metadata", "cost_usd", "duration_api_ms", "duration_ms", "effort", "exit_code",
        "has_output", "has_unknown_model_cost", "hook_count", "hook_event", "is_api_error_message", "is_error",
        "is_snapshot_update", "item_count", "keep", "level", "made_by", "max_retries", "message_count",
        "microcompact_metadata", "mode", "model_usage", "num_turns", "operation", "per_turn_effort",
        "permission_decision", "permission_mode", "pr_number", "prevented_continuation",
        "prompt_cache_requested", "prompt_source", "query_source", "requested_model", "retry_attempt",
        "retry_in_ms", "sandboxed", "session_kind", "side", "skill_count", "start_time", "status", "tail_count",
        "thinking_duration_ms", "tool_input_stream_ms", "tools", "total_api_duration",
        "total_api_duration_without_retries", "total_cost_usd", "total_duration", "total_lines_added",
        "total_lines_removed", "total_messages", "total_sessions", "total_tokens", "total_tool_calls",
        "total_tool_duration", "turn_origin", "turn_position", "version",
    }
)  # fmt: skip
