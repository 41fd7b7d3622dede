"""What the next pass would send: the events, redacted, in the order in which they would leave.

In: the settings, and which events are wanted. Out: events byte for byte as a sink would get them, and the reason when
there are none. Invariant: nothing is sent, saved or locked, so it may run beside the agent.
"""

from __future__ import annotations

import contextlib
import enum
import fnmatch
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import orjson

from collector.assembly import assembled
from collector.flow.ledger import Ledger
from collector.flow.outcome import Sealed
from collector.pipeline import Flow, outcomes
from collector.reading.discover import Findings, discover
from collector.settings import Settings

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Wanted(NamedTuple):
    """Which events: of sources that match `source`, no older than `since`; from the start, or only what is unsent."""

    source: str = ""
    since: str = ""
    is_from_start: bool = False


class WhyEmpty(enum.Enum):
    """Why a preview has no events."""

    NO_SOURCE = enum.auto()  # there is nothing to read
    NO_MATCH = enum.auto()  # no source matches what was asked for
    ALL_OLDER = enum.auto()  # no event is as recent as was asked for
    ALL_SENT = enum.auto()  # nothing is left to send
    ALL_SKIPPED = enum.auto()  # not one line gives an event


class Preview(NamedTuple):
    """The events, each made when it is taken, and what it means if none comes."""

    events: Iterator[Sealed]
    why_empty: WhyEmpty


@contextlib.contextmanager
def previewed(settings: Settings, wanted: Wanted) -> Iterator[Preview]:
    """What these settings would send, for as long as the `with` block lasts."""
    with assembled(settings, "preview", is_dry_run=True) as flow:
        if wanted.is_from_start:
            flow.committer.reset(list(flow.state.entries))  # of this copy only: a dry run saves no state
        found = discover(flow.scope)
        if wanted.source:
            found.files = [each for each in found.files if matches(each.key, wanted.source)]
            found.is_partial = True  # what is missing from it is not gone
        yield Preview(_events(flow, found, wanted.since), _why_empty(found, wanted))


def matches(key: str, pattern: str) -> bool:
    """Whether a source's key contains the text, or matches it as a glob."""
    return pattern in key or fnmatch.fnmatchcase(key, pattern)


def moment(text: str, now: datetime) -> str:
    """A date, or a time ago such as 3d, in the form in which events carry it; raises ValueError for anything else."""
    ago = re.fullmatch(r"(\d+)([smhdw])", text)
    try:
        meant = now - timedelta(**{UNITS[ago[2]]: int(ago[1])}) if ago else datetime.fromisoformat(text)
        return meant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except OverflowError:
        raise ValueError("before the first year") from None


def _events(flow: Flow, found: Findings, since: str) -> Iterator[Sealed]:
    for item in outcomes(flow, Ledger(), found):
        event = item.outcome
        if isinstance(event, Sealed) and not (since and orjson.loads(event.body)["time"] < since):
            yield event


def _why_empty(found: Findings, wanted: Wanted) -> WhyEmpty:
    if not found.files:
        return WhyEmpty.NO_MATCH if wanted.source else WhyEmpty.NO_SOURCE
    if wanted.since:
        return WhyEmpty.ALL_OLDER
    return WhyEmpty.ALL_SKIPPED if wanted.is_from_start else WhyEmpty.ALL_SENT
