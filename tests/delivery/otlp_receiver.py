"""Reads OTLP requests with OpenTelemetry's own library, by the published protobuf types.

The library is a development dependency, so that our hand-written encoding is judged by the code everybody else uses.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from google.protobuf.json_format import MessageToDict, Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.sink import Request

Message = Any


def message_of(request: Request) -> Message:
    """The export request inside an HTTP request, in either encoding."""
    kind = ExportTraceServiceRequest if "/v1/traces" in request.path else ExportLogsServiceRequest
    return decoded(request.body, kind, is_json=request.headers["content-type"] == "application/json")


def decoded(body: bytes, kind: Any, *, is_json: bool) -> Message:
    """A message of this kind. OTLP/JSON writes ids in hex, where protobuf's own JSON uses base64."""
    if not is_json:
        return kind.FromString(body)
    return Parse(json.dumps(_with_base64(json.loads(body))), kind())


def _with_base64(part: Any) -> Any:
    if isinstance(part, list):
        return [_with_base64(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        name: base64.b64encode(bytes.fromhex(inner)).decode() if name in ids else _with_base64(inner)
        for name, inner in part.items()
    }


def plain(message: Message) -> Any:
    """A message as plain data, for comparison."""
    return MessageToDict(message)


def value_of(told: Any) -> Any:
    """The Python value that an AnyValue stands for."""
    which = told.WhichOneof("value")
    if which is None:
        return None
    inner = getattr(told, which)
    if which == "array_value":
        return [value_of(each) for each in inner.values]
    if which == "kvlist_value":
        return attributes_of(inner.values)
    return inner


def attributes_of(pairs: Any) -> dict[str, Any]:
    """Attributes by name; fails if a name is given twice, which OTLP forbids."""
    made = {pair.key: value_of(pair.value) for pair in pairs}
    assert len(made) == len(pairs)
    return made


def records_of(request: Request) -> list[tuple[dict[str, Any], Any, dict[str, Any]]]:
    """The log records of a request, each with its resource attributes and its own."""
    return [
        (attributes_of(group.resource.attributes), record, attributes_of(record.attributes))
        for group in message_of(request).resource_logs
        for scope in group.scope_logs
        for record in scope.log_records
    ]


def spans_of(request: Request) -> list[Any]:
    """The spans of a request."""
    return [span for group in message_of(request).resource_spans for scope in group.scope_spans for span in scope.spans]


def ids_of(request: Request) -> list[str]:
    """The ids of the events in a request."""
    return [attributes["log.record.uid"] for _, _, attributes in records_of(request)]
