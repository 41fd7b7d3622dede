"""The receiver: takes batches over HTTP, has them stored, and says for each event what became of it.

In: POST /v1/events, our contract (docs/receiver.md, /openapi.json). Out: a receipt. Invariant: a 200 is sent only after
the batch is on the disk, so a crash before that costs a repeat but never an event. Reading is bounded per request and
for all requests together. One worker thread unpacks, parses and writes while the server keeps answering.
"""

from __future__ import annotations

import asyncio
import hmac
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from collector import __version__
from collector.log import get_logger
from collector.store import body
from collector.store.answers import Answers, Reply
from collector.store.body import Form, Refusal
from collector.store.database import StoreUnavailable
from collector.store.limits import ReceiverLimits
from collector.store.removing import Choice
from collector.store.worker import Outcome, Worker

log = get_logger()

HINTS = {404: "There is nothing here. POST events to /v1/events.", 405: "This address does not support that method."}


def application(worker: Worker, token: str | None, limits: ReceiverLimits, pages: ASGIApp | None = None) -> Starlette:
    """The ASGI application; `pages` answers at every address that is not the receiver's own."""
    receiver = Receiver(worker, token, limits)
    return Starlette(
        routes=[
            Route("/v1/events", receiver.take, methods=["POST"]),
            Route("/", receiver.take, methods=["POST"]),
            Route("/v1/sessions/{session_id}", receiver.forget, methods=["DELETE"]),
            Route("/health", receiver.health, methods=["GET"]),
            Route("/openapi.json", describe, methods=["GET"]),
            *([Mount("/", pages)] if pages else []),
        ],
        exception_handlers={HTTPException: _explain},
    )


class Receiver:
    """The state that requests share."""

    def __init__(self, worker: Worker, token: str | None, limits: ReceiverLimits) -> None:
        self._worker = worker
        self._expected = b"Bearer " + token.encode() if token else None
        self._limits = limits
        self._waiting_bytes = 0
        self._answers = Answers()

    async def take(self, request: Request) -> Response:
        """POST /v1/events."""
        try:
            self._authorize(request)
            form = body.form_of(request.headers)
            return _response(self._answers.stored(await self._take(request, form)))
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except Exception as error:  # noqa: BLE001 - whatever happens, the client gets an answer, not a traceback
            return _response(self._answers.failed(error))

    async def forget(self, request: Request) -> Response:
        """DELETE /v1/sessions/{session_id}: removes all events of a session."""
        try:
            self._authorize(request)
            choice = Choice(session=request.path_params["session_id"])
            removed = await asyncio.wrap_future(self._worker.remove(choice))
        except (Refusal, StoreUnavailable) as error:
            return _response(self._answers.failed(error, "remove"))
        log.info("events removed", reason="asked for over HTTP", events=removed.events)
        return _response(Reply(200, {"removed": removed.events}))

    async def health(self, _: Request) -> Response:
        """GET /health."""
        if self._answers.trouble:
            return _response(Reply(503, {"status": "failing", "version": __version__}))
        return _response(Reply(200, {"status": "ok", "version": __version__}))

    def _authorize(self, request: Request) -> None:
        """Raises Refusal for a request without the token, and for one from a web page, which has no business here."""
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if self._expected is not None and not hmac.compare_digest(given, self._expected):
            raise Refusal(401, "The bearer token is missing or wrong.", **{"www-authenticate": "Bearer"})
        if "origin" in request.headers:
            raise Refusal(403, "Requests from web pages are not accepted.")

    async def _take(self, request: Request, form: Form) -> Outcome:
        waiting = [0]
        try:
            data = await self._read(request, waiting)
            return await asyncio.wrap_future(self._worker.submit(data, form))
        finally:
            self._waiting_bytes -= waiting[0]

    async def _read(self, request: Request, waiting: list[int]) -> bytes:
        """The body as it came. Adds to `waiting` how much it takes of the memory that all requests share."""
        data, seen = bytearray(), 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for chunk in request.stream():
                    seen += len(chunk)
                    # Read on a little: a client that is still writing would see a reset instead of the answer.
                    if seen > 2 * self._limits.body_bytes:
                        break
                    if seen > self._limits.body_bytes:
                        continue
                    self._hold(len(chunk), waiting)
                    data += chunk
        except TimeoutError:
            raise Refusal(408, f"The body did not arrive within {self._limits.seconds:.0f} s.") from None
        if seen > self._limits.body_bytes:
            raise body.too_large(self._limits.body_bytes)
        return bytes(data)

    def _hold(self, count: int, waiting: list[int]) -> None:
        if self._waiting_bytes + count > self._limits.waiting_bytes:
            raise body.too_busy(self._worker.come_back())
        waiting[0] += count
        self._waiting_bytes += count


def _response(reply: Reply) -> Response:
    return Response(reply.body, reply.status, reply.headers, media_type="application/json")


async def describe(_: Request) -> Response:
    """GET /openapi.json."""
    document = (resources.files(__package__) / "openapi.json").read_bytes()
    return Response(document, media_type="application/json")


async def _explain(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return _response(Reply(status, {"error": HINTS.get(status, "The request was not understood.")}, headers))
