"""Dry run: the sink of a pass that sends nothing. It renders what would be sent, and takes everything."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from collector.delivery.sink import Accepted, Answer, Request, Sink, SinkLimits, Verdict
from collector.delivery.transport import Transport
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings


class DrySink:
    """A real sink, but for what it would make of an answer: nobody answers here."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    @property
    def limits(self) -> SinkLimits:
        """Those of the sink, so that batches are cut as they would be."""
        return self._sink.limits

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The request that would be sent, because its size is counted."""
        return self._sink.render(events, key)

    def classify(self, answer: Answer) -> Verdict:
        """Accepted, whatever the sink wants to hear."""
        del answer
        return Accepted()


def transport_to_nowhere(settings: SinkSettings) -> Transport:
    """Does everything but open a connection."""
    return Transport(settings, "http://localhost/", None, httpx.MockTransport(lambda _: httpx.Response(200)))
