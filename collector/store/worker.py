"""The one thread that unpacks, parses and writes.

In: request bodies, from any thread. Out: a future for each. Batches that arrive while another is being synced to the
disk are committed together, so many senders share the cost of a sync. Invariant: each request gets an answer of its
own, and only once its own events are on the disk.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import NamedTuple, Self

from collector.store import body
from collector.store.body import Form
from collector.store.database import StoreUnavailable
from collector.store.limits import ReceiverLimits
from collector.store.rows import Rejected, Row
from collector.store.writer import Writer
from collector.store.writing import Stored

MAX_TOGETHER = 8


class Outcome(NamedTuple):
    """What became of the events of one request."""

    stored: Stored
    rejected: list[Rejected]


class Job(NamedTuple):
    """The body of one request, and where its outcome goes."""

    data: bytes
    form: Form
    future: Future[Outcome]


class Parsed(NamedTuple):
    """A job whose body could be read."""

    rows: list[Row]
    rejected: list[Rejected]
    future: Future[Outcome]


class Worker:
    """Runs while it is entered; `submit` may be called from any thread."""

    def __init__(self, writer: Writer, limits: ReceiverLimits) -> None:
        self._writer = writer
        self._limits = limits
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
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
        """The outcome of a body, in the future; it fails with Refusal or StoreUnavailable."""
        future: Future[Outcome] = Future()
        self._jobs.put(Job(data, form, future))
        return future

    def _run(self) -> None:
        is_open = True
        while is_open:
            jobs = [self._jobs.get()]
            size = len(jobs[0].data) if jobs[0] else 0
            while jobs[-1] and len(jobs) < MAX_TOGETHER and size < self._limits.body_bytes and not self._jobs.empty():
                jobs.append(self._jobs.get())
                size += len(jobs[-1].data) if jobs[-1] else 0
            is_open = jobs[-1] is not None
            parsed = [item for job in jobs if job and (item := self._parse(job))]
            if parsed:
                self._store(parsed)

    def _parse(self, job: Job) -> Parsed | None:
        if not job.future.set_running_or_notify_cancel():
            return None
        try:
            rows, rejected = body.events(job.data, job.form, self._limits)
        except Exception as error:  # noqa: BLE001 - the request fails with it, and this thread goes on
            job.future.set_exception(error)
            return None
        return Parsed(rows, rejected, job.future)

    def _store(self, parsed: list[Parsed]) -> None:
        """One transaction for all; if one of them makes it fail, one for each."""
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
