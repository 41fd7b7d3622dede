"""Settles one batch: posts, retries, halves or searches it until each event is accepted or refused for good.

In: a batch, a way to post events, the sink's health, a policy, and what ends the waiting. Out: a receipt, or
SinkUnavailable, SinkHalted, Stopped. This is the only retry layer. A sink that always fails on one event looks just
like one that is down, unless it still accepts an event that it is known to take (the canary). Invariant: an event is
blamed for failures only while the canary is accepted (promise 7).
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson
import tenacity

from collector.delivery.channel import Posted
from collector.delivery.complaints import halted, unavailable
from collector.delivery.health import Health, size_of
from collector.delivery.sink import Accepted, Halt, Refused, Retry, TooLarge, Verdict
from collector.delivery.waiting import Uniform, Waiting, backoff
from collector.errors import SinkHalted, SinkUnavailable, Stopped
from collector.flow import reasons, shorten
from collector.flow.batch import Batch
from collector.flow.outcome import Quarantined, Sealed
from collector.flow.receipt import Receipt
from collector.log import get_logger, warn_once
from collector.settings.options import RetrySettings

log = get_logger()
SUSPICIOUS_REFUSALS = 10  # in a row, from a sink that is known to take events
SUSPICIOUS_AT_FIRST = 2  # in a row, from one that has never taken any
SMALLEST_CUT = 2_000  # bytes; an event that is too large even at this size is quarantined
SUSPECTS = 10  # events that are tried in turn before they are blamed
CONFIRMATIONS = 9  # further failures in a row of such suspects, together, while the canary is accepted
REFUSES_EVERYTHING = (
    "This looks like a wrong address or sink.type, not bad events: check the [sink] section, and what the sink or a "
    "proxy in front of it allows."
)


def _may_pass(verdict: Verdict) -> bool:
    return isinstance(verdict, Retry) or (isinstance(verdict, Refused) and verdict.may_pass)


def _may_be_about_events(verdict: Verdict) -> bool:
    return not isinstance(verdict, Retry) or verdict.may_be_poison


@dataclass(frozen=True, slots=True)
class Policy:
    """How hard to try, and whether a sink that refuses one event after another counts as misconfigured."""

    retry: RetrySettings
    window: int = 4
    may_halt: bool = True
    clock: Callable[[], float] = time.monotonic
    uniform: Uniform = random.uniform


class Settling:
    """One batch on its way to a receipt."""

    def __init__(
        self,
        batch: Batch,
        post: Callable[[Sequence[Sealed], Waiting], Posted],
        health: Health,
        policy: Policy,
        waiting: Waiting,
        address: str,
        when_failing: Callable[[], None] = lambda: None,
    ) -> None:
        self._batch = batch
        self._send = post
        self._health = health
        self._policy = policy
        self._waiting = waiting
        self._address = address
        self._when_failing = when_failing
        self._refused: dict[str, str] = {}
        self._later: list[Sealed] = []  # events that the sink put off while it accepted others
        self._sent_bytes = 0
        self._duplicates = 0

    def receipt(self) -> Receipt:
        """Settles every event of the batch."""
        self._settle(self._batch.events)
        while self._later:
            postponed, self._later = self._later, []
            self._waiting.pause(backoff(0, self._policy.retry, uniform=self._policy.uniform))
            self._settle(postponed)
        return Receipt(self._batch, self._quarantined(), self._sent_bytes, self._duplicates)

    def _quarantined(self) -> list[Quarantined]:
        if not self._refused:
            return []
        return [
            Quarantined(event.id, self._refused[event.id], key, offset, event.body.decode())
            for event, (key, offset) in zip(self._batch.events, self._batch.places, strict=True)
            if event.id in self._refused
        ]

    def _settle(self, events: list[Sealed]) -> None:
        # Halve it without asking: a request of this size was too large before.
        limit = self._health.size_limit
        if limit and len(events) > 1 and size_of(events) >= limit:
            self._halve(events)
        else:
            self._act(events, self._post_until_decided(events))

    def _act(self, events: list[Sealed], decision: Verdict) -> None:
        match decision:
            case Accepted():
                self._accept(events, decision)
            case TooLarge():
                self._shrink(events, decision)
            case Refused():
                self._search(events, decision)
            case Retry() | Halt():
                self._suspect(events, decision)

    def _suspect(self, events: list[Sealed], decision: Retry | Halt) -> None:
        """Before giving up on the sink, finds out whether it fails only on these events, however slowly it fails."""
        # A deadline of its own: every canary that is accepted resets the time since which the sink has been failing.
        deadline = self._policy.clock() + self._policy.retry.max_wait
        while not self._isolate(events):
            if isinstance(decision, Halt):
                raise self._halted(decision)
            pause = self._seconds_after(decision)
            if self._has_waited_enough(pause) or self._policy.clock() + pause > deadline:
                raise self._unavailable(decision)
            self._waiting.pause(pause)
            again = self._post_until_decided(events)
            if not isinstance(again, Retry | Halt):
                self._act(events, again)
                return
            decision = again

    def _accept(self, events: list[Sealed], decision: Accepted) -> None:
        self._duplicates += decision.duplicates
        rejected = [event for event in events if event.id in decision.rejected] if decision.rejected else []
        for event in rejected:
            reason = reasons.REJECTED.because(decision.rejected[event.id])
            if len(rejected) < len(events):  # it accepted others in the same answer, so it is healthy
                self._refuse(event, reason)
            else:
                self._blame(event, reason, tolerated=SUSPICIOUS_REFUSALS)
        if decision.later:
            self._later += [event for event in events if event.id in decision.later]
        if decision.unnamed:
            self._set_aside(events, decision)
        elif decision.remark:
            warn_once("the sink accepted the events, but remarked", sink=self._address, remark=decision.remark)

    def _set_aside(self, events: list[Sealed], decision: Accepted) -> None:
        """Quarantines every event that may have been rejected, because the sink does not say which were. Smaller
        requests would tell, but would also store the others twice in a sink that ignores ids."""
        said = ". ".join(filter(None, [f"{decision.unnamed} of {len(events)}", decision.remark]))
        for event in events:
            if decision.unnamed < len(events):
                self._refuse(event, reasons.UNNAMED.because(said))
            else:
                self._blame(event, reasons.REJECTED.because(said), tolerated=SUSPICIOUS_REFUSALS)

    def _refuse(self, event: Sealed, reason: str) -> None:
        self._refused[event.id] = reason
        log.warning("refused", id=event.id, reason=reason)

    def _halve(self, events: list[Sealed]) -> None:
        middle = len(events) // 2
        self._settle(events[:middle])
        self._settle(events[middle:])

    def _shrink(self, events: list[Sealed], decision: TooLarge) -> None:
        """Halves the events. A single one is cut, and blamed if even SMALLEST_CUT bytes are too large."""
        if len(events) > 1:
            self._health.note_too_large(size_of(events))
            self._halve(events)
            return
        event = events[0]
        if len(event.body) <= SMALLEST_CUT:
            self._blame(event, reasons.TOO_LARGE_FOR_SINK.because(decision.reason))
            return
        smaller = shorten.fit(orjson.loads(event.body), max(SMALLEST_CUT, len(event.body) // 2))
        self._settle([event._replace(body=smaller)])

    def _search(self, events: list[Sealed], refusal: Refused) -> None:
        """Finds the events that get a request refused, largest pieces first: an accepted one proves the sink works."""
        pieces = deque([(events, refusal)])
        is_doubtful = self._policy.may_halt  # whether the sink accepts any event at all
        while pieces:
            piece, refusal = pieces.popleft()
            if len(piece) == 1:
                self._blame(piece[0], reasons.REFUSED.because(refusal.reason), advice=refusal.advice)
                continue
            middle = len(piece) // 2
            for half in (piece[:middle], piece[middle:]):
                # The whole was waited for. Waiting at every step of the search would take minutes for each bad event.
                decision = self._post_until_decided(half, may_pass=len(half) == 1)
                if isinstance(decision, Refused):
                    pieces.append((half, decision))
                else:
                    self._act(half, decision)
                    is_doubtful = False
            # Otherwise a thousand events would take a thousand requests, in each pass, before the first one is blamed.
            if is_doubtful and self._refuses_all_of(events):
                raise self._refuses_everything(reasons.REFUSED.because(refusal.reason), refusal.advice)
            is_doubtful = False

    def _refuses_all_of(self, events: list[Sealed]) -> bool:
        """Whether the sink refuses the canary or, if there is none, suspiciously many events spread over these."""
        canary, last = self._health.canary, len(events) - 1
        spread = {last * place // (SUSPICIOUS_REFUSALS - 1) for place in range(SUSPICIOUS_REFUSALS)}
        asked = [canary] if canary else [events[place] for place in sorted(spread)]
        return all(isinstance(self._post([event]), Refused) for event in asked)

    def _blame(self, event: Sealed, reason: str, tolerated: int = SUSPICIOUS_AT_FIRST, advice: str = "") -> None:
        """Marks an event as refused, but halts if the sink refuses one after another: then it is misconfigured."""
        in_a_row = self._health.note_refused()
        canary = self._health.canary
        # Before a whole backlog is quarantined, the canary decides: is it these events, or everything?
        is_suspicious = self._policy.may_halt and in_a_row >= (SUSPICIOUS_REFUSALS if canary else tolerated)
        if is_suspicious and not (canary and self._is_taken(canary)):
            raise self._refuses_everything(reason, advice)
        self._refuse(event, reason)

    def _isolate(self, events: list[Sealed]) -> bool:
        """Finds the events that make a healthy sink fail, and marks them refused. False if the sink is not healthy."""
        canary = self._canary(events)
        if canary is None:
            return False
        pieces, suspects = [events], list[Sealed]()
        failed, largest_taken, known = list[int](), 0, len(self._refused)
        while pieces:
            piece = pieces.pop()
            decision = self._post_until_decided(piece, may_pass=False)
            if not isinstance(decision, Retry | Halt):
                self._act(piece, decision)
                largest_taken = max(largest_taken, size_of(piece))
            else:
                failed.append(size_of(piece))
                if middle := len(piece) // 2:
                    # The first half next, and its halves: single events show whether the sink fails on everything.
                    pieces += (piece[middle:], piece[:middle])
                else:
                    suspects += piece
            if suspects and (len(suspects) == SUSPECTS or not pieces):
                if not self._confirm(suspects, canary):
                    return False
                suspects = []
        # It takes them all, and every piece that it failed on was larger: it may be too slow for those.
        if len(self._refused) == known and largest_taken < min(failed, default=0):
            for size in failed:
                self._health.note_split(size)
        return True

    def _confirm(self, suspects: list[Sealed], canary: Sealed) -> bool:
        """Marks those as refused that go on failing. False if the sink is not healthy.

        They are tried in turn, after the canary each time: a flaky sink is no event's fault. If it accepts one after
        all, it may be flaky, so the others have to fail as often again. Trying each alone would take three times as
        many requests if a firewall blocks many events.
        """
        tries, rounds, confirmed, is_given_time = self._policy.retry.poison_tries, 0, 0, False
        failing = [(event, "") for event in suspects]
        while failing and (confirmed < CONFIRMATIONS or rounds < (tries if is_given_time else 2)):
            if is_given_time and rounds < tries:
                self._waiting.pause(backoff(rounds - 1, self._policy.retry, uniform=self._policy.uniform))
            # Once or twice, without a period: a balancer may take turns between a server that works and one that fails.
            if not all(self._is_taken(canary) for _ in range(1 + rounds.bit_count() % 2)):
                return False
            tried, failing = failing, []
            for event, _ in tried:
                decision = self._post_until_decided([event], may_pass=False)
                if isinstance(decision, Retry | Halt):
                    failing.append((event, decision.reason))
                    confirmed += 1
                    is_given_time = is_given_time or isinstance(decision, Retry)
                else:
                    self._act([event], decision)
                    confirmed = 0
            rounds += 1
        for event, reason in failing:
            self._refuse(event, reasons.POISON.because(reason))
        self._health.note_blamed()
        return True

    def _canary(self, events: list[Sealed]) -> Sealed | None:
        """An event that the sink accepts now: one it has accepted before (its id makes that harmless), or one of the
        batch.

        Once the waiting time is over, only the known one is tried, because it should be accepted at once.
        """
        canary = self._health.canary
        known = [canary] if canary else []
        others = [] if self._has_waited_enough(0.0) else self._two_of(self._batch.events)
        for candidate in [*known, *others]:
            if len(events) == 1 and candidate.id == events[0].id:  # the suspect cannot speak for itself
                continue
            if self._is_taken(candidate):
                return candidate
        return None

    def _two_of(self, events: list[Sealed]) -> list[Sealed]:
        """Two candidates, because one may be the poison. One of them is another each time, even in the next pass, which
        begins with the same events: if both were poison, no pass would get any further."""
        others = len(events) - 1
        return [events[-1], events[int(self._policy.uniform(0, others)) % others if others else 0]]

    def _is_taken(self, event: Sealed) -> bool:
        """Whether the sink accepts this event now."""
        decision = self._post_until_decided([event], may_pass=False)
        return (
            isinstance(decision, Accepted)
            and not decision.unnamed
            and event.id not in decision.rejected.keys() | decision.later
        )

    def _post_until_decided(self, events: list[Sealed], *, may_pass: bool = True) -> Verdict:
        """Posts until the answer is anything but `try again`. Returns a Retry only if the events are suspect. Without
        `may_pass`, an answer that may be about the events counts even if it may pass: only one that cannot be, such as
        that requests come too fast, is waited for."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(
                lambda verdict: _may_pass(verdict) and (may_pass or not _may_be_about_events(verdict))
            ),
            wait=self._wait,
            stop=self._is_enough,
            sleep=self._waiting.pause,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        decision: Verdict = retrying(self._post, events)
        if _may_pass(decision) and self._waiting.is_over:
            raise Stopped("Stopped while the sink was failing; the next run sends what was in flight again.")
        if isinstance(decision, Retry) and not decision.may_be_poison:
            raise self._unavailable(decision)
        return decision

    def _is_enough(self, state: tenacity.RetryCallState) -> bool:
        decision = state.outcome.result() if state.outcome else None
        is_suspect = decision.may_be_poison if isinstance(decision, Retry) else isinstance(decision, Refused)
        if is_suspect and state.attempt_number >= self._policy.retry.poison_tries:
            return True
        return self._waiting.is_over or self._has_waited_enough(state.upcoming_sleep)

    def _has_waited_enough(self, upcoming: float) -> bool:
        since = self._health.failing_since
        return since is not None and self._policy.clock() + upcoming - since > self._policy.retry.max_wait

    def _wait(self, state: tenacity.RetryCallState) -> float:
        decision = state.outcome.result() if state.outcome else None
        return self._seconds_after(decision, state.attempt_number - 1)

    def _seconds_after(self, decision: Verdict | None, failures: int = 0) -> float:
        """Backs off by the failures of all requests in flight: a sink that fails them all is down, not unlucky."""
        asked = decision.after if isinstance(decision, Retry) else None
        failures = max(failures, self._health.tries // self._policy.window)
        return backoff(failures, self._policy.retry, asked, uniform=self._policy.uniform)

    def _post(self, events: list[Sealed]) -> Verdict:
        """One request, and what its answer means. Raises if a person must act."""
        posted = self._send(events, self._waiting)
        verdict = posted.verdict
        if posted.was_asked:  # else the sink has said nothing
            self._health.note(verdict, events)
        self._sent_bytes += posted.sent
        if isinstance(verdict, Halt) and not verdict.may_be_poison:
            raise self._halted(verdict)
        if isinstance(verdict, Retry):
            self._when_failing()
            log.debug("sink failing", reason=verdict.reason, tries=self._health.tries)
        return verdict

    def _unavailable(self, decision: Retry) -> SinkUnavailable:
        return SinkUnavailable(unavailable(self._address, decision.reason))

    def _refuses_everything(self, reason: str, advice: str) -> SinkHalted:
        return self._halted(Halt(f"it refuses everything: {reason}", advice or REFUSES_EVERYTHING))

    def _halted(self, verdict: Halt) -> SinkHalted:
        return SinkHalted(halted(self._address, verdict))
