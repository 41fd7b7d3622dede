"""What a sink says about the events it accepted: it may omit some, compress the answer unasked, or send a bomb."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import zstandard

from tests.agent import Agent, scan_with
from tests.sink import Answer, Request, Sink, is_poison, rejecting

pytestmark = pytest.mark.usefixtures("prompts")

QUARANTINED = 3
PACKERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.compressobj(wbits=31),
    "deflate": zlib.compressobj,
    "zstd": zstandard.ZstdCompressor().compressobj,
}


def pack(encoding: str, piece: bytes, times: int = 1) -> bytes:
    """Compresses `times` copies of a piece without ever having all of them in memory."""
    packer = PACKERS[encoding]()
    return b"".join([*(packer.compress(piece) for _ in range(times)), packer.flush()])


def packed(rule: Callable[[Request], Answer], encoding: str) -> Callable[[Request], Answer]:
    """The answer of this rule, compressed although nobody asked for that."""

    def answer(request: Request) -> Answer:
        plain = rule(request)
        assert isinstance(plain.body, bytes)
        return replace(plain, headers={"Content-Encoding": encoding}, body=pack(encoding, plain.body))

    return answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_an_event_rejected_in_a_compressed_answer_is_quarantined(sink: Sink, agent: Agent, encoding: str) -> None:
    sink.then = packed(rejecting(is_poison), encoding)
    result = agent.scan()
    assert result.code == QUARANTINED, result.stderr
    assert result.assert_balanced().ledger["quarantined"] == 1


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_an_answer_compressed_piece_by_piece_is_read_to_its_end(sink: Sink, agent: Agent, encoding: str) -> None:
    def rule(request: Request) -> Answer:
        body = rejecting(is_poison)(request).body
        assert isinstance(body, bytes)
        pieces = (pack(encoding, body[at : at + 10]) for at in range(0, len(body), 10))
        return Answer(200, {"Content-Encoding": encoding}, b"".join(pieces))

    sink.then = rule
    result = agent.scan()
    assert result.code == QUARANTINED, result.stderr
    assert result.assert_balanced().ledger["quarantined"] == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_event_rejected_in_another_encoding_than_utf_8_is_quarantined(
    sink: Sink, agent: Agent, encoding: str
) -> None:
    def rule(request: Request) -> Answer:
        plain = rejecting(is_poison)(request)
        assert isinstance(plain.body, bytes)
        return replace(plain, body=plain.body.decode().encode(encoding))

    sink.then = rule
    result = agent.scan()
    assert result.code == QUARANTINED, result.stderr
    assert result.assert_balanced().ledger["quarantined"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is that of Linux")
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_decompression_bomb_is_not_unpacked(sink: Sink, agent: Agent, encoding: str) -> None:
    sink.then = Answer(200, {"Content-Encoding": encoding}, pack(encoding, b" " * 1_000_000, times=400))
    code, peak, said = scan_with(4_000_000_000, agent)
    assert code == 0, said
    assert peak < 250_000_000


def test_an_answer_that_cannot_be_decompressed_is_reported(sink: Sink, agent: Agent) -> None:
    sink.then = Answer(200, {"Content-Encoding": "br"}, b"\x0b\x02\x80{}\x03")
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert result.stderr.count("encodes its answers in a way that cannot be read here") == 1


def test_events_that_an_answer_does_not_account_for_are_quarantined(
    sink: Sink, agent: Agent, prompts: list[str]
) -> None:
    sink.then = lambda request: Answer(
        200, {}, json.dumps({"accepted": len(request.events) - 3, "duplicate": 1, "rejected": []}).encode()
    )
    result = agent.scan()
    assert result.code == QUARANTINED, result.stderr
    assert result.assert_balanced().ledger["quarantined"] == len(prompts)
    kept = agent.state.with_name("state.quarantine.jsonl").read_bytes()
    assert kept.count(b"perhaps rejected by the sink: 2 of 20") == len(prompts)


def test_a_sink_that_accepted_fewer_events_is_believed_and_quoted(sink: Sink, agent: Agent) -> None:
    sink.then = lambda request: Answer(200, {}, b'{"accepted": 0}')
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert "it says that it accepted 0 of 20 events" in result.stderr


@pytest.mark.parametrize(
    "page",
    [
        Answer(body=b"<!DOCTYPE html>\n<html><title>Wi-Fi"),
        Answer(body=b"\n<HTML lang='en'><body>Blocked"),
        Answer(headers={"Content-Type": "text/html; charset=UTF-8"}, body=b"<!-- portal --><script>location='/login'"),
    ],
)
def test_a_web_page_that_answers_in_place_of_the_sink_is_reported(sink: Sink, agent: Agent, page: Answer) -> None:
    sink.then = page
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert result.stderr.count("it answers with a web page") == 1
    doctor = agent.run("doctor", *agent.places()).stdout
    assert "accepted an event, but remarked: it answers with a web page" in doctor


def test_events_missing_from_a_bulk_answer_do_not_count_as_delivered(
    sink: Sink, agent: Agent, prompts: list[str]
) -> None:
    def short(request: Request) -> Answer:
        """Stores all but the last of several events, and does not mention that one."""
        ids = [json.loads(line)["create"]["_id"] for line in request.body.splitlines()[::2]]
        done = ids[:-1] if len(ids) > 1 else ids
        items = [{"create": {"_id": each, "status": 409 if each in stored else 201}} for each in done]
        stored.update(done)
        return Answer(200, {}, json.dumps({"errors": len(done) < len(ids), "items": items}).encode())

    stored: set[str] = set()
    sink.then = short
    result = agent.scan("--sink-type", "elasticsearch")
    assert result.code == 0, result.stderr
    assert result.assert_balanced().ledger["delivered"] == len(prompts)
    assert len(stored) == len(prompts)


def test_an_answer_that_comes_twice_acknowledges_nothing_else(sink: Sink, agent: Agent, prompts: list[str]) -> None:
    again = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    sink.answer(Answer(200, {"Content-Length": "2"}, b"{}" + again), Answer(503))
    result = agent.scan(COLLECTOR_BATCH__MAX_EVENTS="5", COLLECTOR_SINK__WINDOW="1")
    assert result.code == 0, result.stderr
    assert sorted(event["text"] for event in sink.events) == sorted(prompts)
    assert "its connection is closed" in result.stderr
