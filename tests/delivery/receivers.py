"""The receiver of every registered sink, for the contract suite. A sink without one fails the suite."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from collector.delivery.sinks.clickhouse import SINK as CLICKHOUSE
from collector.delivery.sinks.elasticsearch import SINK as ELASTICSEARCH
from collector.delivery.sinks.http import SINK as HTTP
from collector.delivery.sinks.loki import SINK as LOKI
from collector.delivery.sinks.otlp import SINK as OTLP
from collector.delivery.sinks.s3 import SINK as S3
from collector.delivery.sinks.s3 import S3Sink
from collector.delivery.sinks.splunk_hec import SINK as SPLUNK
from collector.delivery.sinks.store import SINK as STORE
from tests.delivery.contract import Receiving
from tests.delivery.otlp_receiver import ids_of
from tests.delivery.sending import sealed
from tests.sink import Answer, Request

JSON = {"Content-Type": "application/json"}
A_PAGE = Answer(200, {"Content-Type": "text/html"}, b"<html>Welcome</html>")
# The same page, compressed although nobody asked for it: with brotli, which we cannot read, and gzip, which we can.
PACKED_PAGES = (
    Answer(200, {"Content-Type": "text/html", "Content-Encoding": "br"}, b"\x0b\x09\x80<html>Welcome</html>\x03"),
    Answer(200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, gzip.compress(b"<html>Welcome</html>")),
)


def told(status: int, body: Any, **headers: str) -> Answer:
    """An answer in JSON."""
    return Answer(status, JSON | headers, json.dumps(body).encode())


def _named(event_id: str, ids: list[str]) -> Answer:
    rejected = [{"id": event_id, "reason": "no such kind"}]
    return told(200, {"accepted": len(ids) - 1, "duplicate": 0, "rejected": rejected})


def _later(status: int, body: bytes = b"") -> Callable[[int], Answer]:
    return lambda seconds: Answer(status, {"Retry-After": str(seconds)}, body)


def lines(request: Request) -> list[Any]:
    """The lines of a body, each of them JSON."""
    return [json.loads(line) for line in request.body.splitlines()]


_HTTP = Receiving(
    sink=HTTP,
    ids=lambda request: request.ids,
    accepted=Answer(),
    rejected=_named,
    later=_later(503),
    too_large=Answer(413),
    refused=Answer(422),
    halted=Answer(401),
)
_CLICKHOUSE = Receiving(
    sink=CLICKHOUSE,
    ids=lambda request: [row["id"] for row in lines(request)],
    accepted=Answer(),
    later=_later(503, b"Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)"),
    too_large=Answer(413),
    refused=Answer(500, {}, b"Code: 117, e.displayText() = DB::Exception: Unknown field, e.what() = DB::Exception"),
    halted=Answer(404, {}, b"Code: 60. DB::Exception: Table default.event_rows does not exist. (UNKNOWN_TABLE)"),
    unacknowledged=(A_PAGE, *PACKED_PAGES, told(200, {"status": "sign in first"})),
)


def bulk(*items: dict[str, Any]) -> Answer:
    """The answer to a bulk request, whose items have an id, a status and perhaps an error."""
    errors = any("error" in item for item in items)
    return told(200, {"errors": errors, "items": [{"create": item} for item in items]})


def _item_rejected(event_id: str, ids: list[str]) -> Answer:
    error = {"type": "mapper_parsing_exception", "reason": "no such kind"}
    failed = {"status": 400, "error": error}
    return bulk(*({"_id": each} | (failed if each == event_id else {"status": 201}) for each in ids))


_ELASTICSEARCH = Receiving(
    sink=ELASTICSEARCH,
    ids=lambda request: [line["create"]["_id"] for line in lines(request)[::2]],
    accepted=bulk(),
    rejected=_item_rejected,
    later=_later(429),
    too_large=Answer(413),
    refused=told(400, {"error": {"type": "illegal_argument_exception"}, "status": 400}),
    halted=told(401, {"error": {"type": "security_exception"}, "status": 401}),
    unacknowledged=(Answer(200), A_PAGE, told(200, {"took": 1})),
    path="/_bulk",
)


def lines_of_loki(request: Request) -> list[str]:
    """The ids in a push request."""
    return [json.loads(line)["id"] for stream in json.loads(request.body)["streams"] for _, line, _ in stream["values"]]


_LOKI = Receiving(
    sink=LOKI,
    ids=lines_of_loki,
    accepted=Answer(204),
    later=_later(429, b"ingestion rate limit exceeded"),
    too_large=Answer(413),
    refused=Answer(400, {}, b"entry too far behind"),
    halted=Answer(401, {}, b"no org id"),
    unacknowledged=(A_PAGE, *PACKED_PAGES),
    path="/loki/api/v1/push",
)
_SPLUNK = Receiving(
    sink=SPLUNK,
    ids=lambda request: [line["fields"]["id"] for line in lines(request)],
    accepted=told(200, {"text": "Success", "code": 0}),
    later=_later(503, b'{"text":"Server is busy","code":9}'),
    too_large=Answer(413),
    refused=told(400, {"text": "Invalid data format", "code": 6, "invalid-event-number": 5}),
    halted=told(403, {"text": "Invalid token", "code": 4}),
    unacknowledged=(Answer(200), A_PAGE),
    path="/services/collector/event",
)
_S3 = Receiving(
    sink=S3,
    ids=lambda request: [line["id"] for line in lines(request)],
    accepted=Answer(200, {"ETag": '"0"'}),
    later=_later(503, b"<Error><Code>SlowDown</Code></Error>"),
    too_large=Answer(400, {}, b"<Error><Code>EntityTooLarge</Code></Error>"),
    halted=Answer(403, {}, b"<Error><Code>AccessDenied</Code></Error>"),
    unacknowledged=(Answer(200), A_PAGE),
    path=S3Sink().render([sealed("a")], "").path + ".gz",
)
# Says how many events it rejected, never which; tests/delivery/test_otlp.py covers what happens to those.
_OTLP = Receiving(
    sink=OTLP,
    ids=ids_of,
    accepted=Answer(200, {"Content-Type": "application/x-protobuf"}),
    later=lambda seconds: Answer(503, {"Retry-After": str(seconds)}),
    too_large=Answer(413),
    refused=Answer(400),
    halted=Answer(401),
    unacknowledged=(),
    path="/v1/logs",
)
RECEIVERS = {
    "http": _HTTP,
    "http, as an array": replace(_HTTP, options={"format": "json"}),
    "http, as an object": replace(
        _HTTP,
        options={"format": "object", "field": "logs", "max_body": 20_000, "max_event": 2_000},
        ids=lambda request: [event["id"] for event in json.loads(request.body)["logs"]],
    ),
    "otlp": _OTLP,
    "otlp, as JSON": replace(_OTLP, options={"encoding": "json"}),
    "store": replace(_HTTP, sink=STORE),  # its own receiver speaks the same protocol; tests/store tests the real one
    "clickhouse": _CLICKHOUSE,
    "clickhouse, asynchronous": replace(_CLICKHOUSE, options={"asynchronous": True}),
    "elasticsearch": _ELASTICSEARCH,
    "splunk_hec": _SPLUNK,
    "loki": _LOKI,
    "s3": _S3,
}
