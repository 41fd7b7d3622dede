"""What is left of an event that could not be redacted: the listed fields, if their value cannot be free text."""

from __future__ import annotations

from typing import Any

import pytest

from collector.redact.withhold import withheld
from tests.redact.secrets import secret
from tests.scopes import FORM

DRAWN = secret("drawn", 11)
METADATA: dict[str, Any] = {
    "id": "0123456789abcdef0123456789abcdef",
    "schema": "collector.event/1",
    "kind": "assistant_response",
    "time": "2026-01-02T03:04:05.678Z",
    "time_from": "record",
    "session_id": "01234567-89ab-4def-8123-456789abcdef",
    "file_session_id": "11234567-89ab-4def-8123-456789abcdef",
    "agent_id": "a0123456789abcdef",
    "uuid": "21234567-89ab-4def-8123-456789abcdef",
    "parent_uuid": "31234567-89ab-4def-8123-456789abcdef",
    "prompt_id": "41234567-89ab-4def-8123-456789abcdef",
    "role": "assistant",
    "origin": "human",
    "model": "claude-opus-4-5-20251101",
    "message_id": "msg_01ABCDEFGHIJKLMNOPQRSTUV",
    "request_id": "req_011CABCDEFGHIJKLMNOP",
    "stop_reason": "end_turn",
    "sidechain": False,
    "priority": 1,
}


def test_metadata_of_the_right_shape_is_kept() -> None:
    assert withheld(METADATA, FORM.shapes) == {**METADATA, "redactions": {"withheld": 0}}


@pytest.mark.parametrize("value", [DRAWN + "!", f"a text with {DRAWN}", [DRAWN], {"deep": DRAWN}, DRAWN.encode(), None])
def test_a_field_of_the_wrong_shape_is_not_kept(value: object) -> None:
    assert withheld(dict.fromkeys(METADATA, value), FORM.shapes).keys() == {"redactions"}


def test_a_field_that_is_not_on_the_list_is_not_kept() -> None:
    event = {**METADATA, "text": DRAWN, "blocks": [DRAWN], "cwd": "/home", "git_branch": "main", "id_of_mine": "a" * 32}
    assert withheld(event, FORM.shapes) == {**METADATA, "redactions": {"withheld": 5}}


def test_usage_keeps_its_numbers_and_only_those() -> None:
    usage = {"output_tokens": 7, "cache_creation_5m_tokens": 1.5, "service_tier": DRAWN, "deep": {"a": 1}, "ok": True}
    kept = withheld({"usage": {**usage, DRAWN: 5, 5: 5, "of text": 5}}, FORM.shapes)
    assert kept["usage"] == {"output_tokens": 7, "cache_creation_5m_tokens": 1.5}


def test_each_iteration_of_a_usage_keeps_its_model_and_numbers() -> None:
    advised = {"type": "advisor_message", "model": "claude-opus-4-5-20251101", "output_tokens": 7}
    calls = [advised | {"said": DRAWN}, {"type": DRAWN, "model": DRAWN + "!", "input_tokens": 1}, {"type": 7}, DRAWN]
    kept = withheld({"usage": {"iterations": calls}}, FORM.shapes)["usage"]["iterations"]
    assert kept == [advised, {"type": "unknown", "input_tokens": 1}, {"type": "unknown"}]
    assert withheld({"usage": {"iterations": DRAWN}}, FORM.shapes)["usage"] == {}


def test_the_source_keeps_its_offset_and_length_without_its_path() -> None:
    assert withheld({"source": {"path": f"~/{DRAWN}", "offset": 3, "length": 10}}, FORM.shapes)["source"] == {
        "offset": 3,
        "length": 10,
    }
    assert withheld({"source": {"offset": "3", "length": 2.5}}, FORM.shapes)["source"] == {}
    assert "source" not in withheld({"source": DRAWN}, FORM.shapes)


def test_the_client_keeps_its_version_if_it_is_one() -> None:
    client = {"name": "claude_code", "version": "2.0.76"}
    assert withheld({"client": client | {"entrypoint": "cli"}}, FORM.shapes)["client"] == client
    assert "client" not in withheld({"client": {"name": "claude_code", "version": DRAWN}}, FORM.shapes)


def test_every_withheld_string_is_counted_however_deep() -> None:
    event = {
        **METADATA,
        "text": "a",
        "blocks": [{"b": ["c", {"d": "e"}]}],
        "attributes": {"n": 1, "x": None, "y": True},
    }
    assert withheld(event, FORM.shapes)["redactions"] == {"withheld": 3}
    assert withheld({"odd": {1, 2}, "bytes": b"x"}, FORM.shapes)["redactions"] == {"withheld": 2}


def test_a_value_that_is_not_an_event_leaves_nothing() -> None:
    assert withheld([DRAWN], FORM.shapes) == {"redactions": {"withheld": 1}}
    assert withheld(DRAWN, FORM.shapes) == {"redactions": {"withheld": 1}}
