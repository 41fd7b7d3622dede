"""Verbatim answers of real receivers, and how each sink classifies them. docs/sinks.md says where each was seen."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from collector.delivery.credentials import credentials
from collector.delivery.event_fields import fields_of
from collector.delivery.sink import Accepted, Answer, Halt, Pending, Refused, Retry, SinkType, TooLarge
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.flow.outcome import Sealed
from collector.settings import with_sinks
from collector.settings.options import SinkSettings
from tests.delivery.contract import deliverer, serving
from tests.delivery.receivers import A_PAGE, RECEIVERS, bulk, told
from tests.delivery.sending import batch, names, sealed

NOW = 1_768_300_000.0  # 2026-01-13 10:26:40


def made(name: str, **options: Any) -> Any:
    """A sink with a clock that stands still."""
    chosen: SinkType[Any] = SINKS[name]
    kind: Any = type(chosen.make(chosen.options()))
    return kind(chosen.options(**options), clock=lambda: NOW)


def said_at(time: str, **more: Any) -> Sealed:
    """An event with this time."""
    return Sealed("a", orjson.dumps({"id": "a", "kind": "user_prompt", "time": time, "text": "hi", **more}), {})


CODE_117 = (
    b"Code: 117, e.displayText() = DB::Exception: Unknown field found while parsing JSONEachRow format: x: (at row 1)\n, "
    b"e.what() = DB::Exception"
)
BULK_ERROR = {"type": "document_parsing_exception", "reason": "failed to parse field [time] of type [date]"}


# ruff: noqa: E501 - servers' answers are quoted without line breaks
def items_failed(status: int, kind: str, said: str) -> bytes:
    """A bulk response with one item, which failed."""
    item = {"_id": "a", "status": status, "error": {"type": kind, "reason": said}}
    return json.dumps({"errors": True, "items": [{"create": item}]}).encode()


ENGINES = ("clickhouse", "elasticsearch", "loki", "splunk_hec", "s3")
CASES: list[tuple[str, int, bytes, type, str]] = [
    *((name, 200, b"<title>Sign in</title>", Retry, ": HTTP 200: Sign in") for name in ENGINES),
    # ClickHouse 18.16.1, and what newer versions say instead
    ("clickhouse", 200, b"", Accepted, ""),
    ("clickhouse", 500, CODE_117, Refused, "ClickHouse code 117: Unknown field found"),
    (
        "clickhouse",
        400,
        b"Code: 27. DB::Exception: Cannot parse input: expected ',' before: 'the row': (at row 1)\n: While executing. (CANNOT_PARSE_INPUT_ASSERTION_FAILED)",
        Refused,
        "code 27",
    ),
    (
        "clickhouse",
        404,
        b"Code: 60, e.displayText() = DB::Exception: Table default.nope doesn't exist., e.what() = DB::Exception",
        Halt,
        "code 60",
    ),
    (
        "clickhouse",
        401,
        b"Code: 193, e.displayText() = DB::Exception: Wrong password for user default, e.what() = DB::Exception",
        Halt,
        "code 193",
    ),
    (
        "clickhouse",
        403,
        b"Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED)",
        Halt,
        "code 516",
    ),
    ("clickhouse", 500, b"Code: 48, e.displayText() = DB::Exception: Method write is not", Halt, "code 48"),
    ("clickhouse", 500, b"Code: 252. DB::Exception: Too many parts (300). (TOO_MANY_PARTS)", Retry, "code 252"),
    (
        "clickhouse",
        500,
        b"Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)",
        Retry,
        "code 241",
    ),
    (
        "clickhouse",
        404,
        b"Code: 115. DB::Exception: Unknown setting insert_deduplication_token. (UNKNOWN_SETTING)",
        Halt,
        "code 115",
    ),
    ("clickhouse", 500, b"Code: 99999. DB::Exception: nobody knows", Retry, "code 99999"),
    ("clickhouse", 200, b"Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)", Retry, "code 159"),
    ("clickhouse", 502, b"<html>bad gateway</html>", Retry, "HTTP 502"),
    # Elasticsearch 8.19 and OpenSearch
    ("elasticsearch", 200, b'{"errors":false,"items":[{"create":{"_id":"a","status":201}}]}', Accepted, ""),
    (
        "elasticsearch",
        200,
        b'{"took":3,"errors":false,"items":[{"create":{"status":201}}]}',
        Accepted,
        "",
    ),  # VictoriaLogs
    ("elasticsearch", 400, b'{"error":{"type":"illegal_argument_exception"},"status":400}', Refused, "HTTP 400"),
    ("elasticsearch", 429, b'{"error":{"type":"es_rejected_execution_exception"}}', Retry, "HTTP 429"),
    ("elasticsearch", 413, b"", TooLarge, "HTTP 413"),
    ("elasticsearch", 200, b"", Retry, "not a bulk response"),  # VictoriaLogs, on a line of more than 256 KiB
    (
        "elasticsearch",
        200,
        b'{"errors":true,"items":[{"create":{"_id":"a","status":404,"error":{"type":"index_not_found_exception","reason":"no such index"}}}]}',
        Halt,
        "index_not_found",
    ),
    *(
        ("elasticsearch", 200, items_failed(status, kind, said), Halt, kind)
        for status, kind, said in (
            (403, "cluster_block_exception", "index [i] blocked by: [FORBIDDEN/8/index write (api)];"),
            (400, "index_closed_exception", "closed"),
            (400, "illegal_argument_exception", "pipeline with id [p] does not exist"),
            (400, "illegal_argument_exception", "no write index is defined for alias [a]."),
        )
    ),
    ("elasticsearch", 200, items_failed(400, "illegal_argument_exception", "immense term"), Accepted, ""),
    ("elasticsearch", 200, b'{"errors":true,"items":[{"create":{"status":400}}]}', Refused, "which item"),
    # Loki 3.5
    ("loki", 204, b"", Accepted, ""),
    (
        "loki",
        400,
        b"entry for stream '{service_name=\"claude-code\"}' has timestamp too old: 2026-01-01T00:00:00Z, oldest acceptable timestamp is: 2026-01-06T10:00:00Z",
        Refused,
        "timestamp too old",
    ),
    (
        "loki",
        400,
        b"max entry size 262144 bytes exceeded for stream '{}' while adding an entry with length 300000 bytes",
        Refused,
        "max entry size",
    ),
    ("loki", 429, b"ingestion rate limit exceeded for user fake", Retry, "HTTP 429"),
    ("loki", 401, b"no org id", Halt, "HTTP 401: no org id"),
    ("loki", 500, b"empty ring", Retry, "HTTP 500"),
    # Splunk's documentation of HEC
    ("splunk_hec", 200, b'{"text":"Success","code":0}', Accepted, ""),
    ("splunk_hec", 200, b'{"text":"Success","code":0,"ackId":7}', Pending, "no indexer has acknowledged"),
    ("splunk_hec", 200, b'{"acks":{"7":false}}', Pending, "no indexer has acknowledged"),
    ("splunk_hec", 200, b'{"acks":{"7":true}}', Accepted, ""),
    ("splunk_hec", 200, b'{"acks":{}}', Retry, "does not say"),
    ("splunk_hec", 403, b'{"text":"Invalid token","code":4}', Halt, "code 4"),
    ("splunk_hec", 400, b'{"text":"Incorrect index","code":7,"invalid-event-number":1}', Halt, "code 7"),
    ("splunk_hec", 400, b'{"text":"Invalid data format","code":6,"invalid-event-number":3}', Refused, "code 6"),
    ("splunk_hec", 404, b'{"text":"The requested URL was not found.","code":404}', Halt, "URL was not found"),
    ("splunk_hec", 503, b'{"text":"Server is busy","code":9}', Retry, "code 9"),
    ("splunk_hec", 500, b'{"text":"Internal server error","code":8}', Retry, "code 8"),
    ("splunk_hec", 413, b"", TooLarge, "HTTP 413"),
    # S3's documentation of PutObject, and versitygw
    ("s3", 412, b"<?xml?><Error><Code>PreconditionFailed</Code></Error>", Accepted, ""),
    ("s3", 412, b"<html>", Refused, "HTTP 412"),
    ("s3", 409, b"<Error><Code>ConditionalRequestConflict</Code></Error>", Retry, "Conditional"),
    ("s3", 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>", Halt, "SignatureDoesNotMatch"),
    ("s3", 400, b"<Error><Code>KMS.Disabled</Code><Message>The key is off.</Message></Error>", Halt, "The key is off"),
    ("s3", 403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>", Halt, "RequestTimeTooSkewed"),
    ("s3", 404, b"<Error><Code>NoSuchBucket</Code></Error>", Halt, "NoSuchBucket"),
    ("s3", 400, b"<Error><Code>InvalidBucketName</Code></Error>", Halt, "InvalidBucketName"),
    ("s3", 400, b"<Error><Code>ExpiredToken</Code></Error>", Retry, "ExpiredToken"),
    ("s3", 501, b"<Error><Code>NotImplemented</Code></Error>", Halt, "NotImplemented"),
    ("s3", 503, b"<Error><Code>Starting</Code><Message>Not yet.</Message></Error>", Retry, "503 Starting: Not yet."),
    # Fluent Bit's in_http, and a proxy between
    ("http", 201, b"", Accepted, ""),
    ("http", 400, b'{"status":"error","message":"could not parse"}', Refused, "HTTP 400"),
    ("http", 507, b"", Retry, "HTTP 507"),
]


@pytest.mark.parametrize(
    ("name", "status", "body", "verdict", "reason"), CASES, ids=[f"{c[0]} {c[1]} {c[2][:30]!r}" for c in CASES]
)
def test_each_answer_is_classified_as_its_receiver_meant_it(
    name: str, status: int, body: bytes, verdict: type, reason: str
) -> None:
    found = made(name).classify(Answer(status, httpx.Headers({"Retry-After": "7"}), body))
    assert type(found) is verdict
    assert reason in getattr(found, "reason", "")
    assert "the row" not in str(found)  # the part a database quotes comes from an event
    if isinstance(found, Retry) and status != 200 and name != "http":
        assert found.after == 7


def test_an_index_that_nothing_can_go_into_is_not_blamed_on_the_token() -> None:
    body = items_failed(403, "cluster_block_exception", "index [i] blocked by: [FORBIDDEN/8/index write (api)];")
    assert "lift its block" in made("elasticsearch").classify(Answer(200, {}, body)).advice


def test_only_unexplained_failures_may_be_blamed_on_an_event() -> None:
    poison = [
        (name, status)
        for name, status, body, verdict, _ in CASES
        if verdict is Retry and made(name).classify(Answer(status, {}, body)).may_be_poison
    ]
    assert poison == [
        *((name, 200) for name in ENGINES),
        *(("clickhouse", 500), ("clickhouse", 502), ("elasticsearch", 200), ("loki", 500), ("splunk_hec", 500)),
        ("http", 507),
    ]


def test_each_item_of_a_bulk_request_is_settled_by_its_own_status() -> None:
    def answer(ids: list[str]) -> Any:
        turns.append(ids)
        status = {"e1": 409, "e2": 429 if len(turns) == 1 else 201, "e3": 503 if len(turns) < 3 else 201, "e4": 400}
        failed = {400: BULK_ERROR, 409: {"type": "version_conflict_engine_exception"}, 429: "busy", 503: "away"}
        items = [{"_id": each, "status": status.get(each, 201)} for each in ids]
        return bulk(*[item | ({"error": failed[item["status"]]} if item["status"] in failed else {}) for item in items])

    turns: list[list[str]] = []
    with serving(RECEIVERS["elasticsearch"]) as server:
        server.say(answer)
        [receipt] = deliverer(server).deliver([batch(*names(6))])
    assert turns == [names(6), ["e2", "e3"], ["e3"]]
    assert receipt.duplicates == 1
    assert [(thing.id, BULK_ERROR["reason"] in thing.reason) for thing in receipt.refused] == [("e4", True)]


def test_an_item_that_a_bulk_request_always_fails_on_costs_exactly_itself() -> None:
    def answer(ids: list[str]) -> Any:
        error = {"type": "null_pointer_exception", "reason": "in the pipeline"}
        items = [{"_id": each, "status": 500, "error": error} for each in ids if each == "e2"]
        return bulk(*items, *[{"_id": each, "status": 201} for each in ids if each != "e2"])

    with serving(RECEIVERS["elasticsearch"]) as server:
        server.say(answer)
        [receipt] = deliverer(server).deliver([batch(*names(6))])
    assert [(thing.id, "null_pointer_exception" in thing.reason) for thing in receipt.refused] == [("e2", True)]


def test_a_splunk_that_acknowledges_later_is_asked_until_it_does() -> None:
    acks = itertools.chain([told(200, {"acks": {"7": False}})], itertools.repeat(told(200, {"acks": {"7": True}})))
    with serving(RECEIVERS["splunk_hec"]) as server:
        server.sink.then = lambda request: (
            next(acks) if request.path.endswith("/ack") else told(200, {"text": "Success", "code": 0, "ackId": 7})
        )
        [receipt] = deliverer(server).deliver([batch("a")])
        first, *asked = server.sink.posts
    assert receipt.refused == []
    assert [json.loads(request.body) for request in asked] == [{"acks": [7]}] * 2
    assert len({request.headers["x-splunk-request-channel"] for request in (first, *asked)}) == 1


def test_a_row_that_clickhouse_refuses_with_a_500_is_found() -> None:
    with serving(RECEIVERS["clickhouse"]) as server:
        server.say(lambda ids: RECEIVERS["clickhouse"].refused if "e3" in ids else None)
        [receipt] = deliverer(server).deliver([batch(*names(8))])
    assert [thing.id for thing in receipt.refused] == ["e3"]
    assert len(server.requests) <= 8


# Requests


def test_the_deduplication_token_of_an_insert_depends_on_its_content() -> None:
    def token(*events: Sealed) -> str:
        return str(made("clickhouse").render(events, "the same key").query["insert_deduplication_token"])

    first, other = Sealed("a", b'{"id":"a","text":"one"}', {}), Sealed("a", b'{"id":"a","text":"two"}', {})
    assert token(first) == token(first)
    assert token(first) != token(other)
    query = made("clickhouse", asynchronous=True, deduplicates=False).render([first], "").query
    assert query == {
        "query": "INSERT INTO default.event_rows (id, event) FORMAT JSONEachRow",
        "async_insert": "1",
        "wait_for_async_insert": "1",
        "wait_for_async_insert_timeout": "20",
    }


def test_options_that_cannot_work_with_the_transport_are_rejected() -> None:
    options = SINKS["clickhouse"].options(asynchronous=True, wait=40)
    with pytest.raises(ConfigurationError, match=r"Make sink\.timeout the longer one"):
        SINKS["clickhouse"].check(options, SinkSettings(timeout=30))
    SINKS["clickhouse"].check(options, SinkSettings(timeout=41))
    for name in ("splunk_hec", "elasticsearch", "loki"):
        SINKS[name].check(SINKS[name].options(), SinkSettings())
        with pytest.raises(ConfigurationError, match="zstd"):
            SINKS[name].check(SINKS[name].options(), SinkSettings(compression="zstd"))


@pytest.mark.parametrize(
    ("name", "value"), [("splunk_hec", "Splunk t"), ("elasticsearch", "ApiKey t"), ("http", "Bearer t")]
)
def test_each_sink_puts_its_own_scheme_before_the_token(name: str, value: str) -> None:
    made = credentials(SinkSettings(), "t", SINKS[name].scheme)
    assert made is not None
    assert made.value == value


def filed(name: str, event: Sealed, **options: Any) -> Any:
    """The time that an event is filed under."""
    request = made(name, **options).render([event], "")
    match name:
        case "loki":
            [[stamp, _, metadata]] = json.loads(request.body)["streams"][0]["values"]
            return int(stamp) / 10**9, metadata["event_time"]
        case "splunk_hec":
            return json.loads(request.body).get("time")
        case _:
            return json.loads(request.body.splitlines()[1])["@timestamp"]


def test_old_events_are_filed_under_a_time_that_the_engine_accepts() -> None:
    now, hour_ago, month_ago = "2026-01-13T10:20:00.123Z", "2026-01-13T09:20:00Z", "2025-12-13T10:20:00.000Z"
    assert filed("loki", said_at(now)) == (NOW - 399.877, now)
    assert filed("loki", said_at(hour_ago)) == (NOW - NOW % 600, hour_ago)
    assert filed("loki", said_at(hour_ago), event_time_days=6) == (NOW - 4000, hour_ago)
    assert filed("splunk_hec", said_at(month_ago)) == NOW - 31 * 86_400 - 400
    assert filed("splunk_hec", said_at(month_ago), event_time_days=7) is None
    assert filed("elasticsearch", said_at(month_ago)) == month_ago
    assert filed("elasticsearch", said_at(month_ago), event_time_days=7) == "2026-01-13T10:20:00.000Z"
    assert filed("elasticsearch", said_at("no time")) == "2026-01-13T10:20:00.000Z"


def test_lines_for_loki_have_few_labels_and_much_metadata() -> None:
    event = said_at(
        "2026-01-13T10:20:00Z", host={"id": "h", "name": "lap"}, session_id="s", tool={"name": "Bash"}, model=7
    )
    request = made("loki", labels={"env": "dev"}).render([event, sealed("b")], "")
    first, second = json.loads(request.body)["streams"]
    assert first["stream"] == {"service_name": "claude-code", "env": "dev", "host_name": "lap"}
    assert second["stream"] == {"service_name": "claude-code", "env": "dev"}
    [_, line, metadata] = first["values"][0]
    assert line == event.body.decode()
    assert metadata.keys() == {"event_id", "event_time", "kind", "session_id", "tool"}


def test_an_unpaired_surrogate_is_replaced_before_it_is_sent() -> None:
    half = Sealed(
        "a", b'{"id":"a","text":"half \\ud800, whole \\ud83d\\ude00","big":123456789012345678901234567890}', {}
    )
    assert fields_of(half)["text"] == "half \ufffd, whole \U0001f600"
    for name in ("elasticsearch", "loki", "splunk_hec", "s3", "clickhouse"):
        request = made(name).render([half], "")
        assert request.body.isascii() or b"\xef\xbf\xbd" in request.body
    assert b"\\ud800" not in made("elasticsearch").render([half], "").body


def test_an_object_is_named_by_its_content_and_its_day() -> None:
    def path(*events: Sealed) -> str:
        return str(made("s3", prefix="a/").render(events, "").path)

    one, other = said_at("2026-01-13T10:20:00Z"), said_at("2026-01-13T10:20:00Z", text="other")
    assert path(one).startswith("/a/dt%3D2026-01-13/")
    assert path(one) == path(one) != path(other)
    assert "If-None-Match" in made("s3").render([one], "").headers
    assert "If-None-Match" not in made("s3", conditional=False).render([one], "").headers


@pytest.mark.parametrize(
    ("format_", "content_type"),
    [("ndjson", "application/x-ndjson"), ("json", "application/json"), ("object", "application/json")],
)
def test_the_content_type_says_what_the_format_is(format_: str, content_type: str) -> None:
    request = made("http", format=format_).render([sealed("a")], "")
    assert request.headers["Content-Type"] == content_type


def test_the_http_sink_adapts_to_any_receiver() -> None:
    event = sealed("a")
    sink = made("http", format="object", field="logs", content_type="application/vnd.logs+json", retry_statuses=[412])
    request = sink.render([event, event], "k")
    assert request.body == b'{"logs":[' + event.body + b"," + event.body + b"]}"
    assert request.headers["Content-Type"] == "application/vnd.logs+json"
    assert sink.classify(Answer(412, {"retry-after": "7"}, b"")) == Retry("HTTP 412", 7.0)
    assert isinstance(made("http").classify(Answer(412, {}, b"")), Refused)
    assert A_PAGE.status == 200


def test_the_examples_in_the_documentation_are_valid_configurations() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sinks.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n\n((?:    .*\n|\n)+)", page, re.MULTILINE))
    assert sections.keys() >= SINKS.keys() - {"store", "otlp"}
    for name, block in sections.items():
        told = tomllib.loads(block.replace("\n    ", "\n"))
        model = with_sinks(SINKS).model_validate(told)
        assert SINKS[name].sink(model)
