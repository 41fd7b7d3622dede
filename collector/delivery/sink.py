"""Sinks: how to speak to one kind of receiver, and what a sink says about itself.

In: events, and a receiver's answer. Out: a request, and what the answer means. A sink does no I/O and knows nothing of
retries, offsets, credentials, compression or TLS, so values are enough to test it. To add one takes a module in sinks/
and a line in the registry there. Invariant: other code asks a sink about itself, never which type it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, TypeVar

import httpx

from collector.flow.outcome import Sealed
from collector.flow.sink_identity import SinkIdentity
from collector.settings import Settings, state_key
from collector.settings.options import Section

NOTHING: Mapping[str, str] = MappingProxyType({})
OptionsT = TypeVar("OptionsT", bound=Section)


class Request(NamedTuple):
    """What is POSTed, before compression; `path` and `query` are added to sink.url."""

    body: bytes
    headers: Mapping[str, str]
    path: str = ""
    query: Mapping[str, str] = NOTHING


class Answer(NamedTuple):
    """What came back; a body that is too long is cut."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """Stored, except for the events named in `rejected` (id -> reason)."""

    rejected: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Not stored, but the same request may work later: after `after` seconds, if the sink said so."""

    reason: str
    after: float | None = None
    may_be_poison: bool = False


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Not stored, but a smaller request might be."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Not stored because of something in the body."""

    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """Not stored, and nothing will be until a person acts; `advice` says how."""

    reason: str
    advice: str


Decision = Accepted | Retry | TooLarge | Refused
Verdict = Decision | Halt


class SinkLimits(NamedTuple):
    """The most that a receiver takes, in bytes before compression: a request's body, and one event. None: unknown."""

    body: int | None = None
    event: int | None = None


class Sink(Protocol):
    """One kind of receiver, with its options applied."""

    @property
    def limits(self) -> SinkLimits:
        """Larger requests are halved, and longer events cut, before anything is sent."""

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The request for these events, the same every time. `key` names it, and a repeat has the same key."""

    def classify(self, answer: Answer) -> Verdict:
        """What an answer means for the events that were sent. Never raises, whatever a server says."""


@dataclass(frozen=True, slots=True)
class SinkType(Generic[OptionsT]):
    """What a sink says about itself. `options` become the table [sink.<name>] of the configuration.

    `place` is for a sink whose receiver runs in this process: the file in which it keeps events. Others need sink.url.
    `within` names the part of a receiver that options choose, such as an index: another part is another sink.
    """

    name: str
    summary: str
    options: type[OptionsT]
    make: Callable[[OptionsT], Sink]
    has_own_table: bool = True
    place: Callable[[Settings], Path] | None = None
    within: Callable[[OptionsT], str] = lambda _: ""

    @property
    def needs_url(self) -> bool:
        """Whether it sends to sink.url."""
        return self.place is None

    def sink(self, settings: Settings) -> Sink:
        """The sink that these settings describe."""
        return self.make(settings.own_options(self))

    def address(self, settings: Settings) -> str:
        """Where events go, in the words that people see. A query is left out, because it may hold a token."""
        if self.place is not None:
            return f"{self.summary}, {self.place(settings)}"
        return str(settings.sink.url).partition("?")[0]

    def identity(self, settings: Settings) -> SinkIdentity:
        """Which sink it is, among all that events were ever sent to. One that has a name may move as it likes."""
        if settings.sink_name:
            return SinkIdentity("sink", settings.sink_name)
        if self.place is not None:
            address = state_key(str(self.place(settings)))
        else:
            address = _plain(str(settings.sink.url))
            part = self.within(settings.own_options(self))
            address += f"#{part}" if part else ""
        return SinkIdentity(self.name, address, tuple(_plain(former) for former in settings.sink.formerly))


def _plain(url: str) -> str:
    """An address without what makes no difference, and without its query, which may hold a token."""
    try:
        known = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    if not known.host:  # a file: the embedded store
        return state_key(url)
    return str(known.copy_with(query=None)).rstrip("/")
