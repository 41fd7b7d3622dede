"""The corpus sent to every engine: a home with everything in it and secrets throughout, sent by an agent that is killed
several times on the way.

The embedded store defines what must arrive: the ids of its events, and its report.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.store.writer import Writer
from tests.agent import Agent
from tests.build import Home
from tests.e2e.test_secrets import SHAPES
from tests.faults.crash import CrashServer
from tests.store.samples import row_of

# The file changes before which the agent is killed: the first commit, then a later one each time. Whatever was
# acknowledged by then is at the sink, but not known to the agent.
DEATHS = (11, 13, 20, 27)
SMALL = {"COLLECTOR_BATCH__MAX_EVENTS": "10", "COLLECTOR_SINK__WINDOW": "2"}


@dataclass(frozen=True)
class Corpus:
    """A home, and what must come of its events."""

    home: Home
    secrets: list[bytes]
    ids: set[str]
    report: dict[str, Any]
    output: dict[str, int]  # message id: the largest count in any of its rows


def made(directory: Path) -> Corpus:
    """The corpus, as the embedded store has it."""
    home, secrets = Home(directory), []
    home.with_everything()
    for number in range(8):
        session = home.session(f"-work-p{number % 3}")
        for turn in range(12):
            core, planted = list(SHAPES.values())[turn % len(SHAPES)](f"{number} {turn}")
            secrets.append(core.encode())
            session.prompt(f"Why does it fail? The file says {planted} and nothing else")
            session.tool_call(given={"command": f"export {planted}"})
            session.rows({"type": "text", "text": f"turn {turn}"}, tokens=10 * turn + number)
        if number % 3 == 0:
            session.fork()
    agent = Agent(home, None, {"COLLECTOR_STORE__DATABASE": str(directory / "events.db")})
    result = agent.scan()
    assert result.code in (0, 3), result.stderr
    with closing(sqlite3.connect(directory / "events.db")) as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM events")}
        output = dict(
            connection.execute(
                "SELECT message_id, max(output_tokens) FROM events"
                " WHERE message_id IS NOT NULL AND output_tokens IS NOT NULL GROUP BY message_id"
            ).fetchall()
        )
    return Corpus(home, secrets, ids, report_on(directory / "events.db", home), output)


def report_on(database: Path, home: Home) -> dict[str, Any]:
    """The output of `collector report`."""
    result = Agent(home, None, {"COLLECTOR_STORE__DATABASE": str(database)}).run("report", "--json")
    assert result.code == 0, result.stderr
    told = dict(json.loads(result.stdout))
    told.pop("database", None)
    return told


def report_of(events: Iterable[dict[str, Any]], corpus: Corpus, directory: Path) -> dict[str, Any]:
    """The same report, made from the events that an engine returned."""
    with closing(Writer(directory / "read-back.db")) as writer:
        writer.store(map(row_of, events))
    return report_on(directory / "read-back.db", corpus.home)


def deliver_through_kills(corpus: Corpus, directory: Path, **environment: str) -> Agent:
    """Scans the corpus into a sink, is killed several times between an answer and its commit, and scans to the end."""
    agent = Agent(corpus.home, None, {**SMALL, **environment})
    agent.directory = directory / "agent"
    agent.state = agent.directory / "state.json"
    with CrashServer() as server:
        for moment in DEATHS:
            run = server.run(agent, "scan", "--json", die_at=moment)
            assert run.was_killed, Path(f"{agent.directory}.log").read_text()[-2000:]
            assert "state.json" in run.steps[-1]
    result = agent.scan().assert_balanced()
    assert result.code in (0, 3), result.stderr
    assert result.ledger["lag"] == 0
    return agent
