"""Broken lines: whole records in them are saved, torn pieces are named, and every byte is accounted for."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.flow import reasons
from collector.reading.splice import MAX_FROM_THE_END, Fragment, fragments
from tests.scopes import FORM

TORN, NUL_BYTES, NOT_AN_OBJECT = reasons.TORN.name, reasons.NUL_BYTES.name, reasons.NOT_AN_OBJECT.name
FIRST = b'{"parentUuid":null,"type":"user","message":{"content":[{"type":"text","text":"say \\"{\\" }"}]},"uuid":"1"}'
SECOND = b'{"parentUuid":"1","type":"assistant","message":{"usage":{"a":{"b":1}},"content":[]},"uuid":"2"}'
THIRD = b'{"type":"summary","summary":"\\\\","leafUuid":"2"}'


def found_in(line: bytes) -> list[Fragment]:
    return list(fragments(line, FORM.record_keys))


def parts(line: bytes) -> list[bytes | str]:
    """Each piece, as the bytes of a whole record or the problem of a torn one."""
    return [line[piece.start : piece.end] if piece.record is not None else piece.problem for piece in found_in(line)]


def test_the_record_after_a_torn_one_is_saved_wherever_the_tear_is() -> None:
    for cut in range(1, len(FIRST)):
        line = FIRST[:cut] + SECOND
        assert [(piece.start, piece.end, piece.record, piece.problem) for piece in found_in(line)] == [
            (0, cut, None, TORN),
            (cut, len(line), orjson.loads(SECOND), ""),
        ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (FIRST + SECOND, [FIRST, SECOND]),
        (FIRST + SECOND + THIRD, [FIRST, SECOND, THIRD]),
        (b" " + FIRST + b"  " + SECOND + b"\r", [FIRST, SECOND]),
        (FIRST[:50] + SECOND + THIRD, [TORN, SECOND, THIRD]),
        (FIRST + SECOND[:50] + THIRD, [FIRST, TORN, THIRD]),
        (FIRST + SECOND[:50], [FIRST, TORN]),
        (FIRST[:50] + SECOND[:50] + THIRD, [TORN, THIRD]),
        (b"\0" * 900 + FIRST, [NUL_BYTES, FIRST]),
        (FIRST + b"\0" * 9 + SECOND, [FIRST, NUL_BYTES, SECOND]),
        (FIRST[:50] + b"\0" * 9 + SECOND, [TORN, SECOND]),
        (b"\xef\xbb\xbf" + FIRST + b"\xef\xbb\xbf" + SECOND, [FIRST, SECOND]),
        (FIRST[50:], [TORN]),
        (FIRST[:50], [TORN]),
        (FIRST[:-1], [TORN]),
        (b"\0\0", [NUL_BYTES]),
        (b"hello", [TORN]),
        (b"12", [NOT_AN_OBJECT]),
        (b"[1]", [NOT_AN_OBJECT]),
        (FIRST + b" 12", [FIRST, NOT_AN_OBJECT]),
        (b'{"a":NaN}{"b":"\xff"}', [b'{"a":NaN}', b'{"b":"\xff"}']),
        (b" ", []),
        (b"\xef\xbb\xbf ", []),
    ],
)
def test_whole_records_are_saved_and_the_rest_is_named(line: bytes, expected: list[bytes | str]) -> None:
    assert parts(line) == expected


@pytest.mark.parametrize(
    "torn", [b'{"type":"user","message":{"usage":{"input_tokens":1}', b'{"a":[{"b":1},{"c":2}', b'["x",{}']
)
def test_a_nested_object_of_a_torn_record_is_not_taken_for_a_record(torn: bytes) -> None:
    assert parts(torn) == [TORN]


def test_a_record_appended_where_a_value_was_due_is_still_a_record() -> None:
    assert parts(b'{"type":"user","message":' + SECOND) == [TORN, SECOND]


def test_a_large_record_after_a_torn_one_is_saved() -> None:
    large = b'{"uuid":"9","text":"' + b'x\\"{' * 3_000_000 + b'"}'
    assert parts(b'{"torn":"' + large) == [TORN, large]


def test_more_records_at_the_end_than_are_looked_for_stay_one_torn_piece() -> None:
    found = found_in(b"x" + THIRD * (MAX_FROM_THE_END + 5))
    assert [piece.problem for piece in found] == [TORN] + [""] * MAX_FROM_THE_END
    assert found[0].end == 1 + 5 * len(THIRD)


@pytest.mark.parametrize(
    "line",
    [
        b'{"' * 2_000_000,
        b'{"a":' * 700_000 + b"}",
        b"x" + b"}" * 4_000_000,
        b"{" * 2_000_000 + b"}" * 2_000_000,
        b'x"' * 2_000_000 + b"}",
        b'{"a":"' + b'\\"' * 2_000_000 + b"}",
        b"\\" * 4_000_000 + b'"}',
        b'"\\\\' * 1_300_000 + b"}",
        b'{"type":"' * 400_000 + b"}",
        b"\0" * 4_000_000 + b"}",
        b"\n \r" * 1_000_000 + b"x",
    ],
    ids=lambda line: repr(line[:9] + line[-3:]),
)
def test_no_four_megabytes_take_long(line: bytes) -> None:
    """The bound is generous: it is there to catch work that grows with the square of the line."""
    started = time.process_time()
    assert [piece.record for piece in found_in(line)] == [None]
    assert time.process_time() - started < 5


@given(
    st.lists(st.one_of(st.binary(max_size=9), st.sampled_from([FIRST, SECOND, THIRD, FIRST[:40], SECOND[40:], b"{}"])))
)
def test_every_byte_lies_in_one_piece_or_is_blank(bits: list[bytes]) -> None:
    line = b"".join(bits).replace(b"\n", b"")
    at = 0
    for piece in found_in(line):
        assert not line[at : piece.start].replace(b"\xef\xbb\xbf", b"").strip()
        assert piece.start < piece.end
        assert (piece.record is None) == bool(piece.problem)
        at = piece.end
    assert not line[at:].replace(b"\xef\xbb\xbf", b"").strip()
