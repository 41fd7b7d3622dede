"""The long run: a pass at the start, then one whenever something changes, until asked to stop.

In: settings, hints, signals. Out: passes, and the status that others see. `step` does the one thing that is due and
returns the time until the next; `run` calls it and sleeps in between. Hints only name paths worth a look; the full walk
every run.rescan_interval finds everything. Invariant: no failure of the sink or the disk ends the run. It tries again
from the committed offsets, and the status says why.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - httpx needs it; imported in the middle of a large pass, it would pin memory
import os
import random
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from collector import __version__
from collector.assembly import describe, flow_on, held_state, sink_of, state_of
from collector.delivery.waiting import Uniform
from collector.errors import CollectorError, ConfigurationError, SinkRemoved, StateReplaced
from collector.flow.interrupt import Interrupt
from collector.keeping.state import State
from collector.leaving_out import meet_sink, try_to_drop_refused
from collector.log import configure, get_logger, place_of, timestamp
from collector.pipeline import Flow
from collector.reading.roots import refuse_deleted
from collector.service import footprint
from collector.service.heartbeat import Beat, standing
from collector.service.hints import Hints, Waker
from collector.service.notify import Notifier
from collector.service.passes import Passes
from collector.service.reloads import FOREVER, Reloads, secrets_now, secrets_of
from collector.service.standstills import LOOK_AGAIN_SECONDS, OUTDATED, Standstills
from collector.service.status_file import StatusFile, one_line, status_path
from collector.service.watch import Watcher, hearing_of_deaths
from collector.settings import Settings, fingerprint

log = get_logger()
# At most one part in this many of the time goes into finding sources, however many there are.
WORTH_OF_RESCANNING = 50
CLOCK_JUMP_SECONDS = 30.0


class Service:
    """The agent as a service that runs for months."""

    def __init__(
        self,
        settings: Settings,
        reread: Callable[[], Settings],
        *,
        notifier: Notifier | None = None,
        make_watcher: Callable[..., Watcher] = Watcher,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        uniform: Uniform = random.uniform,
        from_now: bool = False,
    ) -> None:
        self.settings = settings
        self.notifier = notifier or Notifier()
        self.wake = Waker(clock)
        self.interrupt = Interrupt()
        self.passes = Passes(
            progress=self._progress,
            received=self._beat_meanwhile,
            keep_alive=self.notifier.alive,
            hinted=self.wake.peek,
            clock=clock,
            wall=wall,
            uniform=uniform,
        )
        self.watcher: Watcher
        self.flow: Flow
        self._reread, self._make_watcher = reread, make_watcher
        self._clock, self._wall, self._uniform = clock, wall, uniform
        self._status = StatusFile(status_path(settings.state_path), clock)
        self._since, self._started, self._drift = wall(), clock(), wall() - clock()
        self._is_stopping = self._wants_report = self._is_removed = False
        self._reloads = Reloads(clock)
        self._full_at = self._rested_at = clock()
        self._heartbeat_at = clock()  # the first at once, so that a fleet sees a new agent right away
        self._from_now = from_now
        self._standstills = Standstills()
        self._secrets: Any = None
        self._told: Any = None

    # Called by signal handlers and other threads: these set a flag and wake the main loop, which acts on it.

    def stop(self) -> None:
        """Ends the run: finishes or abandons what is in flight, then saves. A second call ends all waiting."""
        if self._is_stopping:
            self.interrupt.stop_at_once()
        self._is_stopping = True
        self.interrupt.stop()
        self.wake.ring()

    def reload(self) -> None:
        """Reads the configuration again, after finishing or abandoning what is in flight."""
        self._reloads.ask()
        self._heed_reload()
        self.wake.ring()

    def report(self) -> None:
        """Logs the status, once."""
        self._wants_report = True
        self.wake.ring()

    # The run

    def run(self) -> None:
        """Holds the lock on the state and works until `stop` is called."""
        # Before the first thread starts, because threads inherit the priorities of their creator.
        log.debug("priorities lowered", **footprint.step_back(self.settings.run.nice))
        with held_state(self.settings, "run") as state, ExitStack() as parts:
            parts.push(self.open_flow(state, self.settings))
            # Until the lock was held, whoever said no found nobody to tell.
            if self._reread().model_dump() != self.settings.model_dump():
                self._reloads.ask()
            log.info("started", version=__version__, **describe(self.flow))
            # Only once the flow is open: a failed start must not look like a service that is up.
            self.notifier.ready()
            try:
                with hearing_of_deaths(self.wake):
                    while not self._is_stopping:
                        self._turn(parts)
            finally:
                self._finish()

    @property
    def is_interrupted(self) -> bool:
        """Whether a stop was requested or a reload is due."""
        return self._is_stopping or self._reloads.is_due

    def _heed_reload(self) -> None:
        if self._reloads.is_due:
            self.interrupt.stop()

    def _turn(self, parts: ExitStack) -> None:
        if self._reloads.is_due or self.flow.state.was_deleted:
            self._do_reload(parts)
        seconds = self.step()
        self._progress()
        if not self.is_interrupted:
            self.wake.wait(min(seconds, self._reloads.due_in, self.notifier.next_feed, self._when_to_tell()))

    def step(self) -> float:
        """Does the one thing that is due. Returns the seconds until something else is, unless a hint comes first."""
        now = self._clock()
        self._notice_a_jump(now)
        passes, committer = self.passes, self.flow.committer
        # Saving comes first: what a sink acknowledged before it went down must reach the disk even during the outage.
        if committer.due_in == 0.0:
            committer.save()
        elif self._stands_still():
            if self._standstills.reason == OUTDATED and not self._is_removed and self._clock() >= self._full_at:
                self._rest_after(self.passes.hold_everything())
            return min(LOOK_AGAIN_SECONDS, self._when_to_save())
        elif self._is_beat_due(now):
            self._send_heartbeat()
        # Do nothing else until the retry is due: following a hint would only fail the same way.
        elif passes.problem and now < passes.retry_at:
            return min(passes.retry_at - now, self._when_to_save(), self._when_to_beat(now))
        elif self._is_halted_by_old_secrets:
            log.info("token or certificate changed, reloading")
            self._reloads.ask()
        elif passes.problem or now >= self._full_at:
            self._look_at_everything()
        elif self.wake.since is not None and now >= self.wake.since + self.settings.batch.linger:
            self._look_at(self.wake.take())
        else:
            return self._nothing_until() - now
        return 0.0

    def _stands_still(self) -> bool:
        is_outdated = bool(self._reloads.failure)
        if self._standstills.has_changed(self.settings, self.flow, self._wall(), is_outdated=is_outdated):
            self.passes.changes += 1
            self._full_at = self._clock()
        return bool(self._standstills.reason)

    def _nothing_until(self) -> float:
        moments = [self._full_at, self._clock() + self._when_to_save()]
        if self.wake.since is not None:
            moments.append(self.wake.since + self.settings.batch.linger)
        return min(*moments, self._clock() + self._when_to_beat(self._clock()))

    def _when_to_save(self) -> float:
        due_in = self.flow.committer.due_in
        return FOREVER if due_in is None else max(due_in, 0.01)

    def _when_to_tell(self) -> float:
        """Seconds until the status file should be written again; forever if there is no news."""
        return self._status.due_in if self._news != self._told else FOREVER

    def _notice_a_jump(self, now: float) -> None:
        """After the machine slept or its clock was set, rescans and retries at once instead of waiting any longer."""
        # While a machine sleeps, the monotonic clock stands still but the wall clock does not, so the two drift apart.
        drift = self._wall() - now
        if abs(drift - self._drift) > CLOCK_JUMP_SECONDS:
            log.info("the clock jumped, rescanning everything", seconds=round(drift - self._drift))
            self._full_at = self.passes.retry_at = now
        self._drift = drift

    def _look_at_everything(self) -> None:
        self.flow.state.keep_lock()
        refuse_deleted(self.flow.scope.roots)
        # Watcher and hints come before the walk, so that a change behind the walk's back leaves a hint for later.
        self.watcher.keep_up()
        hints = self.wake.take()
        cost = self.passes.everything(hints, is_watching=self.watcher.mode == "events")
        if self.passes.has_worked_hard:
            self.flow.state.repack()
        self._rest_after(cost)

    def _rest_after(self, cost: float) -> None:
        footprint.give_back_memory()
        interval = self.settings.run.rescan_interval * self._uniform(0.9, 1.1)
        rest = WORTH_OF_RESCANNING * cost
        self._full_at, self._rested_at = self._clock() + max(interval, rest), self._clock() + rest

    def _look_at(self, hints: Hints) -> None:
        if hints.is_everything or not self.passes.few(hints.paths):
            self.passes.doubt()
            # Hints that call for a full walk may keep coming, but each walk is still followed by its full rest.
            self._full_at = max(self._clock(), self._rested_at)

    def _is_beat_due(self, now: float) -> bool:
        return bool(self.settings.heartbeat.interval) and now >= self._heartbeat_at and self.passes.may_beat

    def _when_to_beat(self, now: float) -> float:
        """Seconds until the next heartbeat; forever while none could be sent, because a pass must come first."""
        may_beat = self.settings.heartbeat.interval and self.passes.may_beat
        return max(0.0, self._heartbeat_at - now) if may_beat else FOREVER

    def _send_heartbeat(self, *, is_last: bool = False) -> None:
        interval = self.settings.heartbeat.interval
        self._heartbeat_at = self._clock() + interval
        report = self.describe() | standing(self.flow, fingerprint(self.settings))
        self.passes.beat(report, Beat(self._wall(), self._clock() - self._started, interval, is_last=is_last))

    # Configuration

    def open_flow(self, state: State, settings: Settings) -> ExitStack:
        """Builds a flow from these settings and continues with it. If they are unusable, raises and changes nothing."""
        with ExitStack() as opening:
            # Before the flow reads them, so that a token replaced in between counts as changed.
            secrets = secrets_of(settings)
            made = flow_on(state, settings, interrupt=self.interrupt, observer=self.passes, uniform=self._uniform)
            flow = opening.enter_context(made)
            watcher = self._make_watcher(flow.scope, self.wake, is_wanted=settings.run.watch, clock=self._clock)
            opening.callback(watcher.close)
            meet_sink(flow, from_now=self._from_now)
            parts = opening.pop_all()
        if hasattr(self, "flow"):  # a reload: commits not yet saved must not be lost with the old committer
            flow.committer.go_on_from(self.flow.committer)
            try_to_drop_refused(flow)
        self.settings, self.flow, self.watcher, self._secrets = settings, flow, watcher, secrets
        self.passes.use(flow, settings.retry)
        self._full_at = self._clock()
        self._heartbeat_at = min(self._heartbeat_at, self._full_at + settings.heartbeat.interval)
        footprint.give_back_memory()
        return parts

    def _clear_interrupt(self) -> None:
        """Clears the interrupt once it has been acted on."""
        # Clear it before checking the flags: otherwise a signal that arrives in between would be lost.
        if not self._is_stopping:
            self.interrupt.clear()
        if self.is_interrupted:
            self.interrupt.stop()

    def _do_reload(self, parts: ExitStack) -> None:
        """Applies the configuration as it is now. If it is unusable, logs why and sends nothing until it is not."""
        # First, so that a signal that arrives while the file is being read asks for another reload.
        was_asked_for, self.flow.state.was_deleted = self._reloads.begin(), False
        self.notifier.reloading()
        self.passes.doubt()  # nothing watches between two watchers, and other files may be wanted afterwards
        before, reason = parts.pop_all(), ""
        try:
            settings = self._reread()
            if settings.state_path != self.settings.state_path:
                raise ConfigurationError("state.path cannot change while the agent runs. Restart it to use another.")
            state = self._state_for(settings)
            self.watcher.close()
            parts.push(self.open_flow(state, settings))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it may say what must not be sent
            reason = str(error) if isinstance(error, CollectorError) else f"{type(error).__name__} at {place_of(error)}"
            if was_asked_for or reason != self._reloads.failure:
                log.error("configuration not applied, sending nothing until it is", reason=reason)
            self._is_removed = isinstance(error, SinkRemoved)
            parts.push(before)
        else:
            before.close()  # only now: until here, the old flow might have been needed again
            configure(settings.log.level, settings.log.format)
            footprint.step_back(settings.run.nice)
            log.info("configuration applied", **describe(self.flow))
        finally:
            self._reloads.end(reason, self._wall())
            self._clear_interrupt()
        self.notifier.ready()

    def _state_for(self, settings: Settings) -> State:
        """The state for the sink in these settings: the current one, or another sink's, with offsets of its own."""
        state = self.flow.state
        if sink_of(settings) == state.sink:
            return state
        # The other state is read from the disk, so everything must be saved first. Raises if that fails.
        self.flow.committer.finish()
        return state_of(settings, state.lock).load()

    @property
    def _is_halted_by_old_secrets(self) -> bool:
        problem = self.passes.problem
        is_halted = problem is not None and problem.kind == "halted" and not self._reloads.is_wanted
        return is_halted and self._secrets != secrets_now(self.settings, self._secrets)

    # What others see

    def describe(self) -> dict[str, Any]:
        """The status, as plain data."""
        passes, watcher = self.passes, self.watcher
        passes.refresh_lag()
        priorities = passes.lag.by_priority()
        problem = self._reloads.problem or passes.problem_now()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "since": timestamp(self._since),
            "is_running": not self._is_stopping,
            **describe(self.flow),
            **self.settings.origins.as_dict(),
            "roots": [
                root._asdict() | {"is_there": root.path not in passes.seen.missing_roots}
                for root in self.flow.scope.roots
            ],
            "watcher": {
                "mode": watcher.mode,
                "reason": watcher.reason,
                "restarts": watcher.restarts,
                "missed_hints": passes.seen.missed_hints,
            },
            "priorities": priorities,
            "lag": sum(row["lag"] for row in priorities.values()),
            "last_acknowledged": timestamp(passes.acknowledged) if passes.acknowledged else None,
            "last_rescan": timestamp(passes.seen.at) if passes.seen.at else None,
            "problem": problem.as_dict() if problem else None,
            "last_error": passes.last_error or None,
            "held": self.flow.held.summary(),
            "skipped_files": passes.seen.skipped,
            "unlisted_directories": len(passes.seen.unlisted),
            **passes.totals_now().as_dict(),
        }

    @property
    def _news(self) -> Any:
        """Changes whenever the status would."""
        return (
            self.passes.changes,
            self.flow.committer.problem,
            self.watcher.mode,
            self.watcher.reason,
            self.watcher.restarts,
            self._reloads.problem,
        )

    def _beat_meanwhile(self) -> None:
        """Called after a receipt, when the sink is known to answer, so that a long pass does not delay heartbeats."""
        if self._is_beat_due(self._clock()):
            self._send_heartbeat()

    def _progress(self) -> None:
        """Called whenever the main loop has done something or waits on purpose."""
        self.notifier.alive()
        self._heed_reload()
        if self._wants_report:
            self._wants_report = False
            log.info("status", **self.describe())
        if self._news != self._told and self._status.due_in == 0.0:
            self._tell()

    def _tell(self, *, is_last: bool = False) -> None:
        self.flow.state.keep_lock()
        self._told = self._news
        report = self._status.write(self.describe, is_last=is_last)
        self.notifier.status(one_line(report, standstill=self._standstills.reason))

    def _finish(self) -> None:
        """Ends the run: saves everything that was acknowledged, then reports for the last time."""
        self.notifier.stopping()
        self._is_stopping = True
        # Save before the last report, so that it can tell if saving failed.
        self.flow.committer.save()
        with suppress(StateReplaced):
            self.flow.state.keep_lock()
            if self.settings.heartbeat.interval and self.passes.may_beat and not self._reloads.problem:
                self._send_heartbeat(is_last=True)
            self._tell(is_last=True)
        log.info("stopped", lag=self.describe()["lag"], **self.passes.totals.as_dict())
