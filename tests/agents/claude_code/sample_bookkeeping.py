"""System records and the bookkeeping lines of a session."""

from __future__ import annotations

from typing import Any

from tests.agents.claude_code.sample_shapes import CALL, MODEL, PROJECT_PATH, SESSION, common, usage, uuid_of

Record = dict[str, Any]

FILE = f"{PROJECT_PATH}/a.py"


def system(subtype: str, **keys: Any) -> Record:
    """A system record."""
    return common("system", f"system_{subtype}", subtype=subtype, isMeta=False, **keys)


def line(kind: str, **keys: Any) -> Record:
    """A bookkeeping line, without uuid and time."""
    return {"type": kind, "sessionId": SESSION, **keys}


SYSTEM: dict[str, Record] = {
    "system_compact_boundary": system(
        "compact_boundary",
        content="Conversation compacted",
        level="info",
        logicalParentUuid=uuid_of("before"),
        compactMetadata={"trigger": "auto", "preTokens": 155159},
    ),
    "system_microcompact_boundary": system(
        "microcompact_boundary",
        content="Context microcompacted",
        microcompactMetadata={"trigger": "auto", "preTokens": 100, "tokensSaved": 40, "compactedToolIds": ["toolu_1"]},
    ),
    "system_api_error": system(
        "api_error",
        level="error",
        error={
            "status": 529,
            "headers": {"set-cookie": "a=b"},
            "requestID": "req_01overloaded",
            "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        },
        retryInMs=591.5,
        retryAttempt=1,
        maxRetries=10,
    ),
    "system_stop_hook_summary": system(
        "stop_hook_summary",
        hookCount=1,
        hookInfos=[{"command": "notify.sh", "durationMs": 12}],
        hookErrors=[],
        preventedContinuation=False,
        stopReason="",
        hasOutput=True,
        level="suggestion",
        toolUseID=uuid_of("hook"),
    ),
    "system_turn_duration": system("turn_duration", durationMs=114731, messageCount=9),
    "system_local_command": system("local_command", content="<command-name>/status</command-name>", level="info"),
    "system_away_summary": system("away_summary", content="While you were away: all tests pass."),
    "system_scheduled_task_fire": system("scheduled_task_fire", content="Nightly check"),
    "system_bridge_status": system("bridge_status", content="connected", url="https://example.com/s/1"),
    "system_informational": system("informational", content="A newer version exists", level="info"),
    "system_of_tomorrow": system("something_new", content="A sentence", novelty={"level": 3}),
    "system_init": {
        "type": "system",
        "subtype": "init",
        "session_id": SESSION,
        "cwd": PROJECT_PATH,
        "tools": ["Bash", "Read"],
        "mcp_servers": [{"name": "files", "status": "connected"}],
        "model": MODEL,
        "permissionMode": "default",
        "slash_commands": ["compact"],
        "apiKeySource": "none",
        "uuid": uuid_of("init"),
        "timestamp": "2026-01-15T10:00:00.000Z",
    },
    "sdk_result": {
        "type": "result",
        "subtype": "success",
        "session_id": SESSION,
        "is_error": False,
        "num_turns": 3,
        "duration_ms": 4000,
        "duration_api_ms": 3000,
        "result": "All done.",
        "total_cost_usd": 0.02,
        "usage": usage(700),
        "uuid": uuid_of("result"),
    },
    "sdk_stream_event": {
        "type": "stream_event",
        "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Al"}},
        "parent_tool_use_id": None,
        "session_id": SESSION,
        "uuid": uuid_of("stream"),
    },
}

