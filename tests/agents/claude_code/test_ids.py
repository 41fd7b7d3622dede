"""Promise 3: an event is a thing that happened, not a place in a file."""

from __future__ import annotations

from typing import Any

import pytest

from collector.agents.claude_code import places
from collector.flow.anchor import HEAD
from tests.agents.claude_code.reader import context, copy_of, normalized
from tests.agents.claude_code.sample_shapes import user
from tests.agents.claude_code.samples import ALL_RECORDS, HISTORY_LINES, INDEX_ENTRIES

Record = dict[str, Any]


def id_of(record: Record, **where: Any) -> str:
    return str(normalized(record, context(**where))["id"])


@pytest.mark.parametrize(
    "name", ["user_prompt", "assistant_tool_call", "summary", "queue_enqueue", "a_type_of_tomorrow"]
)
def test_the_same_record_has_the_same_id_in_another_file(name: str) -> None:
    here, elsewhere = context(), context(path="~/backup/x.jsonl", session_id="another session", agent_id="a1")
    for where in (here, elsewhere):
        normalized(user("before", "x"), where)
    record = ALL_RECORDS[name]
    assert normalized(record, here)["id"] == normalized(record, elsewhere, offset=9000)["id"]


def test_what_happens_twice_is_two_events_and_the_same_two_when_read_again() -> None:
    mode = ALL_RECORDS["mode"]
    records = [mode, mode, user("one", "x"), mode, user("two", "y"), mode, mode]
    first, again = ([normalized(record, where)["id"] for record in records] for where in (context(), context()))
    assert first == again
    assert len(set(first)) == len(records)


def test_without_a_uuid_before_it_a_record_is_identified_by_its_file_name_too() -> None:
    launched = {"type": "launched", "key": "explore"}
    runs = [("s1", "run-1"), ("s1", "run-2"), ("s2", "run-1")]
    ids = [
        id_of(launched, kind=places.JOURNAL, session_id=session, path=f"~/p/{session}/workflows/{run}/journal.jsonl")
        for session, run in runs
    ]
    assert len(set(ids)) == 3
    moved = "~/another/s1/workflows/run-1/journal.jsonl"
    assert id_of(launched, kind=places.JOURNAL, session_id="s1", path=moved) == ids[0]


def test_a_record_that_names_its_session_has_the_same_id_in_a_renamed_copy() -> None:
    """A backup may rename the file, and before the first uuid only the session id shows where a record belongs."""
    mode = ALL_RECORDS["mode"]
    assert mode["sessionId"]
    assert id_of(mode) == id_of(mode, path="~/backup/x.jsonl", session_id="x")


def test_a_fork_with_the_same_uuid_has_the_same_id() -> None:
    record = ALL_RECORDS["user_prompt"]
    fork = record | {"sessionId": "other", "forkedFrom": {"sessionId": record["sessionId"]}}
    assert id_of(fork) == id_of(record)


def test_a_record_scrubbed_in_place_keeps_its_id() -> None:
    record = ALL_RECORDS["user_prompt"]
    assert id_of(record | {"message": {"role": "user", "content": "[removed]"}}) == id_of(record)


def test_the_order_of_keys_does_not_matter() -> None:
    record = ALL_RECORDS["summary"]
    assert id_of(dict(reversed(record.items()))) == id_of(record)


def test_different_content_without_a_uuid_has_another_id() -> None:
    record = ALL_RECORDS["ai_title"]
    assert id_of(record | {"aiTitle": "Another"}) != id_of(record)
    assert id_of(record | {"sessionId": "another"}) != id_of(record)


def test_a_uuid_is_not_confused_with_content() -> None:
    assert id_of({"type": "mode", "uuid": "x"}) != id_of({"type": "mode", "uuid": ""})


@pytest.mark.parametrize("uuid", ["", 7, None, ["x"], "u" * 5000, {"a": 1}])
def test_with_an_invalid_uuid_the_content_decides(uuid: Any) -> None:
    assert id_of({"type": "mode", "mode": "a", "uuid": uuid}) != id_of({"type": "mode", "mode": "b", "uuid": uuid})


def test_a_lone_surrogate_and_a_huge_number_have_a_stable_id() -> None:
    record = {"type": "summary", "summary": "\ud800", "count": 10**30}
    where = context()
    from collector.agents.claude_code.identity import identity

    assert identity(record, HEAD, None) == identity(dict(reversed(record.items())), HEAD, None)
    assert where.kind == places.SESSION.name


def test_content_nested_too_deep_for_any_serializer_has_an_id() -> None:
    from collector.agents.claude_code.identity import identity

    deep: Any = "leaf"
    other: Any = "other leaf"
    for _ in range(5000):
        deep, other = [deep], [other]
    assert identity({"deep": deep}, HEAD, None) == identity({"deep": deep}, HEAD, None)
    assert identity({"deep": deep}, HEAD, None) != identity({"deep": other}, HEAD, None)


def test_an_index_entry_that_changed_is_a_new_event() -> None:
    entry = INDEX_ENTRIES["index_entry"]
    old = id_of(entry, kind=places.SESSION_INDEX)
    assert id_of(entry | {"messageCount": 15}, kind=places.SESSION_INDEX) != old
    assert id_of(copy_of(entry), kind=places.SESSION_INDEX) == old


def test_the_same_prompt_at_another_time_is_another_event() -> None:
    line = HISTORY_LINES["history"]
    later = line | {"timestamp": line["timestamp"] + 1}
    assert id_of(line, kind=places.HISTORY) != id_of(later, kind=places.HISTORY)


def test_a_prompt_keeps_its_id_when_the_history_before_it_is_removed() -> None:
    before, line = HISTORY_LINES["history"], HISTORY_LINES["history"] | {"display": "another"}
    where = context(kind=places.HISTORY)
    normalized(before, where)
    assert normalized(line, where)["id"] == id_of(line, kind=places.HISTORY)


def test_the_depth_of_the_call_stack_does_not_change_an_id() -> None:
    def id_from(frames: int, record: Record) -> str:
        return id_of(record) if not frames else id_from(frames - 1, record)

    def nested(depth: int, leaf: str, name: str = "k") -> Record:
        value: Any = leaf
        for _ in range(depth):
            value = [{name: value}]
        return {"type": "mode", "news": value, "mode": "plan"}

    depths = (100, 130, 300, 440, 470, 490, 1000)
    near = [id_of(nested(depth, "x")) for depth in depths]
    assert near == [id_from(300, nested(depth, "x")) for depth in depths]
    others = [id_of(each) for each in (nested(300, "y"), nested(300, "x", "j"), nested(301, "x"))]
    assert len({*near, *others}) == len(near) + len(others)
    record = nested(300, "x")
    assert id_of(dict(reversed(record.items()))) == id_of(record)
