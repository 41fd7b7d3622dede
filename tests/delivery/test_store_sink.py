"""The embedded store is a sink like the others: it says where events go, and no code treats it as a special case."""

from __future__ import annotations

import ast
import json
from contextlib import closing
from pathlib import Path

from collector.store.writer import Writer
from tests.agent import Agent
from tests.build import Home
from tests.service.process import status_of, wait_until
from tests.test_rooms import OURS, name_of


def test_status_names_the_store_alike_whether_the_agent_runs_or_not(tmp_path: Path) -> None:
    home, database = Home(tmp_path), tmp_path / "events.db"
    home.session().prompt("one")
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(database)})
    expected = f"the embedded store, {database}"
    with agent.start() as running:
        wait_until(lambda: status_of(agent).get("last_acknowledged"), lambda: running.stderr)
        assert status_of(agent)["sink"] == expected
        assert running.stop() == 0
    assert json.loads(agent.run("status", *agent.places(), "--json").stdout)["sink"] == expected
    assert expected in agent.run("doctor", *agent.places()).stdout


def test_a_scan_that_waits_for_the_store_says_why(tmp_path: Path) -> None:
    home, database = Home(tmp_path), tmp_path / "events.db"
    home.session().prompt("one")
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(database)})
    with closing(Writer(database)) as other, other.changing():
        result = agent.scan("--max-wait", "0")
    assert result.code == 75
    assert f"did not acknowledge: Another process has held the store {database} for too long." in result.stderr
    assert agent.scan().ledger["delivered"] == 1


def test_a_first_scan_that_cannot_open_the_store_prints_no_ledger(tmp_path: Path) -> None:
    """It has not looked yet, so it would say that nothing waits."""
    home, database = Home(tmp_path), tmp_path / "events.db"
    home.session().prompt("one")
    database.write_text("not a database")
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(database)})
    result = agent.scan()
    assert (result.code, result.stdout) == (1, "")
    assert "is damaged" in result.stderr
    database.unlink()
    assert agent.scan().ledger["delivered"] == 1


def test_no_code_compares_sink_types() -> None:
    """A comparison of types would be a special case that every new sink has to be added to."""
    assert [
        f"{name_of(path)}:{node.lineno}"
        for path in OURS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and "sink_type" in ast.unparse(node)
    ] == []