LINES: dict[str, Record] = {
    "summary": {"type": "summary", "summary": "Login bug fixed", "leafUuid": uuid_of("leaf")},
    "ai_title": line("ai-title", aiTitle="Fix login bug"),
    "custom_title": line("custom-title", customTitle="My login work"),
    "agent_name": line("agent-name", agentName="login-fixer"),
    "last_prompt": line("last-prompt", lastPrompt="Fix the login bug", leafUuid=uuid_of("leaf")),
    "mode": line("mode", mode="normal"),
    "permission_mode": line("permission-mode", permissionMode="acceptEdits"),
    "agent_setting": line("agent-setting", agentSetting="reviewer"),
    "queue_enqueue": line(
        "queue-operation", operation="enqueue", timestamp="2026-01-09T23:44:35.782Z", content="Then this"
    ),
    "queue_dequeue": line("queue-operation", operation="dequeue", timestamp="2026-01-09T23:44:36.782Z"),
    "queue_remove": line(
        "queue-operation",
        operation="remove",
        timestamp="2026-01-09T23:44:37.782Z",
        reason="absorbed_mid_turn",
        content="Then this",
    ),
    "queue_pop_all": line(
        "queue-operation", operation="popAll", timestamp="2026-01-09T23:44:38.782Z", content="Then this"
    ),
    "file_snapshot": {
        "type": "file-history-snapshot",
        "messageId": uuid_of("message"),
        "snapshot": {
            "messageId": uuid_of("message"),
            "trackedFileBackups": {
                FILE: {"backupFileName": "ab12@v1", "version": 1, "backupTime": "2026-01-09T23:44:35.000Z"}
            },
            "timestamp": "2026-01-09T23:44:35.790Z",
        },
        "isSnapshotUpdate": False,
    },
    "file_snapshot_contents": {
        "type": "file-history-snapshot",
        "messageId": uuid_of("message 2"),
        "snapshot": {
            "messageId": uuid_of("message 2"),
            "trackedFileBackups": {
                FILE: "original file contents",
                f"{PROJECT_PATH}/b.py": {"originalContent": "was", "modifiedContent": "is"},
            },
            "timestamp": "2026-01-09T23:44:36.790Z",
        },
        "isSnapshotUpdate": True,
    },
    "file_delta": line(
        "file-history-delta",
        snapshotMessageId=uuid_of("message"),
        trackingPath=FILE,
        backup={"backupFileName": "ab12@v2", "version": 2, "backupTime": "2026-01-09T23:44:39.000Z"},
    ),
    "pr_link": line(
        "pr-link",
        prNumber=7,
        prUrl="https://git.example.com/app/pull/7",
        prRepository="app",
        timestamp="2026-01-09T23:44:39.782Z",
    ),
    "frame_link": line("frame-link", frameUrl="https://example.com/f/1", title="A frame"),
    "worktree_state": line("worktree-state", worktreeSession={"worktreePath": "/work/app-2", "worktreeBranch": "fix"}),
    "bridge_session": line("bridge-session", bridgeSessionId="cse_1", lastSequenceNum=4),
    "fork_context": line("fork-context-ref", agentId="a1b2c3d4e5f60718", parentSessionId=SESSION, contextLength=9),
    "tag": line("tag", tag="login"),
    "relocated": line("relocated", relocatedCwd="/work/app-2"),
    "continued_in": line("continued-in", continuedIn=uuid_of("next session")),
    "derived_from": line("derived-from", v=1, sessions=[{"sessionId": uuid_of("elder session")}]),
    "ended_by_model": line("ended-by-model", timestamp="2026-11-18T11:25:00.000Z"),
    "observer_ref": line("observer-ref", agentId="a1b2c3d4e5f60718", timestamp="2026-11-18T11:25:01.000Z"),
    "resume_head_vouch": line("resume-head-vouch", sum="5d41402abc4b2a76b9719d911017c592"),
    "session_owner": line("session-owner", accountUuid=uuid_of("account"), organizationUuid=uuid_of("organization")),
    "content_replacement": line(
        "content-replacement", replacements=[{"kind": "tool-result", "toolUseId": CALL, "replacement": "cut"}]
    ),
    "data_flow_records": line("data-flow-records", v=1, records=[{"kind": "local"}]),
    "data_flow_incomplete": line("data-flow-incomplete", v=1),
    "artifact_comment_monitor": line("artifact-comment-monitor", v=1, artifacts={"one": {"seen": 2}}),
    "artifact_autoreact_ledger": line(
        "artifact-autoreact-ledger", v=1, accountUuid=uuid_of("account"), artifacts={"one": {"count": 1}}
    ),
    "attribution_snapshot": line("attribution-snapshot", messageId=uuid_of("message"), promptCount=3),
    "history_suppression": line("history-suppression", cause="organization", ts="2026-11-18T11:25:02.000Z"),
    "isolation_latch": line("isolation-latch", side="inside"),
    "dev_mods": line("dev-mods", folder="/work/mods"),
    "agent_color": line("agent-color", agentColor="blue"),
    "memory_mode": line(
        "memory-mode", mode="off", afterUuid=uuid_of("leaf"), timestamp="2026-11-18T11:25:03.000Z", reason="asked"
    ),
    "repl_mode": line("repl-mode", replMode="code"),
    "tools_used": line("tools-used", tools=["Bash", "Write"]),
    "atis_latch": line("atis-latch", atis="on"),
    "cost_state": line(
        "cost-state",
        totalCostUSD=0.042,
        totalAPIDuration=342,
        totalLinesAdded=3,
        totalDuration=855,
        startTime=1795000968001,
        modelUsage={
            "claude-opus-5-5": {
                "inputTokens": 135,
                "outputTokens": 495,
                "cacheReadInputTokens": 45000,
                "costUSD": 0.042,
            }
        },
        hasUnknownModelCost=False,
    ),
    "create": {"type": "create", "resource": "file", "path": FILE, "timestamp": "2026-01-26T13:37:43.219Z"},
    "update": {"type": "update", "resource": "file", "path": FILE, "timestamp": "2026-01-26T13:37:44.219Z"},
    "a_type_of_tomorrow": line(
        "a-type-of-tomorrow", novelty="a text nobody knows", parts=[{"deep": {"deeper": "words"}}], count=3
    ),
    "a_message_of_tomorrow": common(
        "assistant-v2",
        "a_message_of_tomorrow",
        message={
            "id": "msg_01tomorrow",
            "model": MODEL,
            "role": "assistant",
            "content": "New words",
            "usage": usage(12),
        },
    ),
    "no_type": {"words": "a record without a type", "sessionId": SESSION},
}

RECORDS: dict[str, Record] = {**SYSTEM, **LINES}
