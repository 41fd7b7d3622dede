"""Proxies: which requests go through one, and that no entry in `no_proxy` can stop the agent."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from collector.delivery.sink import Request, Retry
from collector.delivery.transport import Transport
from collector.settings.options import SinkSettings
from collector.settings.proxies import proxy_of
from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink
from tests.talking import talking

OF_OTHERS = "localhost,127.0.0.1,[::1],::1,fe80::/10,[::1]:80,.corp.example,10.0.0.0/8,x:y,<local>,[::1"


def test_odd_no_proxy_entries_do_not_stop_the_agent(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("through the proxy")
    with Sink() as proxy:
        environment = {
            "HTTP_PROXY": f"http://me:not-a-word@127.0.0.1:{proxy.port}",
            "NO_PROXY": OF_OTHERS,
            "COLLECTOR_SINK__URL": "http://sink.example/events",
            "COLLECTOR_SINK__ALLOW_HTTP": "true",
        }
        result = Agent(home, environment=environment).scan()
        assert (result.code, result.ledger["delivered"]) == (0, 1), result.stderr
        assert {post.path for post in proxy.posts} == {"http://sink.example/events"}
        assert "not-a-word" not in result.stderr


@pytest.mark.parametrize(
    ("url", "no_proxy"),
    [
        ("https://sink.example/e", "*"),
        ("https://sink.example/e", "sink.example"),
        ("https://Sink.Example./e", "a.example, sink.EXAMPLE"),
        ("https://sink.example/e", "a.example sink.example"),
        ("https://sink.example/e", ".example"),
        ("https://sink.example/e", "*.example"),
        ("https://sink.example/e", "example"),
        ("https://sink.example/e", "sink.example:443"),
        ("https://sink.example:8443/e", "sink.example:8443"),
        ("https://sink.example/e", "https://sink.example"),
        ("https://10.1.2.3/e", "10.0.0.0/8"),
        ("https://10.1.2.3/e", "10.1.2.3"),
        ("https://10.1.2.3:8443/e", "10.1.2.3:8443"),
        ("https://[2001:db8::7]/e", "2001:db8::/32"),
        ("https://[2001:db8::7]/e", "[2001:db8::7]"),
        ("https://[2001:db8::7]:8443/e", "[2001:db8::7]:8443"),
    ],
)
def test_hosts_matching_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch, url: str, no_proxy: str) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert proxy_of(url) is not None
    monkeypatch.setenv("no_proxy", no_proxy)
    assert proxy_of(url) is None


@pytest.mark.parametrize(
    "no_proxy", ["", " , ", "ink.example", "a.sink.example", "sink.example:80", "10.0.0.0/8", "fe80::/10", "[::1", "."]
)
def test_every_other_host_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch, no_proxy: str) -> None:
    monkeypatch.setenv("https_proxy", "me:not-a-word@proxy.example:3128")
    monkeypatch.setenv("no_proxy", no_proxy)
    assert str(proxy_of("https://sink.example/e")) == "proxy http://proxy.example:3128 (from https_proxy)"
    assert "not-a-word" not in repr(proxy_of("https://sink.example/e"))


def test_an_unusable_proxy_for_other_requests_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("all_proxy", "socks5://proxy.example:1080")
    Transport(SinkSettings(), "https://sink.example/").close()


def test_a_proxy_that_hangs_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with talking(lambda connection, closing: None) as url:
        monkeypatch.setenv("https_proxy", url)
        verdict = Transport(SinkSettings(), "https://sink.example/").post(Request(b"{}", {}))[0]
    assert isinstance(verdict, Retry)
    assert "Server disconnected without sending a response; proxy http://127.0.0.1:" in verdict.reason


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", "no answer within 0.5 seconds; proxy"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "no connection within 0.5 seconds; proxy"),
    ],
)
def test_a_proxy_that_falls_silent_is_named(monkeypatch: pytest.MonkeyPatch, said: bytes, reason: str) -> None:
    def answer(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(said)
        closing.wait(20)

    with talking(answer) as url:
        monkeypatch.setenv("https_proxy", url)
        way = Transport(SinkSettings(timeout=0.5, connect_timeout=0.5), "https://sink.example/")
        verdict = way.post(Request(b"{}", {}))[0]
    assert isinstance(verdict, Retry)
    assert verdict.reason.startswith(reason)


def test_a_connection_that_ends_behind_the_proxy_is_not_taken_for_an_unreachable_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with talking(lambda connection, closing: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")) as url:
        monkeypatch.setenv("https_proxy", url)
        verdict = Transport(SinkSettings(), "https://sink.example/").post(Request(b"{}", {}))[0]
    assert isinstance(verdict, Retry)
    assert verdict.reason.startswith("no connection through the proxy (")
