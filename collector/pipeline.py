"""One pass, on one screen: every verb of the design, in order. Read this file first.

In: the parts (Flow). Out: a ledger that balances. Nothing is queued between the stages, so an error surfaces where it
happened, and the commit always comes last; whatever a crash interrupts is read again from the committed offsets.
Nothing changes until the selection is applied, and from then on only the committer changes what is remembered.
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
from collector.keeping.pause import done_leaving_out, is_asked_to_leave_out
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.log import get_logger, place_of
from collector.reading import document, tail
from collector.reading.discover import Findings, discover
from collector.reading.ends import position_at_end
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

    `way_out` makes its parts when it is first called, and gives the same from then on: a pass that finds nothing new
    needs neither them nor the modules that they take, which would be a third of what a scan with nothing to do costs.
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
    # Which programs, in which versions, wrote what was read; for the heartbeat.
    writers: set[tuple[str, str]] = field(default_factory=set)

    @property
    def redactor(self) -> Redactor:
        """What takes secrets out."""
        return self.way_out().redactor

    @property
    def limits(self) -> BatchLimits:
        """How large a batch may be."""
        return self.way_out().limits

    @property
    def deliverer(self) -> Deliverer:
        """What sends batches."""
        return self.way_out().deliverer


def meet_sink(flow: Flow, *, from_now: bool = False) -> None:
    """Says how much waits for a sink that was never sent anything; leaves that out if `from_now`.

    One that is known is left as it is: the flag may stand in a unit file, and a restart must leave nothing out.
    """
    if not flow.committer.is_dry_run and is_asked_to_leave_out(flow.state.path):
        leave_out_unsent(flow)
        return
    if not (flow.state.is_new_sink or from_now):
        return
    if not flow.state.is_new_sink:
        address = flow.deliverer.channel.address
        log.info("nothing is left out, because this sink has been sent to before", sink=address)
        return
    there = _there(flow)
    sources = [source for source in there if flow.state.lag_of(source)]
    if not (sources or from_now):
        return
    sink = flow.deliverer.channel.address
    unsent = sum(map(flow.state.lag_of, sources))
    if from_now:
        _leave_out(flow, there, sources)
        log.info("history left out, as asked", sink=sink, sources=len(sources), bytes=unsent)
    elif flow.state.parked:
        advice = "--from-now leaves it out; sink.formerly names the address of a sink that only moved"
        log.info("history waits for a new sink", sink=sink, sources=len(sources), bytes=unsent, advice=advice)
    else:
        advice = "--from-now leaves it out"
        said = "all history so far would be sent" if flow.committer.is_dry_run else "all history so far is sent"
        log.info(said, sink=sink, sources=len(sources), bytes=unsent, advice=advice)


def leave_out_unsent(flow: Flow) -> None:
    """Takes what is unsent as sent, because a person has asked for that, and takes the request back."""
    there = _there(flow)
    sources = [source for source in there if flow.state.lag_of(source)]
    unsent = sum(map(flow.state.lag_of, sources))
    _leave_out(flow, there, sources)
    # Only now, and only if that is on the disk: the request is all that keeps this from being sent.
    done_leaving_out(flow.state.path)
    log.info("what was unsent is left out, as asked", sources=len(sources), bytes=unsent)


def leave_out_at_once(flow: Flow) -> None:
    """The same where no agent is at work: what is written from now on is not unsent by now. Only where these settings
    lead to what the state knows: roots may be named by an agent's flags alone, and then its next pass does it."""
    if any(source.key in flow.state.entries for source in _there(flow)):
        leave_out_unsent(flow)


def drop_refused(held: HeldFiles, scope: Scope) -> int:
    """Drops what is held of projects that are excluded by now, as each pass does; returns how many files that was."""
    if not held.held.files:
        return 0
    discover(scope)  # what names no directory itself goes with the others of its session
    return held.drop_refused(scope.refuses_source)


def _leave_out(flow: Flow, there: Sequence[Source], unsent: Sequence[Source]) -> None:
    """Moves the unsent sources to their ends. One that cannot be read now is as if it were not there."""
    ends = {source: end for source in unsent if (end := _end_of(source))}
    in_sight = {source.key for source in there} - {source.key for source in unsent if source not in ends}
    flow.committer.leave_out(list(ends.items()), sum(map(flow.state.lag_of, unsent)), in_sight)


def _there(flow: Flow) -> list[Source]:
    """The sources, and the files held for those that have gone."""
    found = discover(flow.scope)
    stand_ins = flow.held.take_stock(found.files, flow.state.entries, flow.scope.roots, flow.scope.takes_source)
    return [*found.files, *stand_ins.sources]


def _end_of(source: Source) -> Position | None:
    try:
        return position_at_end(source)
    except (SkipSource, SourceError):  # what cannot be read now has no end: what is in it goes by when it was written
        return None


def look(flow: Flow, progress: Callable[[], None] = lambda: None) -> Findings:
    """Everything that is there. What is held is compared with its originals, so as long as anything is, sources at rest
    are needed as well."""
    known = None if flow.held.held.files else flow.state.entries
    return discover(flow.scope, known=known, progress=progress)


def run_pass(flow: Flow, ledger: Ledger) -> Findings:
    """discover -> select -> tail / document -> normalize -> redact -> batch -> deliver -> commit."""
    found = look(flow)
    walk(flow, ledger, found)
    flow.committer.finish()
    return found


