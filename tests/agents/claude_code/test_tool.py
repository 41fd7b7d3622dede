"""Tool results: each fact is sent once, and whatever is only in the structured copy is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.claude_code.reader import context, normalized, written
from tests.agents.claude_code.sample_shapes import CALL, PNG, SMALL_IMAGE, assistant, tool_result
from tests.agents.claude_code.sample_tools import BIG
from tests.agents.claude_code.samples import ALL_RECORDS


def tool(name: str) -> dict[str, Any]:
    found: dict[str, Any] = normalized(ALL_RECORDS[name])["tool"]
    return found


def test_output_is_not_sent_twice() -> None:
    made = normalized(ALL_RECORDS["tool_result_bash"])
    assert made["blocks"][0]["text"] == "line1\nline2"
    assert made["tool"] == {"call_id": CALL, "ok": True}
    assert made["omitted"] == {"stdout": 12}


def test_long_text_under_any_key_is_not_sent_twice() -> None:
    told, unique = "what the model was told " * 20, "what only the result says " * 20
    made = normalized(tool_result("any key", told, {"report": [{"body": told, "extra": unique}]}))
    assert made["tool"]["details"] == {"report": [{"extra": unique}]}
    assert made["omitted"] == {"tool_use_result": len(told)}


def test_the_structured_content_of_an_mcp_tool_is_not_sent_twice() -> None:
    content = {"rows": [{"name": "Ann", "note": 'said "yes"\nand left'}], "total": 1}
    meta = {"_meta": {"trace": "t-1"}, "structuredContent": content}
    made = normalized(tool_result("structured", json.dumps(content), mcpMeta=meta))
    assert written(made).count("and left") == 1
    assert made["attributes"]["mcp_meta"] == {"_meta": {"trace": "t-1"}}
    made = normalized(tool_result("structured alone", json.dumps(content), mcpMeta={"structuredContent": content}))
    assert "mcp_meta" not in made.get("attributes", {})
    made = normalized(tool_result("structured, too long", "The output was saved to a file.", mcpMeta=meta))
    assert made["attributes"]["mcp_meta"] == meta
    deep: Any = 1
    for _ in range(1000):
        deep = {"a": deep}
    told = '{"a":' * 1000 + "1" + "}" * 1000
    assert normalized(tool_result("nested", told, mcpMeta={"structuredContent": deep}))["blocks"][0]["text"] == told


def test_a_failure_gives_its_exit_code() -> None:
    made = normalized(ALL_RECORDS["tool_result_error"])
    assert made["tool"] == {"call_id": CALL, "ok": False, "exit_code": 2}
    assert written(made).count("no such file") == 1


@pytest.mark.parametrize("ran", ["web_search", "web_fetch", "advisor"])
def test_a_tool_that_failed_at_the_api_did_not_succeed(ran: str) -> None:
    error = {"type": f"{ran}_tool_result_error", "error_code": "max_uses_exceeded"}
    call = {"type": "server_tool_use", "id": "srvtoolu_01failed", "name": ran, "input": {}}
    answer = {"type": f"{ran}_tool_result", "tool_use_id": "srvtoolu_01failed", "content": error}
    _, block = normalized(assistant("at the API", [call, answer]))["blocks"]
    assert (block["name"], block["ok"]) == (ran, False)
    assert block["blocks"][0]["attributes"]["error_code"] == "max_uses_exceeded"


def test_a_refusal_says_who_refused() -> None:
    assert tool("tool_result_denied") == {
        "call_id": CALL,
        "ok": False,
        "denied_by": "user-rejected",
        "message": "User rejected tool use",
    }


@pytest.mark.parametrize("kind", ["interrupted", "cancelled"])
def test_a_call_that_was_stopped_was_not_refused(kind: str) -> None:
    made = normalized(tool_result(f"stopped: {kind}", "No outcome.", is_error=True, toolDenialKind=kind))
    assert made["tool"] == {"call_id": CALL, "ok": False, "interrupted": True}
    assert made["attributes"]["tool_denial_kind"] == kind


def test_the_whole_output_is_kept_and_its_preview_is_not() -> None:
    made = normalized(ALL_RECORDS["tool_result_persisted"])
    assert made["tool"]["details"]["stdout"] == BIG
    assert made["blocks"][0]["text"].startswith("<persisted-output>\nOutput too large")
    assert "Preview" not in made["blocks"][0]["text"]
    assert made["omitted"]["preview"] > 2000


def test_a_preview_without_the_whole_output_stays() -> None:
    record = tool_result(
        "stub", "<persisted-output>\nx\n\nPreview (first 2KB):\nabc", {"stdout": "", "interrupted": True}
    )
    made = normalized(record)
    assert made["blocks"][0]["text"].endswith("abc")
    assert made["tool"]["interrupted"] is True


def test_the_content_of_a_file_that_was_read_is_sent_once() -> None:
    made = normalized(ALL_RECORDS["tool_result_read"])
    assert made["tool"]["file"] == "/work/app/hello.py"
    assert made["tool"]["details"]["file"] == {"num_lines": 2, "start_line": 1, "total_lines": 2}
    assert written(made).count("print('hi')") == 1


def test_file_content_found_only_in_the_result_is_kept() -> None:
    result = {"type": "text", "file": {"filePath": "/a", "content": "only here\nand here"}}
    assert normalized(tool_result("untold", "The file is unchanged.", result))["tool"]["details"]["file"] == {
        "content": "only here\nand here"
    }


def test_an_image_that_was_read_is_described_once() -> None:
    made = normalized(ALL_RECORDS["tool_result_read_image"])
    assert made["blocks"][0]["blocks"][0]["bytes"] == 2056
    assert PNG[:100] not in written(made)
    assert made["omitted"]["file_base64"] == len(PNG)


def test_an_edit_becomes_a_patch_and_the_original_file_is_left_out() -> None:
    made = normalized(ALL_RECORDS["tool_result_edit"])
    assert made["tool"]["patch"] == "@@ -1,2 +1,2 @@\n a\n-print('hi')\n+print('hello')"
    assert (made["tool"]["lines_added"], made["tool"]["lines_removed"]) == (1, 1)
    assert made["omitted"]["original_file"] == 6000


def test_a_notebook_that_was_read_is_sent_once() -> None:
    source, output = "import orjson\n" * 9, "one line of output\n" * 9
    cell = {
        "cellType": "code",
        "source": source,
        "cell_id": "c1",
        "outputs": [
            {"output_type": "stream", "text": output},
            {"output_type": "display_data", "image": {"image_data": SMALL_IMAGE, "media_type": "image/gif"}},
            {"output_type": "stream", "text": "only here"},
        ],
    }
    told = [{"type": "text", "text": f'<cell id="c1">{source}</cell id="c1">\n{output}'}]
    made = normalized(tool_result("notebook", told, {"type": "notebook", "file": {"filePath": "/a", "cells": [cell]}}))
    assert (written(made).count("import orjson"), written(made).count("one line of output")) == (9, 9)
    assert SMALL_IMAGE not in written(made)
    (kept,) = made["tool"]["details"]["file"]["cells"]
    _, image, more = kept["outputs"]
    assert (kept["cell_id"], image["image"]["bytes"], more["text"]) == ("c1", 23, "only here")
    assert made["omitted"]["tool_use_result"] == len(source) + len(output)


def test_an_edit_of_a_notebook_sends_neither_of_its_two_copies() -> None:
    copies = {"original_file": '{"cells": [1]}', "updated_file": '{"cells": [2]}'}
    result = {"new_source": "x = 2", "old_source": "x = 1", "cell_id": "c1", "notebook_path": "/work/n.ipynb", **copies}
    made = normalized(tool_result("notebook edit", "Updated cell c1 with x = 2", result))
    assert (made["tool"]["file"], made["tool"]["details"]["old_source"]) == ("/work/n.ipynb", "x = 1")
    assert made["omitted"] == dict.fromkeys(copies, 14)
    assert "cells" not in written(made)


def test_a_long_patch_is_cut_between_lines() -> None:
    hunk = {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 9000, "lines": ["+" + "x" * 9] * 9000}
    made = normalized(tool_result("long patch", "ok", {"structuredPatch": [hunk]}))
    assert 49_980 < len(made["tool"]["patch"]) <= 50_000
    assert made["tool"]["patch"].endswith("\n+" + "x" * 9)
    assert (made["tool"]["lines_added"], made["tool"]["lines_removed"]) == (9000, 0)
    assert made["omitted"]["patch"] > 40_000


def test_a_patch_of_an_unknown_shape_is_kept_as_it_is() -> None:
    made = normalized(tool_result("odd patch", "ok", {"structuredPatch": [{"lines": "no list"}]}))
    assert made["tool"]["details"]["structured_patch"] == [{"lines": "no list"}]


def test_the_list_of_found_files_is_sent_once() -> None:
    made = normalized(ALL_RECORDS["tool_result_glob"])
    assert written(made).count("/work/app/a.py") == 1
    assert made["tool"] == {"call_id": CALL, "ok": True, "duration_ms": 12, "details": {"num_files": 2}}


def test_a_subagents_report_is_sent_once_with_its_totals() -> None:
    made = normalized(ALL_RECORDS["tool_result_task"])
    assert written(made).count("Three files use the old name.") == 1
    assert (made["tool"]["agent_id"], made["tool"]["duration_ms"]) == ("aff2f18", 107544)
    assert made["tool"]["details"]["total_tokens"] == 79900


def test_a_result_that_is_a_list_is_sent_once() -> None:
    made = normalized(ALL_RECORDS["tool_result_mcp"])
    assert written(made).count("42 rows") == 1
    assert "details" not in made["tool"]


def test_answers_found_only_in_the_result_are_kept() -> None:
    details = tool("tool_result_answers")["details"]
    assert details["annotations"] == {"Which color?": {"notes": "only in the result"}}
    assert details["answers"] == {"Which color?": "Blue"}
    assert tool("tool_result_plan")["details"]["plan"] == "1. Read\n2. Write\n3. Test"


def test_seconds_become_milliseconds() -> None:
    assert tool("tool_result_web_search")["duration_ms"] == 3500


@pytest.mark.parametrize("number", [1e300, 2**70, -4])
def test_what_cannot_be_a_duration_is_kept_as_a_detail(number: float) -> None:
    """A database could not turn it into a column, and every query over tool calls would fail."""
    made = normalized(tool_result("odd duration", "ok", {"durationMs": number}))
    assert "duration_ms" not in made["tool"]
    assert made["tool"]["details"] == {"duration_ms": number}


def test_a_result_names_its_tool_if_the_call_was_seen() -> None:
    where = context()
    assert "name" not in normalized(ALL_RECORDS["tool_result_bash"], where)["tool"]
    normalized(ALL_RECORDS["assistant_tool_call"], where)
    made = normalized(ALL_RECORDS["tool_result_bash"], where)
    assert made["tool"]["name"] == made["blocks"][0]["name"] == "Bash"


def test_only_recent_calls_are_remembered() -> None:
    where = context()
    for number in range(600):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}}
        normalized(assistant(f"call {number}", [block]), where)
    assert len(where.calls) == 512
    assert "toolu_599" in where.calls


def test_several_results_in_one_record_are_several_blocks() -> None:
    made = normalized(ALL_RECORDS["tool_results_in_one_record"])
    assert [(block["text"], block["ok"]) for block in made["blocks"]] == [("first", True), ("second", False)]
    assert made["text"] == "And a word from the person"


def test_the_calling_row_is_named_only_if_it_is_not_the_parent() -> None:
    record = ALL_RECORDS["tool_result_bash"]
    assert "source_tool_assistant_uuid" in normalized(record)["attributes"]
    record = record | {"parentUuid": record["sourceToolAssistantUUID"]}
    assert "source_tool_assistant_uuid" not in normalized(record)["attributes"]


def test_the_lines_of_a_created_file_are_counted_as_claude_code_does() -> None:
    """Measured: 2.1.327 counts two lines for a file with one line and its newline, and none for an empty file."""
    record = ALL_RECORDS["tool_result_write"]
    for content, lines in (("print('hi')\n", 2), ("a\r\nb", 2), ("", None)):
        made = normalized(record | {"toolUseResult": record["toolUseResult"] | {"content": content}})
        assert made["tool"].get("lines_added") == lines
        assert made["tool"].get("lines_removed") == (None if lines is None else 0)
