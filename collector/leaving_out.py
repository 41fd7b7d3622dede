"""Leaves out what nobody wants sent: history from before a sink, what was unsent when a person resumed, held files.

In: parts of a flow, and what a person asked for. Out: offsets at the ends of the sources concerned, on disk.
Nothing is read from a source but where it ends. All this happens between passes, never during one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from collector.errors import SkipSource, SourceError, StateError
from collector.flow.source import Position, Source
from collector.keeping.commit import Committer
from collector.keeping.pause import done_leaving_out, is_asked_to_leave_out
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.log import get_logger
from collector.pipeline import Flow
from collector.reading.discover import discover
from collector.reading.ends import position_at_end
from collector.reading.scope import Scope

log = get_logger()


def meet_sink(flow: Flow, *, from_now: bool = False) -> None:
    """Logs how much history is waiting for a sink that has never been sent anything, or leaves it out if `from_now`.

    A known sink is left alone: the flag may be in a unit file, and a restart must not leave anything out.
    """
    if is_asked_to_leave_out(flow.state.path):
        leave_out_unsent(flow.scope, flow.held, flow.committer)
        return
    if not flow.state.is_new_sink or flow.state.entries:  # sent to before this start, or since
        if from_now:
            address = flow.deliverer.channel.address
            log.info("nothing is left out, because this sink has been sent to before", sink=address)
        return
    there = _there(flow.scope, flow.held, flow.state)
    sources = [source for source in there if flow.state.lag_of(source)]
    if not (sources or from_now):
        return
    sink, unsent = flow.deliverer.channel.address, sum(map(flow.state.lag_of, sources))
    told = {"sink": sink, "sources": len(sources), "bytes": unsent}
    if from_now:
        _leave_out(flow.committer, there, sources)
        log.info("history left out, as asked", **told)
    elif flow.state.parked:
        advice = "--from-now leaves it out; sink.formerly names the address of a sink that only moved"
        log.info("history waits for a new sink", **told, advice=advice)
    else:
        said = "all history so far would be sent" if flow.committer.is_dry_run else "all history so far is sent"
        log.info(said, **told, advice="--from-now leaves it out")


def leave_out_unsent(scope: Scope, held: HeldFiles, committer: Committer) -> None:
    """Treats everything unsent as sent, because a person asked for that, then removes the request."""
    state = committer.state
    there = _there(scope, held, state)
    sources = [source for source in there if state.lag_of(source)]
    unsent = sum(map(state.lag_of, sources))
    _leave_out(committer, there, sources)
    if not committer.is_dry_run:
        # Only once the new offsets are on disk: until then, the request is all that keeps these bytes from being sent.
        done_leaving_out(state.path)
    log.info("what was unsent is left out, as asked", sources=len(sources), bytes=unsent)


def leave_out_at_once(scope: Scope, held: HeldFiles, committer: Committer) -> None:
    """The same if no agent is running, so that nothing written from now on is left out. Only if these settings lead to
    sources that the state knows: an agent's roots may be named by its flags alone, and then its next pass does it."""
    if any(source.key in committer.state.entries for source in _there(scope, held, committer.state)):
        leave_out_unsent(scope, held, committer)


def drop_refused(held: HeldFiles, scope: Scope) -> int:
    """Drops held files of projects that are now excluded, as every pass does. Returns how many files were dropped."""
    if not held.held.files:
        return 0
    discover(scope)  # a source that names no directory is judged by the other sources of its session
    return held.drop_refused(scope.refuses_source)


def try_to_drop_refused(flow: Flow) -> None:
    """The same, because no pass runs during a pause. If it fails, the next pass does it, and reports it."""
    with suppress(StateError):
        drop_refused(flow.held, flow.scope)


def _leave_out(committer: Committer, there: Sequence[Source], unsent: Sequence[Source]) -> None:
    """Moves the unsent sources to their ends. A source that cannot be read now is treated as if it did not exist."""
    ends = {source: end for source in unsent if (end := _end_of(source))}
    in_sight = {source.key for source in there} - {source.key for source in unsent if source not in ends}
    committer.leave_out(list(ends.items()), sum(map(committer.state.lag_of, unsent)), in_sight)


def _there(scope: Scope, held: HeldFiles, state: State) -> list[Source]:
    """All sources, plus the held files that stand in for deleted ones."""
    found = discover(scope)
    stand_ins = held.take_stock(found.files, state.entries, scope.roots, scope.takes_source)
    return [*found.files, *stand_ins.sources]


def _end_of(source: Source) -> Position | None:
    try:
        return position_at_end(source)
    except (SkipSource, SourceError):  # unreadable now: its lines will be judged by when they were written
        return None
