"""One POST over real sockets: nothing a server does or fails to do holds it beyond its deadline."""

from __future__ import annotations

import gc
import itertools
import socket
import threading
import time

import httpx
import pytest

from collector.delivery.sink import Answer, Halt, Request, Retry
from collector.delivery.transport import Transport
from collector.errors import ConfigurationError
from collector.settings.options import SinkSettings
from tests.sink import Answer as Scripted
from tests.sink import Sink, drip, flood
from tests.talking import dribble, talking
from tests.tls import Authority

SHORT = SinkSettings(timeout=0.15, connect_timeout=0.15)
PLENTY = 20.0  # what a loaded machine may add
PATIENT = SinkSettings(timeout=PLENTY, connect_timeout=PLENTY)
DEADLINE = 0.3
REQUEST = Request(b'{"id":"a"}\n', {"Content-Type": "application/x-ndjson"})


def post(url: str, settings: SinkSettings = SHORT, deadline: float | None = None) -> Answer | Retry | Halt:
    transport = Transport(settings, url, deadline=deadline)
    started = time.monotonic()
    try:
        return transport.post(REQUEST)[0]
    finally:
        assert time.monotonic() - started < PLENTY
        transport.close()


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
    ids=["headers", "body", "continue for ever", "chunks"],
)
def test_an_answer_that_dribbles_in_is_abandoned_at_the_deadline(start: bytes, piece: bytes) -> None:
    with talking(dribble(start, piece)) as url:
        assert post(url, PATIENT, DEADLINE) == Retry("the answer was not complete within 0.3 seconds")


def test_a_timeout_says_what_was_waited_for_and_how_long() -> None:
    def say_nothing(_: socket.socket, closing: threading.Event) -> None:
        closing.wait(PLENTY)

    with talking(say_nothing) as url:
        no_answer = post(url, SinkSettings(timeout=0.15, connect_timeout=PLENTY))
        no_handshake = post(url.replace("http:", "https:"), SinkSettings(timeout=PLENTY, connect_timeout=0.1))
    assert no_answer == Retry("no answer within 0.15 seconds", may_be_poison=True)
    assert no_handshake == Retry("no connection within 0.1 seconds")


def test_the_deadline_leaves_time_to_connect_to_send_to_wait_and_to_read() -> None:
    assert Transport(SinkSettings(timeout=10.0, connect_timeout=5.0), "http://127.0.0.1/").deadline == 35.0


def test_one_slow_answer_does_not_disturb_the_others() -> None:
    gate = threading.Event()
    with Sink(Scripted(held=gate), then=Scripted()) as sink:
        transport = Transport(SinkSettings(timeout=20.0), sink.url)
        slow = threading.Thread(target=transport.post, args=(REQUEST,))
        slow.start()
        sink.wait_for(lambda: sink.posts)
        for _ in range(3):
            answer, _ = transport.post(REQUEST)
            assert isinstance(answer, Answer)
        gate.set()
        slow.join()
        transport.close()
        assert len(sink.answers) == 4


def test_after_a_missed_deadline_the_next_request_gets_a_new_connection() -> None:
    with Sink(drip(pause=0.02), then=Scripted()) as sink:
        transport = Transport(PATIENT, sink.url, deadline=DEADLINE)
        assert isinstance(transport.post(REQUEST)[0], Retry)
        transport.deadline = PLENTY
        assert isinstance(transport.post(REQUEST)[0], Answer)
        transport.close()


def test_a_connection_is_reused_and_no_timer_is_left_behind() -> None:
    with Sink() as sink:
        transport = Transport(SinkSettings(), sink.url)
        for _ in range(5):
            assert isinstance(transport.post(REQUEST)[0], Answer)
        for timer in threading.enumerate():
            if isinstance(timer, threading.Timer):
                timer.join(PLENTY)
                assert not timer.is_alive()
        assert sink._server is not None
        assert len(sink._server.connections) == 1
        transport.close()


