"""The progress bar: on a terminal and nowhere else, and never in what is printed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.sink import Sink


def test_a_terminal_sees_a_bar_and_stdout_holds_the_ledger_only(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    shown, terminal = pty.openpty()
    with Sink() as sink:
        agent = Agent(home, sink, {"TERM": "xterm", "COLUMNS": "100"})
        command = [*COLLECTOR, "scan", "--json", *agent.places()]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=agent.environment, check=False)
    os.close(terminal)
    said = os.read(shown, 65536)
    os.close(shown)
    assert (result.returncode, json.loads(result.stdout)["delivered"]) == (0, 1)
    assert b"1 batch" in said
    assert b"delivered" not in said


def test_nobody_else_sees_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        assert "batches" not in Agent(home, sink).scan().stderr
