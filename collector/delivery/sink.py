"""Sinks: how to talk to each kind of receiver, and how a sink describes itself to the rest of the code.

In: events, and a receiver's answer. Out: requests, and what the answer means. A sink does no I/O and knows nothing
about retries, offsets, credentials, compression or TLS, so plain values are enough to test it. Adding one takes a
module in sinks/ and a line in its registry. Invariant: other code asks a sink for its properties, never for its type.
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
    """A request before compression. `path` and `query` are added to sink.url.

    With `names_encoding`, the path gets the suffix of the compression: .gz or .zst. `events` is how many events the
    request holds, for sinks whose answers have to account for each.
    """

    body: bytes
    headers: Mapping[str, str]
    path: str = ""
    query: Mapping[str, str] = NOTHING
    method: str = "POST"
    names_encoding: bool = False
    events: int = 0


class Answer(NamedTuple):
    """A receiver's answer; a body that is too long is cut. `path` and `events` are copied from the request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False
    path: str = ""
    events: int = 0

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; empty if there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Accepted:
    """Stored, except for the events named in `rejected` (id -> reason), and those in `later`, which may work later.

    `unnamed` is how many were rejected by a sink that does not say which. `remark` is anything else it said.
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
    """Not stored because of something in the body. With `may_pass`, perhaps only for now: try a few more times.

    `advice` says what a person can do if everything is refused.
    """

    reason: str
    may_pass: bool = False
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Halt:
    """Not stored, and nothing will be until a person acts; `advice` says how.

    With `may_be_poison`, a filter in between may say the same about one event alone.
    """

    reason: str
    advice: str
    may_be_poison: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """Received but not acknowledged yet: send `ask` again and again, for at most `patience` seconds."""

    ask: Request
    reason: str
    patience: float


Verdict = Accepted | Retry | TooLarge | Refused | Halt
Signer = Callable[[str, str, Mapping[str, str], bytes], Mapping[str, str]]


class SinkLimits(NamedTuple):
    """The largest body and the largest event that a receiver takes, in bytes before compression. None: unknown."""

    body: int | None = None
    event: int | None = None


class Sink(Protocol):
    """One kind of receiver, with its options applied."""

    @property
    def limits(self) -> SinkLimits:
        """Larger requests are halved and larger events cut before anything is sent."""

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The request for these events, the same every time. `key` identifies it: a repeat has the same key."""

    def classify(self, answer: Answer) -> Verdict | Pending:
        """What an answer means for the events that were sent. Never raises, whatever a server says."""


class Follower(Protocol):
    """Follows events in reading order, for a sink that needs more context than a batch. It sees every item of a source
    as it is read, before batches are made. What it adds to `Sealed.beside` travels with that event, and must not depend
    on where reading began. If it is sealed itself, it is rendered apart from events."""

    def follow(
        self, key: str, offset: int, items: Iterable[Item], before: Callable[[int], Iterable[Item]]
    ) -> Iterator[Item]:
        """Passes on all items of a source from an offset on. `before(n)` gives those in the n bytes before it."""


@dataclass(frozen=True, slots=True)
class SinkType(Generic[OptionsT]):
    """A sink's description of itself. `options` become the table [sink.<name>] of the configuration.

    `place` is for a sink whose receiver runs in this process: the file in which it keeps events. All others need
    sink.url. `within` names the part of a receiver that the options choose, such as an index: a different part is a
    different sink. `scheme` is the word before the token in the Authorization header. `signer` makes the headers that
    authenticate a request, from its method, URL, headers and body as they go out. `check` raises ConfigurationError for
    options that conflict with the settings that all sinks share. `lookup` makes the request that looks for an event
    sent at a given time: if the event's id is in the answer, the receiver has it. So if errors quote the request, it
    must not contain the id in one piece. None: the receiver cannot be queried at the address that events are sent to.
    `accompanied` adds to a test event what a follower would, so that a check covers all paths of the receiver.
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
    accompanied: Callable[[OptionsT, Sealed], Sealed] = lambda _, event: event

    @property
    def needs_url(self) -> bool:
        """Whether it sends to sink.url, rather than to a receiver in this process."""
        return self.place is None

    def followed_by(self, settings: Settings) -> Follower | None:
        """The follower of the sink that these settings describe, if it has one."""
        return self.follower(settings.own_options(self))

    def sink(self, settings: Settings) -> Sink:
        """The sink that these settings describe."""
        options = settings.own_options(self)
        self.check(options, settings.sink)
        return self.make(options)

    def sign(self, settings: Settings) -> Signer | None:
        """The signer for the requests to that sink, if they are signed."""
        return None if self.signer is None else self.signer(settings.own_options(self))

    def address(self, settings: Settings) -> str:
        """Where events go, as shown to people."""
        if self.place is not None:
            return f"{self.summary}, {self.place(settings)}"
        return told(str(settings.sink.url))

    def identity(self, settings: Settings) -> SinkIdentity:
        """Tells this sink from all others that events were ever sent to. A named sink stays the same if it moves."""
        # An earlier version stored addresses with the tokens in them.
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
    """An address as it is stored now, and as earlier versions stored it if that differs."""
    plain = _plain(url)
    return list(dict.fromkeys([told(plain), plain]))


def _plain(url: str) -> str:
    """Normalizes an address and drops its query, which may hold a token. A name is returned unchanged."""
    if "/" not in url:
        return url
    if "//" not in url and url.isprintable():  # a file: the embedded store
        return state_key(url)
    import httpx  # here: with the embedded store, most commands do not need it

    try:
        known = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    if not known.host:
        return state_key(url)
    return str(known.copy_with(query=None)).rstrip("/")
