"""The way into the store from inside this process: an HTTP transport without a network.

In: requests, as httpx sends them to a receiver. Out: what the receiver would answer. Invariant: a sender does all that
it does for a remote receiver (rendering, retries, judging answers); only the network, the server and its event loop are
left out, which took a tenth of the CPU of a scan into the embedded store. And a 200 is given only once the events are
on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from collector.store import body
from collector.store.answers import Answers
from collector.store.database import StoreUnavailable
from collector.store.limits import KEEP_ALL, Keeping, ReceiverLimits
from collector.store.worker import Outcome, Worker, working

URL = "http://localhost/v1/events"


@contextmanager
def opened(database: Path, keeping: Keeping = KEEP_ALL) -> Iterator[httpx.BaseTransport]:
    """The way into this database, open as long as the block lasts; raises StoreError if it cannot be opened."""
    limits = ReceiverLimits()
    with working(database, limits, keeping) as worker:
        yield InsideTransport(worker, limits)


class InsideTransport(httpx.BaseTransport):
    """Takes POST /v1/events. Used by several threads at once."""

    def __init__(self, worker: Worker, limits: ReceiverLimits) -> None:
        self._worker = worker
        self._limits = limits
        self._answers = Answers()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer; raises httpx.ReadTimeout if a remote receiver would have taken too long."""
        try:
            reply = self._answers.stored(self._outcome(request))
        except httpx.TimeoutException:
            raise
        except Exception as error:  # noqa: BLE001 - whatever happens, the sender gets an answer, as it would over HTTP
            reply = self._answers.failed(error)
            if isinstance(error, StoreUnavailable):  # nobody else hears it here, so it may name the file
                reply = reply._replace(content={"error": str(error)})
        headers = {"content-type": "application/json", **reply.headers}
        return httpx.Response(reply.status, headers=headers, content=reply.body, request=request)

    def _outcome(self, request: httpx.Request) -> Outcome:
        data, form = request.read(), body.form_of(request.headers)
        if len(data) > self._limits.body_bytes:
            raise body.too_large(self._limits.body_bytes)
        future = self._worker.submit(data, form)
        try:
            return future.result(request.extensions["timeout"]["read"])
        except TimeoutError:
            future.cancel()  # if its turn has come already, it is stored, and the repeat counts as duplicates
            raise httpx.ReadTimeout("The store took too long.", request=request) from None
