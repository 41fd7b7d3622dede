"""The way out: the parts that an event passes through as it leaves, from the redactor to the connection.

In: settings. Out: those parts, for use inside a `with` block. They live apart from the rest because a scan that finds
nothing new needs none of them: assembly.py imports this module, and with it half of all modules, only for an event.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from collector import settings as configuration
from collector.delivery.channel import Channel
from collector.delivery.credentials import credentials_now
from collector.delivery.dry_run import DrySink, transport_to_nowhere
from collector.delivery.gather import BatchLimits
from collector.delivery.settle import Policy
from collector.delivery.sink import SinkType
from collector.delivery.sinks.registry import SINKS
from collector.delivery.transport import Transport
from collector.delivery.waiting import Uniform
from collector.delivery.window import Deliverer
from collector.flow.interrupt import Interrupt
from collector.flow.line import Line
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Quarantined, Sealed
from collector.keeping.pause import before_each_request, before_each_request_of_a_pass
from collector.redact import Options, Redactor, names_of, seal, to_quarantine
from collector.settings import Settings
from collector.store.limits import Keeping

_one_at_a_time = threading.Lock()  # when several sinks start at once, one compiles the rules and the rest reuse them


@dataclass(slots=True)
class WayOut:
    """What a pass that reads something needs beyond a Flow."""

    redactor: Redactor
    limits: BatchLimits
    max_event_bytes: int
    deliverer: Deliverer

    def seal(
        self,
        event: dict[str, Any],
        shapes: Mapping[str, re.Pattern[str]] | None = None,
        reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> Sealed:
        """Redacts an event, reduces it to what may leave, cuts it to size, and serializes it."""
        return seal(event, self.redactor, self.max_event_bytes, shapes, reduced)

    def to_quarantine(self, line: Line) -> Quarantined:
        """Redacts a line that could not be understood, for the quarantine."""
        return to_quarantine(line, self.redactor)


@contextlib.contextmanager
def opened(
    settings: Settings,
    key: bytes,
    *,
    is_dry_run: bool,
    interrupt: Interrupt | None,
    observer: Observer,
    uniform: Uniform,
) -> Iterator[WayOut]:
    """Opens the way out that these settings describe; `key` is the installation's."""
    redactor = make_redactor(settings, key, observer.preparing)
    policy, timeout = policy_of(settings, uniform=uniform), settings.run.shutdown_timeout
    standstill = before_each_request_of_a_pass(settings)
    with open_channel(settings, redactor, is_dry_run=is_dry_run, standstill=standstill) as channel:
        batch, limits = settings.batch, channel.sink.limits
        yield WayOut(
            redactor=redactor,
            limits=limits_of(settings, limits.body),
            max_event_bytes=lesser(batch.max_event_bytes, limits.event),
            deliverer=Deliverer(channel, policy, shutdown_timeout=timeout, interrupt=interrupt, observer=observer),
        )


def make_redactor(settings: Settings, key: bytes, preparing: Callable[[], None] = UNOBSERVED.preparing) -> Redactor:
    """Builds the redactor with the rules in force. A fleet's key, if configured, replaces the installation's."""
    chosen = settings.redaction
    with _one_at_a_time:
        return Redactor(
            Options(
                key=settings.redaction_key(key),
                engine=chosen.engine,
                disabled=frozenset(chosen.disable),
                rules=tuple(chosen.rules),
                personal=tuple(chosen.personal),
                fields=tuple(chosen.fields),
                identity=chosen.identity,
                names=_names_here(settings) if chosen.identity else (),
                cache_dir=configuration.cache_directory(),
                preparing=preparing,
            )
        )


def _names_here(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The name of this machine, and the name and address of its git user."""
    person, address = configuration.git_identity(configuration.home())
    return names_of(settings.host_name, person, address)


def limits_of(settings: Settings, most: int | None = None) -> BatchLimits:
    """The limits on the size of a batch, for a sink that accepts at most `most` bytes."""
    # Larger batches mean fewer transactions, so the embedded store rewrites fewer pages: this saves 4 % of the CPU of a
    # scan into it. Other sinks have up to four times as much in flight.
    times = 1 if SINKS[settings.sink_type].needs_url else 2
    batch = settings.batch
    return BatchLimits(times * batch.max_events, lesser(times * batch.max_bytes, most), batch.linger)


def policy_of(
    settings: Settings,
    *,
    may_halt: bool = True,
    uniform: Uniform = random.uniform,
) -> Policy:
    """The retry policy: how often, how long, and with how many requests in flight."""
    # Reading waits while the embedded store works. Both share this interpreter, so overlapping them finishes no sooner,
    # and passing the GIL back and forth at every row cost a fifth of the CPU of a scan.
    return Policy(
        settings.retry,
        window=settings.sink.window if SINKS[settings.sink_type].needs_url else 1,
        may_halt=may_halt,
        uniform=uniform,
    )


@contextlib.contextmanager
def open_channel(
    settings: Settings,
    redactor: Redactor,
    *,
    is_dry_run: bool = False,
    standstill: Callable[[], object] | None = None,
) -> Iterator[Channel]:
    """Opens the channel to the sink that these settings describe."""
    chosen = SINKS[settings.sink_type]
    sink = chosen.sink(settings)
    with _transport(settings, chosen, is_dry_run=is_dry_run) as transport:
        yield Channel(
            DrySink(sink) if is_dry_run else sink,
            transport,
            address=chosen.address(settings),
            clean=redactor.text,
            max_rate=settings.sink.max_rate,
            standstill=(lambda: None) if is_dry_run else standstill or before_each_request(settings),
        )


def lesser(configured: int, limit: int | None) -> int:
    """The configured size, or the receiver's limit if that is smaller."""
    return configured if limit is None else min(configured, limit)


@contextlib.contextmanager
def _transport(settings: Settings, chosen: SinkType[Any], *, is_dry_run: bool) -> Iterator[Transport]:
    """Opens the transport: over the network, to the embedded store, or to nowhere at all."""
    sink, scheme = settings.sink, chosen.scheme
    if chosen.place is not None:  # compressing gains nothing when this same process would decompress
        sink = sink.model_copy(update={"compression": "none"})
    with contextlib.ExitStack() as stack:
        if is_dry_run:
            transport = transport_to_nowhere(sink)
        elif chosen.place is not None:
            from collector.store import inside  # imported here: remote sinks need no database

            keeping = Keeping(settings.store.prices, settings.store.retention_days)
            store = stack.enter_context(inside.opened(chosen.place(settings), keeping))
            transport = Transport(sink, inside.URL, None, store)
        else:
            transport = Transport(
                sink,
                str(sink.url),
                credentials_now(sink, scheme),
                renewed=lambda: credentials_now(sink, scheme),
                sign=chosen.sign(settings),
            )
        stack.callback(transport.close)
        yield transport
