"""Deliver: sends batches, a small window of them at a time, and returns their receipts in order.

In: batches. Out: receipts, each saying that a batch is acknowledged, and which of its events the sink refused. If that
cannot be decided now, SinkUnavailable, SinkHalted or Stopped is raised, and the next pass sends everything after the
last receipt again. The threads that send are started here; settle.py decides the fate of one batch.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from dataclasses import replace
from typing import Any, TypeVar

from collector.delivery.channel import Channel, Posted
from collector.delivery.complaints import unavailable
from collector.delivery.health import Health
from collector.delivery.settle import Policy, Settling
from collector.delivery.sink import Accepted
from collector.delivery.waiting import POLL_SECONDS, Waiting
from collector.errors import Stopped
from collector.flow.batch import Batch
from collector.flow.interrupt import Interrupt
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Sealed
from collector.flow.receipt import Receipt

T = TypeVar("T")


class Deliverer:
    """Batches in, receipts out. Lives as long as its flow, so later passes know what it has learned about the sink."""

    def __init__(
        self,
        channel: Channel,
        policy: Policy,
        *,
        shutdown_timeout: float = 10.0,
        interrupt: Interrupt | None = None,
        observer: Observer = UNOBSERVED,
        poll: float = POLL_SECONDS,
    ) -> None:
        self.channel = channel
        self.policy = policy
        self._health, self._companions_health = Health(policy.clock), Health(policy.clock)
        self._shutdown_timeout = shutdown_timeout
        self._interrupt = interrupt or Interrupt()
        self._observer = observer
        self._poll = poll

    def deliver(self, batches: Iterable[Batch], when_failing: Callable[[], None] | None = None) -> Iterator[Receipt]:
        """Yields receipts in the order of the batches. Reading goes on while up to a window of requests is in flight.

        `when_failing` is called once, in the thread that waits for receipts, as soon as a request has failed and is
        about to be retried.
        """
        failure = FirstFailure(when_failing)
        flying: deque[Future[Receipt]] = deque()
        waiting = Waiting(self._interrupt, self.policy.clock)
        self._health.begin()
        self._companions_health.begin()
        try:
            for batch in batches:
                flying.append(self._start(batch, waiting, failure))
                failure.tell()
                # Only the oldest may land: a later one that is done first waits, or offsets would move out of order.
                while flying and (len(flying) >= self.policy.window or flying[0].done()):
                    yield self._land(flying.popleft(), failure)
                if self._interrupt.is_set:
                    break
            while flying:
                yield self._land(flying.popleft(), failure)
        finally:
            # However the walk ended, requests that are still being retried give up. If the sink accepts one after this,
            # there is no receipt, so its offsets stay and its events are sent again under the same ids (promise 1).
            waiting.abandon()

    @property
    def health(self) -> Health:
        """What is known about the sink: about the path that is failing, if only one is."""
        return self._health if self._companions_health.failing_since is None else self._companions_health

    def ask(self, event: Sealed) -> Posted:
        """Sends one event, and first what goes with it, without retries. The first failure decides, or else the last
        remark."""
        waiting, remark = Waiting(self._interrupt, self.policy.clock), ""
        for sent in [*Batch([event], [("", 0)]).companions.events, event]:
            posted = self.channel.post([sent], waiting)
            if not isinstance(posted.verdict, Accepted):
                break
            remark = posted.verdict.remark or remark
            posted = posted._replace(verdict=replace(posted.verdict, remark=remark))
        return posted

    def ask_within(self, event: Sealed, seconds: float, *, after_stop: bool = False) -> Posted | None:
        """Like `ask`, but for at most `seconds`, and not beyond a stop unless `after_stop`. None if no answer came."""
        interrupt = Interrupt() if after_stop else self._interrupt
        waiting = Waiting(interrupt, self.policy.clock)
        asked = _done_by_a_thread("ask", lambda: self.channel.post([event], waiting))
        deadline = time.monotonic() + seconds
        while not asked.done() and not interrupt.is_set and time.monotonic() < deadline:
            wait([asked], min(self._poll, seconds))
            self._observer.alive()
        return asked.result() if asked.done() else None

    def complaint(self) -> str:
        """What a person should know about a sink that is failing at the moment."""
        return unavailable(self.channel.address, self.health.reason)

    def _start(self, batch: Batch, waiting: Waiting, failure: FirstFailure) -> Future[Receipt]:
        if not batch.events:
            future: Future[Receipt] = Future()
            future.set_result(Receipt(batch, []))  # queued with the requests: its offsets wait for theirs
            return future

        def settled(batch: Batch, health: Health) -> Receipt:
            settling = Settling(
                batch,
                self.channel.post,
                health,
                self.policy,
                waiting,
                self.channel.address,
                when_failing=failure.happened,
            )
            return settling.receipt()

        def all_settled() -> Receipt:
            # First what goes with the events: while a sink fails on that, it does not store the events at every try.
            companions = batch.companions
            sent = settled(companions, self._companions_health).sent_bytes if companions.events else 0
            receipt = settled(batch, self._health)
            return receipt._replace(sent_bytes=receipt.sent_bytes + sent)

        return _done_by_a_thread("deliver", all_settled)

    def _land(self, future: Future[Receipt], failure: FirstFailure) -> Receipt:
        stopped_at: float | None = None
        while not future.done():
            wait(failure.awaited_with(future), self._poll, FIRST_COMPLETED)
            if future.done():
                break
            failure.tell()
            self._observer.waiting()
            if (since := self.health.failing_since) is not None:
                left = since + self.policy.retry.max_wait - self.policy.clock()
                self._observer.failing(self.health.tries, left)
            if self._interrupt.is_set:
                now = self.policy.clock()
                stopped_at = stopped_at or now
                if self._interrupt.is_urgent or now - stopped_at >= self._shutdown_timeout:
                    raise Stopped("Stopped while waiting for the sink; the next run sends what was in flight again.")
        return future.result()


def _done_by_a_thread(name: str, work: Callable[[], T]) -> Future[T]:
    """Does some work in a daemon thread: one that hangs in a dead connection must not keep the process alive."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
            future.set_exception(error)

    threading.Thread(target=do, name=name, daemon=True).start()
    return future


class FirstFailure:
    """Brings news of the first failed request to the thread that waits, which is woken for it and told once."""

    def __init__(self, told: Callable[[], None] | None) -> None:
        self._told = told
        self._happened: Future[None] = Future()

    def happened(self) -> None:
        """A request has failed. Called by the threads that send, any number of times."""
        with contextlib.suppress(InvalidStateError):
            self._happened.set_result(None)

    def awaited_with(self, receipt: Future[Any]) -> list[Future[Any]]:
        """The futures that wake the thread that waits for a receipt."""
        return [receipt, self._happened] if self._told else [receipt]

    def tell(self) -> None:
        """Passes the news on, if there is any and it has not been told yet."""
        if self._told and self._happened.done():
            told, self._told = self._told, None
            told()
