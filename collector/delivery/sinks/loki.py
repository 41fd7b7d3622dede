"""The loki sink: one event per line, few labels, and the fields to search by as structured metadata.

In: events. Out: a push request in JSON, and from its answer a verdict. A 400 is about some of the lines, and Loki has
stored the others. All are sent again in smaller requests until the bad one is found, which is harmless: Loki keeps
equal lines of the same time only once. Loki refuses lines older than a week, and lines an hour behind the newest of
their stream, so history is filed under the time of arrival; its own time is in the line, and in the metadata as
event_time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field

from collector.delivery.compression import gzip_only
from collector.delivery.event_fields import ClockOptions, fields_of, filing_time, text_of
from collector.delivery.sink import Accepted, Answer, Halt, Request, SinkLimits, SinkType, Verdict
from collector.delivery.statuses import is_success, not_from, verdict_of, with_words
from collector.flow.outcome import Sealed
from collector.settings.options import Labels, Names

HOUR = 3600 * 10**9  # nanoseconds
LARGEST_LINE = 256 * 1024  # max_line_size, in bytes
LARGEST_BODY = 4_000_000  # its distributors take 4 MiB over gRPC by default, uncompressed
NO_TENANT = b"no org id"
CHECK_TENANT = 'This Loki has tenants: name yours, as in sink.headers = { "X-Scope-OrgID" = "engineering" }.'
SERVICE = {"service_name": "claude-code"}
LABELLED = {"host_name": ("host", "name"), "kind": ("kind",), "user": ("user",), "model": ("model",), "root": ("root",)}
METADATA = {
    "event_id": ("id",),
    "kind": ("kind",),
    "event_time": ("time",),
    "session_id": ("session_id",),
    "agent_id": ("agent_id",),
    "user": ("user",),
    "project": ("project",),
    "model": ("model",),
    "message_id": ("message_id",),
    "tool": ("tool", "name"),
}


def _are_labelled(names: list[str]) -> list[str]:
    for name in names:
        if name not in LABELLED:
            raise ValueError(f"{name!r} cannot be a label; these can: {', '.join(LABELLED)}")
    return names


class LokiOptions(ClockOptions):
    """How lines are labelled and dated."""

    event_time_days: float = Field(
        default=0.02,
        ge=0,
        description="file events under their own time up to this age in days; older ones under the time of sending",
    )
    labels: Labels = Field(default={}, description="labels for every line, besides service_name = claude-code")
    labelled: Annotated[Names, AfterValidator(_are_labelled)] = Field(
        default=["host_name"],
        description="fields that become labels; each combination makes a stream: " + ", ".join(LABELLED),
    )


class LokiSink:
    """Streams of lines."""

    limits = SinkLimits(body=LARGEST_BODY, event=LARGEST_LINE - 16)

    def __init__(self, options: LokiOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        self._options = options or LokiOptions()
        self._labelled = {name: LABELLED[name] for name in self._options.labelled}
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """Lines grouped by stream, in order."""
        del key
        now = self._clock()
        streams: dict[tuple[str, ...], list[Any]] = {}
        for event in events:
            fields = fields_of(event)
            filed, _ = filing_time(fields, self._options, now)
            stream = streams.setdefault(tuple(text_of(fields, *path) for path in self._labelled.values()), [])
            found = ((name, text_of(fields, *path)) for name, path in METADATA.items())
            metadata = {name: text for name, text in found if text}
            stream.append([str(filed), event.body.decode(), metadata])
        body = {
            "streams": [
                {"stream": SERVICE | self._options.labels | self._labels(texts), "values": lines}
                for texts, lines in streams.items()
            ]
        }
        return Request(orjson.dumps(body), {"Content-Type": "application/json"}, "/loki/api/v1/push")

    def _labels(self, texts: tuple[str, ...]) -> dict[str, str]:
        return {name: text for name, text in zip(self._labelled, texts, strict=True) if text}

    def classify(self, answer: Answer) -> Verdict:
        """Success is a 204, or any other 2xx with an empty body."""
        if answer.status == 204 or (is_success(answer) and not answer.body.strip()):
            return Accepted()
        if is_success(answer):
            return not_from("Loki", answer)
        if answer.status == 401 and NO_TENANT in answer.body:
            return Halt(with_words(answer), CHECK_TENANT)
        return verdict_of(answer, self._clock())


def lookup(options: LokiOptions, event: Sealed, now: float) -> Request:
    """Asks for a line by its id, around the time that it was filed under."""
    filed, _ = filing_time(fields_of(event), options, now)
    asked = f'{{service_name="{SERVICE["service_name"]}"}} | event_id="{event.id}"'
    query = {"query": asked, "start": str(filed - HOUR), "end": str(filed + HOUR), "limit": "1"}
    return Request(b"", {}, "/loki/api/v1/query_range", query, method="GET")


SINK = SinkType(
    name="loki",
    summary="lines for Grafana Loki",
    options=LokiOptions,
    make=LokiSink,
    check=gzip_only("Loki"),
    lookup=lookup,
)
