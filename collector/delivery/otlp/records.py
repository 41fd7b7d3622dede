"""What OTLP carries, before encoding: resources, log records and spans as plain values.

Attributes map names to JSON values. Two encoders (protobuf.py, json_form.py) write the same content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Attributes = Mapping[str, Any]
SCOPE = "collector"
INFO, WARN, ERROR = (9, "INFO"), (13, "WARN"), (17, "ERROR")
INTERNAL, CLIENT = 1, 3  # kinds of spans
STATUS_ERROR = 2
# Receivers that use protobuf's own libraries refuse messages nested over 100 deep, and each value takes three levels.
MAX_DEPTH = 16


class LogRecord(NamedTuple):
    """One event. Times are nanoseconds since 1970."""

    time: int
    observed: int
    severity: tuple[int, str]
    event_name: str
    body: str
    attributes: Attributes
    trace_id: bytes = b""
    span_id: bytes = b""


class Context(NamedTuple):
    """The span that an event belongs to."""

    trace_id: bytes
    span_id: bytes


class SpanEvent(NamedTuple):
    """Something that happened within a span, such as an exception."""

    time: int
    name: str
    attributes: Attributes


class Span(NamedTuple):
    """One thing with a beginning and an end."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    events: Sequence[SpanEvent] = ()
    failure: str | None = None  # what the status says; None if nothing failed


class Group(NamedTuple):
    """Records or spans of one resource."""

    resource: Attributes
    items: list[Any]
