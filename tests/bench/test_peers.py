"""The sink that counts what other shippers deliver, the updated page, and the line fitted through measured costs."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.bench.benchmarks_page import rewritten
from tests.bench.lines import Counted, Counter, counted_below, serve
from tests.bench.plot import Point, fitted, ticks

LINES = [b'{"a":1}', '{"b":"ä \\n"}'.encode(), b'{"c":"' + b"x" * 300_000 + b'"}']


@contextmanager
def connected(counter: Counter) -> Iterator[socket.socket]:
    """Yields a connection to the sink; when the block ends, the sink has read it to its end."""
    ours, theirs = socket.socketpair()
    serving = threading.Thread(target=serve, args=(theirs, counter))
    serving.start()
    with ours:
        yield ours
    serving.join()


def posted(path: str, body: bytes, counter: Counter, encoding: str = "") -> bytes:
    """The answer to a request."""
    with connected(counter) as place:
        connection = http.client.HTTPConnection("sink")
        connection.sock = place
        connection.request("POST", path, body, {"Content-Encoding": encoding} if encoding else {})
        return connection.getresponse().read()


def otlp(lines: list[bytes]) -> bytes:
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    for line in lines:
        records.add().body.string_value = line.decode()
    return bytes(request.SerializeToString())


def bulk(lines: list[bytes]) -> bytes:
    return b"".join(b'{"create":{}}\n' + orjson.dumps({"message": line.decode()}) + b"\n" for line in lines)


@pytest.fixture
def expected(tmp_path: Path) -> Counted:
    """The counts of the same lines in files, in another order."""
    (tmp_path / "below").mkdir()
    (tmp_path / "one.jsonl").write_bytes(LINES[2] + b"\n\n")
    (tmp_path / "below" / "two.jsonl").write_bytes(b"\n".join(LINES[:2]))
    return counted_below(tmp_path)


def test_the_same_lines_count_the_same_in_every_protocol(expected: Counted) -> None:
    as_lines, as_bulk, as_stream = Counter(), Counter(), Counter()
    posted("/lines", b"\n".join(LINES), as_lines)
    assert len(json.loads(posted("/_bulk", gzip.compress(bulk(LINES)), as_bulk, "gzip"))["items"]) == len(LINES)
    as_otlp = Counter()
    posted("/v1/logs", gzip.compress(otlp(LINES)), as_otlp, "gzip")
    with connected(as_stream) as place:
        place.sendall(zlib.compress(b"\n".join(LINES) + b"\n", 1))
    found = [counter.counted for counter in (as_lines, as_bulk, as_otlp, as_stream)]
    assert [expected] * 4 == found


def test_a_cut_line_is_noticed(expected: Counted) -> None:
    counter = Counter()
    posted("/lines", b"\n".join([*LINES[:2], LINES[2][:-1]]), counter)
    assert counter.counted.lines == expected.lines
    assert counter.counted != expected


def test_the_page_gets_the_benchmarks_output_and_nothing_else_changes(expected: Counted, tmp_path: Path) -> None:
    other = "<!-- measured: stages -->\nas it was\n<!-- end -->\n"
    page = f"before\n<!-- measured: lines {tmp_path} -->\nold\n<!-- end -->\nafter\n{other}"
    now = rewritten(page, {"lines"})
    assert json.dumps(expected._asdict()) in now
    assert "old" not in now
    assert now.startswith("before\n<!-- measured: lines ")
    assert now.endswith(f"<!-- end -->\nafter\n{other}")


def test_the_fitted_line_gives_the_cost_of_starting_and_of_each_unit() -> None:
    start, slope = fitted([Point(amount, 0.5 + 0.25 * amount) for amount in (1, 2, 4, 8)])
    assert (round(start, 9), round(slope, 9)) == (0.5, 0.25)


def test_an_axis_reaches_its_last_point_in_round_steps() -> None:
    assert ticks(36.5) == [0, 10, 20, 30, 40]
    assert ticks(6.24) == [0, 2, 4, 6, 8]
