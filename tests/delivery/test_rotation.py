"""Rotation: a replaced token or certificate is used from the next request on, and a file that fails is named."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.delivery.channel import Channel
from collector.delivery.credentials import credentials_now
from collector.delivery.sink import Answer, Halt, Request, Retry
from collector.delivery.sinks.http import HttpSink
from collector.delivery.sinks.loki import LokiSink
from collector.delivery.transport import Transport
from collector.delivery.waiting import Waiting
from collector.flow.interrupt import Interrupt
from collector.settings.options import SinkSettings
from tests.agent import Agent
from tests.build import Home
from tests.sink import Answer as Scripted
from tests.sink import Sink
from tests.tls import Authority

REQUEST = Request(b'{"id":"a"}\n', {"Content-Type": "application/x-ndjson"})


def transport_to(sink: Sink, settings: SinkSettings) -> Transport:
    return Transport(
        settings, sink.url, credentials_now(settings, "Bearer"), renewed=lambda: credentials_now(settings, "Bearer")
    )


def token(sink: Sink) -> str:
    """The Authorization header of the last request that arrived."""
    return sink.requests[-1].headers["authorization"]


def replace(path: Path, text: str) -> None:
    """Replaces the file atomically, as careful tools do."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(text)
    os.replace(fresh, path)


