"""One pass on one screen: every stage of the design, in order. Read this file first.

In: the parts (Flow). Out: a ledger that balances. There are no queues between the stages, so an error surfaces where it
happened and the commit always comes last. Whatever a crash interrupts is read again from the committed offsets.
Nothing changes until the selection is applied; from then on, only the committer changes the state.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from collector.agents.format import AgentFormat, Normalizer
from collector.delivery.gather import BatchLimits, batches
from collector.delivery.sink import Follower
from collector.errors import SinkError, SkipSource, SourceError, Stopped
from collector.flow import reasons
from collector.flow.capture import Capture, in_turn
from collector.flow.fields import METADATA
from collector.flow.frame import Frame
from collector.flow.ledger import Ledger
from collector.flow.line import End, Line
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Item, Outcome, Skip
from collector.flow.receipt import Receipt
from collector.flow.source import Position, Source
from collector.keeping.commit import Committer
from collector.keeping.left_out import Span, spans_left_out
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.log import get_logger, place_of
from collector.reading import document, tail
from collector.reading.discover import Findings, discover
from collector.reading.projects import Judge
from collector.reading.retold import Retold
from collector.reading.scope import Scope
from collector.reading.select import select

if TYPE_CHECKING:
    from collector.delivery.window import Deliverer
    from collector.redact import Redactor
    from collector.way_out import WayOut

log = get_logger()
MOST_WRITERS, LONGEST_VERSION = 100, 100


@dataclass(slots=True)
class Flow:
    """The parts that a pass runs through.

    `way_out` builds its parts on the first call and returns the same ones after that. A pass that finds nothing new
    never calls it, and so never imports the modules behind it: a third of what a scan with nothing to do would cost.
    """

    scope: Scope
    frame: Frame
    capture: Capture
    state: State
    way_out: Callable[[], WayOut]
    committer: Committer
    held: HeldFiles
    observer: Observer = UNOBSERVED
    follower: Follower | None = None
    pauses_left_out: Sequence[Span] = ()
    # The programs and versions that wrote what was read, for the heartbeat.
    writers: set[tuple[str, str]] = field(default_factory=set)

    @property
    def redactor(self) -> Redactor:
        """Removes secrets."""
        return self.way_out().redactor

    @property
    def limits(self) -> BatchLimits:
        """The limits on the size of a batch."""
        return self.way_out().limits

    @property
    def deliverer(self) -> Deliverer:
        """Sends batches."""
        return self.way_out().deliverer


def look(flow: Flow, progress: Callable[[], None] = lambda: None) -> Findings:
    """Everything there is to read. Held files are compared with their originals, so while there are any, the findings
    have to include sources at rest too."""
    known = None if flow.held.held.files else flow.state.entries
    return discover(flow.scope, known=known, progress=progress)


def run_pass(flow: Flow, ledger: Ledger) -> Findings:
    """discover -> select -> tail / document -> normalize -> redact -> batch -> deliver -> commit."""
    found = look(flow)
    walk(flow, ledger, found)
    flow.committer.finish()
    return found


def walk(flow: Flow, ledger: Ledger, found: Findings) -> None:
    """Everything after discover. Findings from a glance are partial: only the sources they name are processed."""
    sources = _begin(flow, ledger, found)
    ledger.lag = ledger.lag_at_start = sum(map(flow.state.lag_of, found.files))
    try:
        # Hold unsent files at the first failure: the pass may keep retrying for a minute while files get deleted.
        hold = partial(flow.held.hold, found.files, flow.state)
        for receipt in _sent(sources, flow, ledger, hold) if sources else ():
            flow.committer.commit(receipt, ledger)
            flow.observer.receipt(ledger)
    except (SinkError, Stopped) as error:
        # A sink that halts did answer, so `when_failing` was never called: hold now. After a stop, hold only if the
        # sink was failing.
        if isinstance(error, SinkError) or flow.deliverer.health.failing_since is not None:
            flow.held.hold(found.files, flow.state)
        raise
    finally:
        # A glance leaves saving to the next save that is due, unless it held files: they can only be let go of below
        # once the offsets are on disk.
        is_saved = not found.is_partial or flow.held.has_news
        if is_saved:
            flow.committer.save()
        ledger.lag = sum(map(flow.state.lag_of, found.files))
    # Last, and only after a successful save: a held file may be the only copy, so its offset must be on disk first.
    if is_saved and not flow.committer.problem:
        flow.held.let_go(flow.state)


def _sent(sources: Sequence[Source], flow: Flow, ledger: Ledger, hold: Callable[[], None]) -> Iterator[Receipt]:
    return flow.deliverer.deliver(batches(_items(sources, flow, ledger), flow.limits), when_failing=hold)


def outcomes(flow: Flow, ledger: Ledger, found: Findings) -> Iterator[Item]:
    """The outcome that the next pass would give each line, without sending or saving anything."""
    return _items(_begin(flow, ledger, found), flow, ledger)


def _begin(flow: Flow, ledger: Ledger, found: Findings) -> list[Source]:
    """Applies the findings, counts the sources that need no reading, and returns those that do."""
    flow.pauses_left_out = spans_left_out(flow.state.path)
    starts: dict[str, Position] = {}
    if not found.is_partial:  # a glance does not see every file, so originals would look deleted
        stand_ins = flow.held.take_stock(found.files, flow.state.entries, flow.scope.roots, flow.scope.takes_source)
        starts = stand_ins.starts
        flow.held.drop_refused(flow.scope.refuses_source)
        if stand_ins.sources:
            found.add(stand_ins.sources)
    for directory, reason in found.errors.items():
        ledger.name(directory, reason)
    selection = select(found, flow.state.entries, starts, time.time())
    flow.committer.apply(selection)
    for reason, files in selection.skipped.items():
        ledger.skip_file(reason, files)
    ledger.leave_files(selection.unchanged)
    return selection.read


def _items(sources: Sequence[Source], flow: Flow, ledger: Ledger) -> Iterator[Item]:
    """Every line of every source with its outcome: P0 before P3, newest first."""
    for source in sources:
        flow.observer.alive()
        try:
            yield from _read(source, flow)
            ledger.read_file()
        except SkipSource as skip:
            ledger.skip_file(skip.reason)
            if skip.reason in reasons.LEFT_BEHIND:
                ledger.name(source.key, skip.reason)
            if skip.reason in reasons.UNTIL_CHANGED:
                flow.committer.leave_alone(source, skip.reason)
        except SourceError as error:
            ledger.skip_file(reasons.READ_ERROR.name)
            ledger.name(source.key, reasons.READ_ERROR.name)
            log.warning("source not read to its end", source=source.key, reason=str(error))
        except Exception as error:  # noqa: BLE001 - one source must not block all the others, pass after pass
            ledger.skip_file(reasons.INTERNAL_ERROR.name)
            ledger.name(source.key, reasons.INTERNAL_ERROR.name)
            log.error("source not understood", source=source.key, error=type(error).__name__, place=place_of(error))


def _read(source: Source, flow: Flow) -> Iterator[Item]:
    form, entry = flow.scope.form_of(source.root), flow.state.entries.get(source.key)
    position, offset = (entry.position, entry.position.offset) if entry else (None, 0)
    _recall(source, position, form, flow)
    items = _judged(_lines(source, position, form, flow), source, form, flow, offset)
    if flow.follower is None or source.kind.is_document:
        return items

    def before(reach: int) -> Iterator[Item]:
        with contextlib.suppress(SkipSource, SourceError):  # reading the source reports what is wrong with it
            if position is not None:
                yield from _judged(tail.before(source, position, form, reach), source, form, flow)

    return flow.follower.follow(source.key, offset, items, before)


def _judged(
    lines: Iterable[Line | End], source: Source, form: AgentFormat, flow: Flow, known: int = 0
) -> Iterator[Item]:
    """Pairs each line with its outcome. `known` is how many bytes of the source were already sent or left out."""
    projects, way = flow.scope.filter_of(source.root), flow.way_out()
    judge: Judge | None = None
    normalize: Normalizer | None = None
    left_out_at = flow.state.left_out_at(source.key)
    wanted = flow.state.wanted_at(source.key)  # a person may have asked for it before a later pause
    pauses = [(since, until) for since, until in flow.pauses_left_out if until > wanted]
    retold = Retold(form, source, left_out_at, known, pauses) if left_out_at or pauses else None
    unread: Normalizer | None = None  # separate, or sent lines would count as copies of lines that are not sent
    for line in lines:
        if normalize is None:
            normalize = form.normalizer(line.reading, flow.frame)
            judge = projects.judge(line)
        if isinstance(line, End):
            if judge is not None:
                judge.close(line)
            yield line, None
            continue
        is_refused = judge is not None and not judge.takes(line)
        if is_refused or (retold is not None and retold.tells(line)):
            # A password given in a line that is not sent may turn up later in the session, in lines that are.
            unread = unread or form.normalizer(line.reading, flow.frame)
            _show(line, unread, flow)
            yield line, Skip((reasons.LINE_OF_A_PROJECT if is_refused else reasons.LINE_OF_A_TIME).name)
        else:
            yield line, _outcome(line, normalize, form, flow, way)


def _recall(source: Source, position: Position | None, form: AgentFormat, flow: Flow) -> None:
    """Shows the redactor the last events before the committed position, once per source and process: the next line may
    be the answer to a call among them. After that, the redactor remembers by itself; anything earlier is forgotten."""
    is_first = flow.redactor.meet(source.key)  # whether or not there is anything to show
    if not is_first or position is None or source.kind.is_document or flow.capture.level == METADATA:
        return
    with contextlib.suppress(SkipSource):  # reading the source reports what is wrong with it
        normalize: Normalizer | None = None
        for line in tail.before(source, position, form):
            normalize = normalize or form.normalizer(line.reading, flow.frame)
            _show(line, normalize, flow)


def _show(line: Line, normalize: Normalizer, flow: Flow) -> None:
    """Shows the redactor a line that is not sent, because it may reveal secrets that later lines repeat. The metadata
    level sends no text, so it does not need this."""
    if line.record is not None and flow.capture.level != METADATA:
        with contextlib.suppress(Exception):  # there is nothing to learn from a record that is not understood
            made = normalize(line)
            if not isinstance(made, Skip):
                flow.redactor.event(made)


def _lines(source: Source, position: Position | None, form: AgentFormat, flow: Flow) -> Iterator[Line | End]:
    """The lines of a source, or of its held file if the source has vanished since it was found."""
    read = document.read if source.kind.is_document else tail.read
    try:
        yield from read(source, position, form)
    except SkipSource as skip:
        stand_in = flow.held.stand_in_for(source) if skip.reason == reasons.VANISHED.name else None
        if stand_in is None:
            raise
        yield from read(stand_in, position, form)


def _outcome(line: Line, normalize: Normalizer, form: AgentFormat, flow: Flow, way: WayOut) -> Outcome:
    if line.record is None:
        return way.to_quarantine(line)
    try:
        made = normalize(line)
    except MemoryError:  # not the record's fault: read it again when there is memory
        raise
    except Exception as error:  # noqa: BLE001 - one record must not stop the pass: it is quarantined and counted
        log.error(
            "record not understood", source=line.reading.source.key, offset=line.offset, error=type(error).__name__
        )
        problem = reasons.NOT_UNDERSTOOD.because(type(error).__name__)
        return way.to_quarantine(line._replace(problem=problem))
    if isinstance(made, Skip):
        return made
    made, reduced = in_turn(made, form.vocabulary, flow.capture)
    _note_writer(made["client"], flow)
    return way.seal(made, form.shapes, reduced)


def _note_writer(writer: dict[str, Any], flow: Flow) -> None:
    """Notes the program and version, within bounds: a transcript may claim anything, and the set lives as long as the
    agent."""
    version = writer.get("version", "")
    if version and len(version) <= LONGEST_VERSION and len(flow.writers) < MOST_WRITERS:
        flow.writers.add((writer["name"], version))
