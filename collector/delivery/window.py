"""Deliver: sends batches, a small window of them at once, and gives their receipts in order.

In: batches. Out: receipts, each saying that a batch is acknowledged and which of its events the sink would not have.
What cannot be decided now raises SinkUnavailable, SinkHalted or Stopped; batches after the last receipt are sent again
by the next pass. This is the one place with threads; what becomes of one batch is in settle.py.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, wait

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
    ) -> None:
        self.channel = channel
        self.policy = policy
        self.health = Health(policy.clock)
        self._shutdown_timeout = shutdown_timeout
        self._interrupt = interrupt or Interrupt()
        self._observer = observer

    def deliver(self, batches: Iterable[Batch]) -> Iterator[Receipt]:
        """Receipts in the order of the batches; reading goes on while up to a window of requests is in flight."""
        flying: deque[Future[Receipt]] = deque()
        waiting = Waiting(self._interrupt, self.policy.clock)
        self.health.begin()
        try:
            for batch in batches:
                flying.append(self._start(batch, waiting))
                while flying and (len(flying) >= self.policy.window or flying[0].done()):
                    yield self._land(flying.popleft())
                if self._interrupt.is_set:
                    break
            while flying:
                yield self._land(flying.popleft())
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

    def _start(self, batch: Batch, waiting: Waiting) -> Future[Receipt]:
        future: Future[Receipt] = Future()
        if not batch.events:
            future.set_result(Receipt(batch, []))
            return future
        settling = Settling(batch, self.channel.post, self.health, self.policy, waiting, self.channel.address)

        def send() -> None:
            try:
                future.set_result(settling.receipt())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
                future.set_exception(error)

        # Daemon threads: one that hangs in a dead connection must not keep the process alive.
        threading.Thread(target=send, name="deliver", daemon=True).start()
        return future

    def _land(self, future: Future[Receipt]) -> Receipt:
        stopped_at: float | None = None
        while not wait([future], timeout=POLL_SECONDS).done:
            self._observer.waiting()
            if self._interrupt.is_set:
                now = self.policy.clock()
                stopped_at = stopped_at or now
                if self._interrupt.is_urgent or now - stopped_at >= self._shutdown_timeout:
                    raise Stopped("Stopped while the sink had not answered; what was in flight is sent again.")
        return future.result()
