"""The elasticsearch sink: `_bulk` with `create`, for Elasticsearch, OpenSearch and compatible engines.

In: events. Out: a bulk request in which each event's id is its `_id`, and from the answer a verdict on each event. The
status of the whole says nothing about its items: an item's 409 means that the event is there already, 429 and 5xx that
it may work later, 400 that it never will. config/elasticsearch-template.json keeps the mapping small and fixed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from pydantic import Field

from collector.delivery.compression import gzip_only
from collector.delivery.event_fields import ClockOptions, body_of, fields_of, filing_time, rfc3339
from collector.delivery.lenient_json import read
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Refused,
    Request,
    Retry,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import CHECK_ACCESS, is_success, may_be_poison, retry_after, verdict_of, with_words
from collector.flow.outcome import Sealed

DELIVERED, DENIED = 409, (401, 403)
CHECK_INDEX = (
    "Create the index or data stream with config/elasticsearch-template.json, or check sink.elasticsearch.index."
)
CHECK_WRITABLE = "Open the index, or lift its block (index.blocks.*), perhaps after making room on its disk."
CHECK_TARGET = "Check sink.elasticsearch.index and sink.elasticsearch.pipeline: they must name what events can go into."
# Said about an item, but about no event in particular.
NOT_WRITABLE = frozenset({"cluster_block_exception", "index_closed_exception"})
NO_TARGET = ("pipeline with id [", "no write index is defined")
ONLY_WHAT_IS_READ = "errors,items.*._id,items.*.status,items.*.error.type,items.*.error.reason"


class ElasticsearchOptions(ClockOptions):
    """Where documents go."""

    index: str = Field(
        default="claude-code-events",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,200}$",
        description="the index or data stream",
    )
    max_event: int | None = Field(
        default=None,
        ge=1_000,
        examples=[250_000],
        description="the largest event the sink accepts; larger ones are cut",
    )
    pipeline: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_.-]+$", examples=["enrich"], description="an ingest pipeline to use"
    )


class ElasticsearchSink:
    """One document per event."""

    def __init__(self, options: ElasticsearchOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        self._options = options or ElasticsearchOptions()
        # http.max_content_length is 100 MB, but 10 on some hosted services; what goes around an event is small.
        self.limits = SinkLimits(10_000_000, self._options.max_event)
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """Uses `create`, because `index` would make an event that is sent again a new version of its document."""
        del key
        index, now = self._options.index, self._clock()
        lines: list[bytes] = []
        for event in events:
            lines.append(orjson.dumps({"create": {"_index": index, "_id": event.id}}))
            lines.append(self._document(event, now))
        query = {"filter_path": ONLY_WHAT_IS_READ}
        if self._options.pipeline:
            query["pipeline"] = self._options.pipeline
        body, headers = b"\n".join(lines) + b"\n", {"Content-Type": "application/x-ndjson"}
        return Request(body, headers, "/_bulk", query, events=len(events))

    def _document(self, event: Sealed, now: float) -> bytes:
        """The event unchanged, with `@timestamp` in front, which data streams require."""
        fields = fields_of(event)
        filed, _ = filing_time(fields, self._options, now)
        return b'{"@timestamp":"' + rfc3339(filed).encode() + b'",' + body_of(event)[1:]

    def classify(self, answer: Answer) -> Verdict:
        """Judges item by item."""
        if not is_success(answer):
            return verdict_of(answer, self._clock())
        try:
            told = read(answer.body)
        except ValueError:
            if answer.is_cut:
                return TooLarge("the answer about its items is too long to read")  # a smaller request has a shorter one
            told = None
        if not isinstance(told, dict) or not isinstance(told.get("errors"), bool):
            # From something in between, or from an engine that fails on one of these events and does not say so.
            return Retry(f"the answer is not a bulk response: {with_words(answer)}", may_be_poison=True)
        items = [_only(item) for item in told["items"]] if isinstance(told.get("items"), list) else []
        if not items:  # an engine may leave out the items that went well
            return Refused("the answer reports errors, but names no item") if told["errors"] else Accepted()
        return self._verdict_on(items, answer)

    def _verdict_on(self, items: list[dict[str, Any]], answer: Answer) -> Verdict:
        rejected: dict[str, str] = {}
        later: set[str] = set()
        stored = duplicates = 0
        for item in items:
            name, status = item.get("_id"), item.get("status")
            if isinstance(status, int) and 200 <= status < 300:
                stored += 1
            elif not isinstance(name, str) or not isinstance(status, int):
                return Refused("the answer does not say which item it is about")
            elif status == DELIVERED:
                duplicates += 1
            elif status == 429 or status >= 500:
                later.add(name)
            elif advice := _advice(item, status):
                return Halt(_reason(item), advice)
            else:
                rejected[name] = _reason(item)
        if len(items) < answer.events:  # events it does not mention may not be stored; the rest is known by its ids
            return Retry(f"the answer covers {len(items)} of {answer.events} events", may_be_poison=True)
        if later and not stored + duplicates + len(rejected):
            wait = retry_after(answer.headers, self._clock())
            # An engine may always fail on one document, say in a pipeline's script. It must cost exactly itself.
            is_suspected = any(may_be_poison(item["status"]) for item in items)
            return Retry(_reason(items[0]), wait, is_suspected)
        return Accepted(rejected, duplicates, frozenset(later))


def _only(item: Any) -> dict[str, Any]:
    """The part below `create`."""
    inner = next(iter(item.values()), None) if isinstance(item, dict) else None
    return inner if isinstance(inner, dict) else {}


def _advice(item: dict[str, Any], status: int) -> str:
    """What a person can do if nothing can go into this index; empty if an item's failure says nothing about others."""
    error = item.get("error")
    kind, said = (str(error.get("type")), str(error.get("reason"))) if isinstance(error, dict) else ("", "")
    if kind in NOT_WRITABLE:
        return CHECK_WRITABLE
    if status == 404:
        return CHECK_INDEX
    if status in DENIED:
        return CHECK_ACCESS
    return CHECK_TARGET if said.startswith(NO_TARGET) else ""


def _reason(item: dict[str, Any]) -> str:
    error = item.get("error")
    said = f"{error.get('type')}: {error.get('reason')}" if isinstance(error, dict) else str(error or "no reason given")
    # The text after this quotes the value that was not understood.
    return f"status {item.get('status')}, {said.partition(' Preview of field')[0]}"


def lookup(options: ElasticsearchOptions, event: Sealed, _: float) -> Request:
    """Asks for a document. It can be found after the next refresh: within a second, by default."""
    body = orjson.dumps({"query": {"ids": {"values": [event.id]}}, "_source": False})
    path = f"/{options.index}/_search"
    return Request(body, {"Content-Type": "application/json"}, path, {"filter_path": "hits.hits._id"})


SINK = SinkType(
    name="elasticsearch",
    summary="documents for Elasticsearch or OpenSearch",
    options=ElasticsearchOptions,
    make=ElasticsearchSink,
    within=lambda options: options.index,
    scheme="ApiKey",
    lookup=lookup,
    check=gzip_only("Elasticsearch"),
)
