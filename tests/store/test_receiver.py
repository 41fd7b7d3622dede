"""The receiver answers every request with one clear status, and stores whatever it acknowledges."""

from __future__ import annotations

import gzip
import json
import logging
import resource
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from collector.store.report import asking
from tests.store.samples import Client, connected, event, lines, serving

MIB = 2**20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:]),
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def stored(client: Client) -> int:
    return int(client.report()["events"])


@pytest.mark.parametrize("encoding", PACKERS)
def test_every_encoding_is_understood(client: Client, encoding: str) -> None:
    response = client.post(PACKERS[encoding](lines([event(), event()])), encoding=encoding)
    assert (response.status_code, response.json()) == (200, {"accepted": 2, "duplicate": 0, "rejected": []})


def test_raw_deflate_is_understood_too(client: Client) -> None:
    assert client.post(raw_deflate(lines([event()])), encoding="deflate").json()["accepted"] == 1


def test_a_zstd_body_may_have_several_frames(client: Client) -> None:
    body = b"".join(zstandard.ZstdCompressor().compress(lines([event()])) for _ in range(3))
    assert client.post(body, encoding="zstd").json()["accepted"] == 3


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/ndjson; charset=utf-8"])
def test_any_line_ending_and_blank_lines_are_accepted(client: Client, content_type: str) -> None:
    body = lines([event()]).rstrip(b"\n") + b"\r\n\n  \n" + lines([event()]).rstrip(b"\n")
    assert client.post(body, content_type).json() == {"accepted": 2, "duplicate": 0, "rejected": []}


def test_a_json_array_is_understood(client: Client) -> None:
    body = json.dumps([event(), event(), "nonsense"]).encode()
    expected = {"accepted": 2, "duplicate": 0, "rejected": [{"id": None, "reason": "not a JSON object"}]}
    assert client.post(body, "application/json").json() == expected


@pytest.mark.parametrize(("body", "content_type"), [(b"", "application/x-ndjson"), (b"[]", "application/json")])
def test_an_empty_batch_is_accepted(client: Client, body: bytes, content_type: str) -> None:
    assert client.post(body, content_type).json() == {"accepted": 0, "duplicate": 0, "rejected": []}


def test_an_event_is_stored_as_it_was_sent(client: Client) -> None:
    sent = event(text="naïve \u0000 \U0001f600", unheard_of={"deep": [1, None]})
    client.send(sent)
    with asking(client.database) as connection:
        (body,) = connection.execute("SELECT body FROM bodies").fetchone()
    assert json.loads(body) == sent


def test_a_bad_line_costs_exactly_itself(client: Client) -> None:
    cut = event()
    receipt = client.post(lines([event()]) + json.dumps(cut).encode()[:-5] + b"\n\xff\xfe\n" + lines([event()]))
    assert receipt.json() == {
        "accepted": 2,
        "duplicate": 0,
        "rejected": [{"id": cut["id"], "reason": "not valid JSON"}, {"id": None, "reason": "not valid JSON"}],
    }
    assert stored(client) == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": "abc"}, "id must be 32 hexadecimal digits"),
        ({"id": 7}, "id must be 32 hexadecimal digits"),
        ({"id": "0" * 31 + "\n"}, "id must be 32 hexadecimal digits"),
        ({"schema": "collector.event/2"}, "schema must be collector.event/1"),
        ({"kind": ""}, "kind must be a string"),
        ({"kind": None}, "kind must be a string"),
    ],
)
def test_an_event_that_breaks_the_contract_is_rejected_with_a_reason(
    client: Client, change: dict[str, object], reason: str
) -> None:
    bad = event() | change
    called = bad["id"] if isinstance(bad["id"], str) else None
    assert client.send(event(), bad)["rejected"] == [{"id": called, "reason": reason}]
    assert stored(client) == 1


