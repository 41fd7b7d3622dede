"""Lists the sessions and the state of each: sent, partly sent, pending, excluded, left out, held.

In: the settings. Out: one row per session, newest first, and one for each source that belongs to none. Invariant:
nothing that a person has excluded is opened; only the name, size and date of an excluded session are looked at.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from collector.assembly import committer_of, held_of, scope_of, state_of
from collector.flow.source import Source
from collector.keeping.left_out import is_history, to_be_sent
from collector.keeping.pause import is_asked_to_leave_out
from collector.keeping.state import State
from collector.log import timestamp
from collector.reading.discover import discover
from collector.reading.scope import Scope
from collector.settings import Settings

SENT, PENDING, PARTLY, EXCLUDED, HELD = "sent", "pending", "partly sent", "excluded", "held"
LEFT_OUT = "left out"


class Row(NamedTuple):
    """One session: the size of its files, its latest change, how much of it is unsent, and its state."""

    session: str
    project: str
    changed: str
    bytes: int
    unsent: int
    sources: int
    state: str


def sessions(settings: Settings) -> list[Row]:
    """Every session below the roots, newest first."""
    scope, state = scope_of(settings), state_of(settings).load(may_repair=False)
    if is_asked_to_leave_out(state.path):
        committer_of(state, settings, is_dry_run=True).leave_out([], 0, state.entries)  # as the next pass does
    everything = dataclasses.replace(scope, include=(), exclude=(), narrower=())
    files = held_of(settings, is_dry_run=True).held
    held = {file.original.key for file in files.files}
    found = discover(everything).files
    deleted = files.find_stand_ins(found, state.entries, scope.roots, scope.takes_source).sources
    taken = {source.key for source in (*discover(scope).files, *deleted)}
    found += deleted
    groups: dict[tuple[str, str], list[Source]] = {}
    for source in found:
        groups.setdefault((source.project, source.session_id or source.key), []).append(source)
    rows = []
    for (project, session), sources in groups.items():
        mine = [source for source in sources if source.key in taken and not _sums_up_too_much(source, scope)]
        unsent = sum(to_be_sent(source, state) for source in mine)
        rows.append(
            Row(
                session,
                project,
                timestamp(max(source.stamp.mtime_ns for source in sources) / 1e9),
                sum(source.stamp.size for source in sources),
                unsent,
                len(sources),
                _state(mine, unsent, {source.key for source in sources} & held, state),
            )
        )
    return sorted(rows, key=lambda row: row.changed, reverse=True)


def _sums_up_too_much(source: Source, scope: Scope) -> bool:
    """Whether a source is read, but all of it skipped: statistics, which add up the excluded projects too."""
    return source.kind.is_document and not source.project and not scope.filter_of(source.root).is_open


def _state(mine: list[Source], unsent: int, held: set[str], state: State) -> str:
    if not mine:
        return EXCLUDED
    if held:
        return HELD
    was_never_sent = any(map(state.lag_of, mine)) or state.has_left_out_all
    if was_never_sent and all(is_history(source, state) for source in mine):
        return LEFT_OUT
    if not unsent:
        return SENT
    return PENDING if unsent >= sum(source.stamp.size for source in mine) else PARTLY
