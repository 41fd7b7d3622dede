"""Runs a service or a pass for each of several sinks, in a thread of its own, so that no sink waits for another.

In: a job for each sink. Out: nothing, or one error that names every sink that failed and has the worst exit code.
Nothing is shared but the machine: each sink has its own flow, state, held files, quarantine and status, as if it were
alone. The calling thread only waits, so it is free to handle signals.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from collector.errors import CollectorError, SinkError, Stopped
from collector.flow.sink_identity import UNNAMED
from collector.log import say_in_this_thread
from collector.service.loop import Service
from collector.service.notify import Notifier

HEAR_SIGNALS_SECONDS = 1.0


class SinksFailed(CollectorError):
    """One or more of several sinks failed."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def side_by_side(jobs: Mapping[str, Callable[[], None]], when_one_ends: Callable[[], None] = lambda: None) -> None:
    """Runs all jobs at once. When all have ended, raises if any has failed. A name may be empty."""
    failures: dict[str, BaseException] = {}

    def do(name: str, job: Callable[[], None]) -> None:
        say_in_this_thread(sink_name=name or UNNAMED)
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            failures[name or UNNAMED] = error
        finally:
            when_one_ends()

    threads = [threading.Thread(target=do, args=job, name=f"sink {job[0]}") for job in jobs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        # Not for ever: a signal that comes just before the wait, or to another thread, is heard only after it.
        while thread.is_alive():
            thread.join(HEAR_SIGNALS_SECONDS)
    for error in failures.values():
        if not isinstance(error, CollectorError):
            raise error
    if failures:
        raise _together({name: error for name, error in failures.items() if isinstance(error, CollectorError)})


def _together(failures: Mapping[str, CollectorError]) -> SinksFailed:
    """Combines the errors. Being stopped is the least bad, a failing sink is worse, and anything else is worst."""
    worst = max(failures.values(), key=lambda error: (not isinstance(error, Stopped), not isinstance(error, SinkError)))
    return SinksFailed("\n".join(f"{name}: {error}" for name, error in failures.items()), worst.exit_code)


class Several:
    """The services of several sinks, which start and stop together: when one ends, for whatever reason, all do."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self.services = services
        self._has_stopped = False

    def run(self) -> None:
        """Runs all of them until `stop` is called."""
        side_by_side({name: service.run for name, service in self.services.items()}, when_one_ends=self._end)

    def _end(self) -> None:
        if not self._has_stopped:  # otherwise this one was told to end, and a second stop would hurry the others
            self.stop()

    def stop(self) -> None:
        """Stops all of them. A second call ends all waiting."""
        self._has_stopped = True
        for service in self.services.values():
            service.stop()

    def reload(self) -> None:
        """Tells each to read the configuration again."""
        for service in self.services.values():
            service.reload()

    def report(self) -> None:
        """Tells each to log its status once."""
        for service in self.services.values():
            service.report()


class Choir:
    """Speaks to the service manager for several services: ready once all are ready, alive while all are alive."""

    def __init__(self, notifier: Notifier, watchdog_seconds: float | None, clock: Callable[[], float]) -> None:
        self.notifier, self.clock = notifier, clock
        self.patience = watchdog_seconds or 0.0
        self.members: dict[str, Member] = {}
        self.lock = threading.Lock()

    def member(self, name: str) -> Member:
        """The notifier for one of the services."""
        member = self.members[name] = Member(self)
        return member

    @property
    def are_ready(self) -> bool:
        """Whether all have started or finished reloading."""
        return all(member.is_ready for member in self.members.values())

    @property
    def are_alive(self) -> bool:
        """Whether none has been silent for longer than the service manager waits."""
        oldest = min(member.alive_at for member in self.members.values())
        return self.clock() - oldest < self.patience


class Member(Notifier):
    """The notifier of one service; the manager is told once something is true of all services."""

    def __init__(self, choir: Choir) -> None:
        super().__init__(None)
        self._choir = choir
        self.is_ready = False
        self.alive_at = choir.clock()
        self.said = ""

    def ready(self) -> None:
        """This service has started or finished reloading."""
        with self._choir.lock:
            self.is_ready = True
            if self._choir.are_ready:
                self._choir.notifier.ready()

    def reloading(self) -> None:
        """This service is reading the configuration again."""
        with self._choir.lock:
            if self._choir.are_ready:
                self._choir.notifier.reloading()
            self.is_ready = False

    def stopping(self) -> None:
        """This service is shutting down, and so are the others."""
        with self._choir.lock:
            self._choir.notifier.stopping()

    def status(self, text: str) -> None:
        """One line for `systemctl status`, made from the last status of each service."""
        with self._choir.lock:
            self.said = text
            said = {name or UNNAMED: member.said for name, member in self._choir.members.items() if member.said}
            self._choir.notifier.status("; ".join(f"{name}: {text}" for name, text in said.items()))

    def alive(self) -> None:
        """This service makes progress."""
        with self._choir.lock:
            self.alive_at = self._choir.clock()
            if self._choir.are_alive:
                self._choir.notifier.alive()

    @property
    def next_feed(self) -> float:
        """Seconds until the watchdog must be fed."""
        return self._choir.notifier.next_feed


def voices(
    notifier: Notifier, watchdog_seconds: float | None, names: list[str], clock: Callable[[], float] = time.monotonic
) -> dict[str, Notifier]:
    """The notifier for each service: the given one for a single service, or else members of one choir."""
    if len(names) == 1:
        return {names[0]: notifier}
    choir = Choir(notifier, watchdog_seconds, clock)
    return {name: choir.member(name) for name in names}
