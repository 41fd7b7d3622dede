"""One pass, on one screen: every verb of the design, in order. Read this file first.

In: the parts (Flow). Out: a ledger that balances. Nothing is queued between the stages, so an error surfaces where it
happened and the commit is always the last thing; what a crash interrupts is read again from the committed offsets.
Nothing changes before the selection is applied, and then only the committer changes what is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collector.agents.claude_code import Context, event
from collector.delivery.batch import BatchLimits, batches
from collector.delivery.window import Deliverer
from collector.errors import SinkError, SkipSource, SourceError, Stopped
from collector.flow import reasons
from collector.flow.ledger import Ledger
from collector.flow.line import End, Line
from collector.flow.outcome import Item, Outcome, Skip
from collector.flow.source import Position, Root, Source, SourceKind
from collector.keeping.commit import Committer
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.log import get_logger, place_of
from collector.reading import document, tail
from collector.reading.discover import Findings, discover
from collector.reading.select import select
from collector.redact import Redactor, seal, to_quarantine

log = get_logger()
WHOLE_FILES = frozenset({SourceKind.SESSION_INDEX, SourceKind.STATS})


@dataclass(slots=True)
class Flow:
    """The parts that a pass walks through."""

    roots: Sequence[Root]
    home: str
    is_wanted: Callable[[str], bool]
    state: State
    redactor: Redactor
    limits: BatchLimits
    max_event_bytes: int
    deliverer: Deliverer
    committer: Committer
    held: HeldFiles
    host: dict[str, str]
    user: str
    level: str
    on_receipt: Callable[[Ledger], None] = lambda _: None
    alive: Callable[[], None] = lambda: None


def run_pass(flow: Flow, ledger: Ledger) -> Findings:
    """discover -> select -> tail / document -> normalize -> redact -> batch -> deliver -> commit."""
    found = discover(flow.roots, flow.is_wanted, flow.home, known=flow.state.stamp_of)
    walk(flow, ledger, found)
    flow.committer.finish()
    return found


def walk(flow: Flow, ledger: Ledger, found: Findings) -> None:
    """Everything after discover. Findings may be those of a glance: then only what they name is looked at."""
    sources = _begin(flow, ledger, found)
    ledger.lag = ledger.lag_at_start = sum(lag_of(source, flow.state) for source in found.files)
    made = batches(_items(sources, flow, ledger), flow.limits)
    try:
        # What is unsent is held at the first failure: the pass may go on for a minute, and files may go meanwhile.
        for receipt in flow.deliverer.deliver(made, when_failing=lambda: flow.held.hold(found.files, flow.state)):
            flow.committer.commit(receipt, ledger)
            flow.on_receipt(ledger)
    except (SinkError, Stopped) as error:
        # A sink that refuses everything answers, and is given up all the same.
        if isinstance(error, SinkError) or flow.deliverer.health.failing_since is not None:
            flow.held.hold(found.files, flow.state)
        raise
    finally:
        # After a glance the next save that is due takes it along, unless something was held meanwhile.
        is_saved = not found.is_partial or flow.held.has_news
        if is_saved:
            flow.committer.save()
        ledger.lag = sum(lag_of(source, flow.state) for source in found.files)
    # Last, and only if the save went well: what is let go of may be nowhere else, so its offset must be on disk.
    if is_saved and not flow.committer.problem:
        flow.held.let_go(flow.state)


def outcomes(flow: Flow, ledger: Ledger, found: Findings) -> Iterator[Item]:
    """What the next pass would make of every line, without sending or saving anything."""
    return _items(_begin(flow, ledger, found), flow, ledger)


def _begin(flow: Flow, ledger: Ledger, found: Findings) -> list[Source]:
    """What has to be read, after the look at the files is taken over and what needs no reading is counted."""
    starts: dict[str, Position] = {}
    if not found.is_partial:
        stand_ins = flow.held.take_stock(found.files, flow.state.entries, flow.roots, flow.is_wanted)
        starts = stand_ins.starts
        if stand_ins.sources:
            found.add(stand_ins.sources)
    selection = select(found, flow.state.entries, starts, time.time())
    flow.committer.apply(selection)
    for reason, files in selection.skipped.items():
        ledger.skip_file(reason, files)
    ledger.leave_files(selection.unchanged)
    return selection.read


def _items(sources: Sequence[Source], flow: Flow, ledger: Ledger) -> Iterator[Item]:
    """Every line of every source, with what became of it: P0 before P3, the newest first."""
    for source in sources:
        flow.alive()
        try:
            yield from _read(source, flow)
            ledger.read_file()
        except SkipSource as skip:
            ledger.skip_file(skip.reason)
            if skip.reason in reasons.UNTIL_CHANGED:
                flow.committer.leave_alone(source, skip.reason)
        except SourceError as error:
            ledger.skip_file(reasons.READ_ERROR.name)
            log.warning("source not read to its end", source=source.key, reason=str(error))
        except Exception as error:  # noqa: BLE001 - one source must not keep all others from being read, pass after pass
            ledger.skip_file(reasons.INTERNAL_ERROR.name)
            log.error("source not understood", source=source.key, error=type(error).__name__, place=place_of(error))


def _read(source: Source, flow: Flow) -> Iterator[Item]:
    context: Context | None = None
    for line in _lines(source, flow):
        if isinstance(line, End):
            yield Item(line, None)
            continue
        if context is None:
            context = Context(line.reading, host=flow.host, user=flow.user, level=flow.level, is_wanted=flow.is_wanted)
        yield Item(line, _outcome(line, context, flow))


def _lines(source: Source, flow: Flow) -> Iterator[Line | End]:
    """The lines of a source, or of what was held of it if it went away since it was found."""
    entry = flow.state.entries.get(source.key)
    read = document.read if source.kind in WHOLE_FILES else tail.read
    try:
        yield from read(source, entry.position if entry else None)
    except SkipSource as skip:
        stand_in = flow.held.stand_in_for(source) if skip.reason == reasons.VANISHED.name else None
        if stand_in is None:
            raise
        yield from read(stand_in, entry.position if entry else None)


def _outcome(line: Line, context: Context, flow: Flow) -> Outcome:
    if line.record is None:
        return to_quarantine(line, flow.redactor)
    try:
        made: dict[str, Any] | Skip = event(line, context)
    except MemoryError:  # says nothing of the record: it is read again when there is room
        raise
    except Exception as error:  # noqa: BLE001 - a record must not stop the pass: it is quarantined and counted
        log.error(
            "record not understood", source=line.reading.source.key, offset=line.offset, error=type(error).__name__
        )
        return to_quarantine(line._replace(problem=reasons.NOT_UNDERSTOOD.because(type(error).__name__)), flow.redactor)
    return made if isinstance(made, Skip) else seal(made, flow.redactor, flow.max_event_bytes)


def lag_of(source: Source, state: State) -> int:
    """The bytes of a source that are not committed yet."""
    return state.lag_of(source)