def test_a_replaced_token_is_used_from_the_next_request_on(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first-one")
    settings = SinkSettings(token_file=path)
    with Sink() as sink:
        transport = transport_to(sink, settings)
        told = []
        for text in ("second-one", "third-one!", "", "two\nlines", "fourth-one"):
            transport.post(REQUEST)
            told.append(token(sink))
            replace(path, text)
        path.unlink()
        transport.post(REQUEST)
        transport.close()
    assert transport._clients.generation == 2  # only a changed token renewed the clients
    assert told == ["Bearer first-one", "Bearer second-one", *["Bearer third-one!"] * 3]
    assert token(sink) == "Bearer third-one!"
    assert transport.without_secrets("first-one third-one!") == "******** ********"


def test_a_systemd_credential_may_be_replaced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with Sink() as sink:
        transport = transport_to(sink, SinkSettings())
        transport.post(REQUEST)
        assert "authorization" not in sink.requests[-1].headers
        (tmp_path / "sink-token").write_text("from-systemd")
        transport.post(REQUEST)
        transport.close()
    assert token(sink) == "Bearer from-systemd"


def test_a_request_in_flight_keeps_the_token_it_started_with(tmp_path: Path) -> None:
    path, gate = tmp_path / "token", threading.Event()
    path.write_text("first-one")
    with Sink(Scripted(held=gate), then=Scripted()) as sink:
        transport = transport_to(sink, SinkSettings(token_file=path))
        answers: list[object] = []
        slow = threading.Thread(target=lambda: answers.append(transport.post(REQUEST)[0]))
        slow.start()
        sink.wait_for(lambda: sink.posts)
        replace(path, "second-one")
        assert isinstance(transport.post(REQUEST)[0], Answer)
        gate.set()
        slow.join()
        transport.post(REQUEST)
        assert [type(answer) for answer in answers] == [Answer]
        assert [request.headers["authorization"] for request in sink.requests] == [
            "Bearer first-one",
            "Bearer second-one",
            "Bearer second-one",
        ]
        server = sink._server
        assert server is not None
        sink.wait_for(lambda: len(server.connections) == 1)  # the one with the old token was not kept
        transport.close()


def test_the_service_uses_a_new_token_without_a_restart(tmp_path: Path) -> None:
    home, path = Home(tmp_path), tmp_path / "token"
    path.write_text("first-one")
    session = home.session()
    session.prompt("before")
    with Sink() as sink:
        agent = Agent(home, sink, {"COLLECTOR_SINK__TOKEN_FILE": str(path)})
        with agent.start():
            sink.wait_for(lambda: len(sink.ids()) == 1)
            replace(path, "second-one")
            session.prompt("after")
            sink.wait_for(lambda: len(sink.ids()) == 2)
    assert [request.headers["authorization"] for request in sink.posts] == ["Bearer first-one", "Bearer second-one"]


# Certificates


@pytest.fixture
def strict(authority: Authority) -> Iterator[Sink]:
    """A sink that requires a client certificate issued by this authority."""
    with Sink(tls=authority.server(asks_client=True)) as sink:
        yield sink


def test_replaced_certificates_are_used_from_the_next_request_on(
    tmp_path: Path, authority: Authority, stranger: Authority, strict: Sink
) -> None:
    trusted, certificate, key = (tmp_path / name for name in ("ca.pem", "client.pem", "client.key"))
    settings = SinkSettings(ca_file=trusted, client_cert=certificate, client_key=key)
    mine, others = authority.issue("agent.test"), stranger.issue("agent.test")
    shutil.copy(stranger.certificate, trusted)
    _copy(mine, certificate, key)
    transport = transport_to(strict, settings)
    verdicts = [transport.post(REQUEST)[0]]
    shutil.copy(authority.certificate, trusted)
    verdicts.append(transport.post(REQUEST)[0])
    _copy(others, certificate, key)
    verdicts.append(transport.post(REQUEST)[0])
    certificate.write_text("half a certifi")
    verdicts.append(transport.post(REQUEST)[0])
    _copy(mine, certificate, key)
    verdicts.append(transport.post(REQUEST)[0])
    transport.close()
    assert [type(verdict) for verdict in verdicts] == [Halt, Answer, Halt, Halt, Answer]
    for verdict in verdicts[2:4]:
        assert isinstance(verdict, Halt)
        assert str(certificate) in verdict.reason
        assert "sink.client_cert" in verdict.advice


def _copy(made: tuple[Path, Path], certificate: Path, key: Path) -> None:
    shutil.copy(made[0], certificate)
    shutil.copy(made[1], key)


def test_a_sink_that_requires_a_client_certificate_is_reported_when_none_is_set(
    authority: Authority, strict: Sink
) -> None:
    transport = transport_to(strict, SinkSettings(ca_file=authority.certificate))
    verdict, _ = transport.post(REQUEST)
    transport.close()
    assert isinstance(verdict, Halt)
    assert "no client certificate is set" in verdict.reason
    assert "sink.client_cert" in verdict.advice


def test_the_certificate_is_named_with_tls_1_2_too(authority: Authority, stranger: Authority) -> None:
    server = authority.server(asks_client=True)
    server.maximum_version = ssl.TLSVersion.TLSv1_2
    certificate, key = stranger.issue("agent.test")
    with Sink(tls=server) as sink:
        settings = SinkSettings(ca_file=authority.certificate, client_cert=certificate, client_key=key)
        verdict, _ = transport_to(sink, settings).post(REQUEST)
    assert isinstance(verdict, Halt)
    assert str(certificate) in verdict.reason


# Advice


@pytest.mark.parametrize("status", [401, 403])
def test_without_a_token_the_advice_says_that_none_is_set(tmp_path: Path, status: int) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-that-is-wrong")
    with Sink(then=Scripted(status)) as sink:
        advice = []
        in_url = Transport(SinkSettings(), f"{sink.url}?key=a-key-that-is-wrong")
        sent = (SinkSettings(), SinkSettings(token_file=path), SinkSettings(headers={"Authorization": "x"}))
        for transport in (*(transport_to(sink, settings) for settings in sent), in_url):
            verdict = Channel(HttpSink(), transport).post([], Waiting(Interrupt())).verdict
            transport.close()
            assert isinstance(verdict, Halt)
            advice.append(verdict.advice)
    assert "No token is set." in advice[0]
    assert "sink.token_file" in advice[0]
    assert not any("No token is set" in each for each in advice[1:])


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "all_proxy"])
def test_an_unreachable_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    monkeypatch.setenv(variable, f"http://me:not-a-word@127.0.0.1:{free}/")
    monkeypatch.setenv("no_proxy", "near.invalid")
    verdict = Transport(SinkSettings(), "https://sink.invalid/").post(REQUEST)[0]
    assert isinstance(verdict, Retry)
    proxy = f"proxy http://127.0.0.1:{free} (from {variable})"
    assert f"no connection through the proxy ([Errno 111] Connection refused); {proxy}" in verdict.reason
    assert "not-a-word" not in verdict.reason
    straight = Transport(SinkSettings(), "https://near.invalid/").post(REQUEST)[0]
    assert isinstance(straight, Retry)
    assert "proxy" not in straight.reason


def test_a_loki_that_wants_to_know_the_tenant_is_not_taken_for_one_that_wants_a_token() -> None:
    with Sink(then=Scripted(401, {}, b"no org id\n")) as sink:
        transport = transport_to(sink, SinkSettings())
        verdict = Channel(LokiSink(), transport).post([], Waiting(Interrupt())).verdict
        transport.close()
    assert isinstance(verdict, Halt)
    assert verdict.reason == "HTTP 401: no org id"
    assert "X-Scope-OrgID" in verdict.advice
    assert "token" not in verdict.advice
