"""Gather: collects outcomes in reading order into batches, one per request.

In: items (a line and its outcome). Out: batches bounded by events, bytes and age. Invariant: skips and quarantined
lines travel in the batch of their neighbours, so offsets move in order and never ahead of an earlier event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from collector.flow.batch import Batch
from collector.flow.counts import Counts
from collector.flow.line import End, Line, position_after
from collector.flow.outcome import Item, Quarantined, Sealed, Skip

# Past these, a batch goes out even without an event: only its receipt moves offsets and writes the quarantine.
MAX_QUARANTINED = 100
MAX_SILENT_ITEMS = 20_000


class BatchLimits(NamedTuple):
    """When a batch is full."""

    max_events: int
    max_bytes: int
    max_age: float


def batches(items: Iterable[Item], limits: BatchLimits, clock: Callable[[], float] = time.monotonic) -> Iterator[Batch]:
    """Cuts the stream of items into batches; the last one holds the rest."""
    max_events, max_bytes, max_age = limits
    batch, silent, opened = Batch(), 0, clock()
    for line, outcome in items:
        key = line.reading.source.key
        if isinstance(outcome, Sealed):
            size, events = len(outcome.body), batch.events
            if events and (batch.size + size >= max_bytes or len(events) >= max_events or clock() - opened >= max_age):
                yield batch
                batch, silent = Batch(), 0
                events = batch.events
            if not events:
                opened = clock()  # a batch is as old as its oldest event: nobody waits for the skips before it
            events.append(outcome)
            batch.places.append((key, line.offset if isinstance(line, Line) else line.end))
            batch.size += size + 1  # plus the separator before the next
            counts = batch.counts.get(key) or _begun(batch, key)
            counts.lines += 1
            counts.delivered += 1
        else:
            silent += 1
            if outcome is not None:
                _count(batch, key, outcome)
        if isinstance(line, End):
            batch.ends[key] = position_after(line)
        elif line.is_safe:
            batch.ends[key] = line
        if silent >= MAX_SILENT_ITEMS or len(batch.quarantined) >= MAX_QUARANTINED:
            yield batch
            batch, silent = Batch(), 0
    if batch.ends or batch.events or batch.counts:
        yield batch


def _begun(batch: Batch, key: str) -> Counts:
    counts = batch.counts[key] = Counts()
    return counts


def _count(batch: Batch, key: str, outcome: Skip | Quarantined) -> None:
    counts = batch.counts.get(key) or _begun(batch, key)
    if isinstance(outcome, Skip):
        counts.skip(outcome.reason)
    else:
        counts.lines += 1
        counts.quarantined += 1
        batch.quarantined.append(outcome)
