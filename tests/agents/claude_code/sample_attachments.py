"""Attachment records: the older kinds by name, and those of the newest writer with their rendered copies."""

from __future__ import annotations

from typing import Any

from tests.agents.claude_code.sample_shapes import CALL, PNG, PROJECT_PATH, common, uuid_of

Record = dict[str, Any]

NOTE = "<task-notification>\n<task-id>a0b2</task-id>\n</task-notification>"
SYSTEM_PROMPT = ["\nYou are an agent working with the user.", "Confirm first what cannot be undone."]
TOOL: Record = {"name": "Bash", "description": "Runs a command", "input_schema": {"type": "object", "properties": {}}}

OLDER: dict[str, Record] = {
    "agent_listing_delta": {"addedTypes": ["Explore"], "addedLines": ["- Explore: read-only"], "isInitial": True},
    "agent_mention": {"agentType": "reviewer"},
    "async_hook_response": {
        "processId": "1",
        "hookName": "SessionStart",
        "hookEvent": "SessionStart",
        "response": {},
        "stdout": "hi",
    },
    "auto_mode": {"bashFirst": True, "bypass": True},
    "budget_usd": {"used": 0.5, "total": 2, "remaining": 1.5},
    "command_permissions": {"allowedTools": ["Bash(ls:*)"]},
    "compact_file_reference": {"filename": f"{PROJECT_PATH}/a.py", "displayPath": "a.py"},
    "critical_system_reminder": {"content": "Remember this"},
    "date_change": {"newDate": "2026-03-02"},
    "deferred_tools_delta": {"addedNames": ["CronCreate"], "addedLines": ["CronCreate"], "removedNames": []},
    "diagnostics": {
        "files": [{"uri": "file:///work/app/a.py", "diagnostics": [{"message": "unused", "severity": "Hint"}]}],
        "isNew": True,
    },
    "directory": {"path": PROJECT_PATH, "content": "a.py\nb.py", "displayPath": "."},
    "edited_image_file": {
        "filename": "a.png",
        "content": {"type": "image", "file": {"base64": PNG, "type": "image/png"}},
    },
    "edited_text_file": {"filename": f"{PROJECT_PATH}/a.py", "snippet": "1\tprint('hi')"},
    "file": {
        "filename": f"{PROJECT_PATH}/a.py",
        "displayPath": "a.py",
        "content": {
            "type": "text",
            "file": {"filePath": f"{PROJECT_PATH}/a.py", "content": "print('hi')", "numLines": 1},
        },
    },
    "goal_status": {"met": False, "condition": "tests pass"},
    "hook_additional_context": {
        "content": ["Use tabs"],
        "hookName": "SessionStart",
        "toolUseID": "x",
        "hookEvent": "SessionStart",
    },
    "hook_blocking_error": {
        "hookName": "PreToolUse:Bash",
        "toolUseID": CALL,
        "hookEvent": "PreToolUse",
        "blockingError": {"blockingError": "not allowed", "command": "guard.sh"},
    },
    "hook_cancelled": {"hookName": "Stop", "toolUseID": "x", "hookEvent": "Stop"},
    "hook_non_blocking_error": {
        "hookName": "PostToolUse:Edit",
        "toolUseID": CALL,
        "hookEvent": "PostToolUse",
        "stderr": "lint failed",
        "stdout": "",
        "exitCode": 1,
        "command": "lint.sh",
        "durationMs": 40,
    },
    "hook_success": {
        "hookName": "PostToolUse:Edit",
        "toolUseID": CALL,
        "hookEvent": "PostToolUse",
        "content": "formatted",
        "stdout": "formatted",
        "stderr": "",
        "exitCode": 0,
        "command": "format.sh",
        "durationMs": 41,
    },
    "hook_system_message": {"content": "From a hook", "hookName": "Stop", "hookEvent": "Stop"},
    "invoked_skills": {"skills": [{"name": "review", "path": "/skills/review", "content": "How to review"}]},
    "mcp_instructions_delta": {"addedNames": ["files"], "addedBlocks": ["## files\nUse it"], "removedNames": []},
    "nested_memory": {
        "path": f"{PROJECT_PATH}/CLAUDE.md",
        "content": {"path": f"{PROJECT_PATH}/CLAUDE.md", "type": "Project", "content": "Use tabs"},
        "displayPath": "CLAUDE.md",
    },
    "opened_file_in_ide": {"filename": f"{PROJECT_PATH}/a.py"},
    "output_style": {"style": "Explanatory"},
    "plan_file_reference": {"planFilePath": "/home/dev/.claude/plans/x.md", "planContent": "1. Read"},
    "plan_mode": {
        "reminderType": "full",
        "isSubAgent": False,
        "planFilePath": "/home/dev/.claude/plans/x.md",
        "planExists": False,
    },
    "plan_mode_exit": {"planFilePath": "/home/dev/.claude/plans/x.md", "planExists": True},
    "selected_lines_in_ide": {
        "filename": "a.py",
        "lineStart": 1,
        "lineEnd": 2,
        "content": "print('hi')",
        "ideName": "Code",
    },
    "skill_listing": {"content": "- review: reviews", "skillCount": 1, "isInitial": True, "names": ["review"]},
    "task_reminder": {"content": [], "itemCount": 0},
    "task_status": {"taskId": "a0b2", "taskType": "local_agent", "status": "running", "description": "explore"},
    "todo_reminder": {"content": [{"content": "Fix login", "status": "pending"}], "itemCount": 1},
    "token_usage": {"used": 9000, "total": 200000, "remaining": 191000},
    "ultrathink_effort": {"level": "high"},
    "an_attachment_of_tomorrow": {"novelty": "a text nobody knows", "depth": {"level": [1, 2, 3]}},
}


