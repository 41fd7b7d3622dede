"""The store sink: the embedded store, a receiver inside this process that speaks the contract of the http sink.

Everything special about it is here: it needs no URL, and events end up in a file on this machine. The receiver belongs
to another room, so `assembly.py` starts it.
"""

from __future__ import annotations

from dataclasses import replace

import orjson

from collector.delivery.sink import Answer, Retry, SinkType, Verdict
from collector.delivery.sinks.http import HttpSink
from collector.settings.section import Section


class StoreSink(HttpSink):
    """The http sink, for a receiver that says what is wrong with its file."""

    def classify(self, answer: Answer) -> Verdict:
        """Tells the person who waits the reason, such as a full disk, rather than a status."""
        verdict = super().classify(answer)
        try:
            said = orjson.loads(answer.body).get("error") if isinstance(verdict, Retry) else None
        except (ValueError, AttributeError):
            said = None
        return replace(verdict, reason=said.rstrip(".")) if isinstance(verdict, Retry) and said else verdict


class StoreOptions(Section):
    """None: [store] says where its database is, because `collector receive` and `report` use that too."""


SINK = SinkType(
    name="store",
    summary="the embedded store",
    options=StoreOptions,
    make=lambda _: StoreSink(),
    place=lambda settings: settings.database_path,
)
