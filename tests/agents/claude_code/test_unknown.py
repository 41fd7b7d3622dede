"""Promise 6: nothing is silently dropped, least of all what nobody has seen before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from collector.agents.claude_code.context import FRAME
from collector.flow.outcome import Skip
from tests.agents.claude_code.reader import context, normalized, outcome, written
from tests.agents.claude_code.sample_shapes import PNG
from tests.agents.claude_code.samples import ALL_RECORDS

# Implied by another field, or by the absence of one.
IMPLIED = {"external", "message", "text", "human", "agent_progress", "user", "base64", "environment", "error", *FRAME}


HASH = re.compile(r"[0-9a-f]{16,64}")  # hashes of words are replaced by keyed ones


def strings(value: Any) -> Iterator[str]:
    """Every string in a value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


@pytest.mark.parametrize("name", sorted(ALL_RECORDS.keys() - {"tool_result_persisted"}))  # partly kept, see test_tool
def test_every_string_of_a_record_is_in_the_event_or_counted(name: str) -> None:
    made = outcome(ALL_RECORDS[name])
    if isinstance(made, Skip):
        assert made.reason == "progress"
        return
    said = "\n".join(strings(made))
    lines = [line for text in strings(ALL_RECORDS[name]) for line in text.splitlines()]
    missing = [line for line in lines if line not in said and line not in IMPLIED and not HASH.fullmatch(line)]
    if '"sha256"' in written(made):
        missing = [text for text in missing if text != PNG]
    allowed = sum(made.get("omitted", {}).values())
    assert sum(map(len, missing)) <= allowed, missing


@pytest.mark.parametrize(
    "name", ["a_type_of_tomorrow", "no_type", "attachment_an_attachment_of_tomorrow", "system_of_tomorrow"]
)
def test_an_unknown_record_is_sent_in_full(name: str) -> None:
    made = normalized(ALL_RECORDS[name])
    assert "omitted" not in made
    said = written(made)
    assert all(text in said for text in strings(ALL_RECORDS[name]) if text not in IMPLIED)


def test_an_unknown_type_is_named() -> None:
    made = normalized(ALL_RECORDS["a_type_of_tomorrow"])
    assert (made["kind"], made["record_type"]) == ("unknown", "a-type-of-tomorrow")
    assert made["attributes"] == {
        "novelty": "a text nobody knows",
        "parts": [{"deep": {"deeper": "words"}}],
        "count": 3,
    }


def test_a_new_key_of_a_known_type_is_kept() -> None:
    made = normalized(ALL_RECORDS["user_prompt"] | {"keyOfTomorrow": {"some": "words"}})
    assert made["attributes"]["key_of_tomorrow"] == {"some": "words"}


def test_a_new_key_of_a_message_is_kept() -> None:
    record = ALL_RECORDS["assistant_text"]
    made = normalized(record | {"message": record["message"] | {"keyOfTomorrow": "words"}})
    assert made["attributes"]["key_of_tomorrow"] == "words"


def test_two_keys_with_one_name_are_both_kept() -> None:
    made = normalized({"type": "new", "someKey": 1, "some_key": 2, "some-key": 3})
    assert sorted(made["attributes"].values()) == [1, 2, 3]


@pytest.mark.parametrize(
    "key", ["uuid", "sessionId", "cwd", "version", "isSidechain", "userType", "timestamp", "subtype", "type"]
)
def test_a_known_key_with_a_strange_value_is_kept(key: str) -> None:
    made = normalized(ALL_RECORDS["user_prompt"] | {key: {"strange": "value"}})
    assert {"strange": "value"} in made["attributes"].values()


@pytest.mark.parametrize("key", ["message", "toolUseResult", "attachment", "snapshot", "shape"])
@pytest.mark.parametrize(
    "name", ["user_prompt", "assistant_text", "attachment_file", "file_snapshot", "api_request_shape"]
)
def test_a_known_part_with_a_strange_shape_is_kept(name: str, key: str) -> None:
    made = normalized(ALL_RECORDS[name] | {key: "strange words"})
    assert "strange words" in written(made)


@pytest.mark.parametrize("key", ["", "_", "_" * 12, "-" * 40, "a_b_c_d_e_f_g_h"])
def test_any_key_of_a_record_is_kept(key: str) -> None:
    assert "strange words" in written(normalized({"type": "new", key: "strange words", "inner": {key: [1]}}))


def test_large_binary_in_an_unknown_record_is_described() -> None:
    made = normalized({"type": "new", "picture": {"data": PNG}, "link": f"data:image/png;base64,{PNG}"})
    assert made["attributes"]["picture"]["data"]["bytes"] == 2056
    assert made["attributes"]["link"]["media_type"] == "image/png"
    assert PNG[:100] not in written(made)


def test_values_nested_too_deep_are_kept_as_one_string() -> None:
    deep: Any = "the deepest word"
    for _ in range(200):
        deep = {"inner": deep}
    assert "the deepest word" in written(normalized({"type": "new", "deep": deep}))


def test_values_too_deep_for_any_serializer_are_kept_by_their_leaves() -> None:
    deep: Any = ["the deepest word", {"key": 7}]
    for _ in range(300_000):  # since Python 3.14, json can write values nested 30,000 deep
        deep = [deep]
    made = normalized({"type": "new", "deep": deep}, context())
    assert "the deepest word\\nkey\\n7" in written(made)
