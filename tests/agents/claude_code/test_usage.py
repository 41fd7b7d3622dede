"""Promise 4: tokens add up, from whatever record carries them, and from no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.claude_code.reader import context, normalized
from tests.agents.claude_code.sample_shapes import MESSAGE_ID, MODEL, REQUEST_ID, assistant, usage
from tests.agents.claude_code.samples import ALL_RECORDS


def test_usage_is_told_in_our_names() -> None:
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


def test_every_row_of_a_message_says_what_it_knew() -> None:
    where = context()
    rows = [assistant(f"row {count}", [{"type": "text", "text": "x"}], output=count) for count in (1, 40, 90)]
    outputs = [normalized(row, where)["usage"]["output_tokens"] for row in rows]
    assert outputs == [1, 40, 90]


def test_a_missing_request_id_leaves_the_message_id() -> None:
    record = {key: value for key, value in ALL_RECORDS["assistant_text"].items() if key != "requestId"}
    made = normalized(record)
    assert made["message_id"] == MESSAGE_ID
    assert "request_id" not in made


def test_usage_that_stands_only_in_progress_is_kept_without_its_text() -> None:
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
def test_totals_of_others_are_not_usage(name: str) -> None:
    assert "usage" not in normalized(ALL_RECORDS[name])


def test_claude_codes_own_totals_are_there_to_compare() -> None:
    totals = normalized(ALL_RECORDS["cost_state"])["attributes"]["model_usage"]["claude-opus-5-5"]
    assert totals == {"input_tokens": 135, "output_tokens": 495, "cache_read_input_tokens": 45000, "cost_usd": 0.042}


def test_a_message_in_a_record_nobody_knows_still_counts() -> None:
    made = normalized(ALL_RECORDS["a_message_of_tomorrow"])
    assert (made["kind"], made["message_id"], made["usage"]["output_tokens"]) == ("unknown", "msg_01tomorrow", 12)


@pytest.mark.parametrize(
    ("version", "stop_reason", "is_flagged"),
    [
        ("2.1.11", None, False),
        ("2.1.12", None, True),
        ("2.1.30", None, True),
        ("2.1.51", None, True),
        ("2.1.52", None, False),
        ("2.1.30", "end_turn", False),
        ("2.0.30", None, False),
        ("not a version", None, False),
        (17, None, False),
    ],
)
def test_versions_that_never_wrote_the_output_are_flagged(version: Any, stop_reason: Any, is_flagged: bool) -> None:
    made = normalized(assistant("flag", [{"type": "text", "text": "x"}], stop_reason=stop_reason, version=version))
    assert made.get("quality") == (["output_tokens_unknown"] if is_flagged else None)


def test_a_synthetic_answer_is_not_flagged() -> None:
    made = normalized(assistant("synthetic", "x", model="<synthetic>", stop_reason=None, version="2.1.30"))
    assert "quality" not in made


def test_a_count_of_the_wrong_type_is_kept_aside() -> None:
    odd = usage(5) | {"input_tokens": "three", "output_tokens": -1, "cache_creation": [], "new_tokens": 4}
    made = normalized(assistant("odd", "x", usage=odd))
    assert "input_tokens" not in made["usage"]
    assert made["attributes"]["usage_rest"] == {
        "input_tokens": "three",
        "output_tokens": -1,
        "cache_creation": [],
        "new_tokens": 4,
    }
