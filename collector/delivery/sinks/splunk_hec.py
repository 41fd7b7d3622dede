"""The splunk_hec sink: Splunk's HTTP Event Collector, with indexer acknowledgement if the token has it enabled.

In: events. Out: a request to /services/collector/event, and from its answer a verdict. The code in the body says more
than the status. An answer with an ackId only means that the request was received: there is no receipt until /ack
answers `true` for it. Splunk keeps repeats: searches say `| dedup id`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from pydantic import Field

from collector.delivery.compression import gzip_only
from collector.delivery.event_fields import ClockOptions, body_of, fields_of, filing_time, text_of
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Pending,
    Refused,
    Request,
    Retry,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import CHECK_ACCESS, is_success, not_from, retry_after, verdict_of
from collector.flow.outcome import Sealed

CHANNEL = "X-Splunk-Request-Channel"
CHANNELS = uuid.UUID("5d1f3a0e-8f0c-4b7e-9a55-1f2f6a3f0c11")  # namespace for channels made from machines' ids
SUCCESS = 0
HALTS = {
    **dict.fromkeys((1, 2, 3, 4, 16), CHECK_ACCESS),
    7: "The token may not write to this index: check sink.splunk_hec.index, and the token's allowed indexes.",
    **dict.fromkeys((10, 11), "Splunk did not accept the request channel; check what is between here and Splunk."),
    14: "Acknowledgement is requested, but turned off for this token; check the token's settings.",
}
REFUSALS = frozenset({5, 6, 12, 13, 15})
RETRIES = frozenset({9, 18, 19, 20, 23, 24, 25, 26, 27})  # busy, queues full, shutting down


class SplunkOptions(ClockOptions):
    """How events are filed."""

    index: str | None = Field(default=None, examples=["claude_code"], description="the index; default: the token's own")
    sourcetype: str = Field(default="claude_code:event", description="the sourcetype, which props.conf refers to")
    ack_timeout: float = Field(default=120.0, gt=0, description="seconds to wait for an indexer to acknowledge")


class SplunkSink:
    """Events in envelopes."""

    limits = SinkLimits()

    def __init__(self, options: SplunkOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        self._options = options or SplunkOptions()
        self._clock = clock
        self._channel = ""

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """One envelope per event, with the event itself unchanged inside."""
        del key
        now, parts = self._clock(), []
        for event in events:
            fields = fields_of(event)
            # A machine keeps one channel for good, because Splunk remembers every channel it ever saw.
            self._channel = self._channel or str(uuid.uuid5(CHANNELS, text_of(fields, "host", "id")))
            envelope = orjson.dumps(self._envelope(event, fields, now))
            parts.append(envelope[:-1] + b',"event":' + body_of(event) + b"}\n")
        return Request(b"".join(parts), self._headers(), "/services/collector/event")

    def _envelope(self, event: Sealed, fields: dict[str, Any], now: float) -> dict[str, Any]:
        filed, is_own = filing_time(fields, self._options, now)
        said = {
            "time": filed / 10**9 if is_own else None,  # without one, Splunk takes the time of arrival
            "host": text_of(fields, "host", "name"),
            "source": "collector",
            "sourcetype": self._options.sourcetype,
            "index": self._options.index,
            "fields": {"id": event.id, "kind": text_of(fields, "kind")},
        }
        return {name: value for name, value in said.items() if value}

    def _headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json", CHANNEL: self._channel}

    def classify(self, answer: Answer) -> Verdict | Pending:
        """Judges by the code in the body, or else by the status."""
        told = _read(answer.body)
        if is_success(answer) and isinstance(told.get("acks"), dict):
            return self._acknowledged(told["acks"])
        code, text = told.get("code"), str(told.get("text", ""))
        if not isinstance(code, int) or code == answer.status:  # for a wrong path, it repeats the status
            if is_success(answer):
                return not_from("Splunk", answer)
            return verdict_of(answer, self._clock())
        reason = f"Splunk code {code}: {text}"
        if code == SUCCESS and is_success(answer):
            return Accepted() if not isinstance(told.get("ackId"), int) else self._pending(told["ackId"])
        if code in HALTS:
            return Halt(reason, HALTS[code])
        if code in REFUSALS:
            return Refused(reason)
        if answer.status == 413:
            return TooLarge(reason)
        return Retry(reason, retry_after(answer.headers, self._clock()), may_be_poison=code not in RETRIES)

    def _acknowledged(self, acks: dict[str, Any]) -> Verdict | Pending:
        [number, *more] = acks or ["", ""]
        if more or not number.isdecimal() or len(number) > 18:
            return Retry("the answer does not say what was acknowledged")
        return Accepted() if acks[number] is True else self._pending(int(number))

    def _pending(self, number: int) -> Pending:
        ask = Request(orjson.dumps({"acks": [number]}), self._headers(), "/services/collector/ack")
        patience = self._options.ack_timeout
        return Pending(ask, f"no indexer has acknowledged it within {patience:g} seconds", patience=patience)


def _read(body: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


SINK = SinkType(
    name="splunk_hec",
    summary="Splunk's HTTP Event Collector",
    options=SplunkOptions,
    make=SplunkSink,
    within=lambda options: options.index or "",
    scheme="Splunk",
    check=gzip_only("Splunk"),
)
