"""Promise 4 against the only oracle there is: the totals that Claude Code keeps of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
