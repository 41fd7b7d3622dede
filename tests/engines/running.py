"""Starts and stops real engines on free ports of loopback, each with its data in a folder that tests can search.

with clickhouse(tmp_path) as engine:
    engine.url, engine.directory, engine.get("/ping")
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engines.places import is_installed, place_of, program

NOBODY = 65534  # some engines refuse to run as root
PATIENCE = 90.0


@dataclass
class Engine:
    """A running engine."""

    name: str
    port: int
    directory: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends one request; an answer other than success fails the test."""
        answer = httpx.request(method, self.url + path, timeout=60, trust_env=False, **more)
        assert answer.is_success, f"{self.name}: {answer.status_code} {answer.text[:500]}"
        return answer

    def files_with(self, words: Sequence[bytes]) -> list[str]:
        """The engine's files that contain any of these words."""
        return [
            str(path)
            for path in self.directory.rglob("*")
            if path.is_file() and any(word in path.read_bytes() for word in words)
        ]


def free_port() -> int:
    """A port that nothing is listening on."""
    with socket.socket() as sought:
        sought.bind(("127.0.0.1", 0))
        return int(sought.getsockname()[1])


@contextmanager
def started(
    name: str, command: Sequence[object], port: int, directory: Path, ready: str, **environment: str
) -> Iterator[Engine]:
    """Yields the engine once it answers `ready` with a 2xx, or with anything at all if `ready` is empty."""
    directory.mkdir(parents=True, exist_ok=True)
    log = directory.with_name(f"{directory.name}.log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(directory), **environment},
            cwd=directory,
        )
    engine = Engine(name, port, directory, process)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(engine, ready):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"{name} does not start: {log.read_text(errors='replace')[-1500:]}")
            time.sleep(0.1)
        yield engine
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def _answers(engine: Engine, ready: str) -> bool:
    try:
        answer = httpx.get(engine.url + ready, timeout=5, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.is_success or not ready


def installed(name: str) -> Path:
    """The program of an engine; skips the test if it is missing."""
    if not is_installed(name):
        pytest.skip(f"{name} is not installed: `make engines` does that, or says why it cannot")
    return program(name)


CLICKHOUSE = """<?xml version="1.0"?>
<yandex>
    <logger><level>warning</level><console>1</console></logger>
    <http_port>{port}</http_port>
    <tcp_port>{tcp}</tcp_port>
    <listen_host>127.0.0.1</listen_host>
    <path>{data}/</path>
    <tmp_path>{data}/tmp/</tmp_path>
    <mark_cache_size>100000000</mark_cache_size>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
</yandex>
"""
USERS = """<?xml version="1.0"?>
<yandex>
    <profiles><default/></profiles>
    <users>
        <default>
            <password></password><profile>default</profile><quota>default</quota>
            <networks><ip>127.0.0.1</ip></networks>
        </default>
    </users>
    <quotas><default/></quotas>
</yandex>
"""


@contextmanager
def clickhouse(directory: Path) -> Iterator[Engine]:
    """Debian's server from 2018: the wire format has always been the same."""
    server, top = installed("clickhouse"), place_of("clickhouse")
    port, data = free_port(), directory / "clickhouse"
    data.mkdir(parents=True)
    settings = directory / "clickhouse-server"
    settings.mkdir()
    (settings / "config.xml").write_text(CLICKHOUSE.format(port=port, tcp=free_port(), data=data))
    (settings / "users.xml").write_text(USERS)
    triplet = f"{os.uname().machine}-linux-gnu"
    libraries = f"{top}/usr/lib/{triplet}:{top}/lib/{triplet}"
    command = [server, f"--config-file={settings / 'config.xml'}"]
    with started("clickhouse", command, port, data, "/ping", LD_LIBRARY_PATH=libraries) as engine:
        yield engine


SEARCH_ENGINES = {"elasticsearch": "ES", "opensearch": "OPENSEARCH"}  # the prefix of their variables


@contextmanager
def search_engine(name: str) -> Iterator[Engine]:
    """A single node of Elasticsearch or OpenSearch, with a minimal configuration."""
    installed(name)
    if (java := shutil.which("java")) is None:
        pytest.skip(f"{name} needs Java")
    # It may run as another user, who cannot reach pytest's own folders.
    directory = Path(tempfile.mkdtemp(prefix="collector-es-", dir="/tmp"))
    directory.chmod(0o755)
    top, port = directory / name, free_port()
    # A copy it may write to: its own configuration, and hard links to the rest where possible.
    same = os.stat(directory).st_dev == os.stat(place_of(name)).st_dev
    subprocess.run(["cp", "-al" if same else "-r", place_of(name), top], check=True)
    shutil.rmtree(top / "config")
    subprocess.run(["cp", "-r", place_of(name) / "config", top / "config"], check=True)
    told = {
        "discovery.type": "single-node",
        "http.port": port,
        "transport.port": free_port(),
        "http.host": "127.0.0.1",
    }
    if name == "elasticsearch":
        told |= {"xpack.security.enabled": "false", "xpack.ml.enabled": "false"}
    (top / "config" / f"{name}.yml").write_text("".join(f"{key}: {value}\n" for key, value in told.items()))
    command: list[object] = [top / "bin" / name]
    if os.geteuid() == 0:
        for path in (top, *top.rglob("*")):
            if path.is_dir() or path.is_relative_to(top / "config"):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    prefix = SEARCH_ENGINES[name]
    variables = {
        f"{prefix}_JAVA_HOME": str(Path(java).resolve().parents[1]),
        f"{prefix}_JAVA_OPTS": "-Xms512m -Xmx512m",
    }
    try:
        with started(name, command, port, top, "/_cluster/health", **variables) as engine:
            yield engine
    finally:
        shutil.rmtree(directory, ignore_errors=True)


LOKI = """auth_enabled: false
server: {{http_listen_address: 127.0.0.1, http_listen_port: {port}, grpc_listen_address: 127.0.0.1, \
grpc_listen_port: {grpc}, log_level: warn}}
common:
  path_prefix: {data}
  ring: {{instance_addr: 127.0.0.1, kvstore: {{store: inmemory}}}}
  replication_factor: 1
  storage: {{filesystem: {{chunks_directory: {data}/chunks, rules_directory: {data}/rules}}}}
frontend: {{address: 127.0.0.1}}
ingester: {{lifecycler: {{min_ready_duration: 0s}}, wal: {{enabled: true, dir: {data}/wal}}}}
schema_config:
  configs:
    - {{from: 2020-10-24, store: tsdb, object_store: filesystem, schema: v13, index: {{prefix: index_, period: 24h}}}}
analytics: {{reporting_enabled: false}}
"""


@contextmanager
def loki(directory: Path) -> Iterator[Engine]:
    """Loki as a single binary, with all limits at their defaults."""
    server, port, data = installed("loki"), free_port(), directory / "loki"
    settings = directory / "loki.yaml"
    settings.write_text(LOKI.format(port=port, grpc=free_port(), data=data))
    with started("loki", [server, f"-config.file={settings}"], port, data, "/ready") as engine:
        yield engine


@contextmanager
def victoria_logs(directory: Path) -> Iterator[Engine]:
    """VictoriaLogs, with its default retention of seven days."""
    server, port, data = installed("victoria-logs"), free_port(), directory / "victoria-logs"
    command = [server, f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={data / 'data'}"]
    with started("victoria-logs", command, port, data, "/health") as engine:
        yield engine


ACCESS_KEY, SECRET_KEY = "test", "only-for-tests"


@contextmanager
def versitygw(directory: Path) -> Iterator[Engine]:
    """An object store that checks signatures, with the bucket `events`."""
    server, port, data = installed("versitygw"), free_port(), directory / "versitygw"
    (data / "events").mkdir(parents=True)
    keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    command = [server, "--port", f"127.0.0.1:{port}", "posix", data]
    with started("versitygw", command, port, data, "", **keys) as engine:
        yield engine


@contextmanager
def opentelemetry_collector(directory: Path) -> Iterator[Engine]:
    """An OTLP receiver that writes what it gets to files: logs.json and traces.json in its directory."""
    server, port, data = installed("opentelemetry-collector"), free_port(), directory / "opentelemetry-collector"
    data.mkdir(parents=True)
    told = f"""receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{file/logs: {{path: {data}/logs.json}}, file/traces: {{path: {data}/traces.json}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    logs: {{receivers: [otlp], exporters: [file/logs]}}
    traces: {{receivers: [otlp], exporters: [file/traces]}}
"""
    (directory / "otelcol.yaml").write_text(told)
    with started("opentelemetry-collector", [server, "--config", directory / "otelcol.yaml"], port, data, "") as engine:
        yield engine
