"""The otlp sink: OTLP/HTTP, to an OpenTelemetry Collector or any engine that takes OTLP. docs/otlp.md has the names.

In: events. Out: log records, and with `traces` also the spans that they complete; from an answer, a verdict. As OTLP
requires, only 429, 502, 503 and 504 are retried, and a partial success is not. That says how many records were
rejected, but not which: `Accepted.unnamed`. Any other 2xx acknowledges, unless it is a web page, which no OTLP receiver
sends. Spans come in requests of their own, so that what a receiver says about them is never held against an event.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson
from pydantic import Field

from collector import __version__
from collector.delivery.event_fields import ClockOptions, fields_of, filing_time
from collector.delivery.lenient_json import CutShort
from collector.delivery.otlp import json_form, mapping, protobuf
from collector.delivery.otlp.conversation import Completed
from collector.delivery.otlp.records import SCOPE, Attributes, Context, Group, LogRecord
from collector.delivery.otlp.tracer import Tracer, with_canary_span
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Refused,
    Request,
    Retry,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import HALT_ADVICE, is_success, retry_after, verdict_of, with_words
from collector.flow.outcome import Sealed
from collector.log import counted

LOGS, TRACES = "/v1/logs", "/v1/traces"
CHECK_BASE = "Check sink.url: it must be the address to which /v1/logs is added, such as http://localhost:4318."
CHECK_TRACES = (
    "If sink.url is the address to which /v1/traces is added, the receiver accepts no traces there: set "
    "sink.otlp.traces = false, or have its traces enabled or repaired."
)
CHECK_ENCODING = "Check sink.otlp.encoding and sink.compression: the receiver does not accept this content."
ADVICE = {**HALT_ADVICE, 404: CHECK_BASE, 405: CHECK_BASE, 410: CHECK_BASE, 406: CHECK_ENCODING, 415: CHECK_ENCODING}
TRACES_ADVICE = {**ADVICE, **dict.fromkeys((404, 405, 410, 501), CHECK_TRACES)}
RETRIED = frozenset({429, 502, 503, 504})
TOO_LARGE = b"request body too large"  # the words of the OpenTelemetry Collector
GATEWAYS = frozenset({502, 504})  # from something in between, and possibly about what was sent
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64"}  # OpenTelemetry's words


class OtlpOptions(ClockOptions):
    """Options of the otlp sink."""

    encoding: Literal["protobuf", "json"] = Field(default="protobuf", description="encoding of requests")
    traces: bool = Field(default=False, description="send turns, requests and tool calls as spans too")


def machine() -> dict[str, str]:
    """What OpenTelemetry wants to know about the machine, besides what every event says about it."""
    arch = platform.machine()
    return {
        "host.arch": MACHINES.get(arch, arch),
        "os.type": "windows" if sys.platform == "win32" else sys.platform,
        "os.version": platform.release(),
    }


class OtlpSink:
    """Log records over HTTP."""

    limits = SinkLimits()

    def __init__(self, options: OtlpOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        chosen = options or OtlpOptions()
        self._form = json_form if chosen.encoding == "json" else protobuf
        self._options = chosen
        self._machine = machine()
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """A request with events or with spans, grouped by client and installation into resources."""
        said, url = (SCOPE, __version__), mapping.SCHEMA_URL
        headers = {"Content-Type": self._form.CONTENT_TYPE, "Idempotency-Key": key}
        if spans := [made for event in events for made in event.beside if isinstance(made, Completed)]:
            return Request(self._form.traces(_grouped(spans), said, url), headers, TRACES)
        return Request(self._form.logs(_grouped(map(self._record, events)), said, url), headers, LOGS)

    def _record(self, sealed: Sealed) -> tuple[Attributes, LogRecord]:
        event = fields_of(sealed)
        record = mapping.log_record(event, sealed.seen)
        filed, is_own = filing_time(event, self._options, sealed.seen)
        if not is_own and record.time:
            record = record._replace(time=filed, attributes={**record.attributes, "collector.time": event["time"]})
        for context in sealed.beside:
            if isinstance(context, Context):
                record = record._replace(trace_id=context.trace_id, span_id=context.span_id)
        return mapping.resource(event, self._machine), record

    def classify(self, answer: Answer) -> Verdict:
        """Judges by the status; the body of a 2xx may report rejected records."""
        verdict = _read_response(answer) if is_success(answer) else self._failure(answer)
        if answer.path == TRACES and not isinstance(verdict, Accepted):
            return replace(verdict, reason=f"{verdict.reason}, for traces")
        return verdict

    def _failure(self, answer: Answer) -> Retry | TooLarge | Refused | Halt:
        if answer.media_type == protobuf.CONTENT_TYPE:
            answer = answer._replace(body=protobuf.message_of(answer.body))
        if answer.status in RETRIED:
            return Retry(with_words(answer), retry_after(answer.headers, self._clock()), answer.status in GATEWAYS)
        if answer.status == 400 and TOO_LARGE in answer.body:  # where others say 413
            return TooLarge("HTTP 400, the request is too large")
        is_about_spans = answer.path == TRACES
        verdict = verdict_of(answer, self._clock(), TRACES_ADVICE if is_about_spans else ADVICE)
        if isinstance(verdict, Halt | TooLarge):
            return verdict
        # By the specification, everything else is about what was sent. Searching that finds the event or the span to
        # blame, and halts if all are.
        return Refused(with_words(answer), advice=CHECK_TRACES if is_about_spans else "")


def _grouped(made: Iterable[tuple[Attributes, Any]]) -> list[Group]:
    groups: dict[bytes, Group] = {}
    for resource, item in made:
        groups.setdefault(orjson.dumps(resource), Group(resource, [])).items.append(item)
    return list(groups.values())


def _read_response(answer: Answer) -> Accepted | Retry | Halt:
    """An empty body is a full success. One that cannot be read is not OTLP, but its status still acknowledges."""
    body = answer.body.lstrip()
    if answer.media_type == "text/html" or body[:1] == b"<":
        return Halt(f"a page instead of an OTLP response, {with_words(answer)}", CHECK_BASE)
    form = json_form if answer.media_type == json_form.CONTENT_TYPE or body[:1] == b"{" else protobuf
    try:
        rejected, said = form.partial_success(body if form is json_form else answer.body) if body else (0, "")
    except CutShort as error:
        is_lost = not answer.is_cut and b'"partial' in body
        return Retry(str(error), may_be_poison=True) if is_lost else Accepted()
    except (ValueError, TypeError):
        return Accepted()
    if answer.path == TRACES:  # the events themselves are stored, and spans have no quarantine
        return Accepted(remark=f"it rejected {counted(rejected, 'span')}. {said}".strip() if rejected > 0 else said)
    return Accepted(unnamed=max(0, rejected), remark=said)


SINK = SinkType(
    name="otlp",
    summary="OpenTelemetry: OTLP/HTTP, as protobuf or JSON",
    options=OtlpOptions,
    make=OtlpSink,
    follower=lambda options: Tracer(machine()) if options.traces else None,
    accompanied=lambda options, event: with_canary_span(event, machine()) if options.traces else event,
)