def test_fields_of_the_wrong_type_do_not_cost_the_event(client: Client) -> None:
    odd = event(host="h", usage=[1], blocks={"a": 1}, session_id=9, time="yesterday", attributes="x", quality=3)
    assert client.send(odd, event(blocks=[1, {"type": "tool_call", "name": 4}]))["accepted"] == 2
    assert client.report()["tools"] == [{"name": "", "calls": 1}]


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"garbage\nmore garbage", "application/x-ndjson", ""),
        (b"[{", "application/json", ""),
        (b"not gzip", "application/x-ndjson", "gzip"),
        (gzip.compress(b"{}\n" * 1000, mtime=0)[:-20], "application/x-ndjson", "gzip"),
        (gzip.compress(lines([event()]), mtime=0) + b"tail", "application/x-ndjson", "gzip"),
        (b"", "application/x-ndjson", "gzip"),
        (b"not zstd", "application/x-ndjson", "zstd"),
        (b"[" * 100_000, "application/json", ""),
    ],
)
def test_an_unreadable_body_is_refused(client: Client, body: bytes, content_type: str, encoding: str) -> None:
    response = client.post(body, content_type, encoding)
    assert response.status_code == 400
    assert set(response.json()) == {"error"}


@pytest.mark.parametrize(("content_type", "encoding"), [("text/plain", ""), ("", ""), ("application/x-ndjson", "br")])
def test_an_unsupported_type_or_encoding_is_answered_with_the_supported_ones(
    client: Client, content_type: str, encoding: str
) -> None:
    response = client.post(lines([event()]), content_type, encoding)
    assert response.status_code == 415
    assert "must be" in response.json()["error"]


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer wrong", "Basic eDp5", "Bearer wröng"])
def test_without_the_token_nothing_is_stored(client: Client, authorization: str) -> None:
    headers = {b"Authorization": authorization.encode("latin-1"), b"Content-Type": b"application/x-ndjson"}
    response = httpx.post(client.url, content=lines([event()]), headers=headers)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert stored(client) == 0


def test_a_web_page_cannot_post(client: Client) -> None:
    assert client.post(lines([event()]), Origin="https://example.com").status_code == 403


@pytest.mark.parametrize("packer", ["identity", "gzip", "zstd", "deflate"])
def test_a_body_that_is_too_large_is_refused_compressed_or_not(database: Path, packer: str) -> None:
    with serving(database, body_bytes=10_000) as client:
        encoding = "" if packer == "identity" else packer
        response = client.post(PACKERS[packer](lines([event(text="x" * 20_000)])), encoding=encoding)
        assert response.status_code == 413
        assert client.send(event())["accepted"] == 1


def test_the_size_of_one_document_is_limited(database: Path) -> None:
    with serving(database, document_bytes=1000) as client:
        assert client.post(lines([event(), event(text="x" * 1000)])).status_code == 413
        assert client.post(json.dumps([event() for _ in range(10)]).encode(), "application/json").status_code == 413
        assert client.send(*[event() for _ in range(10)])["accepted"] == 10


def test_too_many_events_are_refused(database: Path) -> None:
    with serving(database, events=10) as client:
        assert client.post(b"{}\n" * 11).status_code == 413
        assert client.post(b"[" + b"1," * 11 + b"1]", "application/json").status_code == 413


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units")
@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
def test_a_zip_bomb_is_refused_before_it_is_fully_decompressed(client: Client, encoding: str) -> None:
    packed = bomb(encoding, 512 * MIB)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert client.post(packed, encoding=encoding).status_code == 413
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 * 1024
    assert client.send(event())["accepted"] == 1


