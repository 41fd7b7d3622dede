"""What wakes the agent: hints that paths below the roots changed, and signals.

In: events of watchdog, from its threads. Out: the paths to look at, for the main loop, which sleeps on a pipe. A hint
may be lost (full queues, system limits, network file systems, a watcher that died): the rescans of the service are the
truth, and what the watcher cannot see is said in `mode` and `reason`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from watchdog import events
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from collector.flow.source import Root
from collector.log import get_logger
from collector.service.watch_limits import is_watch_limit_reached, network_file_system

log = get_logger()
MAX_PATHS = 1000
SUFFIXES = (".jsonl", ".json")
RETRY_LIMITED_SECONDS = 600.0
PROJECTS = "projects"
# Nothing else wakes us: above all not that we ourselves open and close files.
WATCHED = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    events.FileMovedEvent,
    events.FileDeletedEvent,
    events.DirCreatedEvent,
    events.DirMovedEvent,
    events.DirDeletedEvent,
]


class Hints(NamedTuple):
    """What may have changed."""

    paths: frozenset[str]
    is_everything: bool


class Wake:
    """Gathers hints from other threads and signals; the main loop waits here."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.since: float | None = None  # when the first of the waiting hints came
        self._clock = clock
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._is_everything = False
        self._ear, self.bell = os.pipe()
        for end in (self._ear, self.bell):
            os.set_blocking(end, False)

    def hint(self, path: str) -> None:
        """This path may have changed."""
        with self._lock:
            if len(self._paths) < MAX_PATHS:
                self._paths.add(path)
            else:
                self._is_everything = True
            is_first = self.since is None
            if is_first:
                self.since = self._clock()
        if is_first:
            self.ring()

    def doubt(self) -> None:
        """Anything may have changed."""
        with self._lock:
            self._is_everything = True
            self.since = self._clock() if self.since is None else self.since
        self.ring()

    def ring(self) -> None:
        """Ends the wait of the main loop; safe in a signal handler."""
        with contextlib.suppress(OSError):  # a full pipe rings already
            os.write(self.bell, b"!")

    def wait(self, seconds: float) -> None:
        """Sleeps until something rings, or so long."""
        ready, _, _ = select.select([self._ear], [], [], max(0.0, seconds))
        if ready:
            with contextlib.suppress(BlockingIOError):
                while os.read(self._ear, 4096):
                    pass

    def peek(self) -> frozenset[str]:
        """The paths so far; they stay for whoever takes them."""
        with self._lock:
            return frozenset(self._paths)

    def take(self) -> Hints:
        """The hints so far; from here on new ones are gathered."""
        with self._lock:
            hints = Hints(frozenset(self._paths), self._is_everything)
            self._paths.clear()
            self._is_everything, self.since = False, None
        return hints

    def close(self) -> None:
        """Closes the pipe."""
        os.close(self._ear)
        os.close(self.bell)


