"""What becomes of one batch: posted, retried, halved or searched, until each event is accepted or refused for good.

In: a batch and its deliverer. Out: a receipt, or SinkUnavailable, SinkHalted, Stopped. The only retry layer is here.
A sink that fails on one event for ever cannot be told from one that is down, except by an event that it is known to
take (the canary): only while the canary is accepted does anybody get the blame (promise 7).
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import orjson
import tenacity

from collector.delivery.sink import Accepted, Answer, Halt, Refused, Retry, TooLarge
from collector.errors import SinkHalted, SinkUnavailable, Stopped
from collector.flow import reasons, shorten
from collector.flow.batch import Batch
from collector.flow.outcome import Quarantined, Sealed
from collector.flow.receipt import Receipt
from collector.log import get_logger

if TYPE_CHECKING:
    from collector.delivery.window import Deliverer

log = get_logger()
SUSPICIOUS_REFUSALS = 10
TRY_LARGER_AFTER = 50  # accepted requests
SMALLEST_CUT = 2_000
CONFIRMATIONS = 3

Decision = Accepted | Retry | TooLarge | Refused


@dataclass(slots=True)
class Health:
    """What is known of the sink, across threads and passes."""

    clock: Callable[[], float] = time.monotonic
    canary: Sealed | None = None
    refused_in_a_row: int = 0
    tries: int = 0
    failing_since: float | None = None
    reason: str = ""
    size_limit: int = 0
    taken_since: int = 0  # requests accepted since the limit was learned or raised
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, verdict: Decision | Halt, events: list[Sealed]) -> None:
        """Remembers the newest answer."""
        with self.lock:
            if isinstance(verdict, Retry | Halt):
                self.failing_since = self.failing_since or self.clock()
                self.reason = verdict.reason
                self.tries += 1
                return
            self.failing_since, self.tries, self.reason = None, 0, ""
            rejected = verdict.rejected if isinstance(verdict, Accepted) else {event.id for event in events}
            taken = [event for event in events if event.id not in rejected]
            if taken:
                self.refused_in_a_row = 0
                self.canary = min(taken[:10], key=lambda event: len(event.body))
                self.taken_since += 1
                if self.taken_since >= TRY_LARGER_AFTER:  # a limit may have been somebody's mistake, and be gone
                    self.size_limit, self.taken_since = self.size_limit * 2, 0

    def is_too_large(self, size: int) -> None:
        """Remembers that requests of this size are not taken."""
        with self.lock:
            self.size_limit, self.taken_since = min(self.size_limit or size, size), 0


class Sending:
    """One batch on its way."""

    def __init__(
        self, deliverer: Deliverer, batch: Batch, abandoned: threading.Event, when_failing: Callable[[], None]
    ) -> None:
        self.deliverer = deliverer
        self.retry = deliverer.retry
        self.health = deliverer.health
        self.batch = batch
        self.abandoned = abandoned
        self.when_failing = when_failing
        self.refused: dict[str, str] = {}
        self.sent_bytes = 0
        self.duplicates = 0

    def receipt(self) -> Receipt:
        """Settles every event of the batch."""
        self._settle(self.batch.events)
        quarantined = [
            Quarantined(event.id, self.refused[event.id], key, offset, event.body.decode())
            for event, (key, offset) in zip(self.batch.events, self.batch.places, strict=True)
            if event.id in self.refused
        ]
        return Receipt(self.batch, quarantined, self.sent_bytes, self.duplicates)

    def _settle(self, events: list[Sealed]) -> None:
        limit = self.health.size_limit
        if limit and len(events) > 1 and sum(len(event.body) for event in events) >= limit:
            self._halve(events)
        else:
            self._act(events, self._post_until_decided(events))

    def _act(self, events: list[Sealed], decision: Decision) -> None:
        match decision:
            case Accepted():
                self._accept(events, decision)
            case TooLarge():
                self._shrink(events, decision)
            case Refused():
                self._search(events, decision)
            case Retry():
                self._suspect(events, decision)

    def _suspect(self, events: list[Sealed], decision: Retry) -> None:
        """Whether the sink fails on these events alone is asked before it is given up, however slowly it fails."""
        deadline = self.deliverer.clock() + self.deliverer.max_wait
        while not self._isolate(events):
            if self._has_waited_enough(0.0) or self.deliverer.clock() > deadline:
                raise self._unavailable(decision)
            again = self._post_until_decided(events)
            if not isinstance(again, Retry):
                self._act(events, again)
                return
            decision = again

    def _accept(self, events: list[Sealed], decision: Accepted) -> None:
        self.duplicates += decision.duplicates
        rejected = [event for event in events if event.id in decision.rejected]
        for event in rejected:
            reason = reasons.REJECTED.because(decision.rejected[event.id])
            if len(rejected) < len(events):
                self._refuse(event, reason)
            else:
                self._blame(event, reason, tolerated=SUSPICIOUS_REFUSALS)

    def _refuse(self, event: Sealed, reason: str) -> None:
        self.refused[event.id] = self.deliverer.clean(reason)
        log.warning("event refused", id=event.id, reason=self.refused[event.id])

    def _halve(self, events: list[Sealed]) -> None:
        middle = len(events) // 2
        self._settle(events[:middle])
        self._settle(events[middle:])

    def _shrink(self, events: list[Sealed], decision: TooLarge) -> None:
        """413: halves; an event alone is cut, and set aside when even a small one is too large."""
        if len(events) > 1:
            self.health.is_too_large(sum(len(event.body) for event in events))
            self._halve(events)
            return
        event = events[0]
        if len(event.body) <= SMALLEST_CUT:
            self._blame(event, reasons.TOO_LARGE_FOR_SINK.because(decision.reason))
            return
        smaller = shorten.fit(orjson.loads(event.body), max(SMALLEST_CUT, len(event.body) // 2))
        self._settle([event._replace(body=smaller)])

    def _search(self, events: list[Sealed], refusal: Refused) -> None:
        """Finds the events that a request is refused for; the widest pieces first, so that good ones prove the sink."""
        pieces = deque([(events, refusal)])
        while pieces:
            piece, refusal = pieces.popleft()
            if len(piece) == 1:
                self._blame(piece[0], reasons.REFUSED.because(refusal.reason))
                continue
            middle = len(piece) // 2
            for half in (piece[:middle], piece[middle:]):
                decision = self._post_until_decided(half)
                if isinstance(decision, Refused):
                    pieces.append((half, decision))
                else:
                    self._act(half, decision)

    def _blame(self, event: Sealed, reason: str, tolerated: int = 2) -> None:
        """Sets an event aside, unless the sink refuses one after another: then it is misconfigured, and that halts."""
        with self.health.lock:
            self.health.refused_in_a_row += 1
            in_a_row = self.health.refused_in_a_row
        canary = self.health.canary
        is_suspicious = in_a_row >= (SUSPICIOUS_REFUSALS if canary else tolerated)
        if is_suspicious and not (canary and self._is_taken(canary)):
            raise self._halted(
                Halt(
                    f"it refuses every event: {reason}",
                    "It looks like a wrong address, not like bad events: check sink.url, sink.format and what the sink "
                    "or a proxy before it allows.",
                )
            )
        self._refuse(event, reason)

    def _isolate(self, events: list[Sealed]) -> bool:
        """Finds the events that make a healthy sink fail, and sets them aside; False when the sink is not healthy."""
        canary = self._canary(events)
        if canary is None:
            return False
        pieces = deque([events])
        while pieces:
            piece = pieces.popleft()
            decision = self._post(piece)
            if not isinstance(decision, Retry):
                self._act(piece, decision)
            elif len(piece) > 1:
                middle = len(piece) // 2
                pieces += (piece[:middle], piece[middle:])
            else:
                decision = self._post_until_decided(piece)
                for _ in range(CONFIRMATIONS):  # in turns, for a sink that comes and goes is nobody's fault
                    if isinstance(decision, Retry):
                        if not self._is_taken(canary):
                            return False
                        decision = self._post(piece)
                if isinstance(decision, Retry):
                    self._refuse(piece[0], reasons.POISON.because(decision.reason))
                else:
                    self._act(piece, decision)
        return True

    def _canary(self, events: list[Sealed]) -> Sealed | None:
        """An event that the sink accepts right now: one it took before (ids make that harmless), else one of these.

        When the waiting time is over only the one is asked that should be taken at once.
        """
        known = [self.health.canary] if self.health.canary else []
        others = [] if self._has_waited_enough(0.0) else [events[0], events[-1]]
        for candidate in [*known, *others]:
            if len(events) == 1 and candidate is events[0]:
                continue
            if self._is_taken(candidate):
                return candidate
        return None

    def _is_taken(self, event: Sealed) -> bool:
        """Whether the sink takes this event now."""
        decision = self._post([event])
        return isinstance(decision, Accepted) and event.id not in decision.rejected

    def _post_until_decided(self, events: list[Sealed]) -> Decision:
        """Posts until the answer is something else than `try again`; a Retry means that the events are suspected."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda decision: isinstance(decision, Retry)),
            wait=self._wait,
            stop=self._is_enough,
            sleep=lambda seconds: self.deliverer.pause(seconds, self.abandoned),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        decision: Decision = retrying(self._post, events)
        if isinstance(decision, Retry):
            if self._must_give_up():
                raise Stopped("Stopped while the sink was failing; what was in flight is sent again.")
            if not decision.may_be_poison:
                raise self._unavailable(decision)
        return decision

    def _unavailable(self, decision: Retry) -> SinkUnavailable:
        return SinkUnavailable(self.deliverer.complaint(decision.reason))

    def _is_enough(self, state: tenacity.RetryCallState) -> bool:
        decision = state.outcome.result() if state.outcome else None
        is_suspect = isinstance(decision, Retry) and decision.may_be_poison
        if is_suspect and state.attempt_number >= self.retry.poison_tries:
            return True
        return self._must_give_up() or self._has_waited_enough(state.upcoming_sleep)

    def _has_waited_enough(self, upcoming: float) -> bool:
        since = self.health.failing_since
        return since is not None and self.deliverer.clock() + upcoming - since > self.deliverer.max_wait

    def _must_give_up(self) -> bool:
        return self.deliverer.stop.is_set() or self.abandoned.is_set()

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Exponential with full jitter; what the sink asks for (Retry-After) comes first, up to the longest wait."""
        decision = state.outcome.result() if state.outcome else None
        if isinstance(decision, Retry) and decision.after is not None:
            return min(decision.after + random.uniform(0, 0.1), self.retry.max_interval)
        exponent = min(max(state.attempt_number - 1, self.health.tries // self.deliverer.window), 40)
        return random.uniform(0, min(self.retry.max_interval, self.retry.initial_interval * 2**exponent))

    def _post(self, events: list[Sealed]) -> Decision:
        """One request and what its answer means; raises when a person must act."""
        request = self.deliverer.sink.render(events)
        self.deliverer.pace(len(request.body), self.abandoned)
        if self._must_give_up():
            raise Stopped("Stopped before everything was sent; what was in flight is sent again.")
        answer, sent = self.deliverer.transport.post(request, idempotency_key(events))
        verdict = self.deliverer.sink.classify(answer) if isinstance(answer, Answer) else answer
        self.health.note(verdict, events)
        self.sent_bytes += sent
        if isinstance(verdict, Halt):
            raise self._halted(verdict)
        if isinstance(verdict, Retry):
            self.when_failing()
            log.debug("sink failing", reason=self.deliverer.clean(verdict.reason), tries=self.health.tries)
        return verdict

    def _halted(self, verdict: Halt) -> SinkHalted:
        reason = self.deliverer.clean(verdict.reason)
        return SinkHalted(
            f"The sink {self.deliverer.transport.address} does not take events: {reason}. "
            f"All offsets are kept, nothing is lost. {self.deliverer.clean(verdict.advice)}"
        )


def idempotency_key(events: list[Sealed]) -> str:
    """Names a request by what it holds: equal for a repeat, different as soon as an event is another or was cut."""
    key = blake2b(digest_size=16)
    for event in events:
        key.update(event.id.encode())
        key.update(len(event.body).to_bytes(8, "big"))
    return key.hexdigest()
