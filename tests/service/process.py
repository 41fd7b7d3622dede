"""Helpers for a running agent: waiting for it, reading its status file, and running a service in a thread."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.service.loop import Service
from tests.agent import Agent, Running
from tests.build import Home
from tests.sink import PATIENCE, Sink

# With rescans this rare, whatever is found was found by a hint.
NO_RESCANS = {"COLLECTOR_RUN__RESCAN_INTERVAL": "600"}
QUICK_RESCANS = {"COLLECTOR_RUN__RESCAN_INTERVAL": "0.1"}
SLOW_RETRIES = {"COLLECTOR_RETRY__INITIAL_INTERVAL": "600", "COLLECTOR_RETRY__MAX_INTERVAL": "600"}


def wait_until(condition: Callable[[], object], what: object = "", timeout: float = PATIENCE) -> None:
    """Waits until the condition holds; fails after the timeout."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        pause.wait(0.01)


def status_of(agent: Agent) -> dict[str, Any]:
    """The agent's status file; empty if there is none yet."""
    try:
        return dict(json.loads(agent.state.with_name("state.status.json").read_bytes()))
    except FileNotFoundError:
        return {}


def is_watching(agent: Agent, running: Running) -> bool:
    """Whether the first pass is done, so that hints report changes from now on."""
    told = status_of(agent)
    return told.get("pid") == running.process.pid and bool(told.get("last_rescan"))


@contextlib.contextmanager
def serving(home: Home, sink: Sink, *, given: dict[str, Any] | None = None, **parts: Any) -> Iterator[Service]:
    """Runs the service in a thread of this process, with the given settings and parts."""
    state = home.path.parent / "agent" / "state.json"
    places = {"roots": [str(home.root)], "sink": {"url": sink.url}, "state": {"path": str(state)}}
    quick = {
        "redaction": {"engine": "python"},
        "batch": {"linger": 0.0},
        "run": {"nice": 0},
        "heartbeat": {"interval": 0},
    }
    chosen = settings.load(None, {**places, **quick, **(given or {})}, sinks=SINKS)
    service = Service(chosen, lambda: chosen, **parts)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        thread.join(PATIENCE)
        service.wake.close()
