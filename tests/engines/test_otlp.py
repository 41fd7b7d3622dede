"""OTLP into real engines: after scans killed between POST and commit and one to the end, they have everything."""

from __future__ import annotations

import json
import os
import re
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.engines.killing import Relay, corpus, scanned_with_kills, told_by_the_store
from tests.engines.running import free_port, installed, opentelemetry_collector, started

pytestmark = pytest.mark.engines
OTLP = {"COLLECTOR_SINK__TYPE": "otlp"}
TRACED = {**OTLP, "COLLECTOR_SINK__OTLP__TRACES": "true"}
Record = dict[str, Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The corpus, the secrets in it, the rows of its report, and the ids of its events."""
    directory = tmp_path_factory.mktemp("corpus")
    home, secrets = corpus(directory)
    for path in filter(Path.is_file, home.root.rglob("*")):
        os.utime(path, (time.time() - 86_400,) * 2)  # a turn that went on just now would not be over yet
    return home, secrets, *told_by_the_store(home, directory)


def plain(pairs: list[Record]) -> Record:
    """OTLP/JSON attributes, by name."""
    return {pair["key"]: value_of(pair["value"]) for pair in pairs}


def value_of(told: Record) -> Any:
    for kind, inner in told.items():
        if kind == "arrayValue":
            return [value_of(each) for each in inner.get("values", [])]
        if kind == "kvlistValue":
            return plain(inner.get("values", []))
        return int(inner) if kind == "intValue" else inner
    return None


def assert_complete(records: list[Record], told: Any) -> None:
    """Checks that every event is there, that repeats have known ids, and that the tokens match the report."""
    _, _, rows, ids = told
    by_id = {record["log.record.uid"]: record for record in records}
    assert set(by_id) == set(ids)
    assert len(records) > len(by_id)  # what was stored before a kill was sent again
    best: dict[str, Record] = {}
    for record in by_id.values():
        message = record.get("gen_ai.response.id")
        if message and "gen_ai.usage.output_tokens" in record and record.get("gen_ai.response.model") != "<synthetic>":
            known = best.setdefault(message, record)
            if tokens(record, "output_tokens") > tokens(known, "output_tokens"):
                best[message] = record
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    for record in best.values():
        cached = tokens(record, "cache_read.input_tokens"), tokens(record, "cache_write.input_tokens")
        counts = (1, tokens(record, "input_tokens") - sum(cached), tokens(record, "output_tokens"), *cached)
        model = record["gen_ai.response.model"]
        sums[model] = [before + more for before, more in zip(sums[model], counts, strict=True)]
    names = ("messages", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    assert dict(sums) == {row["model"]: [row[name] for name in names] for row in rows}
    assert sum(map(len, sums.values())) > 10


def tokens(record: Record, name: str) -> int:
    """A token count, which the engine may have turned into text."""
    return int(record.get(f"gen_ai.usage.{name}", 0))


def assert_spans(spans: list[Record]) -> None:
    """Checks that repeats are the same span, and that the story's spans have parents that exist."""
    by_id: dict[tuple[str, str], Record] = {}
    for span in spans:
        assert by_id.setdefault((span["traceId"], span["spanId"]), span) == span
    assert len(spans) > len(by_id) > 100
    names = {span["name"].partition(" ")[0] for span in by_id.values()}
    assert names == {"invoke_agent", "chat", "execute_tool"}
    # In the generated transcripts, every subagent names a call that does not exist.
    above = [(span, by_id.get((span["traceId"], span.get("parentSpanId", "")))) for span in by_id.values()]
    orphans = [span for span, parent in above if span.get("parentSpanId") and parent is None]
    assert {span["name"] for span in orphans} <= {"invoke_agent general-purpose"}
    assert any(span["name"] == "invoke_agent Explore" and parent for span, parent in above)
    for span, parent in above:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        if parent:
            assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"])


def told_in(requests: list[Record], outer: str, middle: str, inner: str) -> list[Record]:
    """The records or spans of export requests."""
    return [
        item for one in requests for group in one.get(outer, ()) for scope in group[middle] for item in scope[inner]
    ]


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_opentelemetry_collector(told: Any, tmp_path: Path, encoding: str) -> None:
    with opentelemetry_collector(tmp_path) as engine, Relay(engine.url) as relay:
        scanned_with_kills(told[0], relay, {**TRACED, "COLLECTOR_SINK__OTLP__ENCODING": encoding})
        assert relay.refused == []
    files = (engine.directory / "logs.json", engine.directory / "traces.json")
    logs, traces = ([json.loads(line) for line in path.read_text().splitlines()] for path in files)
    records = told_in(logs, "resourceLogs", "scopeLogs", "logRecords")
    assert_complete([plain(record["attributes"]) for record in records], told)
    assert_spans(told_in(traces, "resourceSpans", "scopeSpans", "spans"))
    assert engine.files_with([secret.encode() for secret in told[1]]) == []


def test_victoria_logs(told: Any, tmp_path: Path) -> None:
    server, port, data = installed("victoria-logs"), free_port(), tmp_path / "victoria-logs"
    # By default it drops what is older than seven days, which the corpus is, as is much of any first scan.
    flags = [f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={data / 'data'}", "-retentionPeriod=100y"]
    with (
        started("victoria-logs", [server, *flags], port, data, "/health") as engine,
        Relay(f"{engine.url}/insert/opentelemetry") as relay,
    ):
        scanned_with_kills(told[0], relay, OTLP)
        assert relay.refused == []
        engine.ask("GET", "/internal/force_flush")
        answer = engine.ask("POST", "/select/logsql/query", data={"query": "*"})
        assert_complete([json.loads(line) for line in answer.text.splitlines()], told)
        assert [secret for secret in told[1] if secret in answer.text] == []
    assert engine.files_with([secret.encode() for secret in told[1]]) == []


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_ddapm_test_agent(told: Any, tmp_path: Path, encoding: str) -> None:
    server, port = installed("python").with_name("ddapm-test-agent"), free_port()
    ports = ["--port", str(free_port()), "--otlp-http-port", str(port), "--otlp-grpc-port", str(free_port())]
    with (
        started("ddapm", [server, "--host", "127.0.0.1", *ports], port, tmp_path / "ddapm", "") as engine,
        Relay(engine.url) as relay,
    ):
        scanned_with_kills(told[0], relay, {**TRACED, "COLLECTOR_SINK__OTLP__ENCODING": encoding})
        assert relay.refused == []
        logs, traces = (engine.ask("GET", f"/test/session/{what}") for what in ("logs", "traces"))
    records = told_in(camel(logs.json()), "resourceLogs", "scopeLogs", "logRecords")
    assert_complete([plain(record["attributes"]) for record in records], told)
    assert_spans(told_in(camel(traces.json()), "resourceSpans", "scopeSpans", "spans"))
    assert [secret for secret in told[1] if secret in logs.text + traces.text] == []


def camel(part: Any) -> Any:
    """What this engine returned, with the names of OTLP/JSON."""
    if isinstance(part, list):
        return [camel(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    return {re.sub("_([a-z])", lambda match: match[1].upper(), name): camel(inner) for name, inner in part.items()}
