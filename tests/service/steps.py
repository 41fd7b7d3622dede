"""A service in this process, run one step at a time, with a test clock and hints given by the test.

steps.until_idle()                  # does everything that is due now
steps.hint(session.path)            # as the watcher would
clock.forward(1)
steps.until_idle()
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from collector import settings
from collector.assembly import held_state
from collector.delivery.sinks.registry import SINKS
from collector.flow.source import Root
from collector.keeping.commit import Committer
from collector.service.hints import Waker
from collector.service.loop import Service
from collector.service.status_file import status_path
from collector.settings import Settings
from tests.build import Home
from tests.sink import Sink


class Clock:
    """Monotonic and wall time; both move only when the test moves them."""

    def __init__(self) -> None:
        self.now, self.offset = 1000.0, time.time() - 1000.0

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return self.now

    def wall(self) -> float:
        """Seconds since 1970."""
        return self.now + self.offset

    def forward(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds

    def set(self, seconds: float) -> None:
        """Moves only the wall clock, as when it is set, or when the machine slept."""
        self.offset += seconds


class NoWatcher:
    """Watches nothing: hints come from the test."""

    mode, reason, restarts = "events", "", 0

    def __init__(self, roots: Sequence[Root], wake: Waker, **_: Any) -> None:
        self.roots, self.wake = roots, wake

    def keep_up(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Has nothing to close."""


class Steps:
    """The service with its settings, state and clock."""

    def __init__(self, home: Home, sink: Sink, clock: Clock, **options: Any) -> None:
        self.home, self.sink, self.clock = home, sink, clock
        self.given: dict[str, Any] = {
            "roots": [str(home.root)],
            "sink": {"url": sink.url},
            "state": {"path": str(home.path.parent / "agent" / "state.json")},
            "redaction": {"engine": "python"},
            "retry": {"initial_interval": 1.0, "max_interval": 30.0, "max_wait": 0.0},
            "batch": {"linger": 0.5},
            "heartbeat": {"interval": 0.0},
            **options.pop("given", {}),
        }
        # A lower priority would apply to this process, which could not raise it again for later tests.
        self.given["run"] = {"nice": 0, **self.given.get("run", {})}
        # Jitter always gives its longest wait, so that waiting times are the same in every run.
        self.options: dict[str, Any] = {"make_watcher": NoWatcher, "uniform": lambda low, high: high, **options}
        self._open = ExitStack()

    def settings(self) -> Settings:
        """The settings currently in force."""
        return settings.load(None, self.given, sinks=SINKS)

    def __enter__(self) -> Self:
        chosen = self.settings()
        self.options |= {"clock": self.clock.monotonic, "wall": self.clock.wall}
        self.service = Service(chosen, self.settings, **self.options)
        self.state = self._open.enter_context(held_state(chosen, "test"))
        self._open.push(self.service.open_flow(self.state, chosen))
        kept = self.service.flow.committer
        self.service.flow.committer = Committer(self.state, kept.quarantine, kept.window, clock=self.clock.monotonic)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self.service.wake.close()

    def until_idle(self) -> float:
        """Does everything that is due; returns the seconds until something is due again."""
        for _ in range(20):
            seconds = self.service.step()
            if seconds > 0:
                return seconds
        raise AssertionError("it never comes to rest")

    def hint(self, *paths: Path) -> None:
        """Gives a hint, as the watcher would."""
        for path in paths:
            self.service.wake.hint(str(path))

    def saved(self) -> dict[str, int]:
        """The saved offsets, by file name."""
        try:
            files = json.loads(Path(self.given["state"]["path"]).read_bytes())["claude_code"]["files"]
        except FileNotFoundError:
            return {}
        return {Path(key).name: entry["offset"] for key, entry in files.items()}

    def told(self) -> dict[str, Any]:
        """The content of the status file."""
        return dict(json.loads(status_path(Path(self.given["state"]["path"])).read_bytes()))
