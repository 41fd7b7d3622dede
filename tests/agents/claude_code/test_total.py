"""Normalizing is total: any JSON in a line gives an event that conforms to the schema, or a skip."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.agents.claude_code import places
from collector.flow.outcome import Skip
from collector.flow.source import SourceKind
from tests.agents.claude_code.reader import context, copy_of, outcome, written
from tests.agents.claude_code.samples import ALL_RECORDS, HISTORY_LINES, INDEX_ENTRIES, JOURNAL_LINES, STATS
from tests.scopes import kinds

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.sampled_from(
        ["", "text", "tool_use", "tool_result", "image", "<persisted-output>\n\nPreview (first ", "Exit code 99999 "]
    )
)
KEYS = st.sampled_from(
    ["type", "text", "content", "id", "name", "input", "source", "data", "message", "usage", "file", "lines", "kind"]
) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
SAMPLES = {**ALL_RECORDS, **HISTORY_LINES, **JOURNAL_LINES, **INDEX_ENTRIES, "stats": STATS}
PROFILE = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a record."""
    places = [here] if here else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        places += paths(part, (*here, key))
    return places


def replaced(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The record with another value at this path."""
    changed = copy_of(record)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def check(record: Any, kind: SourceKind, level: str) -> None:
    made = outcome(record, context(kind, level=level))
    if not isinstance(made, Skip):
        written(made)


@PROFILE
@given(
    record=st.dictionaries(KEYS, JSON, max_size=6),
    kind=st.sampled_from(kinds()),
    level=st.sampled_from(["content", "metadata"]),
)
def test_any_object_becomes_an_event_or_a_skip(record: Any, kind: SourceKind, level: str) -> None:
    check(record, kind, level)


@PROFILE
@given(data=st.data(), level=st.sampled_from(["content", "metadata"]))
def test_any_value_anywhere_in_any_record_is_accepted(data: st.DataObject, level: str) -> None:
    name = data.draw(st.sampled_from(sorted(SAMPLES)))
    path = data.draw(st.sampled_from(paths(SAMPLES[name])))
    record = replaced(SAMPLES[name], path, data.draw(JSON))
    for kind in (places.SESSION, places.HISTORY, places.JOURNAL, places.SESSION_INDEX):
        check(record, kind, level)


@pytest.mark.parametrize("value", [None, 7, "words", [], [7, "words"], {"type": 7, "a": None}])
def test_every_place_in_every_record_tolerates_every_type(value: Any) -> None:
    for record in SAMPLES.values():
        for path in paths(record):
            check(replaced(record, path, value), places.SESSION, "content")


@pytest.mark.parametrize("value", ["\ud800", 10**40, math.nan, math.inf])
@pytest.mark.parametrize("key", ["uuid", "type", "text", "count", "timestamp", "cwd", "message", "content"])
def test_values_that_the_reader_should_have_cleaned_do_no_harm(key: str, value: Any) -> None:
    from collector.agents.claude_code.dispatch import event
    from collector.flow.line import Line

    for kind in kinds():
        where = context(kind)
        assert event(Line(where.reading, 0, 9, {"type": "user", key: value}, "", b"", b""), where)


PLACES = ["message", "toolUseResult", "attachment", "data", "anything", "snapshot", "shape", "usage", "type"]


@pytest.mark.parametrize(
    ("depth", "key"), [*((depth, key) for depth in (900, 3000) for key in PLACES), (20_000, "message")]
)
@pytest.mark.parametrize(
    "kind", ["user", "assistant", "attachment", "progress", "new", "file-history-snapshot", "api-request-shape"]
)
def test_deep_nesting_does_no_harm(kind: str, key: str, depth: int) -> None:
    from collector.agents.claude_code.dispatch import event
    from collector.flow.line import Line

    lists: Any = "leaf"
    objects: Any = "leaf"
    for _ in range(depth):
        lists, objects = [lists], {"content": objects, "type": "tool_result"}
    for deep in (
        lists,
        objects,
        {"content": [objects], "tools": [{"name": "x", "schema": objects}], "systemPrompt": lists},
    ):
        where = context()
        made = event(Line(where.reading, 0, 9, {"type": kind, key: deep}, "", b"", b""), where)
        if not isinstance(made, Skip):
            written(made)
