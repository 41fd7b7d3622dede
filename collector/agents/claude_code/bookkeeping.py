"""System records, and the lines Claude Code keeps its books with: titles, modes, queue, snapshots, totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import name_of, omit, plain
from collector.agents.claude_code.times import moment

Record = dict[str, Any]
Handler = Callable[[Record, Record, Record, Context], Any]

SYSTEM_KINDS = {
    "api_error": "api_error",
    "away_summary": "summary",
    "compact_boundary": "compaction",
    "init": "session",
    "local_command": "local_command",
    "microcompact_boundary": "compaction",
    "stop_hook_summary": "hook",
    "turn_duration": "turn",
}


def system(event: Record, _record: Record, rest: Record, _context: Context) -> None:
    """A notice from the program; the subtype says which."""
    subtype = event.get("record_subtype")
    event["kind"] = SYSTEM_KINDS.get(subtype, "system") if subtype else "system"
    if rest.get("isMeta") is False:
        del rest["isMeta"]
    take_text(event, rest, "content")
    model = rest.get("model")
    if type(model) is str and model:
        event["model"] = rest.pop("model")


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
    """Which files have a backup. Some versions put the contents here too; those stay home."""
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
    """What is known of a backup besides the contents of the file."""
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
    """Claude Code's own totals, per model in our spelling; never under `usage`."""
    event["kind"] = "session_cost"
    models = rest.get("modelUsage")
    if type(models) is dict:
        rest["modelUsage"] = {
            model: {name_of(key): plain(value) for key, value in totals.items()} if type(totals) is dict else totals
            for model, totals in models.items()
        }


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
    "pr-link": simple("link"),
    "frame-link": simple("link"),
    "worktree-state": simple("session"),
    "bridge-session": simple("session"),
    "fork-context-ref": simple("session"),
    "tools-used": simple("session"),
    "atis-latch": simple("session"),
    "result": simple("session", "result"),
    "stream_event": simple("stream"),
    "create": simple("file_change"),
    "update": simple("file_change"),
    "cost-state": session_cost,
    "file-history-snapshot": file_snapshot,
    "file-history-delta": file_snapshot,
}
