"""config/otel-collector.yaml in a real OpenTelemetry Collector: agents get the answers of the engine behind it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.engines.running import Engine, free_port, installed, started
from tests.sink import Answer, Sink

pytestmark = pytest.mark.engines
SHIPPED = Path(__file__).resolve().parents[2] / "config" / "otel-collector.yaml"


@pytest.fixture
def between(tmp_path: Path, sink: Sink) -> Iterator[Engine]:
    """Runs the shipped configuration without TLS, with the sink as the engine."""
    program = installed("opentelemetry-collector")
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    known = subprocess.run([program, "components"], capture_output=True, text=True, check=True, env=home).stdout
    if "otlp_http" not in known or "memory_limiter" not in known:
        pytest.skip("the installed OpenTelemetry Collector lacks parts: remove it and run `make engines`")
    port = free_port()
    places = {"LISTEN": f"127.0.0.1:{port}", "ENGINE_URL": sink.url.removesuffix("/events")}
    places["ENGINE_TOKEN"] = "not-a-token"
    subprocess.run([program, "validate", "--config", SHIPPED], check=True, env={**home, **places})
    before, _, rest = SHIPPED.read_text().partition("        # Remove `tls`")
    (plain := tmp_path / "plain.yaml").write_text(before + "processors:" + rest.partition("processors:")[2])
    quiet = "service::telemetry::metrics::level=none"
    command = [program, "--config", plain, "--set", quiet]
    with started("opentelemetry-collector", command, port, tmp_path / "otelcol", "", **places) as engine:
        yield engine


def test_an_agent_gets_the_answers_of_the_engine_behind_the_collector(
    tmp_path: Path, sink: Sink, between: Engine
) -> None:
    home = Home(tmp_path / "home")
    home.session().prompt("one")
    agent = Agent(home, None, {"COLLECTOR_SINK__TYPE": "otlp", "COLLECTOR_SINK__URL": between.url})
    for status, code in ((503, 75), (401, 75), (200, 0)):
        sink.then = Answer(status)
        assert agent.run("scan", *agent.places(), "--max-wait", "1").code == code, status
    assert {(post.path, post.headers["authorization"]) for post in sink.posts} == {("/v1/logs", "Bearer not-a-token")}
    home.session().prompt("two")
    sink.down()
    assert agent.run("scan", *agent.places(), "--max-wait", "1").code == 75
    sink.up()
    assert agent.scan().ledger["delivered"] == 1
