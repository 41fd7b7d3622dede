"""What the next pass would send: the events, redacted, in the order in which they would leave.

In: the settings, and which events are wanted. Out: events, byte for byte as a sink would get them, or the reason why
there are none. Invariant: nothing is sent, saved or locked, so a preview may run beside the agent.
"""

from __future__ import annotations

import contextlib
import enum
import fnmatch
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import orjson

from collector.assembly import assembled
from collector.delivery.channel import idempotency_key
from collector.delivery.gather import batches
from collector.flow.ledger import Ledger
from collector.flow.outcome import Item, Quarantined, Sealed, Skip
from collector.flow.source import Source
from collector.keeping.pause import is_asked_to_leave_out
from collector.pipeline import Flow, outcomes
from collector.reading.discover import Findings, discover
from collector.settings import Settings

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Wanted(NamedTuple):
    """Which events to show: those of a session, from sources that match `source`, no older than `since`; from the start
    or only unsent ones; at most `limit`, or all if it is 0."""

    source: str
    since: str
    is_from_start: bool
    session: str
    limit: int


class WhyEmpty(enum.Enum):
    """Why a preview has no events."""

    NO_SOURCE = enum.auto()  # there is nothing to read
    NO_MATCH = enum.auto()  # no source matches the request
    NO_SESSION = enum.auto()  # no session has that id
    ALL_OLDER = enum.auto()  # no event is recent enough
    ALL_SENT = enum.auto()  # nothing is left to send
    ALL_SKIPPED = enum.auto()  # no line yields an event


class Preview:
    """The events, each made when it is asked for; the number of skipped and quarantined lines, by reason; and why there
    are no events."""

    def __init__(self, flow: Flow, found: Findings, wanted: Wanted) -> None:
        self._flow, self._found, self._wanted = flow, found, wanted
        self.skipped: Counter[str] = Counter()
        self.quarantined: Counter[str] = Counter()
        self.shown = 0
        self.is_cut = False

    @property
    def events(self) -> Iterator[Sealed]:
        """The events, in the order in which they would leave."""
        return (outcome for _, outcome in self._items() if isinstance(outcome, Sealed))

    @property
    def requests(self) -> Iterator[bytes]:
        """The bodies of the requests, before compression, as the sink would get them."""
        for batch in batches(self._items(), self._flow.limits):
            for events in filter(None, (batch.companions.events, batch.events)):
                key = idempotency_key(events)
                yield self._flow.deliverer.channel.sink.render(events, key).body

    @property
    def why_empty(self) -> WhyEmpty:
        """Why there are no events."""
        wanted = self._wanted
        if not self._found.files:
            if wanted.source:
                return WhyEmpty.NO_MATCH
            return WhyEmpty.NO_SESSION if wanted.session else WhyEmpty.NO_SOURCE
        if wanted.since:
            return WhyEmpty.ALL_OLDER
        return WhyEmpty.ALL_SKIPPED if wanted.is_from_start else WhyEmpty.ALL_SENT

    def _items(self) -> Iterator[Item]:
        for line, outcome in outcomes(self._flow, Ledger(), self._found):
            match outcome:
                case Sealed(body=body):
                    if self._wanted.since and orjson.loads(body)["time"] < self._wanted.since:
                        continue
                    if self._wanted.limit and self.shown >= self._wanted.limit:
                        self.is_cut = True
                        return
                    self.shown += 1
                case Skip(reason=reason):
                    self.skipped[reason] += 1
                case Quarantined(reason=reason):
                    self.quarantined[reason] += 1
            yield line, outcome


@contextlib.contextmanager
def previewed(settings: Settings, wanted: Wanted) -> Iterator[Preview]:
    """What these settings would send, for as long as the `with` block lasts."""
    with assembled(settings, "preview", is_dry_run=True) as flow:
        if is_asked_to_leave_out(flow.state.path):
            flow.committer.leave_out([], 0, flow.state.entries)  # in this copy, as the next pass does
        if wanted.is_from_start:
            flow.committer.reset(list(flow.state.entries))  # only in this copy: a dry run saves no state
        found, known, scope = discover(flow.scope), flow.state.entries, flow.scope
        found.add(flow.held.held.find_stand_ins(found.files, known, scope.roots, scope.takes_source).sources)
        if wanted.source:
            found.files = [each for each in found.files if matches(each, wanted.source)]
        if wanted.session:
            found.files = [each for each in found.files if (each.session_id or each.key).startswith(wanted.session)]
        found.is_partial = bool(wanted.source or wanted.session)  # files missing from it are not gone
        yield Preview(flow, found, wanted)


def matches(source: Source, pattern: str) -> bool:
    """Whether a source's path, as it is or with ~ for the home, contains the text or matches it as a glob."""
    return any(pattern in name or fnmatch.fnmatchcase(name, pattern) for name in (source.key, source.path))


def moment(text: str, now: datetime) -> str:
    """Converts a date, or a time ago such as 3d, to the form that events use. Raises ValueError for anything else."""
    ago = re.fullmatch(r"(\d+)([smhdw])", text)
    try:
        meant = now - timedelta(**{UNITS[ago[2]]: int(ago[1])}) if ago else datetime.fromisoformat(text)
        return meant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except OverflowError:
        raise ValueError("before the first year") from None
