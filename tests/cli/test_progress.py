"""The progress bar: on a terminal and nowhere else, and never in the output."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
from pathlib import Path

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink


def test_a_terminal_shows_a_bar_and_stdout_has_only_the_ledger(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    shown, terminal = pty.openpty()
    said = b""
    with Sink() as sink:
        agent = Agent(home, sink, {"TERM": "xterm", "COLUMNS": "100"})
        command = [*COLLECTOR, "scan", "--json", *agent.places()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, env=agent.environment) as running:
            os.close(terminal)
            # Read all along: a terminal that nobody reads holds 4 kB, then the command waits. An error is its end.
            with contextlib.suppress(OSError):
                while piece := os.read(shown, 65536):
                    said += piece
            printed, _ = running.communicate()
    os.close(shown)
    assert (running.returncode, json.loads(printed)["delivered"]) == (0, 1)
    assert b"1 batch" in said
    assert b"delivered" not in said


def test_without_a_terminal_there_is_no_bar(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        assert "batches" not in Agent(home, sink).scan().stderr


def test_the_embedded_store_is_shown_as_a_path_and_never_as_a_port(tmp_path: Path) -> None:
    """The receiver inside the process has a loopback port, which people need not see."""
    home = Home(tmp_path)
    home.session().prompt("one")
    agent = Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})
    said = [
        agent.run(*words.split()) for words in ("-v scan", "-v status", "doctor", "config show", "-v scan --dry-run")
    ]
    assert [each for each in said if "127.0.0.1" in each.stdout + each.stderr] == []
    assert "the embedded store, " in said[1].stdout
