"""The store's costs equal what the real Claude Code charged, to the micro-dollar; any difference is explained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.store.prices import UNITS_A_MICRO

pytestmark = pytest.mark.slow
WRITER = os.environ.get("CLAUDE_CODE_SESSION_WRITER", "")
COLLECTOR = (sys.executable, "-m", "collector")


def session_costs(root: Path) -> dict[str, dict[str, Any]]:
    """The store's costs of each session below this root."""
    subprocess.run([*COLLECTOR, "scan", "--root", str(root)], check=True, stdout=subprocess.DEVNULL)
    command = [*COLLECTOR, "store", "sql", "SELECT * FROM session_costs"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {row["session_id"]: row for row in map(json.loads, lines)}


@pytest.mark.skipif(not WRITER, reason="CLAUDE_CODE_SESSION_WRITER names no program")
def test_the_computed_cost_equals_what_claude_code_charged(scratch_home: Path, tmp_path: Path) -> None:
    directory = tmp_path / "real"
    root = directory / "home" / ".claude"

    def write(*words: str) -> dict[str, dict[str, Any]]:
        given = [*words, "--dangerously-skip-permissions"] if words else []
        subprocess.run([WRITER, str(directory), *given], check=True, timeout=900, stdout=subprocess.DEVNULL)
        return session_costs(root)

    (session,) = write()
    for model in ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-6"):
        write("-p", "Fix it", "--model", model)
    costs = write("-p", "And now the tests", "--resume", session)
    assert len(costs) == 4
    for row in costs.values():
        assert (row["computed"], row["uncounted"], row["messages_unknown"]) == (row["reported"], 0, 0)

    before = costs[session]["reported"]
    costs = write("-p", "Try it another way", "--resume", session, "--fork-session")
    (fork,) = [row for row in costs.values() if row["parent_session_id"]]
    assert (fork["parent_session_id"], fork["inherited"]) == (session, before)
    assert fork["computed"] == fork["reported"] - before > 0
    assert costs[session]["computed"] == before

    known = costs.keys()
    costs = write("-p", "Go further", "--resume", fork["session_id"], "--fork-session")
    (further,) = [row for name, row in costs.items() if name not in known]
    assert (further["parent_session_id"], further["inherited"]) == (fork["session_id"], fork["reported"])
    assert further["computed"] == further["reported"] - fork["reported"] > 0

    costs = write("-p", "/compact", "--resume", session)
    compacted = costs[session]
    assert compacted["computed"] == before
    assert compacted["uncounted"] == compacted["reported"] - before > UNITS_A_MICRO
