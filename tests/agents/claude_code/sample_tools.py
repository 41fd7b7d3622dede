"""Tool results in the shapes their `toolUseResult` takes."""

from __future__ import annotations

from typing import Any

from tests.agents.claude_code.sample_messages import IMAGE
from tests.agents.claude_code.sample_shapes import CALL, PNG, PROJECT_PATH, tool_result, user

Record = dict[str, Any]

FILE = f"{PROJECT_PATH}/hello.py"
BIG = "\n".join(str(number) for number in range(9000))[:30000]
STUB = (
    "<persisted-output>\nOutput too large (106.3KB). Full output saved to: /x/tool-results/b.txt\n\n"
    f"Preview (first 2KB):\n{BIG[:2000]}\n...\n</persisted-output>"
)
HUNK: Record = {
    "oldStart": 1,
    "oldLines": 2,
    "newStart": 1,
    "newLines": 2,
    "lines": [" a", "-print('hi')", "+print('hello')"],
}

RECORDS: dict[str, Record] = {
    "tool_result_bare": tool_result("tool_result_bare", "...file contents...", is_error=None),
    "tool_result_bash": tool_result(
        "tool_result_bash",
        "line1\nline2",
        {"stdout": "line1\nline2\n", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
        permissionDecision={"decision": "accept", "source": "config", "reasonType": "mode"},
        sandboxed=False,
    ),
    "tool_result_bash_interpreted": tool_result(
        "tool_result_bash_interpreted",
        "",
        {"stdout": "", "stderr": "", "interrupted": True, "returnCodeInterpretation": "No matches found"},
    ),
    "tool_result_error": tool_result(
        "tool_result_error", "Exit code 2\nno such file", "Error: Exit code 2\nno such file", is_error=True
    ),
    "tool_result_denied": tool_result(
        "tool_result_denied",
        "The user doesn't want to proceed with this tool use.",
        "User rejected tool use",
        is_error=True,
        toolDenialKind="user-rejected",
    ),
    "tool_result_persisted": tool_result(
        "tool_result_persisted",
        STUB,
        {
            "stdout": BIG,
            "stderr": "",
            "interrupted": False,
            "persistedOutputPath": "/x/b.txt",
            "persistedOutputSize": 108894,
        },
    ),
    "tool_result_read": tool_result(
        "tool_result_read",
        "     1\tprint('hi')\n     2\t",
        {
            "type": "text",
            "file": {"filePath": FILE, "content": "print('hi')\n", "numLines": 2, "startLine": 1, "totalLines": 2},
        },
    ),
    "tool_result_read_image": tool_result(
        "tool_result_read_image",
        [IMAGE],
        {"type": "image", "file": {"base64": PNG, "type": "image/png", "originalSize": 2056}},
    ),
    "tool_result_write": tool_result(
        "tool_result_write",
        f"File created successfully at: {FILE}",
        {
            "type": "create",
            "filePath": FILE,
            "content": "print('hi')\n" * 20,
            "structuredPatch": [],
            "originalFile": None,
        },
        todos=[{"content": "Fix login", "status": "completed", "activeForm": "Fixing login"}],
    ),
    "tool_result_edit": tool_result(
        "tool_result_edit",
        f"The file {FILE} has been updated successfully.",
        {
            "filePath": FILE,
            "oldString": "hi",
            "newString": "hello",
            "originalFile": "print('hi')\n" * 500,
            "structuredPatch": [HUNK],
            "userModified": False,
            "replaceAll": False,
        },
    ),
    "tool_result_glob": tool_result(
        "tool_result_glob",
        "/work/app/a.py\n/work/app/b.py",
        {"filenames": ["/work/app/a.py", "/work/app/b.py"], "durationMs": 12, "numFiles": 2, "truncated": False},
    ),
    "tool_result_grep": tool_result(
        "tool_result_grep",
        "Found 1 file\n/work/app/a.py",
        {"mode": "files_with_matches", "filenames": ["/work/app/a.py"], "numFiles": 1, "appliedLimit": 250},
    ),
    "tool_result_task": tool_result(
        "tool_result_task",
        [{"type": "text", "text": "Three files use the old name."}],
        {
            "status": "completed",
            "prompt": "Explore the repository",
            "agentId": "aff2f18",
            "content": [{"type": "text", "text": "Three files use the old name."}],
            "totalDurationMs": 107544,
            "totalTokens": 79900,
            "totalToolUseCount": 49,
            "usage": {"input_tokens": 5, "output_tokens": 900, "cache_read_input_tokens": 70000},
        },
    ),
    "tool_result_agent_launched": tool_result(
        "tool_result_agent_launched",
        [{"type": "text", "text": "Async agent launched successfully."}],
        {
            "isAsync": True,
            "status": "async_launched",
            "agentId": "a0b2934ba40961bcf",
            "description": "explore",
            "resolvedModel": "claude-opus-5-5",
            "prompt": "Look around",
            "outputFile": "/tmp/tasks/a0.output",
        },
    ),
    "tool_result_todo": tool_result(
        "tool_result_todo",
        "Todos have been modified successfully.",
        {"oldTodos": [], "newTodos": [{"content": "Fix login", "status": "pending", "activeForm": "Fixing login"}]},
    ),
    "tool_result_web_search": tool_result(
        "tool_result_web_search",
        'Web search results for query: "orjson"\n\norjson is a fast JSON library.',
        {
            "query": "orjson",
            "results": [{"tool_use_id": "srvtoolu_1", "content": [{"title": "orjson", "url": "https://example.com"}]}],
            "durationSeconds": 3.5,
        },
    ),
    "tool_result_web_fetch": tool_result(
        "tool_result_web_fetch",
        "The page describes orjson.",
        {
            "bytes": 90123,
            "code": 200,
            "codeText": "OK",
            "result": "The page describes orjson.",
            "durationMs": 2100,
            "url": "https://example.com",
        },
    ),
    "tool_result_mcp": tool_result(
        "tool_result_mcp", [{"type": "text", "text": "42 rows"}], [{"type": "text", "text": "42 rows"}]
    ),
    "tool_result_answers": tool_result(
        "tool_result_answers",
        'User has answered your questions: "Which color?"="Blue".',
        {
            "questions": [{"question": "Which color?", "options": [{"label": "Blue"}, {"label": "Red"}]}],
            "answers": {"Which color?": "Blue"},
            "annotations": {"Which color?": {"notes": "only in the result"}},
        },
    ),
    "tool_result_plan": tool_result(
        "tool_result_plan",
        "User has approved your plan.",
        {"plan": "1. Read\n2. Write\n3. Test", "isAgent": False, "filePath": "/home/dev/.claude/plans/x.md"},
    ),
    "tool_result_reference": tool_result(
        "tool_result_reference",
        [{"type": "tool_reference", "tool_name": "WebFetch"}],
        {"matches": ["WebFetch"], "query": "select:WebFetch", "total_deferred_tools": 11},
    ),
    "tool_results_in_one_record": user(
        "tool_results_in_one_record",
        [
            {"type": "tool_result", "tool_use_id": CALL, "content": "first"},
            {
                "type": "tool_result",
                "tool_use_id": CALL + "2",
                "content": [{"type": "text", "text": "second"}],
                "is_error": True,
            },
            {"type": "text", "text": "And a word from the person"},
        ],
        version="1.0.93",
    ),
}
