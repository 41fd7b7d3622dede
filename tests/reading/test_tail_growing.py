"""A file that grows between reads gives the same lines as one read all at once; no bytes stop the reader."""

from __future__ import annotations

import itertools

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.flow.line import End, Line, position_after
from collector.flow.source import Position
from tests.reading.reads import append, read

RECORDS = st.sampled_from(
    [
        b'{"a":1}',
        b'{"parentUuid":"u","message":{"content":[{"type":"text","text":"a \\"{\\" b"}]}}',
        b'{"type":"x","s":"\\\\"}',
        b'{"a":"\\ud800","b":[[{"c":{}}]]}',
        b'{"u":"\xc3\xa9\xf0\x9f\x98\x80"}',
        b"{}",
        b'{"a":NaN}',
        b'{"":' + b"[" * 120 + b"]" * 120 + b"}",
    ]
)
BITS = st.one_of(
    RECORDS,
    RECORDS.flatmap(lambda record: st.integers(0, len(record)).map(lambda cut: record[:cut])),
    RECORDS.flatmap(lambda record: st.integers(0, len(record)).map(lambda cut: record[cut:])),
    st.sampled_from(
        [b"\n", b"\r\n", b"\n\n", b" ", b"\0\0\0", b"\xef\xbb\xbf", b"123", b'"', b"\\", b"}", b"{", b"\xff"]
    ),
    st.binary(max_size=8),
)
CONTENT = st.lists(st.tuples(BITS, st.sampled_from([b"", b"", b"\n"])), max_size=12).map(
    lambda bits: b"".join(bit + end for bit, end in bits) + b"\n"
)


@settings(max_examples=600, deadline=None)
@given(
    data=CONTENT, cuts=st.lists(st.integers(0, 400), max_size=6), chunk_bytes=st.sampled_from([1, 3, 16, 64, 1 << 18])
)
def test_reading_piece_by_piece_equals_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int], chunk_bytes: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "grows.jsonl"
    path.write_bytes(data)
    at_once, end = read(path)
    assert end.end == len(data)
    path.write_bytes(b"")
    position: Position | None = None
    collected: list[Line] = []
    steps = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in itertools.pairwise(steps):
        append(path, data[start:stop])
        lines, end = read(path, position, chunk_bytes=chunk_bytes)
        consumed = position.offset if position else 0
        items: list[Line | End] = [*lines, end]
        for item in items:
            if isinstance(item, Line):
                assert not data[consumed : item.offset].replace(b"\xef\xbb\xbf", b"").strip()
                assert item.offset < item.end
            assert consumed <= item.end
            assert item.tail == data[max(0, item.end - 1024) : item.end]
            consumed = item.end
        collected += lines
        position = position_after(end)
    assert end.end == len(data)
    assert [(line.record, line.problem, line.raw) for line in collected] == [
        (line.record, line.problem, line.raw) for line in at_once
    ]


@settings(max_examples=300, deadline=None)
@given(data=st.one_of(st.binary(max_size=300), CONTENT), chunk_bytes=st.sampled_from([1, 5, 1 << 18]))
def test_no_bytes_stop_the_reader_and_every_record_can_be_written_again(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, chunk_bytes: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    lines, _ = read(path, chunk_bytes=chunk_bytes, max_line_bytes=200)
    for line in lines:
        assert (line.record is None) == bool(line.problem)
        orjson.dumps(line.record)
