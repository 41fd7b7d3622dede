"""The receiver: takes batches over HTTP, has them stored, and says for each event what became of it.

In: POST /v1/events, which is our contract (docs/receiver.md, /openapi.json). Out: a receipt. Invariant: a 200 is sent
only after the batch is on the disk, so a crash before that costs a repeat and never an event. What is read is bounded
for each request and for all of them together. One worker thread unpacks, parses and writes, while the server goes on
answering.
"""

from __future__ import annotations

import asyncio
import hmac
import traceback
from importlib import resources
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from collector import __version__
from collector.log import get_logger
from collector.store import body
from collector.store.body import Form, Refusal
from collector.store.database import StoreUnavailable
from collector.store.limits import ReceiverLimits
from collector.store.removing import Choice
from collector.store.worker import Worker

log = get_logger()

HINTS = {404: "There is nothing here. POST events to /v1/events.", 405: "This address does not take this method."}


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
    """What the requests share."""

    def __init__(self, worker: Worker, token: str | None, limits: ReceiverLimits) -> None:
        self._worker = worker
        self._expected = b"Bearer " + token.encode() if token else None
        self._limits = limits
        self._waiting_bytes = 0
        self._trouble = ""

    async def take(self, request: Request) -> Response:
        """POST /v1/events."""
        try:
            self._authorize(request)
            form = body.form_of(request.headers)
            return answer(200, await self._take(request, form))
        except Refusal as refusal:
            return answer(refusal.status, {"error": refusal.reason}, refusal.headers)
        except StoreUnavailable as error:
            self._note_trouble(str(error))
            reason = "The store cannot take events now; the receiver's log says why."
            return answer(503, {"error": reason}, {"retry-after": str(error.retry_after)})
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except Exception as error:  # noqa: BLE001 - whatever happens, the client gets an answer, not a traceback
            self._note_trouble(_place(error))
            return answer(500, {"error": "The receiver failed; its log says why."})

    async def forget(self, request: Request) -> Response:
        """DELETE /v1/sessions/{session_id}: removes all events of a session."""
        try:
            self._authorize(request)
            choice = Choice(session=request.path_params["session_id"])
            removed = await asyncio.wrap_future(self._worker.remove(choice))
        except Refusal as refusal:
            return answer(refusal.status, {"error": refusal.reason}, refusal.headers)
        except StoreUnavailable as error:
            self._note_trouble(str(error))
            reason = "The store cannot remove events now; the receiver's log says why."
            return answer(503, {"error": reason}, {"retry-after": str(error.retry_after)})
        log.info("events removed", reason="asked for over HTTP", events=removed.events)
        return answer(200, {"removed": removed.events})

    async def health(self, _: Request) -> Response:
        """GET /health."""
        if self._trouble:
            return answer(503, {"status": "failing", "version": __version__})
        return answer(200, {"status": "ok", "version": __version__})

    def _authorize(self, request: Request) -> None:
        """Raises Refusal for a request without the token, and for a browser's: no web page has any business here."""
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if self._expected is not None and not hmac.compare_digest(given, self._expected):
            raise Refusal(401, "The bearer token is missing or wrong.", **{"www-authenticate": "Bearer"})
        if "origin" in request.headers:
            raise Refusal(403, "Requests from web pages are not accepted.")

    async def _take(self, request: Request, form: Form) -> dict[str, Any]:
        waiting = [0]
        try:
            data = await self._read(request, waiting)
            outcome = await asyncio.wrap_future(self._worker.submit(data, form))
        finally:
            self._waiting_bytes -= waiting[0]
        if self._trouble:
            self._trouble = ""
            log.info("store recovered")
        return {
            "accepted": outcome.stored.accepted,
            "duplicate": outcome.stored.duplicate,
            "rejected": [{"id": item.id, "reason": item.reason} for item in outcome.rejected],
        }

    async def _read(self, request: Request, waiting: list[int]) -> bytes:
        """The body as it came. Adds to `waiting` how much of the memory that all requests share it takes."""
        data, seen = bytearray(), 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for chunk in request.stream():
                    seen += len(chunk)
                    # Read on a little: a client that is still writing would see a reset, and not the answer.
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

    def _note_trouble(self, reason: str) -> None:
        if reason != self._trouble:
            log.error("store failing", reason=reason)
        self._trouble = reason


def answer(status: int, content: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(orjson.dumps(content), status, headers, media_type="application/json")


def _place(error: Exception) -> str:
    """What went wrong, and where. The error's own message may quote an event, so it is not logged."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {where}"


async def describe(_: Request) -> Response:
    """GET /openapi.json."""
    document = (resources.files(__package__) / "openapi.json").read_bytes()
    return Response(document, media_type="application/json")


async def _explain(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return answer(status, {"error": HINTS.get(status, "The request was not understood.")}, headers)