def test_a_body_of_many_empty_gzip_members_is_cheap(client: Client) -> None:
    packed = gzip.compress(b"") * (4 * MIB // 20) + gzip.compress(lines([event()]))
    before = time.process_time()
    assert client.post(packed, encoding="gzip").json()["accepted"] == 1
    assert time.process_time() - before < 3  # 8 seconds if each member copies everything after it


def bomb(encoding: str, size: int) -> bytes:
    """This many zero bytes, compressed."""
    chunk = bytes(MIB)
    if encoding == "zstd":
        zstd = zstandard.ZstdCompressor().compressobj()
        return b"".join(zstd.compress(chunk) for _ in range(size // MIB)) + zstd.flush()
    deflate = zlib.compressobj(1, wbits=31 if encoding == "gzip" else 15)
    return b"".join(deflate.compress(chunk) for _ in range(size // MIB)) + deflate.flush()


def test_a_zstd_window_that_needs_too_much_memory_is_refused(client: Client) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(lines([event()])) + packer.flush()
    assert client.post(packed, encoding="zstd").status_code == 400


def test_waiting_bodies_are_limited_across_all_requests(database: Path) -> None:
    with serving(database, body_bytes=100_000, waiting_bytes=5_000) as client:
        response = client.post(lines([event(text="x" * 10_000)]))
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
        assert client.send(event())["accepted"] == 1


def test_a_body_that_never_arrives_times_out(database: Path) -> None:
    with serving(database, seconds=0.05) as client, connected(client) as connection:
        connection.sendall(
            b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9\r\n\r\n"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_sender_that_disconnects_harms_nobody(client: Client) -> None:
    with connected(client) as connection:
        connection.sendall(
            b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer "
            + client.headers["Authorization"].split()[1].encode()
            + b"\r\nContent-Length: 99\r\n\r\n{"
        )
    assert client.send(event())["accepted"] == 1


def test_a_flood_of_headers_is_cut_off(client: Client) -> None:
    with connected(client) as connection:
        connection.sendall(b"POST /v1/events HTTP/1.1\r\n" + b"X: " + b"y" * 100_000)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "/v1/events", 405)])
def test_a_wrong_address_is_answered_in_json(client: Client, method: str, path: str, status: int) -> None:
    response = client.http.request(method, httpx.URL(client.url).join(path))
    assert (response.status_code, set(response.json())) == (status, {"error"})


def test_health_needs_no_token(client: Client) -> None:
    response = httpx.get(httpx.URL(client.url).join("/health"))
    assert (response.status_code, response.json()["status"]) == (200, "ok")


def test_a_locked_database_asks_senders_to_come_back(database: Path) -> None:
    with (
        serving(database, busy_seconds=0) as client,
        closing(sqlite3.connect(database, isolation_level=None)) as other,
    ):
        client.send(event())
        other.execute("BEGIN IMMEDIATE")
        response = client.post(lines([event()]))
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
        assert str(database) not in response.text
        health = httpx.URL(client.url).join("/health")
        assert client.http.get(health).json()["status"] == "failing"
        other.execute("ROLLBACK")
        assert client.send(event())["accepted"] == 1
        assert client.http.get(health).json()["status"] == "ok"


def test_an_unexpected_error_is_answered_without_a_traceback(database: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(database) as client:
        with closing(sqlite3.connect(database)) as other:
            other.execute("DROP TABLE packed_bodies")
        response = client.post(lines([event()]))
        assert response.status_code == 503
        assert "Traceback" not in response.text + capfd.readouterr().err


def test_concurrent_senders_lose_nothing(client: Client) -> None:
    shared = [event() for _ in range(20)]

    def send(_: int) -> int:
        return int(client.send(*shared, *[event() for _ in range(10)])["accepted"])

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(16))) == 20 + 160
    assert stored(client) == 180


def test_senders_that_are_turned_away_and_return_store_everything_once(database: Path) -> None:
    """Senders arrive while the writer is blocked, until one is turned away; they come back once it continues."""
    turned_away, goes_on = threading.Event(), threading.Event()

    def send(client: Client) -> dict[str, Any]:
        body = lines([event(), event()])
        while (response := client.post(body)).status_code == 503:
            turned_away.set()
            assert goes_on.wait(10)
        return dict(response.json())

    with (
        serving(database, wait_seconds=0.1, busy_seconds=10) as client,
        closing(sqlite3.connect(database, isolation_level=None)) as other,
        ThreadPoolExecutor(64) as pool,
    ):
        other.execute("BEGIN IMMEDIATE")
        senders = [pool.submit(send, client)]
        while not turned_away.wait(0.01):
            senders.append(pool.submit(send, client))
            assert len(senders) < 500
        other.execute("ROLLBACK")
        goes_on.set()
        receipts = [sender.result(10) for sender in senders]
        assert receipts == [{"accepted": 2, "duplicate": 0, "rejected": []}] * len(senders)
        assert stored(client) == 2 * len(senders)


def test_a_report_can_be_made_while_events_arrive(client: Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(lambda: [client.send(event(), event()) for _ in range(20)])
        seen = []
        while not sending.done():
            if client.database.exists():
                seen.append(stored(client))
    assert all(count % 2 == 0 for count in seen)
    assert seen == sorted(seen)
    assert stored(client) == 40


def test_the_receiver_logs_no_requests(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="uvicorn"):
        client.send(event())
        client.post(b"garbage")
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
