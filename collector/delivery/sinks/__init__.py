"""The registry of sinks: one module here and one line below make a sink; nothing else has to know about it.

Every module is imported when settings are loaded, because its options are part of the configuration. So anything heavy
is imported where it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from collector.delivery.sink import SinkType

NAMES = (
    "http",
    "store",
)
SINKS: dict[str, SinkType[Any]] = {name: import_module(f"{__name__}.{name}").SINK for name in NAMES}
