"""`toolUseResult`: the structured copy that Claude Code keeps beside a tool's answer, in some 95 shapes.

Most of it repeats the answer or the call. Such copies are left out and counted; what exists only here (exit states,
counts, the patch of an edit, the output behind a preview) goes to `tool`.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from collector.agents.claude_code.free_values import binary_key, name_of, omit, plain, together
from collector.agents.claude_code.usage import LARGEST

# Inputs of the call, so they are in the tool_call event already; and whole files before an edit, or after one of a
# notebook.
COPIES = frozenset(
    {
        "originalFile",
        "oldString",
        "newString",
        "edits",
        "prompt",
        "questions",
        "oldTodos",
        "newTodos",
        "originalFileContents",
        "original_file",
        "updated_file",
    }
)
NUMBERS = {"durationMs": 1, "totalDurationMs": 1, "durationSeconds": 1000, "duration_ms": 1}
STRINGS = {"filePath": "file", "agentId": "agent_id", "notebook_path": "file"}
OUTPUTS = frozenset({"stdout", "stderr", "output", "content", "result", "text"})
TEXT_ONLY = frozenset({str})
SHORT = 80
MAX_PATCH = 50_000
MAX_DEPTH = 8
STUB = "<persisted-output>"
PREVIEW = "\n\nPreview (first "
EXIT_CODE = re.compile(r"Exit code (\d{1,5})\b")


def tool_of_call(event: dict[str, Any], blocks: list[dict[str, Any]]) -> bool:
    """Puts the first call of a row into `tool`; returns whether there was one."""
    for block in blocks:
        if block["type"] == "tool_call":
            event["tool"] = {"name": block["name"], "call_id": block["call_id"]} if "name" in block else {}
            return True
    return False


def put_inputs_as_written(event: dict[str, Any], blocks: list[dict[str, Any]], rest: dict[str, Any]) -> None:
    """Gives each call its input as the model wrote it, where Claude Code changed it; otherwise that is a copy
    (2.1.328)."""
    left = dict(rest.pop("wireToolInputs"))
    for block in blocks:
        given = plain(left.pop(block.get("call_id"), None))
        if given == block.get("input"):
            omit(event, "wire_tool_inputs", given)
        elif given is not None:
            block.setdefault("attributes", {})["input_as_written"] = given
    if left:
        rest["wireToolInputs"] = left


def tool_of_result(event: dict[str, Any], answers: list[dict[str, Any]], result: Any) -> None:
    """Puts the facts of a result into `tool`."""
    tool: dict[str, Any]
    first = answers[0]
    event["tool"] = tool = {}
    for key in ("name", "call_id", "ok"):
        if key in first:
            tool[key] = first[key]
    told = first.get("text", "") if len(answers) == 1 else "\n".join(block.get("text", "") for block in answers)
    if not tool["ok"]:
        match = EXIT_CODE.match(told)
        if match:
            tool["exit_code"] = int(match[1])
    if result is None:
        return
    if type(result) is dict:
        put_details(event, tool, result, told)
        if told.startswith(STUB):
            drop_preview(event, tool, first)
    elif type(result) is str:
        if is_in(result.removeprefix("Error: "), told):
            omit(event, "tool_use_result", result)
        else:
            tool["message"] = result
    else:
        left = without_copies(event, result, told, "", 0)
        if left is not None:
            tool["details"] = {"result": left}


def drop_told_content(event: dict[str, Any], answers: list[dict[str, Any]], rest: dict[str, Any]) -> None:
    """Drops the structured content of an MCP tool's answer if it is the answer itself, as an object."""
    meta = rest["mcpMeta"]
    content = meta.get("structuredContent") if type(meta) is dict else None
    try:
        is_told = content is not None and any(orjson.loads(block.get("text", "")) == content for block in answers)
    except (ValueError, RecursionError):  # not JSON, such as a note that the answer is too long; or nested very deep
        return
    if is_told:
        omit(event, "structured_content", content)
        rest["mcpMeta"] = {key: value for key, value in meta.items() if key != "structuredContent"}


def put_details(event: dict[str, Any], tool: dict[str, Any], result: dict[str, Any], told: str) -> None:
    """Sorts the keys of a structured result: facts go to their fields, copies are left out, the rest is `details`."""
    details: dict[str, Any] = {}
    for key, value in result.items():
        kind = type(value)
        if value is None or value is False or value == "":
            continue
        if kind is bool or kind is int or kind is float:
            if not put_number(tool, key, value):
                details[name_of(key)] = value
        elif key in COPIES or (key == "content" and "filePath" in result) or (key == "stdout" and is_image(result)):
            omit(event, name_of(key), value)
        elif kind is str:
            put_text(event, tool, details, key, value, told)
        elif key == "structuredPatch" and put_patch(event, tool, value):
            continue
        elif key == "file" and kind is dict:
            put_file(event, tool, details, value, told)
        else:
            left = without_copies(event, value, told, key, 0)
            if left is not None:
                details[name_of(key)] = left
    if result.get("type") == "create" and "lines_added" not in tool:
        put_created_lines(tool, result.get("content"))
    if details:
        tool["details"] = details


def put_created_lines(tool: dict[str, Any], content: Any) -> None:
    """Counts the lines of a newly created file, for which there is no patch. Like Claude Code's own totals
    (`cost-state`), it counts what follows the last line break as a line."""
    if type(content) is str and content:
        tool["lines_added"], tool["lines_removed"] = content.count("\n") + 1, 0


