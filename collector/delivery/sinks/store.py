"""The store sink: the embedded store, a receiver inside this process that speaks the contract of the http sink.

All that is special about it is here: it needs no URL, and events end up in a file on this machine. `assembly.py` starts
the receiver, which belongs to another room.
"""

from __future__ import annotations

from collector.delivery.sink import SinkType
from collector.delivery.sinks.http import HttpSink
from collector.settings.options import Section


class StoreOptions(Section):
    """None: [store] says where its database is, because `collector receive` and `report` use that too."""


SINK = SinkType(
    name="store",
    summary="the embedded store",
    options=StoreOptions,
    make=lambda _: HttpSink(),
    place=lambda settings: settings.database_path,
)
