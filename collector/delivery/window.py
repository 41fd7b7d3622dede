"""Deliver: sends batches, a small window of them at once, and gives their receipts in order.

In: batches. Out: receipts, each saying that a batch is acknowledged and which of its events the sink would not have.
What cannot be decided now raises: SinkUnavailable, SinkHalted or Stopped; batches after the last receipt are sent
again by the next pass. This is the one place with threads; what becomes of one batch is in sending.py.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from typing import Any

from collector.delivery.settle import Health, Sending
from collector.delivery.sink import Sink
from collector.delivery.transport import Transport
from collector.errors import Stopped
from collector.flow.batch import Batch
from collector.flow.receipt import Receipt
from collector.settings.options import RetrySettings

POLL_SECONDS = 0.5


class Deliverer:
    """Batches in, receipts out. One lives as long as the agent, so what it learned of the sink stays known."""

    def __init__(
        self,
        sink: Sink,
        transport: Transport,
        retry: RetrySettings,
        *,
        window: int = 4,
        max_wait: float = 60.0,
        max_rate: int = 0,
        clean: Callable[[str], str] = str,
        stop: threading.Event | None = None,
        shutdown_timeout: float = 10.0,
        while_waiting: Callable[[], None] = lambda: None,
        poll: float = POLL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sink = sink
        self.transport = transport
        self.retry = retry
        self.window = window
        self.max_wait = max_wait
        self.max_rate = max_rate
        self.clean = clean
        self.stop = stop or threading.Event()
        self.shutdown_timeout = shutdown_timeout
        self.while_waiting = while_waiting
        self.poll = poll
        self.clock = clock
        self.health = Health(clock)
        self._free_at = 0.0

    def deliver(self, batches: Iterable[Batch], when_failing: Callable[[], None] | None = None) -> Iterator[Receipt]:
        """Receipts in the order of the batches; reading goes on while up to `window` requests are in flight.

        `when_failing` is called once, in the thread that waits for receipts, as soon as a request has failed and is
        about to be tried again.
        """
        failure = FirstFailure(when_failing)
        flying: deque[Future[Receipt]] = deque()
        abandoned = threading.Event()
        self.health.failing_since = None
        try:
            for batch in batches:
                flying.append(self._start(batch, abandoned, failure))
                failure.tell()
                while flying and (len(flying) >= self.window or flying[0].done()):
                    yield self._land(flying.popleft(), failure)
                if self.stop.is_set():
                    break
            while flying:
                yield self._land(flying.popleft(), failure)
        finally:
            abandoned.set()

    def _start(self, batch: Batch, abandoned: threading.Event, failure: FirstFailure) -> Future[Receipt]:
        future: Future[Receipt] = Future()
        if not batch.events:
            future.set_result(Receipt(batch, []))
            return future

        def send() -> None:
            try:
                future.set_result(Sending(self, batch, abandoned, failure.happened).receipt())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
                future.set_exception(error)

        # Daemon threads: one that hangs in a dead connection must not keep the process alive.
        threading.Thread(target=send, name="deliver", daemon=True).start()
        return future

    def _land(self, future: Future[Receipt], failure: FirstFailure) -> Receipt:
        stopped_at: float | None = None
        while not future.done():
            wait(failure.awaited_with(future), self.poll, FIRST_COMPLETED)
            if future.done():
                break
            failure.tell()
            self.while_waiting()
            if self.stop.is_set():
                stopped_at = stopped_at or self.clock()
                if self.clock() - stopped_at >= self.shutdown_timeout:
                    raise Stopped("Stopped while the sink had not answered; what was in flight is sent again.")
        return future.result()

    def complaint(self, reason: str) -> str:
        """What a person should know of a sink that does not answer, while it is tried again and at the end."""
        return (
            f"The sink {self.transport.address} did not acknowledge: {self.clean(reason)}. "
            "All offsets are kept, so nothing is lost; the same data is sent at the next try. "
            "Check that the sink is up and reachable from here."
        )

    def pause(self, seconds: float, abandoned: threading.Event) -> None:
        """Waits, unless a stop is asked for or the pass is given up."""
        deadline = self.clock() + seconds
        while not abandoned.is_set():
            left = deadline - self.clock()
            if left <= 0 or self.stop.wait(min(left, POLL_SECONDS)):
                return

    def pace(self, size: int, abandoned: threading.Event) -> None:
        """Keeps the upload below max_rate: a request waits for the time that those before it used up."""
        if not self.max_rate:
            return
        with self.health.lock:
            start = max(self.clock(), self._free_at)
            self._free_at = start + size / self.max_rate
        self.pause(start - self.clock(), abandoned)


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
