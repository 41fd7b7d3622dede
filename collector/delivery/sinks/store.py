"""The store sink: the embedded store, a receiver inside this process that speaks the contract of the http sink.

What is special about it is all here: it needs no URL, and events end up in a file on this machine. `assembly.py` starts
the receiver, because it lives in another room.
"""

from __future__ import annotations

from collector.delivery.sink import SinkType
from collector.delivery.sinks.http import HttpSink
from collector.settings.options import Section


class StoreOptions(Section):
    """Nothing: where its database is, [store] says, for `collector receive` and `report` use it too."""


SINK = SinkType(
    name="store",
    summary="the embedded store",
    options=StoreOptions,
    make=lambda _: HttpSink(),
    place=lambda settings: settings.database_path,
)
