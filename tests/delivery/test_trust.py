"""TLS trust in a company network: private authorities and proxies, keys with passphrases, misconfigured servers.

Most tests run a scan, so the messages they check are the ones a person reads.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from collector.delivery.credentials import credentials_now
from collector.delivery.sink import Answer, Halt, Request
from collector.delivery.transport import Transport
from collector.settings.options import SinkSettings
from tests.agent import Agent, Result
from tests.build import Home
from tests.sink import Sink
from tests.talking import serving
from tests.tls import Authority

UNREACHABLE, MISCONFIGURED = 75, 78
PASSPHRASE = "planted-passphrase"
REQUEST = Request(b'{"id":"a"}\n', {"Content-Type": "application/x-ndjson"})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.session().prompt("hello")
    return home


def scan(home: Home, url: str, **environment: object) -> Result:
    variables = {name: str(value) for name, value in environment.items()}
    return Agent(home).scan("--sink-url", url, "--max-wait", "0.2", **variables)


# Files


def locked(key: Path) -> Path:
    """Writes a copy of the key that is protected by a passphrase."""
    target = key.with_suffix(".locked")
    arguments = ["pkcs8", "-topk8", "-in", key, "-out", target, "-passout", f"pass:{PASSPHRASE}"]
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
    return target


def test_a_bad_client_certificate_is_reported_with_its_setting_and_file(
    home: Home, authority: Authority, tmp_path: Path
) -> None:
    certificate, key = authority.issue("agent.test")
    other = authority.issue("other.test")[1]
    wrong: list[tuple[Path, Path | None, str]] = [
        (certificate, locked(key), f"sink.client_key: {key.with_suffix('.locked')} holds a key with a passphrase"),
        (certificate, other, f"sink.client_key: {other} holds a key that does not match the certificate"),
        (certificate, None, f"sink.client_cert: {certificate} must hold a certificate and its private key"),
        (key, certificate, f"sink.client_cert: {key} must hold a certificate and {certificate} its private key"),
    ]
    for shown, its_key, said in wrong:
        variables = {"COLLECTOR_SINK__CLIENT_CERT": shown, "COLLECTOR_SINK__CLIENT_KEY": its_key}
        given = {name: path for name, path in variables.items() if path is not None}
        result = scan(home, "https://sink.invalid/", **given)
        assert result.code == MISCONFIGURED
        assert said in result.stderr
        assert PASSPHRASE not in result.stderr


def test_a_bad_ca_file_is_reported_with_its_setting_and_path(home: Home, authority: Authority, tmp_path: Path) -> None:
    (empty := tmp_path / "empty.pem").touch()
    wrong = {empty: f"there is no certificate in {empty}", tmp_path: f"{tmp_path} is a directory"}
    for path, said in wrong.items():
        variables = {"COLLECTOR_SINK__CA_FILE": str(path), "COLLECTOR_SINK__URL": "HTTPS://sink.invalid/"}
        checked = Agent(home, environment=variables).run("config", "check")
        for result in (scan(home, "https://sink.invalid/", COLLECTOR_SINK__CA_FILE=path), checked):
            assert result.code == MISCONFIGURED
            assert f"sink.ca_file: {said}" in result.stderr


# Servers


def test_an_intermediate_authority_can_be_trusted_directly(home: Home, authority: Authority, tmp_path: Path) -> None:
    between = authority.below()
    with Sink(tls=between.server()) as sink:
        result = scan(home, sink.url, COLLECTOR_SINK__CA_FILE=authority.certificate)
        assert result.code == UNREACHABLE
        assert "The sink must also send its intermediate certificates" in result.stderr
        assert scan(home, sink.url, COLLECTOR_SINK__CA_FILE=between.certificate).code == 0


def test_an_authority_without_the_usual_extensions_is_trusted(home: Home, tmp_path: Path) -> None:
    """Python 3.13 and later reject such an authority by default."""
    plain = Authority(tmp_path / "plain", extensions=())
    with Sink(tls=plain.server()) as sink:
        result = scan(home, sink.url, COLLECTOR_SINK__CA_FILE=plain.certificate)
    assert result.code == 0, result.stderr


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_outdated_tls_is_told_apart_from_a_bad_certificate(home: Home, authority: Authority) -> None:
    old = authority.server()
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1
    with Sink(tls=old) as sink:
        result = scan(home, sink.url, COLLECTOR_SINK__CA_FILE=authority.certificate)
    assert result.code == UNREACHABLE
    assert "Have TLS updated on the sink" in result.stderr


@pytest.mark.parametrize(
    ("name", "days", "advice"),
    [
        ("127.0.0.1", -1, "Renew the sink's certificate"),
        ("elsewhere.example", 2, "Use a name in sink.url that the certificate is valid for"),
    ],
)
def test_a_scan_gives_advice_for_a_bad_server_certificate(
    home: Home, authority: Authority, name: str, days: int, advice: str
) -> None:
    with Sink(tls=authority.server(name, days)) as sink:
        result = scan(home, sink.url, COLLECTOR_SINK__CA_FILE=authority.certificate)
    assert result.code == UNREACHABLE
    assert advice in result.stderr


def test_the_systems_authorities_may_change_while_the_agent_runs(
    tmp_path: Path, authority: Authority, stranger: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = tmp_path / "system.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(systems))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    shutil.copy(stranger.certificate, systems)
    with Sink(tls=authority.server()) as sink:
        settings = SinkSettings(url=sink.url)
        transport = Transport(settings, sink.url, renewed=lambda: credentials_now(settings, "Bearer"))
        verdicts = [transport.post(REQUEST)[0]]
        shutil.copy(authority.certificate, systems)
        verdicts.append(transport.post(REQUEST)[0])
        transport.close()
    assert [type(verdict) for verdict in verdicts] == [Halt, Answer]


# Proxies


@contextmanager
def proxy(sink: Sink, tls: ssl.SSLContext | None = None, posing: ssl.SSLContext | None = None) -> Iterator[str]:
    """A proxy that connects every request to this sink; with `posing`, it also intercepts the TLS that goes through."""
    target = int(sink.url.rpartition(":")[2].partition("/")[0])

    def copy(source: socket.socket, goal: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                goal.sendall(data)
        with suppress(OSError):
            goal.shutdown(socket.SHUT_RDWR)

    def serve(connection: socket.socket) -> None:
        with ExitStack() as open_now, suppress(OSError):
            client = open_now.enter_context(connection)
            if tls:
                client = open_now.enter_context(tls.wrap_socket(client, server_side=True))
            head = b""
            while b"\r\n\r\n" not in head:
                if not (data := client.recv(4096)):
                    return
                head += data
            if not head.startswith(b"CONNECT "):
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            if posing:
                client = open_now.enter_context(posing.wrap_socket(client, server_side=True))
            with socket.create_connection(("127.0.0.1", target)) as server:
                back = threading.Thread(target=copy, args=(server, client))
                back.start()
                copy(client, server)
                back.join()

    with serving(serve) as port:
        yield f"http{'s' if tls else ''}://me:{PASSPHRASE}@127.0.0.1:{port}"


URL = "https://sink.test/events"


@pytest.fixture
def both(authority: Authority, stranger: Authority, tmp_path: Path) -> Path:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority.certificate.read_bytes() + stranger.certificate.read_bytes())
    return bundle


def test_a_proxy_that_speaks_tls_is_trusted_by_the_same_ca_file_as_the_sink(
    home: Home, authority: Authority, stranger: Authority, both: Path
) -> None:
    with Sink(tls=authority.server("sink.test")) as sink, proxy(sink, tls=stranger.server()) as url:
        result = scan(home, URL, COLLECTOR_SINK__CA_FILE=both, https_proxy=url)
        assert result.code == 0, result.stderr
        assert len(sink.ids()) == 1


def test_a_proxy_may_be_trusted_by_the_system_and_the_sink_by_its_own_authority(
    home: Home, authority: Authority, stranger: Authority
) -> None:
    with Sink(tls=authority.server("sink.test")) as sink, proxy(sink, tls=stranger.server()) as url:
        trusted = {"SSL_CERT_FILE": stranger.certificate, "COLLECTOR_SINK__CA_FILE": authority.certificate}
        result = scan(home, URL, https_proxy=url, **trusted)
        assert result.code == 0, result.stderr


def test_a_proxy_that_intercepts_tls_is_named_with_advice(
    home: Home, authority: Authority, stranger: Authority, both: Path
) -> None:
    with Sink() as sink, proxy(sink, posing=stranger.server("sink.test")) as url:
        result = scan(home, URL, COLLECTOR_SINK__CA_FILE=authority.certificate, https_proxy=url)
        assert result.code == UNREACHABLE
        assert f"proxy http://{url.rpartition('@')[2]} (from https_proxy)" in result.stderr
        assert "a TLS-intercepting proxy" in result.stderr
        assert PASSPHRASE not in result.stderr
        assert scan(home, URL, COLLECTOR_SINK__CA_FILE=both, https_proxy=url).code == 0


def test_an_https_proxy_url_that_should_be_http_is_explained(home: Home) -> None:
    """Most proxies must be, and most people write https:// because the sink has it."""
    with Sink() as plain:
        port = plain.url.rpartition(":")[2].partition("/")[0]
        result = scan(home, URL, https_proxy=f"https://127.0.0.1:{port}")
    assert result.code == UNREACHABLE
    assert "most proxies are named with http://" in result.stderr
