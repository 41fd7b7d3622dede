"""Batches of small events, and an in-memory receiver that answers by a rule, for tests that need no socket."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import httpx
import orjson

from collector.delivery.channel import Channel
from collector.delivery.sink import Sink
from collector.delivery.sinks.http import HttpSink
from collector.delivery.transport import Transport
from collector.flow.batch import Batch
from collector.flow.outcome import Sealed
from collector.settings.options import RetrySettings, SinkSettings

QUICK = RetrySettings(initial_interval=0.001, max_interval=0.002)
Rule = Callable[[list[str]], httpx.Response]


def patient(seconds: float) -> RetrySettings:
    """Quick tries, for at most this long."""
    return QUICK.model_copy(update={"max_wait": seconds})


def sealed(name: str, size: int = 0) -> Sealed:
    return Sealed(name, orjson.dumps({"id": name, "text": "x" * size}), {})


def batch(*names: str, size: int = 0) -> Batch:
    made = Batch()
    for number, name in enumerate(names):
        made.events.append(sealed(name, size))
        made.places.append(("s", number))
    return made


def names(count: int) -> list[str]:
    return [f"e{number}" for number in range(count)]


class Receiver:
    """Answers by a rule; remembers every request and the ids it stored."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.requests: list[list[str]] = []
        self.stored: set[str] = set()
        self.lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        ids = [orjson.loads(line)["id"] for line in request.content.splitlines()]
        with self.lock:
            self.requests.append(ids)
            answer = self.rule(ids)
            if answer.is_success:
                self.stored.update(ids)
        return answer


def taking(ids: list[str]) -> httpx.Response:
    """The rule of a receiver that accepts everything."""
    return httpx.Response(200)


def answering(*answers: httpx.Response) -> Rule:
    """Gives these answers in turn, and accepts every request after the last."""
    told = itertools.chain(answers, itertools.repeat(httpx.Response(200)))
    return lambda ids: next(told)


def failing_on(*bad: str, status: int = 400) -> Rule:
    return lambda ids: httpx.Response(status if set(ids) & set(bad) else 200)


def channel(receiver: Callable[[httpx.Request], httpx.Response], sink: Sink | None = None) -> Channel:
    """A channel through the http sink, or another one, to this receiver."""
    settings, mock = SinkSettings(compression="none"), httpx.MockTransport(receiver)
    return Channel(sink or HttpSink(), Transport(settings, "http://localhost/in?key=hidden", None, mock))
