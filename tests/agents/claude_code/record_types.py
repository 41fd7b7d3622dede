"""Which versions of Claude Code write which record types, as docs/events.md shows beside each type's kind.

Taken from transcripts of 1.0.0 to 2.1.232 and of 2.1.326 to 2.1.328, and from the tables in the programs of
2.1.327 and 2.1.328.
"""

from __future__ import annotations

EARLY, MIDDLE, NEW = "1.0.0", "2.1.232 or earlier", "2.1.326 or earlier"
NEWER, NEWEST = "2.1.327, in its program", "2.1.328, in its program"
PROGRESS = "up to 2.1.81"
DESCRIBED = "only in descriptions of the format"
STREAMED = "the SDK's own stream"

SEEN: dict[str, str] = {
    **dict.fromkeys(("user", "assistant", "system", "summary"), EARLY),
    "progress": PROGRESS,
    **dict.fromkeys(
        (
            "attachment", "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt",
            "permission-mode", "mode", "ai-title", "custom-title", "agent-name", "agent-setting", "bridge-session",
            "pr-link", "worktree-state", "frame-link", "fork-context-ref",
        ),
        MIDDLE,
    ),
    **dict.fromkeys(
        ("api-request", "api-request-shape", "api-request-blob", "tools-used", "atis-latch", "cost-state"), NEW
    ),
    **dict.fromkeys(
        (
            "agent-color", "artifact-autoreact-ledger", "artifact-comment-monitor", "attribution-snapshot",
            "content-replacement", "continued-in", "data-flow-incomplete", "data-flow-records", "derived-from",
            "dev-mods", "ended-by-model", "history-suppression", "isolation-latch", "memory-mode", "observer-ref",
            "relocated", "repl-mode", "resume-head-vouch", "session-owner", "tag",
        ),
        NEWER,
    ),
    "api-request-resumed": NEWEST,
    **dict.fromkeys(("result", "stream_event"), STREAMED),
    **dict.fromkeys(
        (
            "agent_progress", "bash_progress", "hook_progress", "mcp_progress", "waiting_for_task", "tool_use",
            "tool_result", "image", "base64", "create", "update",
        ),
        DESCRIBED,
    ),
}  # fmt: skip
