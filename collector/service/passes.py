"""Runs the passes of the long run and keeps track of lag, totals, and whatever stops events from leaving.

In: a flow, and what to look at. Out: figures for the status. A failure becomes the `problem`, with a time for the next
try. It is raised only when pass after pass has failed unexpectedly. Invariant: each reason is logged once, not at every
try.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from collector.delivery.sink import Accepted, Halt
from collector.delivery.waiting import Uniform, backoff
from collector.errors import CollectorError, SinkError, SinkHalted, SinkUnavailable, StateError, Stopped
from collector.flow.ledger import Ledger
from collector.flow.observer import Observer
from collector.flow.source import Source
from collector.log import get_logger, place_of
from collector.pipeline import Flow, look, walk
from collector.reading.discover import Findings, glance
from collector.service.figures import Lag, Problem, Totals
from collector.service.heartbeat import LAST_WORD_SECONDS, Beat, heartbeat, send
from collector.service.hints import Hints
from collector.settings.options import RetrySettings

log = get_logger()
ERRORS_IN_A_ROW = 10  # unexpected errors; after that, the process ends and the service manager starts it afresh
MANY_BATCHES = 4  # in one pass: it has scattered the state in memory enough to be worth repacking
MANY_REASONS = 100
# A request's id, a time, a count: a sink may name another at every try. Not the status.
VARYING = re.compile(r"(?<!HTTP )\b[\w.:+-]*\d[\w.:+-]*")
# The hint for a more recent change may still be on its way; an older change without a hint was missed.
HINTS_TAKE_SECONDS = 2.0
HOLD_AGAIN_SECONDS = 2.0  # while the sink fails, how often to hold files written in the meantime
SINK_PROBLEMS = ("unavailable", "halted")
SAID = {
    "unavailable": "the sink is failing, trying again",
    "halted": "the sink accepts no events, a person must act",
    "state": "the agent's own files cannot be read or written, trying again",
    "internal": "a pass failed, trying again",
}


@dataclass(slots=True)
class Seen:
    """What the last full walk saw."""

    at: float | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    unlisted: dict[str, str] = field(default_factory=dict)
    missing_roots: list[str] = field(default_factory=list)
    missed_hints: int = 0


class Passes(Observer):
    """Lives as long as the agent; the flow that it observes changes with the configuration.

    `progress` is called when there may be news, `received` after a receipt, `keep_alive` when only time has passed;
    `hinted` returns the paths that have changed since the pass began.
    """

    def __init__(
        self,
        *,
        progress: Callable[[], None] = lambda: None,
        received: Callable[[], None] = lambda: None,
        keep_alive: Callable[[], None] = lambda: None,
        hinted: Callable[[], frozenset[str]] = frozenset,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        uniform: Uniform = random.uniform,
        many_reasons: int = MANY_REASONS,
    ) -> None:
        self.flow: Flow
        self.retry = RetrySettings()
        self.totals, self.lag, self.seen = Totals(), Lag(), Seen()
        self.problem: Problem | None = None
        self.retry_at = clock()
        self.acknowledged: float | None = None
        self.last_error = ""
        self.has_worked_hard = False
        self.changes = 0  # grows whenever there is something new to report
        self._progress, self._received, self._keep_alive, self._hinted = progress, received, keep_alive, hinted
        self._clock, self._wall, self._uniform = clock, wall, uniform
        self._held_at = clock()
        self._ledger = Ledger()
        self._batches = 0
        self._found: Findings | None = None
        self._newer: list[Source] = []  # written since then, while the sink fails
        self._has_all_hints = True
        self._errors_in_a_row = 0
        self._unsaved_since = 0.0
        self._said: set[str] = set()
        self._many_reasons = many_reasons

    def use(self, flow: Flow, retry: RetrySettings) -> None:
        """Continues with this flow, whose observer this object already is."""
        self.flow, self.retry = flow, retry
        self.retry_at = self._clock()

    # As the observer of the flow

    def alive(self) -> None:
        """Tells the watchdog that the process is not hanging."""
        self._keep_alive()

    def preparing(self) -> None:
        """Logs why the start takes a while."""
        log.info("preparing rules, once")

    def waiting(self) -> None:
        """Logs why nothing moves, and holds what has been written in the meantime."""
        deliverer = self.flow.deliverer
        if deliverer.health.failing_since is not None:
            self._say(SAID["unavailable"], deliverer.complaint())
            if self._clock() - self._held_at >= HOLD_AGAIN_SECONDS:
                self._hold_what_is_new()
        self._progress()

    def receipt(self, ledger: Ledger) -> None:
        """Notes that the sink acknowledged something."""
        if ledger.batches > self._batches:
            self._batches = ledger.batches
            self.acknowledged = self._wall()
        self.changes += 1
        self._progress()
        self._received()

    # What the loop asks for

    def everything(self, hints: Hints, *, is_watching: bool) -> float:
        """Makes a full walk and a pass over what it found. Returns the CPU seconds that the walk took."""
        found, cost = self._look()
        if found is None:
            return cost
        self._note_places(found)
        # Missed hints can be counted only if every hint since the last walk was kept, and only before the pass reads
        # the files, because then they look unchanged.
        is_comparable = is_watching and self._has_all_hints and self.seen.at is not None and not hints.is_everything
        unannounced = self._unannounced(found, hints) if is_comparable else []
        batches = self.totals.batches
        self.lag.take_all(found, self.flow.state.lag_of)
        self._has_all_hints = self._walk(found)
        # Count only files that the pass could read: others would be counted again at every walk.
        self.seen.missed_hints += sum(self.flow.state.is_read(source) for source in unannounced)
        self.seen.at = self._wall()
        self.has_worked_hard = self.totals.batches - batches >= MANY_BATCHES
        return cost

    def hold_everything(self) -> float:
        """Holds all that is unsent, because it may be swept before there is a pass again. Returns the CPU seconds that
        the walk took."""
        found, cost = self._look()
        if found is not None:
            self.flow.held.hold(found.files, self.flow.state)
        return cost

    def doubt(self) -> None:
        """Notes that hints may have been lost, so the next full walk cannot count missed ones."""
        self._has_all_hints = False

    def few(self, paths: frozenset[str]) -> bool:
        """Makes a pass over these paths. False if only a full walk will do."""
        try:
            found = glance(paths, self.flow.scope)
        except Exception as error:  # noqa: BLE001 - as in a pass
            self._failed_unexpectedly(error)
            return False
        self._has_all_hints = self._walk(found) and self._has_all_hints
        # What a pass like this has held is compared with its original only by a full walk.
        return not found.needs_full_walk and not self.flow.held.has_news

    @property
    def may_beat(self) -> bool:
        """Whether there is something to report, and a sink that would receive it.

        A problem other than the sink's does not silence the heartbeat: if offsets cannot be saved or passes fail
        internally, the sink may well be up, and this is when its owner must hear from the agent.
        """
        is_deaf = self.problem is not None and self.problem.kind in SINK_PROBLEMS
        knows_something = self.seen.at is not None or self.problem is not None or self._found is not None
        return knows_something and not is_deaf and self.flow.deliverer.health.failing_since is None

    def beat(self, report: dict[str, Any], beat: Beat) -> None:
        """Sends a heartbeat. A failure is kept as the last error and changes nothing else."""
        flow = self.flow
        seconds = LAST_WORD_SECONDS if beat.is_last else self.retry.max_wait
        try:
            match send(
                heartbeat(report, flow.frame, beat), flow, max(seconds, LAST_WORD_SECONDS), is_last=beat.is_last
            ):
                case Accepted(rejected=rejected, unnamed=unnamed, remark=remark) if rejected or unnamed:
                    self._say("heartbeat refused", next(iter(rejected.values()), remark or "it gives no reason"))
                case Accepted():
                    self.acknowledged = self._wall()
                    self.last_error = self.last_error if self.problem else ""
                case Halt(reason=reason):
                    self._beat_failed("SinkHalted", reason)
                case None:
                    self._beat_failed("SinkUnavailable", "no answer")
                case verdict:
                    self._beat_failed("SinkUnavailable", verdict.reason)
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 - a sign of life must not end the run
            self._beat_failed(type(error).__name__, f"{type(error).__name__} at {place_of(error)}")

    def _beat_failed(self, error: str, reason: str) -> None:
        self.last_error = error
        self._say("heartbeat not delivered", reason)

    def totals_now(self) -> Totals:
        """The totals, including the pass under way."""
        return self.totals.with_ledger(self._ledger)

    def problem_now(self) -> Problem | None:
        """What stops events from leaving, or offsets from being saved."""
        if self.problem is not None:
            return self.problem
        health = self.flow.deliverer.health
        if health.failing_since is not None:
            since = self._wall() - (self._clock() - health.failing_since)
            return Problem("unavailable", self.flow.deliverer.complaint(), since, health.tries)
        unsaved = self.flow.committer.problem
        self._unsaved_since = (self._unsaved_since or self._wall()) if unsaved else 0.0
        return Problem("state", unsaved, self._unsaved_since) if unsaved else None

    def refresh_lag(self) -> None:
        """Brings the lag up to date while a pass is under way."""
        if self._found is not None:
            self.lag.take([*self._found.files, *self._newer], self.flow.state.lag_of, self._found.gone)

    def _look(self) -> tuple[Findings | None, float]:
        """Makes a full walk. Returns what it found, or None if it failed, and the CPU seconds that it took."""
        started = time.thread_time()
        try:
            return look(self.flow, self.alive), time.thread_time() - started
        except StateError as error:
            self._failed("state", error, self._backoff())
        except Exception as error:  # noqa: BLE001 - as in a pass
            self._failed_unexpectedly(error)
        return None, 0.0

    def _walk(self, found: Findings) -> bool:
        """Makes the pass. Returns whether it went through."""
        self._ledger, self._batches, self._found = Ledger(), 0, found
        started = self._clock()
        try:
            walk(self.flow, self._ledger, found)
        except Stopped as error:
            log.info("pass interrupted", reason=str(error))
        except SinkHalted as error:
            self._failed("halted", error, self._backoff())
        except SinkUnavailable as error:
            # Delivery has already waited, up to retry.max_wait. Deduct that, so that new sources soon get their turn.
            self._failed("unavailable", error, max(0.0, self._backoff() - (self._clock() - started)))
        except (StateError, SinkError) as error:
            self._failed("state", error, self._backoff())
        except Exception as error:  # noqa: BLE001 - a single unexpected error must not end a run of months
            self._failed_unexpectedly(error)
        else:
            self._worked()
            return True
        finally:
            # What the pass committed counts, however it ended.
            self.totals.add(self._ledger)
            self.refresh_lag()
            self._ledger, self._found, self._newer = Ledger(), None, []
            self.changes += 1
        return False

    def _worked(self) -> None:
        self._errors_in_a_row, self.last_error = 0, ""
        if self.problem is not None:
            log.info("working again", after_seconds=round(self._wall() - self.problem.since), was=self.problem.kind)
            self.problem = None
        if self.flow.deliverer.health.failing_since is None:
            self._said.clear()

    def _failed(self, kind: str, error: Exception, wait: float, reason: str = "") -> None:
        reason = reason or str(error)
        self._say(SAID[kind], reason)
        since, tries = (self.problem.since, self.problem.tries + 1) if self.problem else (self._wall(), 1)
        self.problem = Problem(kind, reason, since, tries)
        self.last_error = type(error).__name__
        self.retry_at = self._clock() + wait

    def _failed_unexpectedly(self, error: Exception) -> None:
        """Reports only the type and place of the error: its message may contain somebody's text."""
        self._errors_in_a_row += 1
        reason = f"{type(error).__name__} at {place_of(error)}"
        self._failed("internal", error, self._backoff(), reason)
        if self._errors_in_a_row >= ERRORS_IN_A_ROW:
            raise CollectorError(
                f"{ERRORS_IN_A_ROW} passes in a row failed ({reason}). All offsets are kept, so nothing is lost. "
                "A service manager starts the agent again. Please report this line."
            ) from error

    def _backoff(self) -> float:
        """Seconds until the next try; grows with every failure in a row."""
        return backoff(self.problem.tries if self.problem else 0, self.retry, uniform=self._uniform)

    def _say(self, event: str, reason: str) -> None:
        """Logs a reason once, and again only if things have gone well in between."""
        same = VARYING.sub("", reason)
        if same not in self._said:
            if len(self._said) >= self._many_reasons:  # a sink may give a different reason at every try
                self._said.clear()
            self._said.add(same)
            self.changes += 1
            log.warning(event, reason=reason)

    def _hold_what_is_new(self) -> None:
        """Holds files written since the pass began, and counts their lag: the pass may last as long as an outage, and
        they could be swept before the next one begins. Only hints tell of them until then."""
        if paths := self._hinted():
            files = glance(paths, self.flow.scope).files
            self.flow.held.hold(files, self.flow.state)
            self.changes += files != self._newer
            self._newer = files
        self._held_at = self._clock()

    def _note_places(self, found: Findings) -> None:
        missing = [root.path for root in found.missing_roots]
        if missing != self.seen.missing_roots:
            if missing:
                log.warning("a root does not exist, waiting for it", missing=missing)
            else:
                log.info("all roots exist")
        if found.errors and found.errors.keys() != self.seen.unlisted.keys():
            log.warning("directories cannot be listed", directories=dict(list(found.errors.items())[:10]))
        self.seen.missing_roots, self.seen.unlisted, self.seen.skipped = missing, found.errors, found.skipped

    def _unannounced(self, found: Findings, hints: Hints) -> list[Source]:
        """The sources that changed without a hint."""
        latest = (self._wall() - HINTS_TAKE_SECONDS) * 1e9
        return [
            source
            for source in found.files
            if source.path not in hints.paths and source.stamp.mtime_ns < latest and not self.flow.state.is_read(source)
        ]
