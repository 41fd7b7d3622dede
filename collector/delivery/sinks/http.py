"""The http sink: our own contract (docs/receiver.md), and any receiver that takes NDJSON, a JSON array or an object.

In: events. Out: a request, and from its answer a verdict. Any 2xx acknowledges. A JSON body {"accepted", "duplicate",
"rejected": [{"id", "reason"}]} refines that; `rejected` may also be a list of ids or just a number. Events that such a
body does not account for count as rejected. Any other body changes nothing, because receivers answer 2xx with empty
bodies, HTML and prose; only a web page gets a remark. A receipt that ends in the middle is a lost answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, Field
from pydantic_settings import NoDecode

from collector.delivery.lenient_json import CutShort, read
from collector.delivery.sink import Accepted, Answer, Request, Retry, SinkLimits, SinkType, TooLarge, Verdict
from collector.delivery.statuses import HALT_ADVICE, is_success, retry_after, verdict_of, with_words
from collector.flow.outcome import Sealed
from collector.settings.section import Section

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PAGE_BEGINS = re.compile(rb"<(?:!doctype )?html\b", re.IGNORECASE)
PAGE = "it answers with a web page; if a portal or filter in between sent that, the events are not stored"
ADVICE = {
    **HALT_ADVICE,
    406: "Check sink.format and sink.content_type: the sink does not accept this content type.",
    415: "Check sink.format, sink.content_type and sink.compression: the sink does not accept this content.",
}


def _are_failures(statuses: list[int]) -> list[int]:
    """Refuses 2xx: a sink that answers 200 has taken the events, so retrying would never end."""
    if wrong := [status for status in statuses if not 300 <= status <= 599]:
        raise ValueError(f"must be statuses from 300 to 599, and {wrong[0]} is not")
    return statuses


class HttpOptions(Section):
    """Options of the http sink."""

    format: Literal["ndjson", "json", "object"] = Field(
        default="ndjson", description="one event a line, one JSON array, or an object that holds the array (sink.field)"
    )
    field: str = Field(default="events", min_length=1, description="the field that holds the array; only for object")
    content_type: str | None = Field(
        default=None, examples=["application/json"], description="overrides the Content-Type that the format implies"
    )
    max_body: int | None = Field(
        default=None,
        ge=1_000,
        examples=[1_000_000],
        description="the largest body the receiver accepts, uncompressed",
    )
    max_event: int | None = Field(
        default=None,
        ge=1_000,
        examples=[250_000],
        description="the largest event the sink accepts; larger ones are cut",
    )
    retry_statuses: Annotated[list[int], NoDecode, AfterValidator(_are_failures)] = Field(
        default=[],
        examples=[[409, 412]],
        description="more statuses that mean `try again`, besides 408, 423, 424, 425, 429 and everything from 500 up",
    )


class HttpSink:
    """NDJSON, a JSON array or an object over HTTP."""

    def __init__(self, options: HttpOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        chosen = options or HttpOptions()
        self.limits = SinkLimits(chosen.max_body, chosen.max_event)
        self._around = {
            "ndjson": (b"", b"\n", b"\n"),
            "json": (b"[", b",", b"]"),
            "object": (b"{" + orjson.dumps(chosen.field) + b":[", b",", b"]}"),
        }[chosen.format]
        usual = "application/x-ndjson" if chosen.format == "ndjson" else "application/json"
        self._content_type = chosen.content_type or usual
        self._retry_statuses = frozenset(chosen.retry_statuses)
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The events unchanged, with what the format puts around and between them."""
        before, between, after = self._around
        bodies = [event.body for event in events] or [b""]
        # Added to the first and last event rather than to the whole: each `+` would copy a megabyte.
        bodies[0] = before + bodies[0]
        bodies[-1] += after
        body = between.join(bodies)
        headers = {"Content-Type": self._content_type, "Idempotency-Key": key}
        return Request(body, headers, events=len(events))

    def classify(self, answer: Answer) -> Verdict:
        """Judges by the status; the body only refines a 2xx."""
        if answer.status in self._retry_statuses:
            return Retry(with_words(answer), retry_after(answer.headers, self._clock()))
        return _read_receipt(answer) if is_success(answer) else verdict_of(answer, self._clock(), ADVICE)


def _read_receipt(answer: Answer) -> Accepted | TooLarge | Retry:
    body = answer.body.removeprefix(BYTE_ORDER_MARK).lstrip()  # some servers begin every answer with an empty line
    try:
        receipt = read(body) if body[:1] == b"{" else None
    except CutShort as error:
        if answer.is_cut and b'"rejected"' in body:
            return TooLarge("its list of rejected events is too long to read")  # a smaller request has a shorter one
        is_lost = not answer.is_cut and (b'"accepted"' in body or b'"rejected"' in body)
        return Retry(str(error), may_be_poison=True) if is_lost else Accepted()
    except ValueError:
        return Accepted()
    if not isinstance(receipt, dict):
        is_html = body[:1] == b"<" and answer.media_type == "text/html"
        return Accepted(remark=PAGE if is_html or PAGE_BEGINS.match(body) else "")
    named, unnamed = _rejected(receipt.get("rejected"))
    accepted, duplicates = _count(receipt.get("accepted")), _count(receipt.get("duplicate"))
    missing, remark = 0, ""
    if accepted is not None:
        missing = max(0, answer.events - accepted - (duplicates or 0) - len(named) - unnamed)
    if missing and duplicates is None:  # it may count only events that it had not seen before
        missing, remark = 0, f"it says that it accepted {accepted} of {answer.events} events"
    return Accepted(named, duplicates or 0, unnamed=unnamed + missing, remark=remark)


def _count(said: Any) -> int | None:
    return said if type(said) is int and said >= 0 else None


def _rejected(said: Any) -> tuple[dict[str, str], int]:
    """The rejected events that are named, with reasons, and how many are not named: some receivers only count them."""
    if type(said) is int:
        return {}, max(0, said)
    named: dict[str, str] = {}
    unnamed = 0
    for item in said if isinstance(said, list) else ():
        name, reason = (item.get("id"), item.get("reason")) if isinstance(item, dict) else (item, "")
        if isinstance(name, str):
            named[name] = str(reason or "no reason given")
        else:
            unnamed += 1
    return named, unnamed


SINK = SinkType(
    name="http",
    summary="NDJSON, a JSON array or an object over HTTP",
    options=HttpOptions,
    make=HttpSink,
    has_own_table=False,  # its options were in [sink] before other sinks had tables
)