def is_image(result: dict[str, Any]) -> bool:
    """Whether the output is an image, which is already a block of the answer."""
    return result.get("isImage") is True


def put_number(tool: dict[str, Any], key: str, value: Any) -> bool:
    """Stores a number or boolean that has a field of its own; returns whether it has one."""
    kind = type(value)
    if key in NUMBERS and kind is not bool and 0 <= value < LARGEST:
        tool["duration_ms"] = value * NUMBERS[key]
    elif key == "interrupted" and kind is bool:
        tool["interrupted"] = value
    elif key in ("exitCode", "exit_code") and kind is int:
        tool["exit_code"] = value
    else:
        return False
    return True


def put_text(
    event: dict[str, Any], tool: dict[str, Any], details: dict[str, Any], key: str, value: str, told: str
) -> None:
    """Sorts a string: it has a field of its own, is a copy of what the model was told, or is a detail."""
    if key in STRINGS:
        tool[STRINGS[key]] = value
    elif (len(value) > SHORT or key in OUTPUTS) and is_in(value, told):
        omit(event, name_of(key), value)
    else:
        details[name_of(key)] = plain(value)


def put_file(
    event: dict[str, Any], tool: dict[str, Any], details: dict[str, Any], file: dict[str, Any], told: str
) -> None:
    """The `file` of a Read: the model was told its text with line numbers, or the cells of a notebook one by one; an
    image is a block already."""
    left: dict[str, Any] = {}
    for key, value in file.items():
        if value is None or value == "":
            continue
        if key == "filePath" and type(value) is str:
            tool["file"] = value
        elif key == "base64" or (key == "content" and type(value) is str and is_told(value, told)):
            omit(event, f"file_{key}", value)
        else:
            kept = without_copies(event, value, told, key, 1)
            if kept is not None:
                left[name_of(key)] = kept
    if left:
        details["file"] = left


def is_in(value: str, told: str) -> bool:
    """Whether the model was told a text. Comparing both ends first is 4 times faster and nearly always enough."""
    bare = value.strip()
    return told.startswith(bare) or told.endswith(bare) or bare in told


def is_told(content: str, told: str) -> bool:
    """Whether the model was told a file line by line: both its first and its last line are there."""
    lines = content.strip()
    end, start = lines.find("\n"), lines.rfind("\n")
    first, last = (lines[:end], lines[start + 1 :]) if end >= 0 else (lines, lines)
    return not told.startswith(STUB) and first in told and told.rfind(last) >= 0  # it is mostly at the end


def without_copies(event: dict[str, Any], value: Any, told: str, key: str, depth: int) -> Any:
    """A nested value minus the strings that the model was told; None if nothing is left. Short ones are facts, and
    stay."""
    kind = type(value)
    if kind is str:
        if (len(value) > SHORT or key in OUTPUTS) and is_in(value, told):
            omit(event, "tool_use_result", value)
            return None
        return plain(value)
    if depth >= MAX_DEPTH:
        return plain(value)
    if kind is dict:
        if binary_key(value):
            return plain(value)
        kept = {name: without_copies(event, part, told, name, depth + 1) for name, part in value.items()}
        kept = {name: part for name, part in kept.items() if part is not None}
        return None if not kept or kept == {"type": "text"} else kept
    if kind is list:
        if value and set(map(type, value)) <= TEXT_ONLY and are_told(value, told):
            omit(event, "tool_use_result", value)
            return None
        parts = [without_copies(event, part, told, key, depth + 1) for part in value]
        return together([part for part in parts if part is not None]) or None
    return value


def are_told(parts: list[str], told: str) -> bool:
    """Whether the model was told every string of a list, such as the files that a search found."""
    return "\n".join(parts) in told or (len(parts) <= 200 and all(part in told for part in parts))


def put_patch(event: dict[str, Any], tool: dict[str, Any], hunks: Any) -> bool:
    """The hunks of an edit as one unified diff, so that redaction sees neighbouring lines together."""
    lines: list[str] = []
    added = removed = 0
    if type(hunks) is not list:
        return False
    for hunk in hunks:
        body = hunk.get("lines") if type(hunk) is dict else None
        if type(body) is not list or not set(map(type, body)) <= TEXT_ONLY:
            return False
        places = [hunk.get(key) for key in ("oldStart", "oldLines", "newStart", "newLines")]
        lines.append("@@ -{},{} +{},{} @@".format(*(place if type(place) is int else "?" for place in places)))
        lines += body
        signs = [line[:1] for line in body]
        added += signs.count("+")
        removed += signs.count("-")
    patch = "\n".join(lines)
    if patch:
        tool["lines_added"], tool["lines_removed"] = added, removed
        # Cut between two lines: redaction, which comes later, would not recognise half a secret.
        end = len(patch) if len(patch) <= MAX_PATCH else patch.rfind("\n", 0, MAX_PATCH + 1)
        tool["patch"] = patch[:end]
        omit(event, "patch", patch[end:])
    return True


def drop_preview(event: dict[str, Any], tool: dict[str, Any], block: dict[str, Any]) -> None:
    """Drops the preview in the result if the whole output is kept as a detail."""
    stdout = tool.get("details", {}).get("stdout")
    stub, mark, preview = block["text"].partition(PREVIEW)
    if type(stdout) is str and mark and stdout.strip()[:100] in preview:
        block["text"] = stub
        omit(event, "preview", preview)
