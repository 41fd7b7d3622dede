"""Watches the roots, so that a new line is sent at once instead of at the next rescan.

In: events from watchdog, in its threads. Out: hints to the main loop. Hints get lost (full queues, system limits,
network file systems, a watcher that died), so only the service's rescans are sure to find everything; `mode` and
`reason` tell what the watcher cannot see.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

from watchdog import events
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from collector.agents.format import AgentFormat
from collector.log import get_logger, place_of
from collector.reading.scope import Scope
from collector.service.hints import Waker
from collector.service.watch_limits import is_watch_limit_reached, network_file_system

log = get_logger()
WATCHDOG = logging.getLogger("watchdog")
WATCHDOG.propagate = False
WATCHDOG.addHandler(logging.NullHandler())  # otherwise Python would print what it says after the last watcher is closed
RETRY_LIMITED_SECONDS = 600.0
AT_WORK: set[Waker] = set()  # of all services of this process, which share what Python calls when a thread dies
BEFORE: list[Callable[[threading.ExceptHookArgs], Any]] = []  # what it called before the first of them
HOOK = threading.Lock()
DEAD: WeakSet[threading.Thread] = WeakSet()
# Nothing else wakes the agent, least of all its own opening and closing of files.
WATCHED = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    events.FileMovedEvent,
    events.FileDeletedEvent,
    events.DirCreatedEvent,
    events.DirMovedEvent,
    events.DirDeletedEvent,
]


@contextlib.contextmanager
def hearing_of_deaths(wake: Waker) -> Iterator[None]:
    """While the block runs, this service looks at everything after the death of a thread. Most likely that was one of a
    watcher's, which a walk restarts; of which service, does not show."""
    with HOOK:
        if not AT_WORK:
            BEFORE.append(threading.excepthook)
            threading.excepthook = _thread_died
        AT_WORK.add(wake)
    try:
        yield
    finally:
        with HOOK:
            AT_WORK.discard(wake)
            if not AT_WORK:
                threading.excepthook = BEFORE.pop()


def _thread_died(died: threading.ExceptHookArgs) -> None:
    if died.thread is not None:
        DEAD.add(died.thread)  # it still runs, namely this: a service that looks at once would think that it is alive
    name, place = getattr(died.thread, "name", ""), place_of(died.exc_value) if died.exc_value else ""
    log.error("a thread died", thread=name, error=died.exc_type.__name__, place=place)
    for wake in tuple(AT_WORK):
        wake.doubt()


