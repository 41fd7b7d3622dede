"""The http sink: our own contract (docs/receiver.md), and any receiver that takes NDJSON or a JSON array.

In: events. Out: a request; and from its answer, a verdict. Any 2xx acknowledges. A JSON body {"accepted", "duplicate",
"rejected": [{"id", "reason"}]} refines it; any other body changes nothing, because receivers answer 2xx with empty
bodies, HTML and prose.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

import orjson
from pydantic import Field

from collector.delivery.sink import Accepted, Answer, Request, SinkLimits, SinkType, TooLarge, Verdict
from collector.delivery.statuses import HALT_ADVICE, is_success, verdict_of
from collector.flow.outcome import Sealed
from collector.settings.options import Section

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ADVICE = {
    **HALT_ADVICE,
    406: "Check sink.format and sink.content_type: the sink does not take this content type.",
    415: "Check sink.format, sink.content_type and sink.compression: the sink does not take this content.",
}


class HttpOptions(Section):
    """What can be set for the http sink."""

    format: Literal["ndjson", "json"] = Field(default="ndjson", description="one event a line, or one JSON array")
    content_type: str | None = Field(
        default=None, examples=["application/json"], description="overrides the Content-Type that the format implies"
    )


class HttpSink:
    """NDJSON or a JSON array over HTTP."""

    limits = SinkLimits()

    def __init__(self, options: HttpOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        chosen = options or HttpOptions()
        self._is_array = chosen.format == "json"
        usual = "application/json" if self._is_array else "application/x-ndjson"
        self._content_type = chosen.content_type or usual
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Sequence[Request]:
        """One event a line, or one array."""
        bodies = [event.body for event in events]
        body = b"[" + b",".join(bodies) + b"]" if self._is_array else b"\n".join(bodies) + b"\n"
        return [Request(body, {"Content-Type": self._content_type, "Idempotency-Key": key})]

    def classify(self, answer: Answer) -> Verdict:
        """Judges by the status; the body only refines a 2xx."""
        return _read_receipt(answer) if is_success(answer) else verdict_of(answer, self._clock(), ADVICE)


def _read_receipt(answer: Answer) -> Accepted | TooLarge:
    body = answer.body.removeprefix(BYTE_ORDER_MARK).lstrip()  # some servers begin every answer with an empty line
    try:
        receipt = orjson.loads(body) if body[:1] == b"{" else None
    except ValueError:
        if answer.is_cut and b'"rejected"' in body:
            return TooLarge("its list of rejected events is too long to read")  # a smaller request has a shorter one
        return Accepted()
    if not isinstance(receipt, dict):
        return Accepted()
    rejected = receipt.get("rejected")
    named = {
        item["id"]: str(item.get("reason") or "no reason given")[:500]
        for item in (rejected if isinstance(rejected, list) else [])
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    duplicates = receipt.get("duplicate")
    return Accepted(named, duplicates if isinstance(duplicates, int) and duplicates > 0 else 0)


SINK = SinkType(
    name="http",
    summary="NDJSON or a JSON array over HTTP",
    options=HttpOptions,
    make=HttpSink,
    has_own_table=False,  # its options were in [sink] before other sinks had tables
)
