"""Promise 4: tokens add up, from every record that counts and from no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.claude_code.reader import context, normalized
from tests.agents.claude_code.sample_messages import resumed
from tests.agents.claude_code.sample_shapes import MESSAGE_ID, MODEL, REQUEST_ID, assistant, usage
from tests.agents.claude_code.samples import ALL_RECORDS


def test_usage_is_given_in_our_names() -> None:
    made = normalized(ALL_RECORDS["assistant_text"])
    assert made["usage"] == {
        "input_tokens": 3,
        "output_tokens": 150,
        "cache_read_tokens": 13001,
        "cache_creation_tokens": 5423,
        "cache_creation_5m_tokens": 5000,
        "cache_creation_1h_tokens": 423,
        "thinking_tokens": 20,
        "web_search_requests": 1,
        "web_fetch_requests": 2,
        "service_tier": "standard",
        "speed": "standard",
        "inference_geo": "eu",
    }
    assert (made["model"], made["message_id"], made["request_id"]) == (MODEL, MESSAGE_ID, REQUEST_ID)


def test_every_row_of_a_message_reports_its_own_usage() -> None:
    where = context()
    rows = [assistant(f"row {count}", [{"type": "text", "text": "x"}], output=count) for count in (1, 40, 90)]
    outputs = [normalized(row, where)["usage"]["output_tokens"] for row in rows]
    assert outputs == [1, 40, 90]


def test_usage_from_before_a_message_was_resumed_counts() -> None:
    made = normalized(ALL_RECORDS["assistant_resumed"])
    own, usage = normalized(assistant("own", [], output=300))["usage"], made["usage"]
    assert (usage["output_tokens"], usage["input_tokens"], usage["cache_read_tokens"]) == (800, 1203, 13031)
    assert {
        name: usage[name] for name in own if name not in ("output_tokens", "input_tokens", "cache_read_tokens")
    } == {name: own[name] for name in own if name not in ("output_tokens", "input_tokens", "cache_read_tokens")}
    first, _last = usage["iterations"]
    assert first == {"type": "message", "input_tokens": 1200, "output_tokens": 500, "cache_read_tokens": 30}
    for name in (
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
    ):  # so that each can be priced by itself
        assert sum(call.get(name, 0) for call in usage["iterations"]) == usage[name]
    [paused] = made["attributes"]["paused_responses"]
    assert (paused["limit"], paused["finishedBlocks"], "usage" in paused) == ("max_thinking", 1, False)


@pytest.mark.parametrize("paused", [17, "x", {}, [], [17], [{}], [{"usage": 5}], [None]])
def test_odd_pauses_add_nothing_and_are_kept(paused: Any) -> None:
    made = normalized(resumed("odd", paused))
    assert made["usage"] == normalized(assistant("own", [], output=300))["usage"]
    assert ("paused_responses" in made.get("attributes", {})) == (paused not in ({}, []))


def test_the_iterations_of_a_paused_response_are_kept() -> None:
    advised = {"type": "advisor_message", "model": "claude-opus-4-6", "input_tokens": 7, "output_tokens": 9}
    sampled = {"type": "message", "input_tokens": 4, "output_tokens": 5}
    paused = [{"usage": {"input_tokens": 4, "output_tokens": 5, "iterations": [sampled, advised]}}] * 2
    usage = normalized(resumed("advised", paused))["usage"]
    assert [call["type"] for call in usage["iterations"]] == ["message", "advisor_message"] * 2 + ["message"]
    assert usage["output_tokens"] == 310


def test_a_resumed_api_request_names_its_message_and_requests() -> None:
    made = normalized(ALL_RECORDS["api_request_resumed"])
    assert (made["kind"], made["message_id"], made["request_id"]) == ("api_request", MESSAGE_ID, REQUEST_ID)
    assert made["attributes"]["paused_request_id"] == "req_01paused"
    assert "usage" not in made


def test_a_missing_request_id_leaves_the_message_id() -> None:
    record = {key: value for key, value in ALL_RECORDS["assistant_text"].items() if key != "requestId"}
    made = normalized(record)
    assert made["message_id"] == MESSAGE_ID
    assert "request_id" not in made


def test_usage_found_only_in_progress_is_kept_without_its_text() -> None:
    made = normalized(ALL_RECORDS["progress_agent_usage"])
    assert made["usage"]["output_tokens"] == 77
    assert (made["message_id"], made["agent_id"], made["request_id"]) == (
        "msg_01OnlyInProgress",
        "a1b2c3d",
        "req_01inner",
    )
    assert "text" not in made
    assert "blocks" not in made
    assert made["omitted"]["progress"] > 0


@pytest.mark.parametrize(
    "name", ["cost_state", "sdk_result", "tool_result_task", "attachment_queued_task", "api_request"]
)
def test_totals_in_other_records_are_not_usage(name: str) -> None:
    assert "usage" not in normalized(ALL_RECORDS[name])


def test_claude_codes_own_totals_are_sent_for_comparison() -> None:
    totals = normalized(ALL_RECORDS["cost_state"])["attributes"]["model_usage"]["claude-opus-5-5"]
    assert totals == {"input_tokens": 135, "output_tokens": 495, "cache_read_input_tokens": 45000, "cost_usd": 0.042}


def test_usage_in_an_unknown_record_type_still_counts() -> None:
    made = normalized(ALL_RECORDS["a_message_of_tomorrow"])
    assert (made["kind"], made["message_id"], made["usage"]["output_tokens"]) == ("unknown", "msg_01tomorrow", 12)


@pytest.mark.parametrize("version", ["1.0.30", "2.1.30", "2.1.200", "not a version", 17])
@pytest.mark.parametrize(
    ("stop_reason", "iterations", "is_flagged"),
    [
        (None, None, True),
        (None, [], True),
        (None, [{"type": "message", "output_tokens": 9}], False),
        ("end_turn", None, False),
    ],
)
def test_a_row_without_final_usage_is_flagged_in_every_version(
    version: Any, stop_reason: Any, iterations: Any, is_flagged: bool
) -> None:
    counts = usage(9) | {"iterations": iterations}
    record = assistant("flag", [{"type": "text", "text": "x"}], stop_reason=stop_reason, version=version, usage=counts)
    assert normalized(record).get("quality") == (["output_tokens_unknown"] if is_flagged else None)


ADVISOR = {
    "type": "advisor_message",
    "model": "claude-opus-5-5",
    "input_tokens": 7000,
    "output_tokens": 900,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 6,
    "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 4},
    "advice": "free text",
}


def test_the_calls_of_a_message_keep_their_models_and_counts() -> None:
    contained = {"type": "fallback_message", "model": MODEL, "input_tokens": 3, "output_tokens": 51}
    made = normalized(assistant("advised", "x", usage=usage(51) | {"iterations": [contained, ADVISOR]}))
    assert made["usage"]["output_tokens"] == 51
    assert made["usage"]["iterations"] == [
        contained,
        {
            "type": "advisor_message",
            "model": "claude-opus-5-5",
            "input_tokens": 7000,
            "output_tokens": 900,
            "cache_read_tokens": 5,
            "cache_creation_tokens": 6,
            "cache_creation_5m_tokens": 2,
            "cache_creation_1h_tokens": 4,
            "attributes": {"advice": "free text"},
        },
    ]
    bare = normalized(assistant("advised", "x", usage=usage(51) | {"iterations": [ADVISOR]}), context(level="metadata"))
    assert bare["usage"]["iterations"][0]["output_tokens"] == 900
    assert "attributes" not in bare["usage"]["iterations"][0]
    said = normalized(
        assistant("said", "x", usage=usage(51) | {"iterations": [ADVISOR | {"type": "what was said"}]}),
        context(level="metadata"),
    )
    assert said["usage"]["iterations"][0]["type"] == "unknown"


def test_a_message_with_one_call_has_no_iterations() -> None:
    made = normalized(
        assistant("one", "x", usage=usage(51) | {"iterations": [{"type": "message", "output_tokens": 51}]})
    )
    assert "iterations" not in made["usage"]


def test_a_synthetic_answer_is_not_flagged() -> None:
    made = normalized(assistant("synthetic", "x", model="<synthetic>", stop_reason=None, version="2.1.30"))
    assert "quality" not in made


def test_counts_of_the_wrong_type_are_kept_as_attributes() -> None:
    odd = usage(5) | {"input_tokens": "three", "output_tokens": -1, "cache_creation": [], "new_tokens": 4}
    made = normalized(assistant("odd", "x", usage=odd))
    assert "input_tokens" not in made["usage"]
    assert made["attributes"]["usage_rest"] == {
        "input_tokens": "three",
        "output_tokens": -1,
        "cache_creation": [],
        "new_tokens": 4,
    }


@pytest.mark.parametrize("number", [2**53, 2**63, 10**30])
def test_a_number_too_large_for_a_count_is_not_sent_as_one(number: int) -> None:
    """A database with 64 bits for a column could not load the event, nor any other in the same statement."""
    counted = usage(number)
    counted["cache_creation"]["ephemeral_5m_input_tokens"] = number
    made = normalized(assistant("too large", [], usage=counted))
    assert made["usage"].keys() & {"output_tokens", "cache_creation_5m_tokens"} == set()
    assert made["attributes"]["usage_rest"] == {
        "output_tokens": number,
        "cache_creation": {"ephemeral_5m_input_tokens": number},
    }
