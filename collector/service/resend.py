"""Sends the events of the embedded store to the current sink, which may have come too late for their transcripts.

In: a flow, and the store's database. Out: receipts, counted in a ledger. Events pass the one gate out again: markers
stay as they are, and anything that today's rules, level and project filter exclude is held back. No offset moves. The
number of the last event sent is kept with the sink's offsets, so a second call continues where the first one stopped.
Crash window: events acknowledged since that number was last saved are sent again, with the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from collector.agents.registry import AGENTS
from collector.assembly import form_of
from collector.delivery.gather import batches
from collector.flow import reasons
from collector.flow.batch import Batch
from collector.flow.capture import in_turn
from collector.flow.ledger import Ledger
from collector.flow.line import Line, Reading
from collector.flow.outcome import Item, Outcome, Skip
from collector.flow.source import Root, Source, SourceKind, Stamp
from collector.pipeline import Flow
from collector.settings import state_key
from collector.store.outgoing import Stored, places_of_sessions, stored_events

SAVE_EVERY = 20  # batches: each save writes the whole state
IN_STORE = SourceKind("store", 2)


def resend(
    flow: Flow, database: Path, ledger: Ledger, *, since: str = "", said: str = "", is_again: bool = False
) -> None:
    """Sends what is in the store, starting where the last call for this sink ended, or from the beginning if
    `is_again`. `said` is how a person put `since`: "30d" is a different moment at every call."""
    name = state_key(str(database)) + (f" since {said}" if said else "")
    start = 0 if is_again else int(flow.state.about.get("resent", {}).get(name, 0))
    events = stored_events(database, after=start, since=since)
    made = batches(_items(flow, events, database, _strayed(flow, database)), flow.limits)
    through = start
    try:
        for receipt in flow.deliverer.deliver(made):
            flow.committer.commit(receipt, ledger)
            flow.observer.receipt(ledger)
            through = max(through, _last_of(receipt.batch))
            if ledger.batches % SAVE_EVERY == 0:
                flow.committer.note_resent(name, through)
    finally:
        # Quarantined events are written before the number that passes them: both in one save, in that order.
        flow.committer.note_resent(name, through)
    flow.committer.finish()


def _last_of(batch: Batch) -> int:
    return max((number for _, number in batch.places), default=0)


def _strayed(flow: Flow, database: Path) -> frozenset[str]:
    """The sessions that have also been in an excluded project: their other events may tell about that project, too."""
    if flow.scope.is_open:
        return frozenset()
    return frozenset(session for session, place in places_of_sessions(database) if not flow.scope.takes(place))


def _items(flow: Flow, events: Iterator[Stored], database: Path, strayed: frozenset[str]) -> Iterator[Item]:
    place = Root(str(database.parent), "store", next(iter(AGENTS)))
    source = Source(place, str(database), state_key(str(database)), IN_STORE, "", "", "", Stamp(0, 0, 0))
    reading = Reading(source, b"", source.stamp)
    for number, body in events:
        # This moves no offset: a number in the store is not a place in a transcript.
        line = Line(reading, number, number, None, "", b"", b"", is_safe=False)
        yield line, _outcome(flow, orjson.loads(body), strayed)


def _outcome(flow: Flow, event: dict[str, Any], strayed: frozenset[str]) -> Outcome:
    if not flow.scope.takes_event(event, strayed):
        return Skip(reasons.LINE_OF_A_PROJECT.name)
    form = form_of(event)
    shown, reduced = in_turn(event, form.vocabulary, flow.capture)
    return flow.way_out().seal(shown, form.shapes, reduced)