class Watcher:
    """Keeps watchdog on all roots that exist. Where that fails, it says so and leaves the work to the rescans."""

    def __init__(
        self,
        scope: Scope,
        wake: Waker,
        *,
        is_wanted: bool = True,
        observer: Callable[[], Any] = Observer,
        is_limited: Callable[[str], bool] = is_watch_limit_reached,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.mode, self.reason, self.restarts = "polling", "not started", 0
        self.wake = wake
        self._roots = {os.path.realpath(root.path): os.path.abspath(root.path) for root in reversed(scope.roots)}
        self._forms = {os.path.realpath(root.path): scope.form_of(root) for root in reversed(scope.roots)}
        self._is_wanted = is_wanted
        self._make_observer = observer
        self._is_limited = is_limited
        self._clock = clock
        self._observer: Any = None
        self._threads: list[threading.Thread] = []
        self._places: dict[str, tuple[int, int]] = {}
        below = {f"{root}/{name}": root for root, form in self._forms.items() for name in form.watched}
        self._root_of = below | {root: root for root in self._roots}  # by watched place
        self._again_at: float | None = None
        self._complaints = _Complaints(wake)
        # A directory created while watchdog walks the tree is watched twice, which does no harm.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)

    def keep_up(self) -> None:
        """Starts watching, or starts over if a place came or went or a thread died. Called before every rescan."""
        if not self._is_wanted:
            self._tell("polling", "run.watch is off")
            return
        places = self._places_to_watch()
        is_dead = self._observer is not None and not self._is_alive()
        is_due = self._again_at is not None and self._clock() >= self._again_at
        if self._observer is not None and places == self._places and not is_dead and not is_due:
            return
        if is_dead:
            self.restarts += 1
            log.warning("watcher died, restarting it", restarts=self.restarts)
        self.close()
        if not places:
            self._tell("polling", "no root exists yet")
            return
        try:
            self._start(places)
        except Exception as error:  # noqa: BLE001 - whatever it is, rescans work without hints
            self.close()
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            self._tell("polling", f"{reason}; only rescans find new lines")
        else:
            self._tell_what_is_seen(places)

    def _places_to_watch(self) -> dict[str, tuple[int, int]]:
        """The existing directories to watch, with device and inode, so that a replaced one is noticed."""
        places = {}
        for path in self._root_of:
            with contextlib.suppress(OSError):
                status = os.stat(path, follow_symlinks=False)
                if os.path.isdir(path) and not os.path.islink(path):
                    places[path] = (status.st_dev, status.st_ino)
        return places

    def _start(self, places: dict[str, tuple[int, int]]) -> None:
        before = set(threading.enumerate())
        self._observer = self._make_observer()
        WATCHDOG.addHandler(self._complaints)  # beside those of other sinks: a complaint does not say whom it concerns
        for path in places:
            form = self._forms[self._root_of[path]]
            handler = _Handler(self.wake, path, self._name_of(path), form)
            self._observer.schedule(handler, path, recursive=path not in self._roots, event_filter=WATCHED)
        self._observer.start()
        self._threads = [each for each in threading.enumerate() if each not in before and isinstance(each, BaseThread)]
        self._places = places

    def _name_of(self, path: str) -> str:
        """The path as discovery names it: below the configured root, with its symbolic links unresolved."""
        real = self._root_of[path]
        return self._roots[real] + path[len(real) :]

    def _tell_what_is_seen(self, places: dict[str, tuple[int, int]]) -> None:
        self._again_at = None
        limited = next((path for path in places if self._is_limited(path)), None)
        remote = next((name for path in places if (name := network_file_system(path))), None)
        if limited:
            self._again_at = self._clock() + RETRY_LIMITED_SECONDS
            self._tell("events", "inotify watch limit reached; in some directories, only rescans find new lines")
        elif remote:
            self._tell("events", f"{remote} file system; only rescans find what other machines write")
        else:
            self._tell("events", "")

    def _is_alive(self) -> bool:
        return bool(self._observer.is_alive()) and all(each.is_alive() and each not in DEAD for each in self._threads)

    def _tell(self, mode: str, reason: str) -> None:
        if (mode, reason) != (self.mode, self.reason):
            say = log.warning if reason else log.info
            say("watching", mode=mode, reason=reason)
        self.mode, self.reason = mode, reason

    def close(self) -> None:
        """Stops watching."""
        WATCHDOG.removeHandler(self._complaints)
        observer, self._observer, self._threads, self._places = self._observer, None, [], {}
        if observer is not None:
            with contextlib.suppress(Exception):  # an observer that died or only half started may fail to stop
                observer.stop()
                observer.join(1)


class _Handler(events.FileSystemEventHandler):
    """Turns events below one place into hints."""

    def __init__(self, wake: Waker, path: str, name: str, form: AgentFormat) -> None:
        self.wake, self.path, self.name = wake, path, name
        self.places = {path, *(f"{path}/{each}" for each in form.watched)}
        self.suffixes = form.suffixes

    def dispatch(self, event: events.FileSystemEvent) -> None:
        """Passes on the paths of an event. Called in watchdog's thread."""
        for raw in (event.src_path, event.dest_path):
            path = os.fsdecode(raw)
            if event.is_directory and path in self.places:
                self.wake.doubt()  # a watched place appeared or vanished
            elif path.startswith(f"{self.path}/") and (event.is_directory or path.endswith(self.suffixes)):
                self.wake.hint(self.name + path[len(self.path) :])


class _Complaints(logging.Handler):
    """Takes any complaint from watchdog, such as an overflowing queue, as a reason to look at everything."""

    def __init__(self, wake: Waker) -> None:
        super().__init__(logging.WARNING)
        self.wake = wake

    def emit(self, record: logging.LogRecord) -> None:
        """Handles one of watchdog's log records."""
        if "overflow" in record.msg:
            log.warning("change notifications were lost, rescanning everything")
        else:
            log.debug("watchdog", level=record.levelname)
        self.wake.doubt()
