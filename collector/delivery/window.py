"""Deliver: sends batches, a small window of them at once, and gives their receipts in order.

In: batches. Out: receipts, each saying that a batch is acknowledged and which of its events the sink would not have.
What cannot be decided now raises SinkUnavailable, SinkHalted or Stopped; batches after the last receipt are sent again
by the next pass. This is the one place with threads; what becomes of one batch is in settle.py.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from typing import Any

from collector.delivery.channel import Channel, Posted
from collector.delivery.complaints import unavailable
from collector.delivery.health import Health
from collector.delivery.settle import Policy, Settling
from collector.delivery.waiting import POLL_SECONDS, Waiting
from collector.errors import Stopped
from collector.flow.batch import Batch
from collector.flow.interrupt import Interrupt
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.outcome import Sealed
from collector.flow.receipt import Receipt


class Deliverer:
    """Batches in, receipts out. One lives as long as the agent, so what it learned of the sink stays known."""

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
        self.health = Health(policy.clock)
        self._shutdown_timeout = shutdown_timeout
        self._interrupt = interrupt or Interrupt()
        self._observer = observer
        self._poll = poll

    def deliver(self, batches: Iterable[Batch], when_failing: Callable[[], None] | None = None) -> Iterator[Receipt]:
        """Receipts in the order of the batches; reading goes on while up to a window of requests is in flight.

        `when_failing` is called once, in the thread that waits for receipts, as soon as a request has failed and is
        about to be tried again.
        """
        failure = FirstFailure(when_failing)
        flying: deque[Future[Receipt]] = deque()
        waiting = Waiting(self._interrupt, self.policy.clock)
        self.health.begin()
        try:
            for batch in batches:
                flying.append(self._start(batch, waiting, failure))
                failure.tell()
                while flying and (len(flying) >= self.policy.window or flying[0].done()):
                    yield self._land(flying.popleft(), failure)
                if self._interrupt.is_set:
                    break
            while flying:
                yield self._land(flying.popleft(), failure)
        finally:
            # Whatever ended the walk, requests that are still tried again give up. What the sink takes of them after
            # this has no receipt: its offsets stay, and it is sent again under the same ids (promise 1).
            waiting.abandon()

    def ask(self, event: Sealed) -> Posted:
        """One request with one event, never tried again: whether the sink takes it, for who wants to know."""
        return self.channel.post([event], Waiting(self._interrupt, self.policy.clock))

    def complaint(self) -> str:
        """What a person should know of a sink that is failing at the moment."""
        return unavailable(self.channel.address, self.health.reason)

    def _start(self, batch: Batch, waiting: Waiting, failure: FirstFailure) -> Future[Receipt]:
        future: Future[Receipt] = Future()
        if not batch.events:
            future.set_result(Receipt(batch, []))
            return future
        settling = Settling(
            batch,
            self.channel.post,
            self.health,
            self.policy,
            waiting,
            self.channel.address,
            when_failing=failure.happened,
        )

        def send() -> None:
            try:
                future.set_result(settling.receipt())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
                future.set_exception(error)

        # Daemon threads: one that hangs in a dead connection must not keep the process alive.
        threading.Thread(target=send, name="deliver", daemon=True).start()
        return future

    def _land(self, future: Future[Receipt], failure: FirstFailure) -> Receipt:
        stopped_at: float | None = None
        while not future.done():
            wait(failure.awaited_with(future), self._poll, FIRST_COMPLETED)
            if future.done():
                break
            failure.tell()
            self._observer.waiting()
            if self._interrupt.is_set:
                now = self.policy.clock()
                stopped_at = stopped_at or now
                if self._interrupt.is_urgent or now - stopped_at >= self._shutdown_timeout:
                    raise Stopped("Stopped while the sink had not answered; what was in flight is sent again.")
        return future.result()


class FirstFailure:
    """Carries the news of the first failed request to the thread that waits, which is woken for it and told once."""

    def __init__(self, told: Callable[[], None] | None) -> None:
        self._told = told
        self._happened: Future[None] = Future()

    def happened(self) -> None:
        """A request has failed. Called by the threads that send, any number of times."""
        with contextlib.suppress(InvalidStateError):
            self._happened.set_result(None)

    def awaited_with(self, receipt: Future[Any]) -> list[Future[Any]]:
        """What the thread that waits for a receipt should be woken for."""
        return [receipt, self._happened] if self._told else [receipt]

    def tell(self) -> None:
        """Passes the news on, if there are any and they are new."""
        if self._told and self._happened.done():
            told, self._told = self._told, None
            told()
