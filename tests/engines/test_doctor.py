"""`collector doctor` with real engines: they accept its test events, even the old one, and return them when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.engines import running
from tests.engines.test_engines import TABLE_OF_2018, options

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("name", ["clickhouse", "loki"])
def test_doctor_finds_the_events_that_an_engine_acknowledged(tmp_path: Path, name: str) -> None:
    own = {"deduplicates": "false"} if name == "clickhouse" else {}  # Debian's is of 2018
    with {"clickhouse": running.clickhouse, "loki": running.loki}[name](tmp_path) as engine:
        if name == "clickhouse":
            engine.ask("POST", "/", content=TABLE_OF_2018)
        agent = Agent(Home(tmp_path / "home"), None, options(name, engine.url, **own))
        told = json.loads(agent.run("doctor", "--json", *agent.places()).stdout)["checks"]
    levels = {check["name"]: check["level"] for check in told}
    assert [levels[each] for each in ("sink", "read back", "old events", "old read back")] == ["ok"] * 4
