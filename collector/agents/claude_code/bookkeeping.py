"""System records, and Claude Code's own bookkeeping: titles, modes, queue, snapshots, totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from collector.agents.claude_code.context import Context, text_of
from collector.agents.claude_code.free_values import name_of, omit, plain
from collector.agents.claude_code.times import moment

Record = dict[str, Any]
MAX_WRAPPINGS = 4
Handler = Callable[[Record, Record, Record, Context], Any]

SYSTEM_KINDS = {
    "api_error": "api_error",
    "api_retry": "api_error",
    "away_summary": "summary",
    "compact_boundary": "compaction",
    "init": "session",
    "local_command": "local_command",
    "microcompact_boundary": "compaction",
    "stop_hook_summary": "hook",
    "turn_duration": "turn",
}
# All other notices, each a `system` with all its fields; messages to a host, which no transcript contains, among them.
# They are listed so that `make client-diff` can tell a new one from one that has been reviewed.
NOTICES = frozenset(
    {
        "agents_killed", "background_tasks_changed", "bridge_state", "bridge_status", "checkpoint_done",
        "cloud_session_delta", "cloud_session_status", "code_change_published", "commands_changed",
        "control_request_progress", "dev_intent", "elicitation_complete", "feedback_draft_queued",
        "file_attachments_missing", "file_snapshot", "hook_progress", "hook_response", "hook_started",
        "informational", "inherited_asks_settled", "instruction_size_warning", "late_allow_not_run",
        "memory_recall", "memory_saved", "mirror_error", "model_consent_fallback", "model_fallback",
        "model_refusal_fallback", "model_refusal_no_fallback", "notification", "peer_message_hold",
        "per_turn_effort_changed", "permission_check_status", "permission_denied", "permission_retry", "placed",
        "plugin_install", "post_turn_summary", "read_divider", "rewind_stand_in", "scheduled_task_fire",
        "session_metadata", "session_state_changed", "session_title_changed", "session_writes_lost",
        "shell_cwd", "start_folder", "status", "task_notification", "task_progress", "task_started",
        "task_summary", "task_updated", "thinking", "thinking_tokens", "tool_host_result",
        "turn_began_before_init", "turn_handoff_available", "turn_starting", "ui_focus", "ui_invalidate",
        "ui_log", "ui_notify", "ui_notify_cancel", "ui_panes", "ui_placed", "ui_scroll", "ui_status",
        "ui_toast", "vcs_state_changed", "voice_call_talk", "worker_shutting_down",
    }
)  # fmt: skip


def system(event: Record, _record: Record, rest: Record, _context: Context) -> None:
    """A notice from the program; the subtype says which."""
    subtype = event.get("record_subtype")
    event["kind"] = SYSTEM_KINDS.get(subtype, "system") if subtype else "system"
    if rest.get("isMeta") is False:
        del rest["isMeta"]
    if subtype == "api_error":
        api_error(event, rest)
    take_text(event, rest, "content")
    model = rest.get("model")
    if type(model) is str and model:
        event["model"] = rest.pop("model")


def api_error(event: Record, rest: Record) -> None:
    """The API's message, the status, the type of the error and the id of the request, which may be wrapped several
    levels deep."""
    holder = rest
    for _ in range(MAX_WRAPPINGS):
        found = holder.get("error")
        if type(found) is not dict:
            return
        holder["error"] = error = dict(found)
        name = error.get("type") or type_in(text_of(error, "message"))
        take(event, "text", error, ("formatted", "message"))  # the message may be the whole answer, as JSON
        take(event, "request_id", error, ("requestId", "requestID", "request_id"))
        status = error.get("status")
        if type(status) is int and "apiErrorStatus" not in rest:
            rest["apiErrorStatus"] = error.pop("status")
        if type(name) is str and name != "error" and "apiErrorType" not in rest:
            rest["apiErrorType"] = name
            error.pop("type", None)
        holder = error


def type_in(message: str) -> str:
    """The type of the error in the API's whole answer, which follows the status; empty if there is none."""
    _, brace, answer = message.partition("{")
    try:
        whole = orjson.loads(brace + answer)
    except orjson.JSONDecodeError:
        return ""
    return text_of(whole.get("error"), "type")


def take(event: Record, place: str, holder: Record, keys: tuple[str, ...]) -> None:
    """Moves the first string found under one of the keys to its place, unless the place is already filled."""
    for key in keys:
        if place not in event and type(holder.get(key)) is str and holder[key]:
            event[place] = holder.pop(key)


