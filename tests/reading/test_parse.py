"""Lenient JSON: what is repaired, what is folded, what is refused, and that nothing takes long."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.reading.parse import MAX_DEPTH, MAX_VALUES, has_too_many_values, is_deep, load


def depth_of(value: Any) -> int:
    """How deep containers nest, counted without recursion."""
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"a":1}', {"a": 1}),
        (b' {"a":1} \r', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":"x\xffy"}', {"a": "x\ufffdy"}),
        (b'{"a":"\xed\xa0\x80"}', {"a": "\ufffd\ufffd\ufffd"}),
        (b'{"a":"\\ud800"}', {"a": "\ufffd"}),
        (b'{"a":"\\udc00\\ud83d\\ude00"}', {"a": "\ufffd\U0001f600"}),
        (b'{"a":"\\uD83D\\uDE00\\uD83D"}', {"a": "\U0001f600\ufffd"}),
        (b'{"a":"\\\\ud800\xff"}', {"a": "\\ud800\ufffd"}),
        (b'{"\\ud800":1}', {"\ufffd": 1}),
        (b'{"a":"\x00\t"}', {"a": "\x00\t"}),
        (b'{"a":18446744073709551615}', {"a": 2**64 - 1}),
        (b'{"a":18446744073709551616}', {"a": float(2**64)}),
        (b'{"a":-9223372036854775808,"b":NaN}', {"a": -(2**63), "b": "NaN"}),
        (b'{"a":-9223372036854775809,"b":NaN}', {"a": -float(2**63), "b": "NaN"}),
        (b'{"a":[Infinity,-Infinity]}', {"a": ["Infinity", "-Infinity"]}),
        (b'{"a":1e999,"b":-1e999,"c":1.5}', {"a": "1e999", "b": "-1e999", "c": 1.5}),
        (b'{"a":' + b"9" * 5000 + b"}", {"a": "9" * 5000}),
    ],
)
def test_odd_values_are_repaired(raw: bytes, expected: Any) -> None:
    assert load(raw) == expected


@pytest.mark.parametrize(
    "raw", [b"", b" ", b"{", b'{"a":', b"{'a':1}", b'{"a":1}x', b'{"a":1}{"b":2}', b"\x00", b'{"a":01}', b"[" * 9999]
)
def test_invalid_json_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load(raw)


@pytest.mark.parametrize("depth", [101, 254, 255, 1024, 1025, 5000, 50_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"k":', b"}"), (b'[{"k":"[","l":', b"}]")])
def test_values_nested_too_deep_become_a_string_of_their_json(depth: int, opening: bytes, closing: bytes) -> None:
    count = depth // (opening.count(b"[") or 1)
    inner = opening * count + b'"leaf"' + closing * count
    value = load(b'{"before":1,"a":' + inner + b',"after":"x"}')
    assert (value["before"], value["after"]) == (1, "x")
    assert depth_of(value) <= MAX_DEPTH + 1
    assert b"leaf" in orjson.dumps(value)


def test_the_folded_part_keeps_every_byte() -> None:
    deep = "[" * 150 + '"a\\"]b"' + "]" * 150
    value = load(f'{{"a":{deep}}}'.encode())
    for _ in range(MAX_DEPTH - 1):
        value = value["a"] if isinstance(value, dict) else value[0]
    assert json.loads(value[0]) == json.loads(deep[MAX_DEPTH - 1 : -(MAX_DEPTH - 1)])


def test_many_brackets_without_depth_stay_as_they_are() -> None:
    wide = {"text": "[{" * 500, "list": [{"a": [{}]} for _ in range(300)]}
    assert load(orjson.dumps(wide)) == wide


@pytest.mark.parametrize("depth", [99, 100, 102, 103])
def test_depth_is_measured_to_within_one_level(depth: int) -> None:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    assert is_deep(value) == (depth > 101)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"' + b'\\"' * 2_000_000,
        b'"' * 4_000_000,
        b"\\" * 4_000_000,
        b'{"a":"' + b"\\ud800" * 500_000 + b'"}',
        b"[" * 4_000_000,
        b'{"":' * 1_000_000,
        b"[]," * 1_000_000,
        b'{"a":' + b"1" * 4_000_000 + b"}",
        b'{"a":1.' + b"1" * 4_000_000 + b"e1111}",
        b"\xff" * 4_000_000,
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_no_four_megabytes_take_long(raw: bytes) -> None:
    """The bound is generous: it is there to catch work that grows with the square of the line."""
    started = time.process_time()
    with contextlib.suppress(ValueError):
        load(raw)
    assert time.process_time() - started < 5


@given(st.binary())
def test_any_bytes_give_a_serializable_value_or_a_value_error(raw: bytes) -> None:
    try:
        value = load(raw)
    except ValueError:
        return
    orjson.dumps(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_json_that_python_writes_can_be_read_and_written_again(value: Any) -> None:
    orjson.dumps(load(json.dumps(value).encode()))


@given(JSON.filter(lambda value: isinstance(value, dict)))
def test_json_that_orjson_writes_is_read_unchanged(value: Any) -> None:
    try:
        raw = orjson.dumps(value)
    except TypeError:
        return
    assert load(raw) == orjson.loads(raw)


def test_values_are_counted_but_punctuation_inside_strings_is_not() -> None:
    signs = b'{"text":"' + b'{[,\\"' * MAX_VALUES + b'"}'
    assert not has_too_many_values(signs)
    values = b'{"x":[1' + b",1" * MAX_VALUES + b"]}"
    assert has_too_many_values(values)
    assert not has_too_many_values(values, 0, len(values) // 2)
    with pytest.raises(ValueError, match="too many values"):
        load(values)
