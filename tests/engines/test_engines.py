"""Every sink with its real engine: everything arrives once, the totals are right, and no secret is to be found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from collector.delivery.aws_signature import AwsSignature
from collector.delivery.channel import Channel
from collector.delivery.settle import Policy
from collector.delivery.sink import Halt, SinkType
from collector.delivery.sinks.registry import SINKS
from collector.delivery.transport import Transport
from collector.delivery.waiting import Waiting
from collector.delivery.window import Deliverer
from collector.flow.batch import Batch
from collector.flow.interrupt import Interrupt
from collector.flow.outcome import Sealed
from collector.flow.receipt import Receipt
from collector.settings.options import SinkSettings
from tests.delivery.sending import patient
from tests.engines import ask_chdb as chdb
from tests.engines import running
from tests.engines.corpus import DEATHS, SMALL, Corpus, deliver_through_kills, made, report_of
from tests.engines.running import ACCESS_KEY, SECRET_KEY, Engine
from tests.store.shipped_sql import CONFIG

pytestmark = pytest.mark.engines
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_EC2_METADATA_DISABLED": "true"}
# Promise 1: never more than two windows are sent again after a crash.
REPEATED_AT_MOST = len(DEATHS) * 2 * int(SMALL["COLLECTOR_SINK__WINDOW"]) * int(SMALL["COLLECTOR_BATCH__MAX_EVENTS"])
NOW = datetime.now(UTC).isoformat()
OLD, NEW = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return made(tmp_path_factory.mktemp("corpus"))


def options(name: str, url: str, **own: str) -> dict[str, str]:
    """The environment that configures a sink."""
    table = {f"COLLECTOR_SINK__{name.upper()}__{key.upper()}": value for key, value in own.items()}
    return {"COLLECTOR_SINK__TYPE": name, "COLLECTOR_SINK__URL": url, **table}


def hold(corpus: Corpus, engine: Engine, events: Sequence[dict[str, Any]], directory: Path) -> None:
    """Checks that the engine returned what was there: every event, the totals of `collector report`, and no secret."""
    assert {event["id"] for event in events} == corpus.ids
    assert report_of(events, corpus, directory) == corpus.report
    said = json.dumps(events).encode()
    assert [secret for secret in corpus.secrets if secret in said] == []
    assert engine.files_with(corpus.secrets) == []


def send(name: str, url: str, *events: Sealed, sign: Any = None, **own: Any) -> Receipt:
    """Sends one batch the whole way; returns its receipt."""
    chosen: SinkType[Any] = SINKS[name]
    batch = Batch(events=list(events), places=[("s", number) for number in range(len(events))])
    transport = Transport(SinkSettings(), url, sign=sign)
    policy = Policy(patient(5.0), window=1)
    [receipt] = Deliverer(Channel(chosen.make(chosen.options(**own)), transport), policy).deliver([batch])
    transport.close()
    return receipt


def at(time: str, name: str, **more: Any) -> Sealed:
    """An event with this time and id."""
    return Sealed(name, json.dumps({"id": name, "kind": "unknown", "time": time, **more}).encode(), {})


TABLE_OF_2018 = """CREATE TABLE event_rows (
    id String, event String, version UInt64 DEFAULT visitParamExtractUInt(event, 'output_tokens')
) ENGINE = ReplacingMergeTree(version) ORDER BY id"""


def test_clickhouse(corpus: Corpus, tmp_path: Path) -> None:
    with running.clickhouse(tmp_path) as engine:
        engine.ask("POST", "/", content=TABLE_OF_2018)
        deliver_through_kills(corpus, tmp_path, **options("clickhouse", engine.url, deduplicates="false"))
        rows = rows_of(engine, "SELECT id, event FROM event_rows")
        once = rows_of(engine, "SELECT id, event FROM event_rows FINAL")
        hold(corpus, engine, [json.loads(row["event"]) for row in once], tmp_path)
        assert len(once) == len(corpus.ids)
        # A row that can never be stored costs exactly itself, though the server says 500.
        engine.ask("POST", "/", content="CREATE TABLE narrow (id String, event FixedString(200)) ENGINE = Log")
        events = [at(NEW, str(number), text="x" * (200 if number == 3 else 2)) for number in range(8)]
        receipt = send("clickhouse", engine.url, *events, table="narrow", deduplicates=False)
        assert [(thing.id, "code 131" in thing.reason) for thing in receipt.refused] == [("3", True)]
        assert {row["id"] for row in rows_of(engine, "SELECT id FROM narrow")} == {str(n) for n in range(8)} - {"3"}
    # The same rows, repeats included, in the current engine with the shipped views.
    middle = len(rows) // 2
    parts = [
        chdb.loading(part, tmp_path / f"{number}") for number, part in enumerate((rows[:middle], rows, rows[middle:]))
    ]
    asked = "SELECT sum(messages), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens) FROM messages"
    *_, [counts], [sums] = chdb.ask_chdb(
        tmp_path,
        *chdb.schema(),
        *parts,
        "SELECT count(), uniqExact(id) FROM events",
        chdb.asked(asked),
    )
    assert counts == [len(corpus.ids), len(corpus.ids)]
    totals = corpus.report["totals"]
    assert sums == [totals[name] for name in ("messages", "input_tokens", "output_tokens", "cache_read_tokens")]


def rows_of(engine: Engine, query: str) -> list[dict[str, str]]:
    """The rows of a query."""
    answer = engine.ask("POST", "/", content=f"{query} FORMAT JSONEachRow")
    return [json.loads(line) for line in answer.content.splitlines()]


def test_using_one_token_for_two_contents_would_lose_the_second(tmp_path: Path) -> None:
    """Shows in the current engine why the token of an insert is derived from its content."""
    into = "INSERT INTO event_rows (id, event) SETTINGS insert_deduplication_token ="
    inserts = [
        f"""{into} '{token}' VALUES ('{name}', '{{"kind":"unknown"}}')"""
        for token, name in (("one", "a"), ("one", "b"), ("two", "c"), ("two", "c"))
    ]
    *_, found = chdb.ask_chdb(tmp_path, *chdb.schema(), *inserts, "SELECT id FROM event_rows ORDER BY id")
    assert found == [["a"], ["c"]]


@pytest.mark.parametrize("name", running.SEARCH_ENGINES)
def test_search_engines(corpus: Corpus, tmp_path: Path, name: str) -> None:
    with running.search_engine(name) as engine:
        template = (CONFIG / "elasticsearch-template.json").read_bytes()
        json_type = {"Content-Type": "application/json"}
        engine.ask("PUT", "/_index_template/claude-code-events", content=template, headers=json_type)
        deliver_through_kills(corpus, tmp_path, **options("elasticsearch", engine.url))
        engine.ask("POST", "/claude-code-events/_refresh")
        found = engine.ask("GET", "/claude-code-events/_search?size=10000").json()["hits"]["hits"]
        events = [{name: value for name, value in hit["_source"].items() if name != "@timestamp"} for hit in found]
        assert len(events) == len(corpus.ids)
        assert {hit["_source"]["@timestamp"] for hit in found} >= {event["time"] for event in events if "time" in event}
        hold(corpus, engine, events, tmp_path)
        # An item that can never be stored costs exactly itself; one that is already there is not an error.
        bad = at(NEW, "bad", session_id={"not": "a keyword"})
        for duplicates in (0, 1):
            receipt = send("elasticsearch", engine.url, at(NEW, "good"), bad)
            assert [thing.id for thing in receipt.refused] == ["bad"]
            assert receipt.duplicates == duplicates


@pytest.mark.parametrize("name", running.SEARCH_ENGINES)
def test_a_data_stream_accepts_events_too(name: str) -> None:
    with running.search_engine(name) as engine:
        template = json.loads((CONFIG / "elasticsearch-template.json").read_text()) | {"data_stream": {}}
        engine.ask("PUT", "/_index_template/claude-code-events", json=template)
        events = [at(OLD, "old"), at("2026-01-01T00:00:00.000Z", "new"), at("no time", "none")]
        assert send("elasticsearch", engine.url, *events).refused == []
        assert send("elasticsearch", engine.url, *events).duplicates == 3
        engine.ask("POST", "/claude-code-events/_refresh")
        found = engine.ask("GET", "/claude-code-events/_search?size=10").json()["hits"]["hits"]
    assert {hit["_id"] for hit in found} == {"old", "new", "none"}


def test_loki(corpus: Corpus, tmp_path: Path) -> None:
    with running.loki(tmp_path) as engine:
        deliver_through_kills(corpus, tmp_path, **options("loki", engine.url))
        hold(corpus, engine, lines_in(engine), tmp_path)
        assert len(lines_in(engine)) <= len(corpus.ids) + REPEATED_AT_MOST
        # Equal lines of one time become one line, as long as Loki still has the first in memory.
        for _ in range(2):
            send("loki", engine.url, at(NOW, "new"), at(OLD, "old"))
        assert sorted(line["id"] for line in lines_in(engine) if len(line["id"]) == 3) == ["new", "old"]
        # Sent with its own time, an old line is refused, and the good lines of the same request are stored once.
        events = [at(NOW, f"n{number}") for number in range(5)]
        receipt = send("loki", engine.url, *events, at("2025-01-01T00:00:00Z", "older"), event_time_days=36_500)
        assert [(thing.id, "too old" in thing.reason) for thing in receipt.refused] == [("older", True)]
        found = [line["id"] for line in lines_in(engine)]
        assert sorted(name for name in found if name[0] == "n" and len(name) == 2) == [f"n{n}" for n in range(5)]
        assert "older" not in found


def lines_in(engine: Engine) -> list[dict[str, Any]]:
    """Every line, as Loki returns it."""
    query = {"query": '{service_name="claude-code"}', "limit": "5000", "since": "2h"}
    streams = engine.ask("GET", "/loki/api/v1/query_range", params=query).json()["data"]["result"]
    return [json.loads(line) for stream in streams for _, line in stream["values"]]


def test_victoria_logs(corpus: Corpus, tmp_path: Path) -> None:
    with running.victoria_logs(tmp_path) as engine:
        url = f"{engine.url}/insert/elasticsearch?_time_field=@timestamp&_msg_field=text&_stream_fields=host.name,kind"
        deliver_through_kills(corpus, tmp_path, **options("elasticsearch", url, event_time_days="6"))
        rows = rows_in(engine)
        assert {row["id"] for row in rows} == corpus.ids
        assert engine.files_with(corpus.secrets) == []
        told: dict[str, int] = {}
        for row in rows:
            if "usage.output_tokens" in row and "message_id" in row:
                tokens = int(row["usage.output_tokens"])
                told[row["message_id"]] = max(tokens, told.get(row["message_id"], 0))
        assert told == corpus.output
        # A line that is too long ends the request, with a 200 that does not say so; only that line is quarantined.
        events = [at(NOW, "before"), at(NOW, "long", text="x " * 200_000), at(NOW, "after")]
        assert [thing.id for thing in send("elasticsearch", url, *events).refused] == ["long"]
        assert send("elasticsearch", url, at(NOW, "fits", text="x" * 249_900)).refused == []
        assert {"before", "after", "fits"} <= {row["id"] for row in rows_in(engine)}
        # Sent with its own time, an old row gets a 200 and is dropped.
        assert send("elasticsearch", url, at(OLD, "dropped")).refused == []
        assert "dropped" not in {row["id"] for row in rows_in(engine)}


def rows_in(engine: Engine) -> list[dict[str, str]]:
    """Every row, flattened as VictoriaLogs stores it."""
    engine.ask("GET", "/internal/force_flush")
    answer = engine.ask("POST", "/select/logsql/query", data={"query": "*", "limit": "10000"})
    return [json.loads(line) for line in answer.content.splitlines()]


def test_s3(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    sign = AwsSignature("s3", "us-east-1", None)
    with running.versitygw(tmp_path) as engine:
        url = f"{engine.url}/events"
        deliver_through_kills(corpus, tmp_path, **options("s3", url), **KEYS)
        objects = sorted((engine.directory / "events").rglob("*.ndjson.gz"))
        hold(corpus, engine, [event for path in objects for event in events_in(path)], tmp_path)
        # A repeat writes the same object again, and no other one.
        event = at(NEW, "a")
        for _ in range(2):
            assert send("s3", url, event, sign=sign).refused == []
        assert len(sorted((engine.directory / "events").rglob("*.ndjson.gz"))) == len(objects) + 1
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
        wrong = Transport(SinkSettings(), url, sign=AwsSignature("s3", "us-east-1", None))
        verdict = Channel(SINKS["s3"].make(SINKS["s3"].options()), wrong).post([event], Waiting(Interrupt())).verdict
        assert isinstance(verdict, Halt)
        assert "SignatureDoesNotMatch" in verdict.reason


def events_in(path: Path) -> list[dict[str, Any]]:
    """The events in an object, as the object store keeps it."""
    import gzip

    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
