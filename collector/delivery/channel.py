"""Channel: the way to one sink. Events go in, and what the answer means for them comes out. No retries here.

Invariant: whatever a sink says is cleaned here, before it can be logged, saved or raised. The transport's own secrets
are masked, and the rest goes through the redactor (promise 5). Only then is it cut, because half a secret does not look
like one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Pending,
    Refused,
    Request,
    Retry,
    Sink,
    TooLarge,
    Verdict,
)
from collector.delivery.transport import Transport
from collector.delivery.waiting import Waiting
from collector.errors import Paused, Stopped
from collector.flow.outcome import Sealed
from collector.flow.shorten import shortened
from collector.log import get_logger, place_of

log = get_logger()
MOST_SAID = 500  # how much of what a sink says is kept
MOST_HEARD = 20_000  # how much is looked at: an answer may be a megabyte, crafted to be slow to redact
ASK_AGAIN_SECONDS = 1.0  # whether a request that was received is acknowledged by now
NONE_IS_SET = (
    "No token is set. Put the one the sink expects into a file that only this user can read, and name that file in "
    "sink.token_file (COLLECTOR_SINK__TOKEN_FILE); under systemd, the credential sink-token works too. "
)


class Posted(NamedTuple):
    """The result of one request: the verdict, the bytes that went out, and the answer if there was one."""

    verdict: Verdict
    sent: int = 0
    answer: Answer | None = None
    was_asked: bool = True  # False: decided without asking the sink, so this says nothing about its health


class Channel:
    """A sink, and the transport to it. Used by several threads at once."""

    def __init__(
        self,
        sink: Sink,
        transport: Transport,
        *,
        address: str = "",
        clean: Callable[[str], str] = str,
        max_rate: int = 0,
        standstill: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sink = sink
        self.address = address or transport.address
        self._transport = transport
        self._clean = clean
        self._max_rate = max_rate
        self._standstill = standstill
        self._clock = clock
        self._free_at = 0.0
        self._lock = threading.Lock()

    def post(self, events: Sequence[Sealed], waiting: Waiting) -> Posted:
        """Sends these events in one request."""
        try:
            request = self.sink.render(events, idempotency_key(events))
        except MemoryError:  # not the event's fault: it is sent once there is room
            raise
        except Exception as error:  # noqa: BLE001 - the event to blame will be found, and costs exactly itself
            if len(events) == 1:
                log.error("event not written", id=events[0].id, error=type(error).__name__, place=place_of(error))
            return Posted(Refused(f"it cannot be encoded for this sink: {type(error).__name__}"), was_asked=False)
        most = self.sink.limits.body
        # No need to run into a known limit: this is what a 413 would say, without the upload.
        if most is not None and len(request.body) > most:
            return Posted(TooLarge(f"the sink accepts at most {most} bytes"), was_asked=False)
        posted = self._post_one(request, waiting)
        said = posted.verdict
        return posted._replace(verdict=_about(events, said)) if isinstance(said, Accepted) else posted

    def ask(self, request: Request, waiting: Waiting) -> Answer | Retry | Halt:
        """Sends one request that asks about events rather than carrying any; never during a standstill."""
        answer, _ = self._sent(request, waiting)
        return answer

    @property
    def has_credentials(self) -> bool:
        """Whether requests identify the sender."""
        return self._transport.has_credentials

    def _post_one(self, request: Request, waiting: Waiting) -> Posted:
        """Sends one request as soon as the upload ceiling allows, then polls while its acknowledgement is pending.

        Raises Stopped if by then nobody is waiting for the result.
        """
        waiting.pause(self._seconds_until_free(len(request.body)))
        verdict, sent, answer = self._exchange(request, waiting)
        if isinstance(verdict, Pending):
            ask, deadline = verdict.ask, self._clock() + verdict.patience
            while not isinstance(verdict, Accepted | Halt):  # any other answer is about the question, not the events
                if self._clock() > deadline:
                    verdict = Retry(verdict.reason)  # send it all again: what the sink did take has the same ids
                    break
                waiting.pause(ASK_AGAIN_SECONDS)
                verdict, more, answer = self._exchange(ask, waiting)
                sent += more
            if isinstance(verdict, Halt):
                verdict = replace(verdict, may_be_poison=False)
        if isinstance(verdict, Halt) and "sink.token_file" in verdict.advice and not self._transport.has_credentials:
            verdict = replace(verdict, advice=NONE_IS_SET + verdict.advice)
        return Posted(self._cleaned(verdict), sent, answer)

    def _exchange(self, request: Request, waiting: Waiting) -> tuple[Verdict | Pending, int, Answer | None]:
        answer, sent = self._sent(request, waiting)
        if isinstance(answer, Answer):
            answer = answer._replace(path=request.path, events=request.events)
            return self.sink.classify(answer), sent, answer
        return answer, sent, None

    def _sent(self, request: Request, waiting: Waiting) -> tuple[Answer | Retry | Halt, int]:
        if waiting.is_over:
            raise Stopped(
                "Stopped before everything was sent; the next run sends the rest, and what was in flight again."
            )
        # The last check before the socket, so that off means off for everything: passes, retries, heartbeats, tests.
        if reason := self._standstill():
            raise Paused(f"Nothing is sent: {reason}. All offsets are kept.")
        return self._transport.post(request)

    def _seconds_until_free(self, size: int) -> float:
        """Keeps the upload below max_rate: a request waits until those before it have used up their time."""
        if not self._max_rate:
            return 0.0
        with self._lock:  # each thread books its slot here, and waits for it outside the lock
            start = max(self._clock(), self._free_at)
            self._free_at = start + size / self._max_rate
        return start - self._clock()

    def _cleaned(self, verdict: Verdict) -> Verdict:
        match verdict:
            case Accepted():
                rejected = {name: self._said(reason) for name, reason in verdict.rejected.items()}
                remark = self._said(verdict.remark) if verdict.remark else ""
                return replace(verdict, rejected=rejected, remark=remark) if rejected or remark else verdict
            case Halt():
                return replace(verdict, reason=self._said(verdict.reason), advice=self._said(verdict.advice))
            case _:
                return replace(verdict, reason=self._said(verdict.reason))

    def _said(self, text: str) -> str:
        heard = self._transport.without_secrets(text)
        try:
            cleaned = self._clean(heard[:MOST_HEARD])
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was, the text is withheld and delivery goes on
            return f"withheld, because it could not be redacted: {type(error).__name__}"
        if len(heard) > MOST_HEARD:  # the last word may be half a secret
            cleaned = cleaned.rpartition(" ")[0]
        return shortened(cleaned, MOST_SAID) if len(cleaned) > MOST_SAID else cleaned


def _about(events: Sequence[Sealed], said: Accepted) -> Accepted | Retry:
    """What an answer says about these events. It may name ids that none of them has: a receiver may spell ids
    differently, or give documents ids of its own."""
    if not said.rejected and not said.later:
        return said
    ids = {event.id for event in events}
    if not said.later < ids:
        # All are put off, or it is unclear which: send all of them again, because what was stored has the same ids.
        return Retry(
            "it accepts none of these events for now"
            if said.later == ids
            else "it defers some events without naming them"
        )
    strange = said.rejected.keys() - ids
    if strange and len(events) == 1:
        return replace(said, rejected={events[0].id: said.rejected[min(strange)]})
    rejected = {name: reason for name, reason in said.rejected.items() if name in ids}
    return replace(said, rejected=rejected, later=said.later - rejected.keys(), unnamed=said.unnamed + len(strange))


def idempotency_key(events: Sequence[Sealed]) -> str:
    """Identifies a request by its content: the same for a repeat, different if any event is replaced or cut."""
    key = blake2b(digest_size=16)
    for event in events:
        key.update(event.id.encode())
        key.update(len(event.body).to_bytes(8, "big"))
    return key.hexdigest()