def test_closing_the_transport_closes_a_busy_connection_once_its_request_ends() -> None:
    """An abandoned pass may still have requests in flight when its transport is closed."""
    going_on = threading.Event()
    with Sink(Scripted(held=going_on)) as sink:
        transport = Transport(PATIENT, sink.url)
        (exchange,) = transport._idle
        sender = threading.Thread(target=transport.post, args=(Request(b"x", {}),))
        sender.start()
        sink.wait_for(lambda: bool(sink.requests))
        transport.close()
        assert not exchange.client.is_closed
        going_on.set()
        sender.join()
        assert exchange.client.is_closed


def test_an_unfinished_handshake_is_abandoned() -> None:
    with talking(dribble(b"", b"")) as url:
        assert isinstance(post(url.replace("http:", "https:")), Retry)


def test_a_deadline_holds_inside_tls(tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    settings = SHORT.model_copy(update={"ca_file": authority.certificate, "timeout": 0.5, "connect_timeout": 10.0})
    with Sink(drip(), tls=authority.server()) as sink:
        transport = Transport(settings, sink.url, deadline=1.0)
        assert isinstance(transport.post(REQUEST)[0], Retry)
        transport.close()


def test_a_scheme_in_capitals_is_the_same_scheme(tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    with Sink(tls=authority.server()) as sink:
        url = sink.url.replace("https:", "HTTPS:")
        assert isinstance(post(url, SinkSettings(ca_file=authority.certificate)), Answer)


def test_an_answer_in_many_tiny_chunks_takes_little_cpu_time() -> None:
    def talk(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 60_000 + b"0\r\n\r\n"
        )

    with talking(talk) as url:
        before = time.process_time()
        answer = post(url, SinkSettings())
        assert isinstance(answer, Answer)
        assert len(answer.body) == 60_000
        assert time.process_time() - before < 6


def test_a_flood_is_cut_off() -> None:
    with Sink(flood(5_000_000_000)) as sink:
        answer = post(sink.url, SinkSettings())
        assert isinstance(answer, Answer)
        assert len(answer.body) < 2_000_000


@pytest.mark.parametrize(
    "headers", [b"X: " + b"y" * 1_000_000, b"".join(b"X-%d: y\r\n" % number for number in range(100_000))]
)
def test_a_flood_of_headers_is_cut_off(headers: bytes) -> None:
    def talk(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n")

    with talking(talk) as url:
        assert isinstance(post(url, SinkSettings()), Retry)


@pytest.mark.parametrize(
    "said",
    [b"", b"\x15\x03\x01\x00\x02", b"SSH-2.0-x\r\n", b"HTTP/1.1 2OO OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nA\nB\r\n\r\n"],
)
def test_an_answer_that_is_not_http_is_a_transient_failure(said: bytes) -> None:
    with talking(lambda connection, closing: connection.sendall(said)) as url:
        assert isinstance(post(url, SinkSettings()), Retry)


@pytest.mark.parametrize("status", [200, 204])
def test_a_success_before_the_whole_request_was_sent_acknowledges_nothing(status: int) -> None:
    def answer_and_reset(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
        connection.close()  # most of the body is unread

    with talking(answer_and_reset) as url:
        transport = Transport(SinkSettings(compression="none"), url)
        said, _ = transport.post(Request(b"x" * 30_000_000, {}))
        transport.close()
    assert isinstance(said, Retry)
    assert said.may_be_poison  # a smaller request may fit


def test_an_unusual_status_is_an_answer_like_any_other() -> None:
    with talking(lambda connection, closing: connection.sendall(b"HTTP/1.1 999 What\r\n\r\n")) as url:
        assert isinstance(post(url, SinkSettings()), Answer)


def test_an_unknown_host_is_a_transient_failure_and_an_impossible_name_halts() -> None:
    settings = SinkSettings(allow_http=True)
    unknown = post("http://sink.invalid/", settings)
    assert isinstance(unknown, Retry)
    assert "ConnectError" in unknown.reason
    assert isinstance(post(f"http://{'a' * 64}.invalid/", settings), Halt)


@pytest.mark.parametrize(
    ("said", "expected"), [(b"407 Proxy Authentication Required", Halt), (b"403 No", Halt), (b"503 Later", Retry)]
)
def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch, said: bytes, expected: type) -> None:
    with talking(lambda connection, closing: connection.sendall(b"HTTP/1.1 " + said + b"\r\n\r\n")) as url:
        monkeypatch.setenv("https_proxy", url)
        verdict = post("https://sink.invalid/", SinkSettings())
    assert isinstance(verdict, expected)
    assert isinstance(verdict, Halt | Retry)
    assert "the proxy refused" in verdict.reason


def test_requests_to_this_machine_bypass_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with Sink() as proxy, Sink() as sink:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert isinstance(post(sink.url, SinkSettings()), Answer)
    assert (len(sink.posts), proxy.requests) == (1, [])


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("https_proxy", "foo://me:not-a-word@proxy:3128"),
        ("https_proxy", "http://me:not-a-word@proxy:port"),
        ("all_proxy", "socks5://me:not-a-word@proxy:1080"),
    ],
)
def test_an_unusable_proxy_is_reported_at_the_start(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=f"The proxy named by {variable} cannot be used") as caught:
        Transport(SinkSettings(), "https://sink.invalid/")
    assert "not-a-word" not in str(caught.value)


def test_an_invalid_request_halts_without_showing_its_headers() -> None:
    with Sink() as sink:
        verdict = post(sink.url, SinkSettings.model_construct(headers={"X-Key": "not-a-key\n"}))
    assert isinstance(verdict, Halt)
    assert "not-a-key" not in verdict.reason


def test_an_unreachable_proxy_is_a_transient_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    monkeypatch.setenv("https_proxy", f"http://me:not-a-word@127.0.0.1:{free}")
    verdict = post("https://sink.invalid/")
    assert isinstance(verdict, Retry)
    assert "no connection through the proxy" in verdict.reason
    assert "not-a-word" not in verdict.reason


def test_a_sent_request_is_freed_without_the_garbage_collector() -> None:
    def kept() -> int:
        return sum(isinstance(each, httpx.Request) for each in gc.get_objects())

    with Sink() as sink:
        gc.collect()
        gc.disable()
        try:
            before = kept()
            assert isinstance(post(sink.url, PATIENT), Answer)
            assert kept() == before
        finally:
            gc.enable()


def test_each_header_is_sent_once_and_a_load_balancers_cookies_are_returned() -> None:
    seen: list[httpx.Headers] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, headers={"Set-Cookie": "node=7"})

    settings = SinkSettings(headers={"content-type": "text/plain", "X-Team": "blue"})
    way = Transport(settings, "http://localhost/in", None, httpx.MockTransport(answer))
    for _ in range(2):
        assert isinstance(way.post(REQUEST)[0], Answer)
    names = [name for name, _ in seen[0].multi_items()]
    assert len(names) == len(set(names))
    assert (seen[0]["content-type"], seen[0]["x-team"]) == ("application/x-ndjson", "blue")
    assert [headers.get("cookie") for headers in seen] == [None, "node=7"]


def test_cookies_do_not_pile_up_until_a_sink_refuses_the_headers() -> None:
    numbers = itertools.count()

    def answer(request: httpx.Request) -> httpx.Response:
        is_too_large = len(request.headers.get("cookie", "")) > 8_000
        return httpx.Response(400 if is_too_large else 200, headers={"Set-Cookie": f"n{next(numbers)}={'x' * 100}"})

    way = Transport(SinkSettings(), "http://localhost/in", None, httpx.MockTransport(answer))
    answers = [way.post(REQUEST)[0] for _ in range(200)]
    assert {said.status for said in answers if isinstance(said, Answer)} == {200}