def walk(flow: Flow, ledger: Ledger, found: Findings) -> None:
    """Everything after discover. The findings may come from a glance; then only what they name is looked at."""
    sources = _begin(flow, ledger, found)
    ledger.lag = ledger.lag_at_start = sum(map(flow.state.lag_of, found.files))
    try:
        # Hold what is unsent at the first failure: the pass may keep trying for a minute, and files may go meanwhile.
        hold = partial(flow.held.hold, found.files, flow.state)
        for receipt in _sent(sources, flow, ledger, hold) if sources else ():
            flow.committer.commit(receipt, ledger)
            flow.observer.receipt(ledger)
    except (SinkError, Stopped) as error:
        # A halted sink answered, so `when_failing` was never called: hold now. After a stop, only if it was failing.
        if isinstance(error, SinkError) or flow.deliverer.health.failing_since is not None:
            flow.held.hold(found.files, flow.state)
        raise
    finally:
        # A glance leaves its offsets to the next save that is due, unless it held files: letting go of those, below,
        # needs the offsets on disk.
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
    """What the next pass would make of every line, without sending or saving anything."""
    return _items(_begin(flow, ledger, found), flow, ledger)


def _begin(flow: Flow, ledger: Ledger, found: Findings) -> list[Source]:
    """Applies what the look at the files showed, counts what needs no reading, and returns what has to be read."""
    flow.pauses_left_out = spans_left_out(flow.state.path)
    starts: dict[str, Position] = {}
    if not found.is_partial:  # a glance does not see every file, so originals would seem to be gone
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
    """Every line of every source, with what became of it: P0 before P3, newest first."""
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
        except Exception as error:  # noqa: BLE001 - one source must not keep all others from being read, pass after pass
            ledger.skip_file(reasons.INTERNAL_ERROR.name)
            ledger.name(source.key, reasons.INTERNAL_ERROR.name)
            log.error("source not understood", source=source.key, error=type(error).__name__, place=place_of(error))


def _read(source: Source, flow: Flow) -> Iterator[Item]:
    form, entry = flow.scope.form_of(source.root), flow.state.entries.get(source.key)
    _recall(source, form, flow)
    items = _judged(_lines(source, form, flow), source, form, flow, entry.position.offset if entry else 0)
    if flow.follower is None or source.kind.is_document:
        return items

    def before(reach: int) -> Iterator[Item]:
        with contextlib.suppress(SkipSource, SourceError):  # reading the source says what is wrong with it
            if entry:
                yield from _judged(tail.before(source, entry.position, form, reach), source, form, flow)

    return flow.follower.follow(source.key, entry.position.offset if entry else 0, items, before)


def _judged(
    lines: Iterable[Line | End], source: Source, form: AgentFormat, flow: Flow, known: int = 0
) -> Iterator[Item]:
    """Lines with what becomes of them; so many bytes of their source were sent or left out before."""
    projects, way = flow.scope.filter_of(source.root), flow.way_out()
    judge: Judge | None = None
    normalize: Normalizer | None = None
    left_out_at = flow.state.left_out_at(source.key)
    wanted = flow.state.wanted_at(source.key)  # that somebody wants it says nothing of a pause that ended later
    pauses = [(since, until) for since, until in flow.pauses_left_out if until > wanted]
    retold = Retold(form, source, left_out_at, known, pauses) if left_out_at or pauses else None
    unread: Normalizer | None = None  # one of its own, or what is read would count as a copy of what was not
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
            # A password that was told where nothing is read may be used where the session goes on.
            unread = unread or form.normalizer(line.reading, flow.frame)
            _show(line, unread, flow)
            yield line, Skip((reasons.LINE_OF_A_PROJECT if is_refused else reasons.LINE_OF_A_TIME).name)
        else:
            yield line, _outcome(line, normalize, form, flow, way)


def _recall(source: Source, form: AgentFormat, flow: Flow) -> None:
    """Shows the redactor the last events before a committed offset, once for each source and process: the call whose
    answer comes next may be among them. A process remembers the rest itself; what is further back is forgotten."""
    entry = flow.state.entries.get(source.key)
    if not flow.redactor.is_new(source.key) or not entry or source.kind.is_document or flow.capture.level != "content":
        return
    with contextlib.suppress(SkipSource):  # whatever is wrong with the source, reading it says so
        normalize: Normalizer | None = None
        for line in tail.before(source, entry.position, form):
            normalize = normalize or form.normalizer(line.reading, flow.frame)
            _show(line, normalize, flow)


def _show(line: Line, normalize: Normalizer, flow: Flow) -> None:
    """Shows the redactor a line that is not sent, for what it tells about later ones; nothing where no words are."""
    if line.record is not None and flow.capture.level != METADATA:
        with contextlib.suppress(Exception):  # one record that is not understood tells nothing
            made = normalize(line)
            if not isinstance(made, Skip):
                flow.redactor.event(made)


def _lines(source: Source, form: AgentFormat, flow: Flow) -> Iterator[Line | End]:
    """The lines of a source, or of the file held in its place if it has vanished since it was found."""
    entry = flow.state.entries.get(source.key)
    read, position = document.read if source.kind.is_document else tail.read, entry.position if entry else None
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
    except MemoryError:  # not the record's fault: it is read again when there is room
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
    """Remembers few and short ones only: a transcript may say anything, and this lasts as long as the agent."""
    version = writer.get("version", "")
    if version and len(version) <= LONGEST_VERSION and len(flow.writers) < MOST_WRITERS:
        flow.writers.add((writer["name"], version))
