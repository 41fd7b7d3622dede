"""The scripted sink does what the tests that use it rely on."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
from pathlib import Path

import httpx
import pytest

from tests.sink import Answer, Sink, at_most, drip, flood, only_with_token, poison, rejecting
from tests.tls import Authority

NDJSON = {"Content-Type": "application/x-ndjson"}


def post(sink: Sink, *ids: str, **headers: str) -> httpx.Response:
    body = b"".join(json.dumps({"id": name}).encode() + b"\n" for name in ids)
    return httpx.post(sink.url, content=body, headers=NDJSON | headers, trust_env=False)


def test_events_are_remembered_in_order_of_arrival(sink: Sink) -> None:
    post(sink, "a", "b")
    post(sink, "c")
    assert sink.ids() == ["a", "b", "c"]


def test_a_compressed_body_is_read_and_searchable(sink: Sink) -> None:
    body = gzip.compress(b'{"id": "a", "text": "needle"}\n')
    httpx.post(sink.url, content=body, headers=NDJSON | {"Content-Encoding": "gzip"}, trust_env=False)
    assert sink.ids() == ["a"]
    assert b"needle" in sink.raw_bytes


def test_the_script_comes_first_and_then_the_rule() -> None:
    with Sink(Answer(503, {"Retry-After": "7"}), Answer(429)) as sink:
        answers = [post(sink, "a") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 429, 200]
    assert answers[0].headers["Retry-After"] == "7"
    assert sink.ids() == ["a"]
    assert len(sink.seen) == 3


def test_a_held_answer_waits_to_be_released(sink: Sink) -> None:
    gate = threading.Event()
    sink.answer(Answer(held=gate))
    client = threading.Thread(target=post, args=(sink, "a"))
    client.start()
    sink.wait_for(lambda: sink.requests)
    assert sink.ids() == []
    gate.set()
    sink.wait_for(lambda: sink.ids() == ["a"])
    client.join()


@pytest.mark.parametrize("ending", ["closed", "cut"])
def test_a_broken_answer_is_a_protocol_error(sink: Sink, ending: str) -> None:
    sink.answer(Answer(200, body=b"half", ending="closed" if ending == "closed" else "cut"))
    with pytest.raises(httpx.RemoteProtocolError):
        post(sink, "a")


def test_silence_runs_into_the_clients_timeout(sink: Sink) -> None:
    sink.answer(Answer(ending="silence"))
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(sink.url, content=b"", timeout=0.05, trust_env=False)


def test_rules_answer_according_to_the_request() -> None:
    with Sink() as sink:
        sink.answer(poison(lambda event: event["id"] == "bad", 422))
        assert post(sink, "good", "bad").status_code == 422
        sink.answer(at_most(5))
        assert post(sink, "long").status_code == 413
        sink.answer(only_with_token("right"))
        assert post(sink, "a", Authorization="Bearer wrong").status_code == 401
        sink.answer(rejecting(lambda event: event["id"] == "bad"))
        assert post(sink, "good", "bad").json()["rejected"] == [{"id": "bad", "reason": "not wanted"}]
        assert sink.ids() == ["good"]


def test_a_flood_stops_when_the_client_hangs_up(sink: Sink) -> None:
    sink.answer(flood(10_000_000_000))
    with httpx.stream("POST", sink.url, content=b"", trust_env=False) as answer:
        next(answer.iter_raw())
    sink.down()
    assert sink.answered_bytes < 1_000_000_000


def test_a_dripping_answer_ends_with_the_sink(sink: Sink) -> None:
    sink.answer(drip())
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(sink.url, content=b"", timeout=httpx.Timeout(5, read=0.01), trust_env=False)


def test_a_sink_that_was_down_comes_back_on_the_same_port(sink: Sink) -> None:
    sink.down()
    with pytest.raises(httpx.ConnectError):
        post(sink, "a")
    sink.up()
    assert post(sink, "a").status_code == 200


def test_a_client_that_trusts_the_authority_is_served(authority: Authority) -> None:
    with Sink(tls=authority.server()) as sink:
        trust = ssl.create_default_context(cafile=str(authority.certificate))
        assert httpx.post(sink.url, content=b"", verify=trust, trust_env=False).status_code == 200


@pytest.mark.parametrize(
    ("name", "days", "reason"),
    [("127.0.0.1", -1, "expired"), ("127.0.0.2", 2, "IP address mismatch")],
)
def test_a_wrong_certificate_is_refused(authority: Authority, name: str, days: int, reason: str) -> None:
    with Sink(tls=authority.server(name, days)) as sink:
        trust = ssl.create_default_context(cafile=str(authority.certificate))
        with pytest.raises(httpx.ConnectError, match=reason):
            httpx.post(sink.url, content=b"", verify=trust, trust_env=False)
        assert sink.requests == []


def test_an_unknown_authority_is_refused(authority: Authority, tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger")
    with Sink(tls=authority.server()) as sink:
        trust = ssl.create_default_context(cafile=str(stranger.certificate))
        with pytest.raises(httpx.ConnectError, match="verify failed"):
            httpx.post(sink.url, content=b"", verify=trust, trust_env=False)
