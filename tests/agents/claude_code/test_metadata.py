"""The metadata level: structure, names, counts and ids - and no words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.agents.claude_code import places
from collector.flow.outcome import Skip
from collector.flow.source import SourceKind
from tests.agents.claude_code.reader import context, normalized, outcome, written
from tests.agents.claude_code.samples import ALL_RECORDS, HISTORY_LINES, INDEX_ENTRIES, JOURNAL_LINES, WORKFLOW_RUN

# What names, places and ids are called: these may leave the machine.
STRUCTURAL = {
    "agentId", "agentType", "attributionMcpServer", "attributionSkill", "apiKeySource", "commandMode", "cwd",
    "effort", "entrypoint", "error", "fullPath", "hookEvent", "hookName", "id", "kind", "level", "madeBy",
    "media_type", "mode", "model", "name", "operation", "parentToolUseID", "parentUuid", "perTurnEffort",
    "permissionMode", "project", "projectPath", "promptCacheRequested", "promptId", "promptSource", "querySource",
    "requestId", "requestID", "defaultModel", "requestedModel", "status", "role", "service_tier", "sessionId",
    "sessionKind", "session_id", "slug", "speed", "stop_reason", "subtype", "timestamp", "tool_use_id",
    "toolDenialKind", "trigger", "type", "turnOrigin", "userType", "uuid", "version", "inference_geo", "decision",
    "source", "reasonType", "modified", "created", "tools", "mediaType",
}  # fmt: skip


def with_canaries(value: Any, key: str = "") -> Any:
    """The record with every string that says something replaced by words that are easy to find."""
    if isinstance(value, dict):
        return {name: with_canaries(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [with_canaries(part, key) for part in value]
    if isinstance(value, str) and key not in STRUCTURAL:
        return f"canary words of {key}"
    return value


@pytest.mark.parametrize("name", ALL_RECORDS)
def test_no_words_leave(name: str) -> None:
    made = outcome(with_canaries(ALL_RECORDS[name]), context(level="metadata"))
    assert isinstance(made, Skip) or "canary" not in written(made)


@pytest.mark.parametrize(
    ("source", "record"),
    [
        *((places.HISTORY, record) for record in HISTORY_LINES.values()),
        *((places.JOURNAL, record) for record in JOURNAL_LINES.values()),
        *((places.SESSION_INDEX, record) for record in INDEX_ENTRIES.values()),
        (places.WORKFLOW, WORKFLOW_RUN),
    ],
)
def test_no_words_of_other_sources_leave(source: SourceKind, record: Any) -> None:
    assert "canary" not in written(normalized(with_canaries(record), context(source, level="metadata")))


@pytest.mark.parametrize(
    "name", ["assistant_text", "assistant_tool_call", "progress_agent_usage", "a_message_of_tomorrow"]
)
def test_tokens_still_add_up(name: str) -> None:
    full, reduced = (normalized(ALL_RECORDS[name], context(level=level)) for level in ("full", "metadata"))
    for key in ("id", "usage", "message_id", "model", "session_id", "time", "host"):
        assert reduced[key] == full[key]


def test_calls_keep_their_names_and_sizes() -> None:
    made = normalized(ALL_RECORDS["assistant_text_and_calls"], context(level="metadata"))
    assert made["tool"] == {"name": "Bash", "call_id": "toolu_01first"}
    assert made["blocks"][1] == {"type": "tool_call", "name": "Read", "call_id": "toolu_01second", "characters": 14}
    assert made["omitted"]["text"] == len("Two things at once.")


def test_a_result_keeps_its_facts() -> None:
    made = normalized(ALL_RECORDS["tool_result_edit"], context(level="metadata"))
    assert made["tool"] == {"call_id": made["tool"]["call_id"], "ok": True, "lines_added": 1, "lines_removed": 1}


def test_names_titles_branches_and_files_stay_home() -> None:
    made = written(normalized(ALL_RECORDS["tool_result_edit"], context(level="metadata")))
    assert "hello.py" not in made
    assert '"main"' not in made.replace('"root":"main"', "")
    assert "My login work" not in written(normalized(ALL_RECORDS["custom_title"], context(level="metadata")))


def test_a_record_nobody_knows_keeps_only_its_shape() -> None:
    record = ALL_RECORDS["a_type_of_tomorrow"] | {"mode": "some words", "tools": ["some words", {"some words": 1}]}
    made = normalized(record, context(level="metadata"))
    assert "words" not in json.dumps(made)
    assert made["record_type"] == "a-type-of-tomorrow"
    assert "record_type" not in normalized({"type": "words in a type"}, context(level="metadata"))


def test_own_totals_of_claude_code_are_kept() -> None:
    made = normalized(ALL_RECORDS["cost_state"], context(level="metadata"))
    assert made["attributes"]["model_usage"]["claude-opus-5-5"]["output_tokens"] == 495
