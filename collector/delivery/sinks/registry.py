"""The sinks that exist. A sink is one module beside this one and one entry below; nothing else has to know about it.

Every module is imported when settings are loaded, because its options are part of the configuration. So anything heavy
is imported where it is used.
"""

from __future__ import annotations

from typing import Any

from collector.delivery.sink import SinkType
from collector.delivery.sinks import clickhouse, elasticsearch, http, loki, otlp, s3, splunk_hec, store

_ALL = (http, otlp, clickhouse, elasticsearch, splunk_hec, loki, s3, store)
SINKS: dict[str, SinkType[Any]] = {module.SINK.name: module.SINK for module in _ALL}
