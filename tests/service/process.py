"""What is said of a running agent: waiting for it, its status file, and a service in a thread of this process."""

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
from tests.sink import Sink

# What only a rescan could find is not found by it: only hints can be that quick.
NO_RESCANS = {"COLLECTOR_RUN__RESCAN_INTERVAL": "600"}
QUICK_RESCANS = {"COLLECTOR_RUN__RESCAN_INTERVAL": "0.1"}
SLOW_RETRIES = {"COLLECTOR_RETRY__INITIAL_INTERVAL": "600", "COLLECTOR_RETRY__MAX_INTERVAL": "600"}


def wait_until(condition: Callable[[], object], what: object = "", timeout: float = 60.0) -> None:
    """Looks until it is so."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, what() if callable(what) else what
        pause.wait(0.01)


def status_of(agent: Agent) -> dict[str, Any]:
    """What the agent says of itself; empty before it does."""
    try:
        return dict(json.loads(agent.state.with_name("state.status.json").read_bytes()))
    except FileNotFoundError:
        return {}


def is_watching(agent: Agent, running: Running) -> bool:
    """Whether the first pass is done and changes are hinted at."""
    told = status_of(agent)
    return told.get("pid") == running.process.pid and bool(told.get("last_rescan"))


@contextlib.contextmanager
def serving(home: Home, sink: Sink, *, given: dict[str, Any] | None = None, **parts: Any) -> Iterator[Service]:
    """The service in a thread of this process, with settings and parts of our own."""
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
        thread.join(30)
        service.wake.close()


def texts(sink: Sink) -> list[str]:
    return [event["text"] for event in sink.events]
