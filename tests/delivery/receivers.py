"""The receiver of every registered sink, as the contract suite needs it. A sink that has none fails the suite."""

from __future__ import annotations

import json
from dataclasses import replace

from collector.delivery.sinks.http import SINK as HTTP
from collector.delivery.sinks.otlp import SINK as OTLP
from collector.delivery.sinks.store import SINK as STORE
from tests.delivery.contract import Receiving
from tests.delivery.otlp_receiver import ids_of
from tests.sink import Answer


def _named(event_id: str) -> Answer:
    body = {"accepted": 1, "duplicate": 0, "rejected": [{"id": event_id, "reason": "no such kind"}]}
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(body).encode())


_HTTP = Receiving(
    sink=HTTP,
    ids=lambda request: request.ids,
    accepted=Answer(),
    rejected=_named,
    later=lambda seconds: Answer(503, {"Retry-After": str(seconds)}),
    too_large=Answer(413),
    refused=Answer(422),
    halted=Answer(401),
)
# Says how many it rejected, never which: tests/delivery/test_otlp.py has what becomes of those.
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
    "otlp": _OTLP,
    "otlp, as JSON": replace(_OTLP, options={"encoding": "json"}),
    "store": replace(_HTTP, sink=STORE),  # its own receiver speaks the same; tests/store has that one for real
}
