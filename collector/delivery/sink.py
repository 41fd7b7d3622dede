"""Sinks: how one kind of receiver is spoken to, and what a sink says about itself.

A sink renders events to a request and reads an answer to a verdict. It does no I/O and knows nothing of retries,
offsets, credentials, compression or TLS, so it is tested with values alone. One module in sinks/ and one line in the
registry there make a sink: everybody else asks what it says about itself, and nobody asks which type it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, TypeVar

from collector.flow.outcome import Sealed
from collector.settings import Settings
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
    """What came back; a body beyond a bound is cut."""

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
    """Not stored, and the same request may work later; `after` seconds if the sink said so."""

    reason: str
    after: float | None = None
    may_be_poison: bool = False


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Not stored; a smaller request would be."""

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
    """The most that a receiver takes, in bytes before compression: a request's body, and one event. None: not known."""

    body: int | None = None
    event: int | None = None


class Sink(Protocol):
    """One kind of receiver, with its options settled."""

    @property
    def limits(self) -> SinkLimits:
        """Larger requests are halved and longer events cut before they are sent."""

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The request that carries these events, the same each time; `key` names it, and a repeat has the same."""

    def classify(self, answer: Answer) -> Verdict:
        """What an answer means for the events it answers. Never raises, whatever a server says."""


@dataclass(frozen=True, slots=True)
class SinkType(Generic[OptionsT]):
    """What a sink says about itself. `options` become the table [sink.<name>] of the configuration.

    `place` is for a sink whose receiver lives in this process: the file that it keeps events in. Others need sink.url.
    """

    name: str
    summary: str
    options: type[OptionsT]
    make: Callable[[OptionsT], Sink]
    has_own_table: bool = True
    place: Callable[[Settings], Path] | None = None

    @property
    def needs_url(self) -> bool:
        """Whether it sends to sink.url."""
        return self.place is None

    def sink(self, settings: Settings) -> Sink:
        """The sink that these settings describe."""
        return self.make(settings.own_options(self))

    def address(self, settings: Settings) -> str:
        """Where events go, as people are told. A query is left out: it may hold a token."""
        if self.place is not None:
            return f"{self.summary}, {self.place(settings)}"
        return str(settings.sink.url).partition("?")[0]
