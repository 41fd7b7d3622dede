"""Any event can be made to fit any size; it says what was cut, and never inside a character or a marker."""

from __future__ import annotations

import copy
import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.flow import shorten

MARKER = "[REDACTED:named-secret:0123456789ab]"
leaf = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.text(max_size=400)
    | st.just("\u00e9\U0001f600" * 900)
)
values = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=30), inner, max_size=5),
    max_leaves=25,
)
events = st.dictionaries(
    st.sampled_from(["id", "kind", "text", "blocks", "attributes", "truncated", "usage", "x" * 300]), values
)


def test_nul_characters_are_replaced_and_counted_at_every_level() -> None:
    inner = {"a\0": "x\0\0y", "a\ufffd": 1, "list": ["\0", ["\0", {"deep": "\0"}]], "escape": "\x1b[31m"}
    made = orjson.loads(shorten.fit({"id": "a", "text": "one\0two", "attributes": inner}, 1000))
    assert made == {
        "id": "a",
        "text": "one\ufffdtwo",
        "attributes": {
            "a\ufffd": "x\ufffd\ufffdy",
            "a\ufffd'": 1,
            "list": ["\ufffd", ["\ufffd", {"deep": "\ufffd"}]],
            "escape": "\x1b[31m",
        },
        "replaced": {"nul": 7},
    }


def test_text_that_merely_spells_out_a_nul_escape_stays() -> None:
    event = {"id": "a", "text": "print('\\u0000')"}
    assert orjson.loads(shorten.fit(dict(event), 1000)) == event


def test_an_event_that_fits_is_not_touched() -> None:
    event = {"id": "a", "text": "b" * 100}
    before = copy.deepcopy(event)
    assert orjson.loads(shorten.fit(event, 1000)) == before
    assert event == before


def test_the_largest_string_is_cut_and_the_rest_stays() -> None:
    event = {"id": "a", "kind": "x", "text": "t" * 5000, "blocks": [{"text": "b" * 300}], "note": "n" * 200}
    cut_event = orjson.loads(shorten.fit(event, 2000))
    assert cut_event["text"].endswith("\u2026[cut: 5000 bytes]")
    assert len(cut_event["text"]) > 900
    assert cut_event["truncated"] == {"text": 5000}
    assert cut_event["blocks"] == [{"text": "b" * 300}]
    assert cut_event["note"] == "n" * 200


def test_strings_of_equal_size_are_cut_equally() -> None:
    event = {"id": "a", "blocks": [{"text": "x" * 4000} for _ in range(5)]}
    cut_event = orjson.loads(shorten.fit(event, 6000))
    assert cut_event["truncated"] == {f"blocks.{index}.text": 4000 for index in range(5)}
    assert len({len(block["text"]) for block in cut_event["blocks"]}) == 1


@pytest.mark.parametrize("size", range(700, 760))
def test_a_redaction_marker_is_kept_whole_or_dropped(size: int) -> None:
    body = shorten.fit({"id": "a", "text": "x" * 500 + MARKER + "y" * 800}, size)
    text = orjson.loads(body)["text"]
    assert MARKER in text or "REDACTED" not in text


@pytest.mark.parametrize("size", range(600, 616))
def test_a_cut_falls_between_characters(size: int) -> None:
    event = orjson.loads(shorten.fit({"id": "a", "text": "\u00e9\U0001f600\u20ac" * 900}, size))
    assert set(event["text"].partition("\u2026")[0]) <= set("\u00e9\U0001f600\u20ac")
    assert event["truncated"] == {"text": 900 * 9}


def test_text_that_grows_when_escaped_still_fits() -> None:
    event = orjson.loads(shorten.fit({"id": "a", "text": '\x01\n"' * 2000}, 1500))
    assert event["truncated"] == {"text": 6000}


def test_many_small_strings_are_dropped_as_one_field_and_the_identity_stays() -> None:
    event = {
        "id": "a" * 32,
        "kind": "x",
        "usage": {"output_tokens": 1},
        "attributes": {str(n): "v" for n in range(50_000)},
    }
    cut_event = orjson.loads(shorten.fit(event, 4000))
    assert cut_event == {
        "id": "a" * 32,
        "kind": "x",
        "usage": {"output_tokens": 1},
        "truncated": {"attributes": len(orjson.dumps({str(n): "v" for n in range(50_000)}))},
    }


def test_dropping_a_field_keeps_the_notes_of_earlier_cuts() -> None:
    event = {"id": "a", "text": "t" * 9000, "attributes": {str(n): n for n in range(2000)}}
    cut_event = orjson.loads(shorten.fit(event, 3000))
    assert set(cut_event["truncated"]) == {"text", "attributes"}


def test_the_id_is_dropped_last() -> None:
    event = {"id": "a" * 32, "schema": "s" * 30, "kind": "x" * 30, "usage": {"output_tokens": 1}}
    assert orjson.loads(shorten.fit(event, 50)) == {"id": "a" * 32}


def test_the_notes_of_very_many_cuts_are_added_up() -> None:
    event = {"id": "a", "blocks": [{"text": "x" * 4000} for _ in range(60)]}
    notes = orjson.loads(shorten.fit(event, 60_000))["truncated"]
    assert notes == {f"blocks.{index}.text": 4000 for index in range(shorten.MOST_NOTES)} | {"...": 10 * 4000}


@pytest.mark.parametrize("odd", ["\ud800", 2**64, -(2**63) - 1, {"\udfff": 1}, json.loads("[" * 600 + "]" * 600)])
def test_values_that_orjson_refuses_are_still_written(odd: object) -> None:
    assert orjson.loads(shorten.fit({"id": "a", "x": odd}, 100_000))["id"] == "a"


@settings(max_examples=200, deadline=None)
@example({"id": None, "truncated": {"blocks": None, "...": "x"}, "blocks": "t" * 400}, 200)
@example({"id": None, "truncated": {"text": "x" * 400}, "text": "t" * 500}, 500)
@given(events, st.integers(2, 3000))
def test_any_event_fits_any_size(event: dict[str, Any], size: int) -> None:
    body = shorten.fit(event, size)
    assert len(body) <= size
    assert isinstance(orjson.loads(body), dict)


def test_a_giant_event_is_cut_before_it_is_serialized_and_states_its_true_size() -> None:
    text, size = "\u00e9" * 9000, 18_000
    event = {"id": "a", "text": text, "blocks": [{"text": "b" * 9000}], "source": {"path": "p", "length": 30_000}}
    cut_event = orjson.loads(shorten.fit(event, 2000))
    assert cut_event["text"].endswith(f"\u2026[cut: {size} bytes]")
    assert cut_event["truncated"] == {"text": size, "blocks.0.text": 9000}


def test_a_giant_event_is_never_serialized_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    dump = shorten.dump

    def noting(event: dict[str, Any]) -> bytes:
        made.append(dump(event))
        return made[-1]

    monkeypatch.setattr(shorten, "dump", noting)
    shorten.fit({"id": "a", "text": "x" * 90_000, "source": {"path": "p", "length": 90_100}}, 2000)
    assert max(map(len, made)) < 2 * shorten.GIANT * 2000


def test_a_truncated_field_of_the_wrong_type_is_cut_like_any_text() -> None:
    event = {"id": "a", "x" * 50: "t" * 5000, "truncated": "n" * 4000}
    assert len(shorten.fit(event, 1000)) <= 1000
