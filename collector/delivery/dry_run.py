"""Dry run: the sink of a pass that sends nothing. It renders what would be sent, and accepts everything."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from collector.delivery.sink import Accepted, Answer, Request, Sink, SinkLimits, Verdict
from collector.delivery.transport import Transport
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings


class DrySink:
    """A real sink, except that it never has to judge an answer: there is none."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    @property
    def limits(self) -> SinkLimits:
        """The real sink's, so that batches are cut as they would be for it."""
        return self._sink.limits

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The request that would be sent, because its size is counted."""
        return self._sink.render(events, key)

    def classify(self, answer: Answer) -> Verdict:
        """Always Accepted, whatever the real sink expects of an answer."""
        del answer
        return Accepted()


def transport_to_nowhere(settings: SinkSettings) -> Transport:
    """A transport that does everything but open a connection."""
    return Transport(settings, "http://localhost/", None, httpx.MockTransport(lambda _: httpx.Response(200)))
