"""The one thread that unpacks, parses and writes.

In: request bodies, from any thread. Out: a future for each. Batches that arrive while another is being synced to the
disk are committed together, so many senders share the cost of a sync. Invariant: each request gets its own answer, only
once its own events are on the disk, and before its sender gives up. A body that waits longer than that is sent again
and costs twice while others wait, so it is turned away: at its turn if it has waited too long, or on arrival once those
before it have waited half as long.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from collector.store import body
from collector.store.body import Form
from collector.store.database import StoreUnavailable
from collector.store.limits import KEEP_ALL, Keeping, ReceiverLimits
from collector.store.removing import Choice, Removed, remove, remove_old
from collector.store.rows import Rejected, Row
from collector.store.writer import Writer
from collector.store.writing import Stored

MAX_TOGETHER = 8
OLD_AT_ONCE = 2000  # events past their retention that are removed between two batches
LOOK_SECONDS, IDLE_SECONDS = 3600.0, 1.0  # between two looks for such events; without a batch, before one
SHORTEST_WAIT, LONGEST_WAIT = 2.0, 60.0  # seconds after which a sender that was turned away comes back
NEWEST = 0.2  # weight of the newest measurement in the pace


class Outcome(NamedTuple):
    """What became of the events of one request."""

    stored: Stored
    rejected: list[Rejected]


class Job(NamedTuple):
    """The body of one request, and where its outcome goes."""

    data: bytes
    form: Form
    future: Future[Outcome]
    since: float


class Parsed(NamedTuple):
    """A job whose body could be read."""

    rows: list[Row]
    rejected: list[Rejected]
    future: Future[Outcome]


class Removal(NamedTuple):
    """What to remove, and where the outcome goes."""

    choice: Choice
    future: Future[Removed]


class Worker:
    """Runs while it is entered; `submit` and `remove` may be called from any thread."""

    def __init__(
        self,
        writer: Writer,
        limits: ReceiverLimits,
        retention_days: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._limits = limits
        self._retention_days = retention_days
        self._clock = clock
        self._look_again = clock()
        self._turn: float | None = None  # when the job that is being worked on came
        self._pace = 0.0  # seconds per body, recently
        self._promised = 0.0  # until when the writer is spoken for
        self._is_over = False
        self._jobs: queue.SimpleQueue[Job | Removal | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="collector-store", daemon=True)

    def __enter__(self) -> Self:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Finishes what was submitted, then ends the thread."""
        self._jobs.put(None)
        self._thread.join()

    def submit(self, data: bytes, form: Form) -> Future[Outcome]:
        """A future for the outcome of a body; it fails with Refusal or StoreUnavailable. Raises Refusal if the body
        would wait too long, but whatever fits into the next transaction is always let in."""
        now, turn = self._clock(), self._turn
        if turn is not None and now - turn > self._limits.wait_seconds / 2 and self._jobs.qsize() >= MAX_TOGETHER:
            raise body.too_busy(self.come_back())
        future: Future[Outcome] = Future()
        self._jobs.put(Job(data, form, future, now))
        if self._is_over:
            self._turn_away_rest()
        return future

    def come_back(self) -> float:
        """In how many seconds a sender that is turned away should come back: after everything that waits, and everyone
        who was turned away before. Senders wait as long as they are told but never longer than a minute, so beyond that
        the time is random.
        """
        now = self._clock()
        turn = max(self._promised, now + self._jobs.qsize() * self._pace) + self._pace
        if turn - now > LONGEST_WAIT:
            return random.uniform(LONGEST_WAIT / 2, LONGEST_WAIT)
        self._promised = turn
        return max(turn - now, SHORTEST_WAIT)

    def remove(self, choice: Choice) -> Future[Removed]:
        """A future for what was removed; it fails with StoreUnavailable."""
        future: Future[Removed] = Future()
        self._jobs.put(Removal(choice, future))
        return future

    def _run(self) -> None:
        is_open = True
        while is_open:
            self._turn = None
            try:
                jobs = [self._jobs.get(timeout=self._idle_for())]
            except queue.Empty:
                self._remove_old()
                continue
            self._turn = jobs[0].since if isinstance(jobs[0], Job) else self._clock()
            size = _size(jobs[0])
            while size and len(jobs) < MAX_TOGETHER and size < self._limits.body_bytes and not self._jobs.empty():
                jobs.append(self._jobs.get())
                size = size + _size(jobs[-1]) if isinstance(jobs[-1], Job) else 0
            is_open = jobs[-1] is not None
            parsed = [item for job in jobs if isinstance(job, Job) and (item := self._parse(job))]
            if parsed:
                began = self._clock()
                self._store(parsed)
                self._pace += NEWEST * ((self._clock() - began) / len(parsed) - self._pace)
            if isinstance(jobs[-1], Removal):
                self._remove(jobs[-1])
            elif is_open:
                self._remove_old()
        # In this order: whoever submits after the last look at the queue sees that it is over.
        self._is_over = True
        self._turn_away_rest()

    def _idle_for(self) -> float | None:
        """How long to wait for a job; None if there is nothing else to do."""
        return None if self._retention_days is None else max(self._look_again - self._clock(), IDLE_SECONDS)

    def _turn_away_rest(self) -> None:
        """Fails the jobs that came too late, so that nobody waits for them."""
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None and job.future.set_running_or_notify_cancel():
                    job.future.set_exception(body.too_busy(SHORTEST_WAIT))

    def _remove(self, removal: Removal) -> None:
        if removal.future.set_running_or_notify_cancel():
            try:
                removal.future.set_result(remove(self._writer, removal.choice, "asked for over HTTP"))
            except Exception as error:  # noqa: BLE001 - the request fails with it, and this thread goes on
                removal.future.set_exception(error)

    def _remove_old(self) -> None:
        """Removes some of the events past their retention, and looks again at once if that was not all."""
        if self._retention_days is None or self._clock() < self._look_again:
            return
        try:
            is_all = remove_old(self._writer, self._retention_days, at_most=OLD_AT_ONCE) < OLD_AT_ONCE
        except (StoreUnavailable, MemoryError):
            is_all = True  # the next batch will say what is wrong
        self._look_again = self._clock() + (LOOK_SECONDS if is_all else 0)

    def _parse(self, job: Job) -> Parsed | None:
        if not job.future.set_running_or_notify_cancel():
            return None
        if self._clock() - job.since > self._limits.wait_seconds:
            job.future.set_exception(body.too_busy(self.come_back()))
            return None
        try:
            rows, rejected = body.events(job.data, job.form, self._limits)
        except Exception as error:  # noqa: BLE001 - the request fails with it, and this thread goes on
            job.future.set_exception(error)
            return None
        return Parsed(rows, rejected, job.future)

    def _store(self, parsed: list[Parsed]) -> None:
        """Stores all of them in one transaction, or each in its own if one makes that fail."""
        try:
            stored = self._writer.store_all([item.rows for item in parsed])
        except Exception as error:  # noqa: BLE001
            if len(parsed) > 1 and not isinstance(error, StoreUnavailable):
                for item in parsed:
                    self._store([item])
                return
            for item in parsed:
                item.future.set_exception(error)
            return
        for item, counts in zip(parsed, stored, strict=True):
            item.future.set_result(Outcome(counts, item.rejected))


def _size(job: Job | Removal | None) -> int:
    """The bytes of a body, at least one; 0 for anything else, which ends a group of jobs."""
    return max(1, len(job.data)) if isinstance(job, Job) else 0


@contextmanager
def working(database: Path, limits: ReceiverLimits, keeping: Keeping = KEEP_ALL) -> Iterator[Worker]:
    """A worker with its database, open as long as the block lasts."""
    with (
        closing(Writer(database, limits.busy_seconds, keeping.own_prices)) as writer,
        Worker(writer, limits, keeping.retention_days) as worker,
    ):
        yield worker
