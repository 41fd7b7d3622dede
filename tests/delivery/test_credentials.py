"""Credentials: a bearer token, a password or a header's value, each read from a file and shown nowhere."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.delivery.aws_signature import AwsSignature
from collector.delivery.credentials import Credentials, basic, bearer, credentials
from collector.delivery.sink import Answer, Request
from collector.delivery.transport import Transport
from collector.errors import ConfigurationError, SinkHalted
from collector.settings.options import SinkSettings
from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink, only_with

SECRET = "only-for-the-sink"
REQUEST = Request(b"{}\n", {"Content-Type": "application/x-ndjson"})
MISCONFIGURED = 78
KINDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "bearer": ({}, "authorization", f"Bearer {SECRET}"),
    "basic": ({"auth_user": "ada"}, "authorization", "Basic " + base64.b64encode(f"ada:{SECRET}".encode()).decode()),
    "header": ({"auth_header": "X-Api-Key"}, "x-api-key", SECRET),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_makes_its_header(kind: Any) -> None:
    more, header, value = KINDS[kind]
    made = credentials(SinkSettings(auth=kind, **more), SECRET, "Bearer")
    assert made is not None
    assert (made.header.lower(), made.value) == (header, value)
    assert SECRET in made.secrets


def test_a_user_and_a_password_may_contain_any_characters() -> None:
    encoded = basic("åda", "pässword").value.removeprefix("Basic ")
    assert base64.b64decode(encoded).decode() == "åda:pässword"


def test_a_missing_secret_is_an_error_only_if_sink_auth_is_set() -> None:
    assert credentials(SinkSettings(), None, "Bearer") is None
    with pytest.raises(ConfigurationError, match=r"sink.auth is basic, but there is no secret.*sink.token_file"):
        credentials(SinkSettings(auth="basic", auth_user="ada"), None, "Bearer")


@pytest.mark.parametrize("made", [bearer(SECRET), Credentials("X-Api-Key", SECRET, (SECRET,))])
def test_credentials_replace_a_configured_header_of_the_same_name(made: Credentials) -> None:
    settings = SinkSettings(headers={made.header.upper(): "an older one", "X-Team": "data"})
    with Sink() as sink:
        transport = Transport(settings, sink.url, made)
        assert isinstance(transport.post(REQUEST)[0], Answer)
        transport.close()
    [request] = sink.posts
    assert request.headers[made.header.lower()] == made.value
    assert request.headers["x-team"] == "data"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.session().prompt("one")
    return home


def environment(kind: str, secret: Path) -> dict[str, str]:
    more, _, _ = KINDS[kind]
    told = {"AUTH": kind, "TOKEN_FILE": str(secret), **{name.upper(): value for name, value in more.items()}}
    return {f"COLLECTOR_SINK__{name}": value for name, value in told.items()}


def test_a_token_may_follow_a_byte_order_mark(home: Home, tmp_path: Path) -> None:
    """Editors on Windows save files that way."""
    (tmp_path / "token").write_bytes(b"\xef\xbb\xbf" + SECRET.encode() + b"\r\n")
    with Sink(then=only_with("authorization", f"Bearer {SECRET}")) as sink:
        assert Agent(home, sink, {"COLLECTOR_SINK__TOKEN_FILE": str(tmp_path / "token")}).scan().code == 0


@pytest.mark.parametrize("wrong", [f"Bearer {SECRET}", SECRET.encode("utf-16"), f"\ufeff{SECRET}\ufeff"])
@pytest.mark.parametrize("command", [("scan", "--max-wait", "0"), ("config", "check")])
def test_an_impossible_token_is_reported_and_nothing_is_sent(
    home: Home, tmp_path: Path, wrong: str | bytes, command: tuple[str, ...]
) -> None:
    (tmp_path / "token").write_bytes(wrong if isinstance(wrong, bytes) else wrong.encode())
    with Sink() as sink:
        environment = {"COLLECTOR_SINK__TOKEN_FILE": str(tmp_path / "token"), "COLLECTOR_SINK__URL": sink.url}
        result = Agent(home, environment=environment).run(*command)
        assert (result.code, sink.posts) == (MISCONFIGURED, [])
    assert "sink.token_file: " in result.stderr
    assert SECRET not in result.stderr


@pytest.mark.parametrize("command", [("scan", "--max-wait", "0"), ("config", "check")])
def test_a_token_with_its_scheme_is_answered_with_the_scheme_of_the_sink(
    home: Home, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "token").write_text(f"Splunk {SECRET}")
    with Sink() as sink:
        environment = {"COLLECTOR_SINK__TOKEN_FILE": str(tmp_path / "token"), "COLLECTOR_SINK__TYPE": "splunk_hec"}
        result = Agent(home, environment={**environment, "COLLECTOR_SINK__URL": sink.url}).run(*command)
    assert "Put only the token in the file: Splunk is added to it." in result.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_secret_reaches_the_sink_and_is_shown_nowhere(home: Home, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    _, header, value = KINDS[kind]
    with Sink(then=only_with(header, value)) as sink:
        agent = Agent(home, sink, {**environment(kind, secret), "COLLECTOR_LOG__LEVEL": "debug"})
        told = [agent.scan(), agent.run("config", "show", "--json"), agent.run("config", "check"), agent.run("status")]
    assert told[0].code == 0, told[0].stderr
    assert [result.code for result in told] == [0] * 4
    written = b"".join(agent.kept().values()).decode(errors="replace")
    said = written + "".join(result.stdout + result.stderr for result in told)
    assert SECRET not in said
    assert value.removeprefix("Basic ") not in said
    shown = {key: option["value"] for key, option in json.loads(told[1].stdout)["options"].items()}
    assert (shown["sink.auth"], shown["sink.token_file"]) == (kind, str(secret))
    assert shown["sink.auth_user"] == ("********" if kind == "basic" else None)


def test_a_wrong_secret_is_reported_without_repeating_it(home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    with Sink(then=only_with("x-api-key", "another")) as sink:
        result = Agent(home, sink, environment("header", secret)).scan()
    assert result.code == 75
    assert "sink.token_file, sink.auth" in result.stderr
    assert SECRET not in result.stderr


@pytest.mark.parametrize("command", [("config", "check"), ("scan",)])
def test_a_missing_password_is_a_configuration_error(home: Home, command: tuple[str, ...]) -> None:
    told = {"COLLECTOR_SINK__URL": "https://sink.invalid/", "COLLECTOR_SINK__AUTH": "basic"}
    agent = Agent(home, environment={**told, "COLLECTOR_SINK__AUTH_USER": "ada"})
    result = agent.run(*command)
    assert result.code == MISCONFIGURED
    assert "sink.auth is basic, but there is no secret" in result.stderr


WITHOUT_ITS_LIBRARY = (
    "import runpy, sys; sys.modules['botocore'] = None; runpy.run_module('collector', run_name='__main__')"
)


def test_aws_keys_that_appear_or_are_replaced_are_used_from_the_next_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("KEYS", str(tmp_path))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "$KEYS/credentials")
    sign, used = AwsSignature("s3", "", None), []
    with pytest.raises(SinkHalted, match="no AWS keys were found"):
        sign("PUT", "https://s3.example/bucket/key", {}, b"")
    for name in ("first", "second"):
        (tmp_path / "credentials").write_text(f"[default]\naws_access_key_id={name}\naws_secret_access_key=a/b+c=\n")
        used.append(sign("PUT", "https://s3.example/bucket/key", {}, b"")["Authorization"].split("/")[0])
    assert used == ["AWS4-HMAC-SHA256 Credential=first", "AWS4-HMAC-SHA256 Credential=second"]
    (tmp_path / "credentials").write_text("[default\n")
    for _ in range(2):
        with pytest.raises(SinkHalted, match="could not be fetched"):
            sign("PUT", "https://s3.example/bucket/key", {}, b"")


@pytest.mark.parametrize("command", [("config", "check"), ("scan",), ("doctor",)])
def test_a_missing_library_is_reported_before_anything_is_sent(tmp_path: Path, command: tuple[str, ...]) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        program = (sys.executable, "-c", WITHOUT_ITS_LIBRARY)
        agent = Agent(home, sink, {"COLLECTOR_SINK__TYPE": "s3"}, program=program)
        result = agent.run(*command, *agent.places())
    assert result.code == (1 if command == ("doctor",) else MISCONFIGURED), result.stderr
    assert "pip install 'claude-collector[s3]'" in result.stdout + result.stderr
    assert sink.posts == []


def test_config_check_includes_the_sinks_own_checks(tmp_path: Path) -> None:
    chosen = {"COLLECTOR_SINK__TYPE": "loki", "COLLECTOR_SINK__URL": "https://sink.invalid"}
    result = Agent(Home(tmp_path), None, chosen).run("config", "check", env={"COLLECTOR_SINK__COMPRESSION": "zstd"})
    assert result.code == MISCONFIGURED
    assert "Loki does not accept zstd" in result.stderr
