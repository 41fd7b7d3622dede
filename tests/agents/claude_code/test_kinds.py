"""Every type of record becomes what the table says, at both levels, and conforms to the schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.agents.claude_code import places
from collector.agents.claude_code.dispatch import HANDLERS
from collector.flow.event import KINDS
from collector.flow.outcome import Skip
from collector.flow.reasons import SKIPPED_LINES
from collector.flow.source import SourceKind
from tests.agents.claude_code.reader import SCHEMA, context, normalized, outcome
from tests.agents.claude_code.record_types import SEEN
from tests.agents.claude_code.samples import (
    ALL_RECORDS,
    HISTORY_LINES,
    INDEX_ENTRIES,
    JOURNAL_LINES,
    STATS,
    WORKFLOW_RUN,
)

KIND_OF = {
    "user_prompt": "user_prompt",
    "user_slash_command": "local_command",
    "user_command_output": "local_command",
    "user_forked": "user_prompt",
    "user_": "user_context",
    "assistant_tool_call": "tool_call",
    "assistant_text_and_calls": "tool_call",
    "assistant_server_tool": "tool_call",
    "assistant_api_error": "api_error",
    "assistant_": "assistant_response",
    "progress_agent_usage": "progress",
    "progress_": "skip progress",
    "top_level_agent_progress_usage": "progress",
    "top_level_tool_use": "tool_call",
    "top_level_tool_result": "tool_result",
    "top_level_image": "attachment",
    "top_level_base64": "attachment",
    "top_level_": "skip progress",
    "tool_result": "tool_result",
    "attachment_queued_prompt": "user_prompt",
    "attachment_queued_blocks": "user_prompt",
    "attachment_queued_task": "user_context",
    "attachment_hook_": "hook",
    "attachment_async_hook_response": "hook",
    "attachment_": "attachment",
    "system_compact_boundary": "compaction",
    "system_microcompact_boundary": "compaction",
    "system_api_error": "api_error",
    "system_stop_hook_summary": "hook",
    "system_turn_duration": "turn",
    "system_local_command": "local_command",
    "system_away_summary": "summary",
    "system_init": "session",
    "system_": "system",
    "sdk_result": "session",
    "sdk_stream_event": "stream",
    "summary": "summary",
    "ai_title": "title",
    "custom_title": "title",
    "agent_name": "title",
    "last_prompt": "last_prompt",
    "mode": "mode",
    "permission_mode": "mode",
    "agent_setting": "mode",
    "queue_": "queue",
    "file_": "file_snapshot",
    "pr_link": "link",
    "frame_link": "link",
    "tag": "title",
    "agent_color": "mode",
    "memory_mode": "mode",
    "repl_mode": "mode",
    "attribution_snapshot": "file_snapshot",
    **dict.fromkeys(
        (
            "relocated",
            "continued_in",
            "derived_from",
            "ended_by_model",
            "observer_ref",
            "resume_head_vouch",
            "session_owner",
            "content_replacement",
            "data_flow_",
            "artifact_",
            "history_suppression",
            "isolation_latch",
            "dev_mods",
        ),
        "session",
    ),
    "worktree_state": "session",
    "bridge_session": "session",
    "fork_context": "session",
    "tools_used": "session",
    "atis_latch": "session",
    "cost_state": "session_cost",
    "create": "file_change",
    "update": "file_change",
    "a_type_of_tomorrow": "unknown",
    "a_message_of_tomorrow": "unknown",
    "no_type": "unknown",
    "api_request_blob_copy": "skip copy",
    "api_request_blob_system": "api_message",
    "api_request": "api_request",
}


def expected(name: str) -> str:
    """The entry of the table whose name is the longest prefix of this one."""
    return KIND_OF[max((start for start in KIND_OF if name.startswith(start)), key=len)]


@pytest.mark.parametrize("level", ["content", "metadata"])
def test_every_record_becomes_what_the_table_says(level: str) -> None:
    where = context(level=level)
    for name, record in ALL_RECORDS.items():
        made = outcome(record, where)
        found = f"skip {made.reason}" if isinstance(made, Skip) else made["kind"]
        assert found == expected(name), name


def test_every_sample_gives_a_different_id() -> None:
    where = context()
    made = [outcome(record, where) for record in ALL_RECORDS.values()]
    ids = [event["id"] for event in made if not isinstance(event, Skip)]
    assert len(set(ids)) == len(ids)


def test_the_samples_cover_every_documented_kind_and_skip() -> None:
    reached = {expected(name) for name in ALL_RECORDS}
    reached |= {"prompt_history", "workflow", "session_index", "stats", "skip project", "skip left_out"}
    reached |= {"heartbeat", "canary"}  # made by the service and by doctor
    assert reached == set(KINDS) | {f"skip {reason.name}" for reason in SKIPPED_LINES}


def test_every_record_type_with_a_handler_has_its_versions_and_a_sample() -> None:
    assert SEEN.keys() == HANDLERS.keys()
    assert SEEN.keys() <= {record.get("type") for record in ALL_RECORDS.values()}


def test_the_schema_refuses_a_field_that_is_not_documented() -> None:
    made = normalized(ALL_RECORDS["user_prompt"])
    assert not SCHEMA.is_valid(made | {"surprise": 1})
    assert not SCHEMA.is_valid({key: value for key, value in made.items() if key != "time"})


OTHER_SOURCES = [
    *((places.HISTORY, "prompt_history", name, record) for name, record in HISTORY_LINES.items()),
    *((places.JOURNAL, "workflow", name, record) for name, record in JOURNAL_LINES.items()),
    *((places.SESSION_INDEX, "session_index", name, record) for name, record in INDEX_ENTRIES.items()),
    (places.STATS, "stats", "stats", STATS),
    (places.WORKFLOW, "workflow", "workflow_run", WORKFLOW_RUN),
]


@pytest.mark.parametrize(("source", "kind", "name", "record"), OTHER_SOURCES)
def test_every_other_source_has_its_kind(source: SourceKind, kind: str, name: str, record: Any) -> None:
    assert normalized(record, context(source))["kind"] == kind, name


def test_an_event_has_no_nulls() -> None:
    where = context()
    for record in ALL_RECORDS.values():
        made = outcome(record, where)
        if not isinstance(made, Skip):
            without_parts = {key: value for key, value in made.items() if key not in ("blocks", "attributes", "tool")}
            assert "null" not in json.dumps(without_parts)


@pytest.mark.parametrize(("name", "text"), [("edited_text_file", "1\tprint('hi')"), ("plan_file_reference", "1. Read")])
def test_what_an_attachment_shows_becomes_text(name: str, text: str) -> None:
    made = normalized(ALL_RECORDS[f"attachment_{name}"])
    assert made["text"] == text
    assert {"snippet", "plan_content"}.isdisjoint(made["attributes"])
