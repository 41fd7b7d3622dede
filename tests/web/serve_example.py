"""Serves the pages over the example home, to look at them: `python -m tests.web.serve_example DIRECTORY`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.agent import Agent
from tests.build import Home
from tests.web.example_home import fill


def made(directory: Path, until: datetime | None = None) -> Agent:
    """The example home, with everything in it in an embedded store below it."""
    home = Home(directory)
    if not any(home.root.rglob("*.jsonl")):
        fill(home, until or datetime.now(UTC))
    agent = Agent(home, environment={"COLLECTOR_HEARTBEAT__INTERVAL": "300", "COLLECTOR_HOST__NAME": "ada-laptop"})
    assert agent.scan().code == 0
    return agent


if __name__ == "__main__":
    with made(Path(sys.argv[1])).start("--no-open", command="web") as running:
        running.process.wait()
