"""One pass, on one screen: every verb of the design, in order. Read this file first.

In: the parts (Flow). Out: a ledger that balances. Nothing is queued between the stages, so an error surfaces where it
happened and the commit is always the last thing; what a crash interrupts is read again from the committed offsets.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from collector.agents.format import AgentFormat, Normalizer
from collector.delivery.batch import BatchLimits, batches
from collector.delivery.window import Deliverer
from collector.errors import SinkError, SkipSource, SourceError, Stopped
from collector.flow import reasons
from collector.flow.frame import Frame
from collector.flow.ledger import Ledger
from collector.flow.line import End, Line
from collector.flow.metadata import to_metadata
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Item, Outcome, Skip
from collector.flow.source import Source
from collector.keeping.commit import Committer
from collector.keeping.rescue import Held, unsent_of
from collector.keeping.state import State
from collector.log import get_logger, place_of
from collector.reading import document, tail
from collector.reading.discover import Findings, discover
from collector.reading.scope import Scope
from collector.redact import Redactor, seal, to_quarantine

log = get_logger()


@dataclass(slots=True)
class Flow:
    """The parts that a pass walks through."""

    scope: Scope
    frame: Frame
    level: str
    state: State
    redactor: Redactor
    limits: BatchLimits
    max_event_bytes: int
    deliverer: Deliverer
    committer: Committer
    held: Held
    observer: Observer = UNOBSERVED


def run_pass(flow: Flow, ledger: Ledger) -> Findings:
    """discover -> tail / snapshot -> normalize -> redact -> batch -> deliver -> commit."""
    found = discover(flow.scope, known=flow.state.stamp_of)
    walk(flow, ledger, found)
    flow.committer.finish()
    return found


def walk(flow: Flow, ledger: Ledger, found: Findings) -> None:
    """Everything after discover. Findings may be those of a glance: then only what they name is looked at."""
    changed = _changed(found, flow, ledger)
    ledger.lag = ledger.lag_at_start = sum(lag_of(source, flow.state) for source in found.files)
    try:
        for receipt in flow.deliverer.deliver(batches(_items(changed, flow, ledger), flow.limits)):
            flow.committer.commit(receipt, ledger)
            flow.observer.receipt(ledger)
    except (SinkError, Stopped) as error:
        # A sink that refuses everything answers, and is given up all the same.
        if isinstance(error, SinkError) or flow.deliverer.health.failing_since is not None:
            _hold(found, flow)
        raise
    finally:
        if not found.is_partial:  # after a glance the next save that is due takes it along
            flow.committer.save()
        ledger.lag = sum(lag_of(source, flow.state) for source in found.files)
    if not found.is_partial and not flow.committer.problem:
        flow.held.release(flow.state)


def outcomes(flow: Flow, ledger: Ledger, found: Findings) -> Iterator[Item]:
    """What the next pass would make of every line, without sending or saving anything."""
    return _items(_changed(found, flow, ledger), flow, ledger)


def _hold(found: Findings, flow: Flow) -> None:
    """While the sink is failing, what is unsent must not be swept."""
    unsent = {source.key: size for source in found.files if (size := unsent_of(source, flow.state))}
    flow.held.hold(unsent, found.files, flow.state)


def _items(sources: Sequence[Source], flow: Flow, ledger: Ledger) -> Iterator[Item]:
    """Every line of every source, with what became of it: P0 before P3, the newest first."""
    for source in sources:
        flow.observer.alive()
        try:
            yield from _read(source, flow)
            ledger.read_file()
        except SkipSource as skip:
            ledger.skip_file(skip.reason)
            if skip.reason in reasons.UNTIL_CHANGED:
                flow.state.leave_alone(source.key, source.stamp, skip.reason)
        except SourceError as error:
            ledger.skip_file(reasons.READ_ERROR.name)
            log.warning("source not read to its end", source=source.key, reason=str(error))
        except Exception as error:  # noqa: BLE001 - one source must not keep all others from being read, pass after pass
            ledger.skip_file(reasons.INTERNAL_ERROR.name)
            log.error("source not understood", source=source.key, error=type(error).__name__, place=place_of(error))


def _read(source: Source, flow: Flow) -> Iterator[Item]:
    form, entry = flow.scope.form_of(source.root), flow.state.entries.get(source.key)
    is_wanted = flow.scope.filter_of(source.root).gate(source)
    read = document.read if source.kind.is_document else tail.read
    normalize: Normalizer | None = None
    for line in read(source, entry.position if entry else None, form):
        if isinstance(line, End):
            yield Item(line, None)
            continue
        if is_wanted is not None and line.record is not None and not is_wanted(line.record):
            yield Item(line, Skip(reasons.PROJECT.name))
            continue
        if normalize is None:
            normalize = form.normalizer(line.reading, flow.frame)
        yield Item(line, _outcome(line, normalize, form, flow))


def _outcome(line: Line, normalize: Normalizer, form: AgentFormat, flow: Flow) -> Outcome:
    if line.record is None:
        return to_quarantine(line, flow.redactor)
    try:
        made = normalize(line)
    except MemoryError:  # says nothing of the record: it is read again when there is room
        raise
    except Exception as error:  # noqa: BLE001 - a record must not stop the pass: it is quarantined and counted
        log.error(
            "record not understood", source=line.reading.source.key, offset=line.offset, error=type(error).__name__
        )
        return to_quarantine(line._replace(problem=reasons.NOT_UNDERSTOOD.because(type(error).__name__)), flow.redactor)
    if isinstance(made, Skip):
        return made
    if flow.level != "full":
        made = to_metadata(made, form.word_attributes)
    return seal(made, flow.redactor, flow.max_event_bytes, form.shapes)


def _changed(found: Findings, flow: Flow, ledger: Ledger) -> list[Source]:
    """The sources that somebody has to open; the others are counted. Moved files keep their offsets."""
    state = flow.state
    if not found.is_partial:
        found.add(flow.held.sources(found.files, state, flow.scope.roots, flow.scope.takes))
    for reason, files in found.skipped.items():
        ledger.skip_file(reason, files)
    changed, unknown = [], []
    for source in found.files:
        entry = state.entries.get(source.key)
        if entry is not None and entry.position.stamp == source.stamp:
            if entry.skip:
                ledger.skip_file(entry.skip)
            else:
                ledger.leave_file()
            continue
        changed.append(source)
        if entry is None or entry.position.stamp is None or entry.position.stamp.inode != source.stamp.inode:
            unknown.append(source)
    if found.is_partial:
        _adopt(unknown, state, found.gone)
    elif not found.errors:
        seen = {source.key for source in found.files}
        _adopt(unknown, state, (key for key in state.entries if key not in seen))
        state.prune(seen, time.time())
    return changed


def _adopt(unknown: list[Source], state: State, gone: Iterable[str]) -> None:
    """What is new, or another file than before under its name, may be one that is gone from where it was."""
    if not unknown:
        return
    missing = tail.Missing(
        {key: entry.position for key in gone if (entry := state.entries.get(key)) and entry.position.offset}
    )
    for source in unknown if missing else ():
        own = state.entries.get(source.key)
        old = tail.adopt(source, missing, own.position if own else None)
        if old is not None:
            state.rename(old, source.key)
            del missing[old]


def lag_of(source: Source, state: State) -> int:
    """The bytes of a source that are not committed yet."""
    return state.lag_of(source)
