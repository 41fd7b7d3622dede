"""Sinks: how to speak to one kind of receiver, and what a sink says about itself.

In: events, and a receiver's answer. Out: requests, and what the answer means. A sink does no I/O and knows nothing of
retries, offsets, credentials, compression or TLS, so values are enough to test it. To add one takes a module in sinks/
and a line in the registry there. Invariant: other code asks a sink about itself, never which type it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, TypeVar

from collector.flow.outcome import Item, Sealed
from collector.flow.sink_identity import SinkIdentity
from collector.settings import Settings, state_key
from collector.settings.addresses import in_utf_8, told
from collector.settings.options import SinkSettings
from collector.settings.section import Section

NOTHING: Mapping[str, str] = MappingProxyType({})
OptionsT = TypeVar("OptionsT", bound=Section)


class Request(NamedTuple):
    """What is sent, before compression; `path` and `query` are added to sink.url.

    With `names_encoding` the path ends in what compressed files are called: .gz or .zst. `events` is how many it holds,
    where the answer has to say something of each.
    """

    body: bytes
    headers: Mapping[str, str]
    path: str = ""
    query: Mapping[str, str] = NOTHING
    method: str = "POST"
    names_encoding: bool = False
    events: int = 0


class Answer(NamedTuple):
    """What came back; a body that is too long is cut. `path` and `events` are those of its request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False
    path: str = ""
    events: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """Stored, except for the events named in `rejected` (id -> reason), and those in `later`, which may work later.

    `unnamed` is how many were rejected by a sink that does not say which. `remark` is what it said beside.
    """

    rejected: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0
    later: frozenset[str] = frozenset()
    unnamed: int = 0
    remark: str = ""


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


@dataclass(frozen=True, slots=True)
class Pending:
    """Taken, but not acknowledged yet: `ask` that, every `every` seconds, for no longer than `patience` seconds."""

    ask: Request
    reason: str
    every: float = 1.0
    patience: float = 120.0


Decision = Accepted | Retry | TooLarge | Refused
Verdict = Decision | Halt
Signer = Callable[[str, str, Mapping[str, str], bytes], Mapping[str, str]]


class SinkLimits(NamedTuple):
    """The most that a receiver takes, in bytes before compression: a request's body, and one event. None: unknown."""

    body: int | None = None
    event: int | None = None


class Sink(Protocol):
    """One kind of receiver, with its options applied."""

    @property
    def limits(self) -> SinkLimits:
        """Larger requests are halved, and longer events cut, before anything is sent."""

    def render(self, events: Sequence[Sealed], key: str) -> Sequence[Request]:
        """The requests for these events, the same every time. `key` names them, and a repeat has the same key.

        They are sent in this order, and the events are acknowledged once all are: one that fails has all of them sent
        again, so each must be harmless to repeat.
        """

    def classify(self, answer: Answer) -> Verdict | Pending:
        """What an answer means for the events that were sent. Never raises, whatever a server says."""


class Follower(Protocol):
    """What a sink has to know of events in their order: it sees all of a source, while it is read, before batches are
    made. Whatever it adds to `Sealed.beside` travels with that event, and must not depend on where reading began."""

    def follow(
        self, key: str, offset: int, items: Iterable[Item], before: Callable[[int], Iterable[Item]]
    ) -> Iterator[Item]:
        """The items of a source from an offset on, none left out. `before` gives those in so many bytes before it."""


@dataclass(frozen=True, slots=True)
class SinkType(Generic[OptionsT]):
    """What a sink says about itself. `options` become the table [sink.<name>] of the configuration.

    `place` is for a sink whose receiver runs in this process: the file in which it keeps events. Others need sink.url.
    `within` names the part of a receiver that options choose, such as an index: another part is another sink.
    `scheme` is the word before the token in the Authorization header. `signer` makes the headers by which a request
    says who sends it, from its method, URL, headers and body as they go out. `check` raises ConfigurationError for
    options that do not fit the settings that all sinks share. `lookup` makes the request that asks for an event which
    was sent at that time; an answer with the event's id, which the request must not contain as it stands where an error
    would quote it, says that the receiver has it. None: it cannot be asked where events are sent to.
    """

    name: str
    summary: str
    options: type[OptionsT]
    make: Callable[[OptionsT], Sink]
    has_own_table: bool = True
    place: Callable[[Settings], Path] | None = None
    within: Callable[[OptionsT], str] = lambda _: ""
    follower: Callable[[OptionsT], Follower | None] = lambda _: None
    scheme: str = "Bearer"
    signer: Callable[[OptionsT], Signer] | None = None
    check: Callable[[OptionsT, SinkSettings], None] = lambda _options, _settings: None
    lookup: Callable[[OptionsT, Sealed, float], Request] | None = None

    @property
    def is_here(self) -> bool:
        """Whether its receiver runs in this process."""
        return self.place is not None

    @property
    def needs_url(self) -> bool:
        """Whether it sends to sink.url."""
        return not self.is_here

    def followed_by(self, settings: Settings) -> Follower | None:
        """What follows the events of these settings' sink, if anything does."""
        return self.follower(settings.own_options(self))

    def sink(self, settings: Settings) -> Sink:
        """The sink that these settings describe."""
        options = settings.own_options(self)
        self.check(options, settings.sink)
        return self.make(options)

    def sign(self, settings: Settings) -> Signer | None:
        """What signs the requests of these settings."""
        return None if self.signer is None else self.signer(settings.own_options(self))

    def address(self, settings: Settings) -> str:
        """Where events go, in the words that people see."""
        if self.place is not None:
            return f"{self.summary}, {self.place(settings)}"
        return told(str(settings.sink.url))

    def identity(self, settings: Settings) -> SinkIdentity:
        """Which sink it is, among all that events were ever sent to. One that has a name may move as it likes."""
        # An earlier version kept addresses with the tokens in them.
        former = [form for each in settings.sink.formerly for form in _forms(each)]
        if settings.sink_name:
            return SinkIdentity("sink", settings.sink_name, tuple(former))
        if self.place is not None:
            address = in_utf_8(state_key(str(self.place(settings))))
        else:
            part = self.within(settings.own_options(self))
            address, *before = (f"{form}#{part}" if part else form for form in _forms(str(settings.sink.url)))
            former += before
        return SinkIdentity(self.name, address, tuple(former))


def _forms(url: str) -> list[str]:
    """An address as it is kept, and where that differs, as it was by earlier versions."""
    plain = _plain(url)
    return list(dict.fromkeys([told(plain), plain]))


def _plain(url: str) -> str:
    """An address without what makes no difference, and without its query, which may hold a token; a name as it is."""
    if "/" not in url:
        return url
    if "//" not in url and url.isprintable():  # a file: the embedded store
        return state_key(url)
    import httpx  # here: for the embedded store, most commands do without it

    try:
        known = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    if not known.host:
        return state_key(url)
    return str(known.copy_with(query=None)).rstrip("/")
