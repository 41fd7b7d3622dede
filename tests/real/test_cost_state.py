"""Promise 4 against the only oracle there is: the totals that Claude Code keeps of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sink import Sink

pytestmark = pytest.mark.slow
# A command that takes a directory, and lets Claude Code write a session below DIRECTORY/home/.claude, offline.
WRITER = os.environ.get("CLAUDE_CODE_SESSION_WRITER", "")
NAMES = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheCreationInputTokens": "cache_creation_tokens",
    "thinkingTokens": "thinking_tokens",
    "webSearchRequests": "web_search_requests",
}


def own_totals(root: Path) -> dict[str, dict[str, int]]:
    """The last cost-state of every session, summed by model."""
    totals: dict[str, dict[str, int]] = {}
    for path in root.glob("projects/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        states = [record for record in records if record.get("type") == "cost-state"]
        for model, usage in states[-1]["modelUsage"].items() if states else ():
            sums = totals.setdefault(model, dict.fromkeys(NAMES.values(), 0))
            for theirs, ours in NAMES.items():
                sums[ours] += usage[theirs]
    return totals


def own_lines(root: Path) -> tuple[int, int]:
    """The lines that the last cost-state of every session says were added and removed."""
    added = removed = 0
    for path in root.glob("projects/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        states = [record for record in records if record.get("type") == "cost-state"]
        added += states[-1]["totalLinesAdded"] if states else 0
        removed += states[-1]["totalLinesRemoved"] if states else 0
    return added, removed


@pytest.mark.skipif(not WRITER, reason="CLAUDE_CODE_SESSION_WRITER names no program")
def test_the_report_adds_up_to_what_claude_code_counted_itself(scratch_home: Path, tmp_path: Path) -> None:
    directory = tmp_path / "real"
    subprocess.run([WRITER, str(directory)], check=True, timeout=900, stdout=subprocess.DEVNULL)
    root = directory / "home" / ".claude"
    command = [sys.executable, "-m", "collector"]
    scanned = subprocess.run([*command, "scan", "--root", str(root), "--json"], check=True, capture_output=True)
    ledger: dict[str, Any] = json.loads(scanned.stdout)
    assert ledger["quarantined"] == 0
    assert ledger["lag"] == 0
    report = json.loads(subprocess.run([*command, "report", "--json"], check=True, capture_output=True).stdout)
    expected = own_totals(root)
    assert expected, "the session holds no cost-state"
    models = report["models"]
    assert {model: {name: models[model][name] for name in sums} for model, sums in expected.items()} == expected
    with Sink() as sink:
        state = ["--state", str(tmp_path / "another" / "state.json")]
        subprocess.run([*command, "scan", "--root", str(root), "--sink-url", sink.url, *state], check=True)
        tools = [event.get("tool", {}) for event in {event["id"]: event for event in sink.events}.values()]
    lines = tuple(sum(tool.get(name, 0) for tool in tools) for name in ("lines_added", "lines_removed"))
    assert lines == own_lines(root)