def attachment(kind: str, body: Record, **keys: Any) -> Record:
    """An attachment record."""
    name = f"attachment_{kind}"
    return common("attachment", name, attachment={"type": kind, **body}, **keys)


def rendered(kind: str, body: Record, text: str) -> Record:
    """An attachment record of the newest writer, with its rendered copy."""
    copy = [{"content": f"<system-reminder>\n{text}\n</system-reminder>"}]
    return attachment(kind, body, rendered=copy, renderedRole="system", version="2.1.326")


NEWEST: dict[str, Record] = {
    "attachment_environment": rendered(
        "environment",
        {"snapshot": {"workingDirectory": PROJECT_PATH, "platform": "linux", "shell": "bash"}},
        "# Environment",
    ),
    "attachment_model": rendered(
        "model",
        {"identity": {"modelId": "claude-opus-5-5"}, "text": "You are powered by Opus."},
        "You are powered by Opus.",
    ),
    "attachment_session_context": attachment("session_context", {"context": {}}, version="2.1.326"),
    "attachment_date": rendered("date", {"date": "2026-11-18"}, "Today's date is 2026-11-18."),
    "attachment_remote_session_change": rendered(
        "remote_session_change",
        {"url": None, "commit": "Co-Authored-By: X", "pr": "Made with X"},
        "Attribution: Co-Authored-By: X",
    ),
    "attachment_prompt_snapshot": attachment(
        "prompt_snapshot", {"systemPrompt": SYSTEM_PROMPT, "reminderFold": False}, version="2.1.326"
    ),
    "attachment_prompt_snapshot_tools": attachment(
        "prompt_snapshot",
        {"systemPrompt": SYSTEM_PROMPT, "tools": [TOOL | {"schema": TOOL}], "cliPrefix": "x"},
        version="2.1.326",
        uuid=uuid_of("second snapshot"),
    ),
    "attachment_queued_prompt": attachment(
        "queued_command", {"prompt": "And run the tests", "commandMode": "prompt", "source_uuid": uuid_of("q")}
    ),
    "attachment_queued_blocks": attachment(
        "queued_command",
        {"prompt": [{"type": "text", "text": "And look at this"}], "commandMode": "prompt"},
        uuid=uuid_of("queued blocks"),
    ),
    "attachment_queued_task": attachment(
        "queued_command",
        {
            "prompt": NOTE,
            "commandMode": "task-notification",
            "origin": {"kind": "task-notification", "producer": "session-task"},
            "timestamp": "2026-11-18T11:22:48.815Z",
            "usage": {"totalTokens": 8584, "toolUses": 1, "durationMs": 203},
        },
        uuid=uuid_of("queued task"),
        rendered=[{"content": f"<system-reminder>\n{NOTE}\n</system-reminder>"}],
        renderedInHumanTurn=[{"content": f"<system-reminder>\nA person spoke too.\n{NOTE}\n</system-reminder>"}],
    ),
}

RECORDS: dict[str, Record] = {
    **{f"attachment_{kind}": attachment(kind, body) for kind, body in OLDER.items()},
    **NEWEST,
}
