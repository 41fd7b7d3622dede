"""What newer writers add to the words: companions of subagents, hooks, API errors, workflow runs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from collector.agents.claude_code import places
from collector.flow.source import Place
from collector.redact.seal import seal
from tests.agents.claude_code.reader import context, normalized, written
from tests.agents.claude_code.sample_attachments import attachment
from tests.agents.claude_code.sample_bookkeeping import system
from tests.agents.claude_code.sample_shapes import CALL, SMALL_IMAGE
from tests.agents.claude_code.samples import ALL_RECORDS, JOURNAL_LINES, WORKFLOW_RUN
from tests.redactors import every_rule
from tests.scopes import FORM

DIGEST = hashlib.sha256(b"a call of a workflow").hexdigest()
META = {
    "agentType": "Explore",
    "description": "look around",
    "toolUseId": CALL,
    "spawnDepth": 2,
    "parentAgentId": "a1b2c3d4e5f60718",
    "model": "claude-opus-5-5",
    "workflowPhase": "Look",
}


def test_a_subagents_events_include_what_its_companion_says() -> None:
    made = normalized(ALL_RECORDS["assistant_text"], context(places.SUBAGENT, meta=META))
    assert {key: made[key] for key in made if key.startswith(("agent_", "parent_", "spawn", "workflow"))} == {
        "agent_type": "Explore",
        "agent_description": "look around",
        "agent_model": "claude-opus-5-5",
        "parent_agent_id": "a1b2c3d4e5f60718",
        "parent_call_id": CALL,
        "spawn_depth": 2,
        "workflow_phase": "Look",
        "parent_uuid": made["parent_uuid"],
    }


def test_malformed_values_of_a_companion_are_ignored() -> None:
    odd = {"spawnDepth": -1, "description": ["words"], "model": None, "parentAgentId": ""}
    made = normalized(ALL_RECORDS["assistant_text"], context(places.SUBAGENT, meta=odd))
    assert not {"spawn_depth", "agent_description", "agent_model", "parent_agent_id"} & made.keys()


def test_a_hook_names_the_call_it_ran_for() -> None:
    made = normalized(ALL_RECORDS["attachment_hook_success"])
    assert (made["kind"], made["tool"]) == ("hook", {"call_id": CALL, "name": "Edit"})
    at_the_stop = normalized(ALL_RECORDS["attachment_hook_cancelled"])
    assert "tool" not in at_the_stop
    assert at_the_stop["attributes"]["tool_use_id"] == "x"


def test_what_a_hook_printed_is_sent_once() -> None:
    hook = {"hookName": "Stop", "content": "all\ngood", "stdout": "all\ngood\n", "stderr": "all\ngood but slow"}
    made = normalized(attachment("hook_success", hook))
    assert (made["text"], made["attributes"]["stderr"]) == ("all\ngood", "all\ngood but slow")
    assert "stdout" not in made["attributes"]
    assert made["omitted"] == {"stdout": 9}


@pytest.mark.parametrize(
    "error",
    [
        {"status": 529, "requestID": "req_01overload", "error": {"error": {"message": "Overloaded"}}},
        {"status": 529, "error": {"type": "error", "error": {"message": "Overloaded"}, "request_id": "req_01overload"}},
        {"message": "Overloaded", "status": 529, "request_id": "req_01overload"},
        {"formatted": "Overloaded", "status": 529, "requestID": "req_01overload", "error": "529"},
        {"message": '529 {"type":"error"}', "status": 529, "requestId": "req_01overload", "formatted": "Overloaded"},
    ],
)
def test_an_api_error_gives_its_message_status_and_request_id(error: object) -> None:
    made = normalized(system("api_error", error=error))
    assert (made["text"], made["attributes"]["api_error_status"]) == ("Overloaded", 529)
    assert made["request_id"] == "req_01overload"


def test_the_type_of_an_api_error_is_found_in_the_answer() -> None:
    """As 2.1.328 writes one that it retries."""
    answer = '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    error = {"message": answer, "status": 529, "formatted": "529 Overloaded", "connection": None}
    attributes = normalized(system("api_error", error=error))["attributes"]
    assert (attributes["api_error_status"], attributes["api_error_type"]) == (529, "overloaded_error")


@pytest.mark.parametrize(
    "answer", ["Connection error.", '502 {"error":"<html>"}', '500 {"error":', "", '500 {"error":{"type":5}}']
)
def test_an_api_error_without_a_type_gets_none(answer: str) -> None:
    made = normalized(system("api_error", error={"message": answer, "formatted": "Failed"}))
    assert (made["text"], "api_error_type" in made["attributes"]) == ("Failed", False)


@pytest.mark.parametrize(
    "holder",
    [
        {"type": "image", "file": {"base64": SMALL_IMAGE, "type": "image/gif"}},
        {"type": "image", "data": SMALL_IMAGE, "mimeType": "image/gif"},
        {"type": "image", "source": {"type": "base64", "data": SMALL_IMAGE}},
        {"url": f"data:image/gif;base64,{SMALL_IMAGE}"},
    ],
)
def test_small_images_are_described_like_large_ones(holder: object) -> None:
    for made in (
        normalized(attachment("image_of_tomorrow", {"image": holder})),
        normalized(ALL_RECORDS["tool_result_bash"] | {"toolUseResult": {"content": [holder]}}),
    ):
        assert SMALL_IMAGE not in written(made)
        assert '"bytes":23' in written(made)


def test_an_attachment_without_its_binary_data_does_not_claim_a_size() -> None:
    file = {"filePath": "/work/plan.pdf", "base64": "", "originalSize": 302}
    made = normalized(attachment("file", {"content": {"type": "pdf", "file": file}}))
    assert made["attributes"]["content"]["file"] == file


def test_the_run_file_of_a_workflow_becomes_one_event() -> None:
    place = Place(4, "-work-app", "d389b24d")
    assert places.classify(place, "wf_1a2b3c4d5e6f.json") == places.WORKFLOW
    assert places.classify(place, "wf_1a2b3c4d5e6f.js") is None
    assert places.classify(Place(2, "-work-app"), "wf_1a2b3c4d5e6f.json") is None
    made = normalized(WORKFLOW_RUN, context(places.WORKFLOW))
    assert (made["kind"], made["text"], made["model"]) == (
        "workflow",
        "Three files use the old name.",
        "claude-opus-5-5",
    )
    assert made["time"] == "2026-11-19T02:43:51.714Z"
    assert made["attributes"]["total_tokens"] == 1800
    assert made["attributes"]["workflow_progress"][0]["state"] == "done"
    assert made["omitted"] == {"script": len(WORKFLOW_RUN["script"])}


def test_every_state_of_a_workflows_journal_is_named() -> None:
    where = context(places.JOURNAL)
    made = [normalized(JOURNAL_LINES[f"journal_{state}"], where) for state in ("launched", "started", "failed")]
    assert [event["record_type"] for event in made] == ["launched", "started", "failed"]
    assert {event["kind"] for event in made} == {"workflow"}


@pytest.mark.parametrize(
    ("attributes", "is_hash"),
    [
        ({"key": f"v2:{DIGEST}"}, True),
        ({"tail": [DIGEST, DIGEST[::-1]]}, True),
        ({"hash": DIGEST, "shape_hash": DIGEST, "request_digest": DIGEST}, True),
        ({"key": DIGEST}, False),
        ({"key": f"v2:{DIGEST}/{DIGEST}"}, False),
    ],
)
def test_only_hashes_in_known_places_are_exempt_from_redaction(attributes: dict[str, Any], is_hash: bool) -> None:
    made = normalized(JOURNAL_LINES["journal_started"], context(places.JOURNAL)) | {"attributes": attributes}
    expected = json.loads(json.dumps(made))
    sealed = seal(made, every_rule(), 1_000_000, FORM.shapes)
    assert sealed.redactions == {} or not is_hash
    assert (json.loads(sealed.body)["attributes"] == expected["attributes"]) is is_hash


def test_a_teammates_message_is_more_than_an_attachment() -> None:
    made = normalized(attachment("teammate_mailbox", {"messages": [{"from": "ada", "text": "Look at this"}]}))
    assert (made["kind"], made["origin"]) == ("user_context", "peer")
    assert "Look at this" in written(made)


def test_the_programs_own_names_are_kept_at_the_level_metadata() -> None:
    def kept(record: Any, **meta: str) -> Any:
        return normalized(record, context(places.SUBAGENT, level="metadata", meta=meta))

    hook = kept(attachment("hook_success", {"hookEvent": "PostToolBatch", "hookName": "payroll"}))
    assert hook["attributes"] == {"hook_event": "PostToolBatch"}
    inherited = kept(ALL_RECORDS["assistant_text"], agentType="workflow-subagent", model="inherit")
    assert (inherited["agent_type"], inherited["agent_model"]) == ("workflow-subagent", "inherit")
    assert kept(ALL_RECORDS["user_prompt_newest"])["attributes"]["turn_position"] == {"promptIndex": 1, "turnIndex": 4}
    request = ALL_RECORDS["api_request"]
    for source, expected in (("agent:builtin:Explore", "agent:builtin:Explore"), ("agent:custom:payroll", None)):
        assert kept(request | {"querySource": source})["attributes"].get("query_source") == expected


def test_the_totals_of_a_session_are_whole_at_the_level_metadata() -> None:
    figures = {"inputTokens": 7, "cacheCreationEphemeral5mInputTokens": 5, "cacheCreationEphemeral1hInputTokens": 3}
    record = ALL_RECORDS["cost_state"] | {"modelUsage": {"claude-opus-5-5": figures}}
    whole, reduced = (normalized(record, context(level=level)) for level in ("content", "metadata"))
    assert reduced["attributes"]["model_usage"] == whole["attributes"]["model_usage"]
    assert len(reduced["attributes"]["model_usage"]["claude-opus-5-5"]) == len(figures)
