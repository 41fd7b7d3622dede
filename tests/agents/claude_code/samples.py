"""One record of every type and shape that Claude Code is known to write, by name; many tests share them.

ALL_RECORDS has what a transcript may contain; the other tables have what the other sources contain. Everything is made
up and deterministic.
"""

from __future__ import annotations

from typing import Any

from tests.agents.claude_code import (
    sample_attachments,
    sample_bookkeeping,
    sample_messages,
    sample_requests,
    sample_tools,
)
from tests.agents.claude_code.sample_shapes import PROJECT_PATH, SESSION

Record = dict[str, Any]

ALL_RECORDS: dict[str, Record] = {
    **sample_messages.RECORDS,
    **sample_tools.RECORDS,
    **sample_attachments.RECORDS,
    **sample_bookkeeping.RECORDS,
    **sample_requests.RECORDS,
}

HISTORY_LINES: dict[str, Record] = {
    "history": {
        "display": "Fix the login bug",
        "pastedContents": {},
        "timestamp": 1772359200123,
        "project": PROJECT_PATH,
        "sessionId": SESSION,
    },
    "history_pasted": {
        "display": "Look at [Pasted text #1 +3 lines]",
        "pastedContents": {
            "1": {"id": 1, "type": "text", "content": "first\nsecond\nthird"},
            "2": {"id": 2, "type": "text", "contentHash": "ab12cd34ef56ab78"},
        },
        "timestamp": 1772359201123,
        "project": PROJECT_PATH,
    },
}

JOURNAL_LINES: dict[str, Record] = {
    "journal_launched": {"type": "launched", "hiddenScriptSha256": "9f" * 32},
    "journal_failed": {"type": "failed", "key": f"v2:{'4c' * 32}", "agentId": "a1b2c3d4e5f60718"},
    "journal_started": {"type": "started", "key": "v2:explore", "agentId": "a1b2c3d4e5f60718"},
    "journal_result": {
        "type": "result",
        "key": "v2:explore",
        "agentId": "a1b2c3d4e5f60718",
        "result": "Three files use the old name.",
    },
    "journal_result_object": {
        "type": "result",
        "key": "v2:count",
        "agentId": "a1b2c3d4e5f60719",
        "result": {"files": 3, "names": ["a.py", "b.py", "c.py"]},
    },
}

WORKFLOW_RUN: Record = {
    "taskId": "w1a2b3c4d",
    "script": "export const meta = { name: 'audit' }\nreturn await agent('Look around')",
    "scriptPath": f"/home/dev/.claude/projects/-work-app/{SESSION}/workflows/scripts/audit-wf_1a2b3c4d5e6f.js",
    "args": {"depth": 2},
    "result": "Three files use the old name.",
    "agentCount": 2,
    "logs": ["phase one"],
    "durationMs": 1500,
    "summary": "Audit the app",
    "workflowName": "audit",
    "status": "completed",
    "startTime": 1795056230214,
    "phases": [{"title": "Look"}],
    "defaultModel": "claude-opus-5-5",
    "workflowProgress": [
        {
            "type": "workflow_agent",
            "index": 1,
            "label": "look",
            "phaseTitle": "Look",
            "agentId": "a1b2c3d4e5f60718",
            "model": "claude-opus-5-5",
            "state": "done",
            "tokens": 900,
            "toolCalls": 3,
            "durationMs": 1200,
        }
    ],
    "totalTokens": 1800,
    "totalToolCalls": 4,
}

INDEX_ENTRIES: dict[str, Record] = {
    "index_entry": {
        "sessionId": SESSION,
        "fullPath": f"/home/dev/.claude/projects/-work-app/{SESSION}.jsonl",
        "fileMtime": 1768263841305,
        "firstPrompt": "Fix the login bug",
        "summary": "Login bug fixed",
        "messageCount": 14,
        "created": "2026-01-13T00:20:06.190Z",
        "modified": "2026-01-13T00:24:01.280Z",
        "gitBranch": "main",
        "projectPath": PROJECT_PATH,
        "isSidechain": False,
        "prNumber": 7,
        "prUrl": "https://git.example.com/app/pull/7",
        "prRepository": "app",
    },
}

STATS: Record = {
    "version": 2,
    "lastComputedDate": "2026-03-01",
    "dailyActivity": [{"date": "2026-03-01", "messageCount": 9, "sessionCount": 2, "toolCallCount": 4}],
    "dailyModelTokens": [{"date": "2026-03-01", "tokensByModel": {"claude-opus-4-5-20251101": 460}}],
    "modelUsage": {"claude-opus-4-5-20251101": {"inputTokens": 120, "outputTokens": 340, "costUSD": 0.1}},
    "totalSessions": 2,
    "totalMessages": 9,
    "longestSession": {"sessionId": SESSION, "duration": 1000, "messageCount": 5},
    "firstSessionDate": "2026-02-01T10:00:00.000Z",
    "hourCounts": {"10": 2},
}