class Watcher:
    """Keeps watchdog watching what is there of the roots; where that fails it says so, and the rescans do the work."""

    def __init__(
        self,
        roots: Sequence[Root],
        wake: Wake,
        *,
        is_wanted: bool = True,
        observer: Callable[[], Any] = Observer,
        is_limited: Callable[[str], bool] = is_watch_limit_reached,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.mode, self.reason, self.restarts = "polling", "not started", 0
        self.wake = wake
        self._roots = {os.path.realpath(root.path): os.path.abspath(root.path) for root in reversed(roots)}
        self._is_wanted = is_wanted
        self._make_observer = observer
        self._is_limited = is_limited
        self._clock = clock
        self._observer: Any = None
        self._threads: list[threading.Thread] = []
        self._places: dict[str, tuple[int, int]] = {}
        self._again_at: float | None = None
        self._complaints = _Complaints(wake)
        logger = logging.getLogger("watchdog")
        logger.propagate = False
        logger.handlers = [self._complaints]
        # A directory that is made while it is walked gets its watch twice, which does no harm.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)

    def keep_up(self) -> None:
        """Starts watching, or starts anew where a place came, went, or a thread died. Called before every rescan."""
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
            log.warning("watcher died, it is started again", restarts=self.restarts)
        self.close()
        if not places:
            self._tell("polling", "no root exists yet")
            return
        try:
            self._start(places)
        except Exception as error:  # noqa: BLE001 - whatever it is: without hints there are still the rescans
            self.close()
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            self._tell("polling", f"{reason}; new lines are found by rescans")
        else:
            self._tell_what_is_seen(places)

    def _places_to_watch(self) -> dict[str, tuple[int, int]]:
        """The directories to watch that are there, with device and inode: a new one of the same name differs."""
        places = {}
        for root in self._roots:
            for path in (root, f"{root}/{PROJECTS}"):
                with contextlib.suppress(OSError):
                    status = os.stat(path, follow_symlinks=False)
                    if os.path.isdir(path) and not os.path.islink(path):
                        places[path] = (status.st_dev, status.st_ino)
        return places

    def _start(self, places: dict[str, tuple[int, int]]) -> None:
        before = set(threading.enumerate())
        self._observer = self._make_observer()
        for path in places:
            handler = _Handler(self.wake, path, self._name_of(path))
            self._observer.schedule(handler, path, recursive=path not in self._roots, event_filter=WATCHED)
        self._observer.start()
        self._threads = [each for each in threading.enumerate() if each not in before and isinstance(each, BaseThread)]
        self._places = places

    def _name_of(self, path: str) -> str:
        """The path as discovery calls it: below the root as it was configured, not as links lead to it."""
        real = path if path in self._roots else os.path.dirname(path)
        return self._roots[real] + path[len(real) :]

    def _tell_what_is_seen(self, places: dict[str, tuple[int, int]]) -> None:
        self._again_at = None
        limited = next((path for path in places if self._is_limited(path)), None)
        remote = next((name for path in places if (name := network_file_system(path))), None)
        if limited:
            self._again_at = self._clock() + RETRY_LIMITED_SECONDS
            self._tell("events", "inotify watch limit reached; in some directories new lines are found by rescans")
        elif remote:
            self._tell("events", f"{remote} file system; what other machines write is found by rescans")
        else:
            self._tell("events", "")

    def _is_alive(self) -> bool:
        return bool(self._observer.is_alive()) and all(thread.is_alive() for thread in self._threads)

    def _tell(self, mode: str, reason: str) -> None:
        if (mode, reason) != (self.mode, self.reason):
            say = log.warning if reason else log.info
            say("watching", mode=mode, reason=reason)
        self.mode, self.reason = mode, reason

    def close(self) -> None:
        """Stops watching."""
        observer, self._observer, self._threads, self._places = self._observer, None, [], {}
        if observer is not None:
            with contextlib.suppress(Exception):  # a half-started or dead observer may fail to stop
                observer.stop()
                observer.join(1)


class _Handler(events.FileSystemEventHandler):
    """Turns events below one place into hints."""

    def __init__(self, wake: Wake, path: str, name: str) -> None:
        self.wake, self.path, self.name = wake, path, name

    def dispatch(self, event: events.FileSystemEvent) -> None:
        """Hints at what the event is about; called in watchdog's thread."""
        for raw in (event.src_path, event.dest_path):
            path = os.fsdecode(raw)
            if event.is_directory and path in (self.path, f"{self.path}/{PROJECTS}"):
                self.wake.doubt()  # a place to watch came or went
            elif path.startswith(f"{self.path}/") and (event.is_directory or path.endswith(SUFFIXES)):
                self.wake.hint(self.name + path[len(self.path) :])


class _Complaints(logging.Handler):
    """What watchdog complains about, such as a queue that overflowed, is a reason to look at everything."""

    def __init__(self, wake: Wake) -> None:
        super().__init__(logging.WARNING)
        self.wake = wake

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a log record of watchdog's."""
        if "overflow" in record.msg:
            log.warning("events were lost, everything is looked at")
        else:
            log.debug("watchdog", level=record.levelname)
        self.wake.doubt()