def take_text(event: Record, rest: Record, key: str) -> None:
    """Moves a string to `text`."""
    value = rest.get(key)
    if type(value) is str and value:
        event["text"] = rest.pop(key)


def simple(kind: str, text_key: str = "") -> Handler:
    """A handler for records that amount to a kind, a text and some attributes."""

    def handle(event: Record, _record: Record, rest: Record, _context: Context) -> None:
        event["kind"] = kind
        if text_key:
            take_text(event, rest, text_key)

    return handle


def file_snapshot(event: Record, _record: Record, rest: Record, _context: Context) -> None:
    """Which files have a backup. Some versions include the contents, which are not sent."""
    event["kind"] = "file_snapshot"
    snapshot = rest.pop("snapshot", None)
    if type(snapshot) is not dict:
        if snapshot is not None:
            rest["snapshot"] = snapshot
        return
    left = {key: value for key, value in snapshot.items() if key not in ("timestamp", "messageId")}
    if "messageId" not in rest and snapshot.get("messageId") is not None:
        rest["messageId"] = snapshot["messageId"]
    time = moment(snapshot.get("timestamp"))
    if time:
        event["time"] = time
    elif snapshot.get("timestamp") is not None:
        left["timestamp"] = snapshot["timestamp"]
    backups = left.get("trackedFileBackups")
    if type(backups) is dict:
        del left["trackedFileBackups"]
        if backups:
            rest["files"] = {path: without_contents(event, backup) for path, backup in backups.items()}
    for key, value in left.items():
        rest[f"snapshot_{key}" if key in rest else key] = value


def without_contents(event: Record, backup: Any) -> Any:
    """A backup's facts, without the contents of the file."""
    if type(backup) is str:
        omit(event, "file_contents", backup)
        return {}
    if type(backup) is not dict:
        return backup
    kept = {}
    for key, value in backup.items():
        if type(value) is str and (key.endswith("Content") or key == "content"):
            omit(event, "file_contents", value)
        elif value is not None:
            kept[name_of(key)] = value
    return kept


def session_cost(event: Record, _record: Record, rest: Record, _context: Context) -> None:
    """Claude Code's own totals per model, with keys in our spelling; never under `usage`."""
    event["kind"] = "session_cost"
    models = rest.get("modelUsage")
    if type(models) is dict:
        rest["modelUsage"] = {
            model: {name_of(key): plain(value) for key, value in totals.items()} if type(totals) is dict else totals
            for model, totals in models.items()
        }


def history_suppression(event: Record, _record: Record, rest: Record, _context: Context) -> None:
    """A session that is kept out of the history, with the reason. Its time is under a key of its own."""
    event["kind"] = "session"
    time = moment(rest.get("ts"))
    if time:
        event["time"] = time
        del rest["ts"]


LINEAGE = (
    "continued-in", "derived-from", "ended-by-model", "fork-context-ref", "observer-ref", "relocated",
    "resume-head-vouch", "session-owner", "worktree-state",
)  # fmt: skip
LATCHES = (
    "artifact-autoreact-ledger", "artifact-comment-monitor", "atis-latch", "bridge-session", "content-replacement",
    "data-flow-incomplete", "data-flow-records", "dev-mods", "isolation-latch", "tools-used",
)  # fmt: skip
HANDLERS: dict[str, Handler] = {
    "system": system,
    "summary": simple("summary", "summary"),
    "ai-title": simple("title", "aiTitle"),
    "custom-title": simple("title", "customTitle"),
    "agent-name": simple("title", "agentName"),
    "last-prompt": simple("last_prompt", "lastPrompt"),
    "queue-operation": simple("queue", "content"),
    "mode": simple("mode"),
    "permission-mode": simple("mode"),
    "agent-setting": simple("mode"),
    "agent-color": simple("mode"),
    "memory-mode": simple("mode"),
    "repl-mode": simple("mode"),
    "tag": simple("title", "tag"),
    "pr-link": simple("link"),
    "frame-link": simple("link"),
    # How sessions relate: moved, continued, forked, derived, observed, ended.
    **dict.fromkeys(LINEAGE, simple("session")),
    # What Claude Code remembers about a session for its own use.
    **dict.fromkeys(LATCHES, simple("session")),
    "history-suppression": history_suppression,
    "attribution-snapshot": simple("file_snapshot"),
    "result": simple("session", "result"),
    "stream_event": simple("stream"),
    "create": simple("file_change"),
    "update": simple("file_change"),
    "cost-state": session_cost,
    "file-history-snapshot": file_snapshot,
    "file-history-delta": file_snapshot,
}
