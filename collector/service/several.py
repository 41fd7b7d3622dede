"""Several sinks: for each a service or a pass of its own, in a thread of its own, so that none waits for another.

In: what to do for each sink. Out: nothing, or one error that names every sink that failed and has the worst exit code.
Nothing is shared but the machine: each has its own flow, state, held files, quarantine and status, as if it were alone.
The calling thread only waits, and so it is there for signals.
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


class SinksFailed(CollectorError):
    """What went wrong at one or more of several sinks."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def side_by_side(jobs: Mapping[str, Callable[[], None]], when_one_ends: Callable[[], None] = lambda: None) -> None:
    """Does all of these at once, and raises when all have ended and any has failed. A name may be empty."""
    failures: dict[str, BaseException] = {}

    def do(name: str, job: Callable[[], None]) -> None:
        say_in_this_thread(sink_name=name or UNNAMED)
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failures[name or UNNAMED] = error
        finally:
            when_one_ends()

    threads = [threading.Thread(target=do, args=job, name=f"sink {job[0]}") for job in jobs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failures.values():
        if not isinstance(error, CollectorError):
            raise error
    if failures:
        raise _together({name: error for name, error in failures.items() if isinstance(error, CollectorError)})


def _together(failures: Mapping[str, CollectorError]) -> SinksFailed:
    """One that was stopped is no worse than that, one that is unreachable is worse, and anything else is worst."""
    worst = max(failures.values(), key=lambda error: (not isinstance(error, Stopped), not isinstance(error, SinkError)))
    return SinksFailed("\n".join(f"{name}: {error}" for name, error in failures.items()), worst.exit_code)


class Several:
    """The services of several sinks, which start and stop together: when one ends, whatever the reason, all do."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self.services = services
        self._has_stopped = False

    def run(self) -> None:
        """Runs all of them until `stop` is called."""
        side_by_side({name: service.run for name, service in self.services.items()}, when_one_ends=self._end)

    def _end(self) -> None:
        if not self._has_stopped:  # else this one ended because it was asked to, and asking twice does not wait
            self.stop()

    def stop(self) -> None:
        """Ends the run of each; a second call does not wait."""
        self._has_stopped = True
        for service in self.services.values():
            service.stop()

    def reload(self) -> None:
        """Has each read the configuration again."""
        for service in self.services.values():
            service.reload()

    def report(self) -> None:
        """Has each log its status, once."""
        for service in self.services.values():
            service.report()


class Choir:
    """The one voice in which several services speak to the service manager: ready once all are, alive while all are."""

    def __init__(self, notifier: Notifier, watchdog_seconds: float | None, clock: Callable[[], float]) -> None:
        self.notifier, self.clock = notifier, clock
        self.patience = watchdog_seconds or 0.0
        self.members: dict[str, Member] = {}
        self.lock = threading.Lock()

    def member(self, name: str) -> Member:
        """The voice of one of them."""
        member = self.members[name] = Member(self)
        return member

    @property
    def are_ready(self) -> bool:
        """Whether all have started, or finished reloading."""
        return all(member.is_ready for member in self.members.values())

    @property
    def are_alive(self) -> bool:
        """Whether none has been silent for as long as the service manager waits."""
        oldest = min(member.alive_at for member in self.members.values())
        return self.clock() - oldest < self.patience


class Member(Notifier):
    """What one service says; the manager hears of it when it is true of all."""

    def __init__(self, choir: Choir) -> None:
        super().__init__(None)
        self._choir = choir
        self.is_ready = False
        self.alive_at = choir.clock()
        self.said = ""

    def ready(self) -> None:
        """It has started, or finished reloading."""
        with self._choir.lock:
            self.is_ready = True
            if self._choir.are_ready:
                self._choir.notifier.ready()

    def reloading(self) -> None:
        """It is reading the configuration again."""
        with self._choir.lock:
            if self._choir.are_ready:
                self._choir.notifier.reloading()
            self.is_ready = False

    def stopping(self) -> None:
        """It is shutting down, and so are the others."""
        with self._choir.lock:
            self._choir.notifier.stopping()

    def status(self, text: str) -> None:
        """One line for `systemctl status`, made of what each has said last."""
        with self._choir.lock:
            self.said = text
            said = {name or UNNAMED: member.said for name, member in self._choir.members.items() if member.said}
            self._choir.notifier.status("; ".join(f"{name}: {text}" for name, text in said.items()))

    def alive(self) -> None:
        """It makes progress."""
        with self._choir.lock:
            self.alive_at = self._choir.clock()
            if self._choir.are_alive:
                self._choir.notifier.alive()

    @property
    def next_feed(self) -> float:
        """Seconds until it must be heard of again."""
        return self._choir.notifier.next_feed


def voices(
    notifier: Notifier, watchdog_seconds: float | None, names: list[str], clock: Callable[[], float] = time.monotonic
) -> dict[str, Notifier]:
    """What each of several services is given as its notifier; a single one has it for itself."""
    if len(names) == 1:
        return {names[0]: notifier}
    choir = Choir(notifier, watchdog_seconds, clock)
    return {name: choir.member(name) for name in names}
