"""A corpus for real engines, and scans of it that are killed between a POST and the commit.

A relay sits between the agent and the engine. It passes each request on, and when told to, kills the agent once the
engine has answered: what was stored then has no receipt, and is sent again.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import httpx

from tests.agent import Agent
from tests.bench.backlog import Backlog, Recipe
from tests.build import Home
from tests.e2e.test_secrets import SHAPES, letters, mixed
from tests.e2e.test_traces import story
from tests.sink import Answer, Request, Sink

KILLS = 3
KEPT = {"content-type", "retry-after"}


def corpus(directory: Path, megabytes: int = 2) -> tuple[Home, list[str]]:
    """A home with realistic transcripts and one with secrets in it; returns the home and the secrets."""
    backlog = Backlog(directory, Recipe(megabytes, seed=5, files=40))
    backlog.write()
    home = Home(directory)
    session = home.session()
    list(story(session))
    planted: list[str] = []
    for number in range(20):
        for shape, make in SHAPES.items():
            core, text = make(f"{shape} {number}")
            assert core in (letters(f"{shape} {number}"), mixed(f"{shape} {number}"))
            planted.append(core)
            call = session.tool_call(given={"command": f"echo {text}"})
            session.tool_result(call, f"it says\n{text}\n")
    session.reply("Bye.")
    return home, planted


class Relay:
    """Passes requests on to an engine; used as a context manager."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.Client(timeout=60)
        self._lock = threading.Lock()
        self._victim: subprocess.Popen[bytes] | None = None
        self._left = 0
        self.refused: list[tuple[int, bytes]] = []
        self.sink = Sink(then=self._pass_on)

    def __enter__(self) -> Relay:
        self.sink.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.sink.__exit__(*exception)
        self._client.close()

    @property
    def url(self) -> str:
        """The URL for the agent to send to."""
        return f"http://127.0.0.1:{self.sink.port}"

    def kill_after(self, requests: int, victim: subprocess.Popen[bytes]) -> None:
        """Kills the process once the engine has answered this many more requests, before it sees the last answer."""
        with self._lock:
            self._left, self._victim = requests, victim

    def _pass_on(self, request: Request) -> Answer:
        sent = {name: value for name, value in request.headers.items() if name not in ("host", "connection")}
        answer = self._client.request(request.method, self._url + request.path, content=request.raw, headers=sent)
        if not answer.is_success:
            self.refused.append((answer.status_code, answer.content[:300]))
        with self._lock:
            self._left -= 1
            if self._victim is not None and self._left == 0:
                self._victim.kill()
                self._victim.wait()
        headers = {name: value for name, value in answer.headers.items() if name.lower() in KEPT}
        return Answer(answer.status_code, headers, answer.content)


def scanned_with_kills(home: Home, relay: Relay, environment: dict[str, str]) -> Agent:
    """Starts scans that are killed between POST and commit, a few times, then scans to the end."""
    few = {"COLLECTOR_BATCH__MAX_EVENTS": "60"}
    agent = Agent(home, relay.sink, {**environment, **few, "COLLECTOR_SINK__URL": relay.url})
    agent.sink = None  # the URL is that of the relay, without the path of tests.sink
    for number in range(KILLS):
        with agent.start(command="scan") as running:
            relay.kill_after(3 + 2 * number, running.process)
            assert running.process.wait(120) == -9, running.stderr
    result = agent.scan().assert_balanced()
    assert (result.code, result.ledger["lag"], result.ledger["quarantined"]) == (0, 0, 0), result.stderr
    return agent


def told_by_the_store(home: Home, directory: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of `collector report` for the same files, by model, and the ids that an http sink gets."""
    import json

    agent = Agent(home, None, {"XDG_DATA_HOME": str(directory / "data")})
    agent.directory, agent.state = directory / "store", directory / "store" / "state.json"
    assert agent.scan().code == 0
    rows = json.loads(agent.run("report", "--by", "model", "--json").stdout)["rows"]
    with Sink() as sink:
        other = Agent(home, sink)
        other.directory, other.state = directory / "http", directory / "http" / "state.json"
        other.scan()
        return rows, sink.ids()
