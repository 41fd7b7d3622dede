"""OTLP as JSON: the same messages as protobuf.py, under the names of OTLP/JSON.

In: groups of records or spans. Out: the bytes of an export request, and what a response says. 64-bit numbers are text,
and ids are hex as OTLP requires, unlike in protobuf's own JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from collector.delivery.lenient_json import read
from collector.delivery.otlp.protobuf import LARGEST, SMALLEST
from collector.delivery.otlp.records import MAX_DEPTH, STATUS_ERROR, Attributes, Group, LogRecord, Span

CONTENT_TYPE = "application/json"


def value(given: Any, depth: int = 0) -> dict[str, Any]:
    """AnyValue."""
    kind = type(given)
    if kind is bool:
        return {"boolValue": given}
    if kind is int and SMALLEST <= given <= LARGEST:
        return {"intValue": str(given)}
    if kind is float:
        return {"doubleValue": given}
    if kind is str or kind is int:
        return {"stringValue": str(given)}
    if given is None:
        return {}
    if depth == MAX_DEPTH:
        return {"stringValue": orjson.dumps(given).decode()}
    if kind is dict:
        return {"kvlistValue": {"values": pairs(given, depth + 1)}}
    return {"arrayValue": {"values": [value(each, depth + 1) for each in given]}}


def pairs(attributes: Attributes, depth: int = 0) -> list[dict[str, Any]]:
    """One KeyValue per attribute."""
    return [{"key": name, "value": value(given, depth)} for name, given in attributes.items()]


def log_record(record: LogRecord) -> dict[str, Any]:
    """LogRecord."""
    severity, word = record.severity
    made = {
        "timeUnixNano": str(record.time) if record.time else "",
        "observedTimeUnixNano": str(record.observed) if record.observed else "",
        "severityNumber": severity,
        "severityText": word,
        "body": value(record.body),
        "attributes": pairs(record.attributes),
        "traceId": record.trace_id.hex(),
        "spanId": record.span_id.hex(),
        "eventName": record.event_name,
    }
    return {name: told for name, told in made.items() if told != ""}


def span(made: Span) -> dict[str, Any]:
    """Span."""
    told: dict[str, Any] = {
        "traceId": made.trace_id.hex(),
        "spanId": made.span_id.hex(),
        "parentSpanId": made.parent_id.hex(),
        "name": made.name,
        "kind": made.kind,
        "startTimeUnixNano": str(made.start),
        "endTimeUnixNano": str(made.end),
        "attributes": pairs(made.attributes),
        "events": [
            {"timeUnixNano": str(event.time), "name": event.name, "attributes": pairs(event.attributes)}
            for event in made.events
        ],
    }
    if made.failure is not None:
        told["status"] = {"code": STATUS_ERROR, **({"message": made.failure} if made.failure else {})}
    return {name: part for name, part in told.items() if part not in ("", [])}


def logs(groups: Iterable[Group], scope: tuple[str, str], schema_url: str) -> bytes:
    """ExportLogsServiceRequest."""
    return _request(groups, scope, schema_url, ("resourceLogs", "scopeLogs", "logRecords"), log_record)


def traces(groups: Iterable[Group], scope: tuple[str, str], schema_url: str) -> bytes:
    """ExportTraceServiceRequest."""
    return _request(groups, scope, schema_url, ("resourceSpans", "scopeSpans", "spans"), span)


def _request(
    groups: Iterable[Group],
    scope: tuple[str, str],
    schema_url: str,
    names: tuple[str, str, str],
    encode: Callable[[Any], dict[str, Any]],
) -> bytes:
    outer, middle, inner = names
    said = {"name": scope[0], "version": scope[1]}
    made = [
        {
            "resource": {"attributes": pairs(group.resource)},
            middle: [{"scope": said, inner: [encode(item) for item in group.items], "schemaUrl": schema_url}],
            "schemaUrl": schema_url,
        }
        for group in groups
    ]
    return orjson.dumps({outer: made})


def partial_success(body: bytes) -> tuple[int, str]:
    """How many items were rejected, and the message. Raises ValueError if the body is not an export response."""
    told = read(body)
    if not isinstance(told, dict):
        raise ValueError("not a response")
    partial = told.get("partialSuccess") or told.get("partial_success") or {}
    if not isinstance(partial, dict):
        raise ValueError("not a partial success")
    names = ("rejectedLogRecords", "rejectedSpans", "rejected_log_records", "rejected_spans")
    rejected = next((int(partial[name]) for name in names if name in partial), 0)
    return rejected, str(partial.get("errorMessage") or partial.get("error_message") or "")
