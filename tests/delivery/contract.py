"""Describes a sink's receiver to the contract suite: how it reads a request, and what it answers in each case.

Every registered sink needs a `Receiving` in receivers.py; everything else follows from that. The server is real and
listens on loopback: `serving(receiving)` starts it, and `deliverer` sets up everything that delivers to it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from collector.delivery.channel import Channel
from collector.delivery.credentials import Credentials
from collector.delivery.settle import Policy
from collector.delivery.sink import Answer as Received
from collector.delivery.sink import Pending, SinkType, Verdict
from collector.delivery.sink import Sink as SinkProtocol
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.settings.options import SinkSettings
from tests.delivery.sending import patient
from tests.sink import Answer, Request, Sink


@dataclass(frozen=True)
class Receiving:
    """One kind of receiver: how its sink writes to it, and what it may answer."""

    sink: SinkType[Any]
    ids: Callable[[Request], list[str]]
    accepted: Answer
    later: Callable[[int], Answer]  # try again after this many seconds
    too_large: Answer
    halted: Answer
    rejected: Callable[[str, list[str]], Answer] | None = None  # accepts all these ids except the first argument
    refused: Answer | None = None  # some event is bad; None if the receiver does not inspect events
    unacknowledged: tuple[Answer, ...] = ()  # 2xx answers that say nothing about the events
    options: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""  # what the sink adds to the URL

    def make(self) -> SinkProtocol:
        """The sink, with its options."""
        return self.sink.make(self.sink.options(**self.options))

    def verdict(self, answer: Answer) -> Verdict | Pending:
        """How the sink classifies an answer."""
        assert isinstance(answer.body, bytes)
        return self.make().classify(Received(answer.status, httpx.Headers(answer.headers), answer.body))


class Server:
    """A running receiver and the ids it stored: the events of every request that it answered with `accepted`."""

    def __init__(self, receiving: Receiving, sink: Sink) -> None:
        self.receiving = receiving
        self.sink = sink
        self.stored: list[str] = []
        self.transports: list[Transport] = []
        self._lock = threading.Lock()

    @property
    def requests(self) -> list[list[str]]:
        """The ids of each request, in order of arrival."""
        return [self.receiving.ids(request) for request in self.sink.posts]

    def say(self, rule: Callable[[list[str]], Answer | None]) -> None:
        """Answers each request by a rule over its ids; None from the rule accepts them."""

        def answer(request: Request) -> Answer:
            ids = self.receiving.ids(request)
            said = rule(ids)
            if said is None:
                with self._lock:
                    self.stored += ids
            return said or self.receiving.accepted

        self.sink.then = answer


@contextmanager
def serving(receiving: Receiving) -> Iterator[Server]:
    """Starts a server that accepts everything until `say` changes that."""
    with Sink() as sink:
        server = Server(receiving, sink)
        server.say(lambda ids: None)
        try:
            yield server
        finally:
            for transport in server.transports:
                transport.close()


def deliverer(server: Server, credentials: Credentials | None = None, url: str = "", **options: Any) -> Deliverer:
    """A deliverer that posts to this server over a real transport with these options."""
    transport = Transport(SinkSettings(**options), url or server.sink.url, credentials)
    server.transports.append(transport)
    return Deliverer(Channel(server.receiving.make(), transport), Policy(patient(20.0), window=1))
