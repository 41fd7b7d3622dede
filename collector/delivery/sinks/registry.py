"""Which sinks there are: one module beside this one and one entry below make a sink; nothing else has to know it.

Every module is imported when settings are loaded, because its options are part of the configuration. So anything heavy
is imported where it is used.
"""

from __future__ import annotations

from typing import Any

from collector.delivery.sink import SinkType
from collector.delivery.sinks import clickhouse, elasticsearch, http, loki, s3, splunk_hec, store

SINKS: dict[str, SinkType[Any]] = {
    sink.name: sink
    for sink in (http.SINK, clickhouse.SINK, elasticsearch.SINK, splunk_hec.SINK, loki.SINK, s3.SINK, store.SINK)
}
