"""Promise 4, checked against the only oracle there is: the totals that Claude Code itself keeps.

One session is started, resumed, forked and compacted in turn, because each of these asks npm for nothing more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collector.agents.claude_code.dispatch import HANDLERS
from tests.leaves import report as report_of_leaves
from tests.leaves import sources
from tests.sink import Sink

pytestmark = pytest.mark.slow
# A command that takes a directory and makes Claude Code write a session below DIRECTORY/home/.claude, offline.
WRITER = os.environ.get("CLAUDE_CODE_SESSION_WRITER", "")
NAMES = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheCreationInputTokens": "cache_creation_tokens",
    "thinkingTokens": "thinking_tokens",
    "webSearchRequests": "web_search_requests",
}
# Fields that must be in an event, even though others may be dropped as copies.
UNTOUCHED = {
    "uuid",
    "sessionId",
    "agentId",
    "parentUuid",
    "timestamp",
    "message.id",
    "message.usage.output_tokens",
}
Totals = dict[str, dict[str, int]]


def own_totals(root: Path) -> dict[str, Totals]:
    """The totals by model from the last cost-state of each session."""
    totals: dict[str, Totals] = {}
    for path in root.glob("projects/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        states = [record for record in records if record.get("type") == "cost-state"]
        if states:
            totals[path.stem] = {
                model: {ours: usage[theirs] for theirs, ours in NAMES.items()}
                for model, usage in states[-1]["modelUsage"].items()
            }
    return totals


def own_lines(root: Path) -> tuple[int, int]:
    """The added and removed lines, summed over the last cost-state of each session."""
    added = removed = 0
    for path in root.glob("projects/*/*.jsonl"):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        states = [record for record in records if record.get("type") == "cost-state"]
        added += states[-1]["totalLinesAdded"] if states else 0
        removed += states[-1]["totalLinesRemoved"] if states else 0
    return added, removed


def collected_lines(root: Path, state: Path) -> tuple[int, int]:
    """The added and removed lines, summed over distinct events."""
    with Sink() as sink:
        command = [sys.executable, "-m", "collector", "scan", "--root", str(root), "--sink-url", sink.url]
        subprocess.run([*command, "--state", str(state)], check=True)
        tools = [event.get("tool", {}) for event in {event["id"]: event for event in sink.events}.values()]
    return sum(tool.get("lines_added", 0) for tool in tools), sum(tool.get("lines_removed", 0) for tool in tools)


def collected(root: Path) -> Totals:
    """The totals in the report, after a scan that quarantined nothing and left no lag."""
    command = [sys.executable, "-m", "collector"]
    scanned = subprocess.run([*command, "scan", "--root", str(root), "--json"], check=True, capture_output=True)
    ledger: dict[str, Any] = json.loads(scanned.stdout)
    assert ledger["quarantined"] == 0
    assert ledger["lag"] == 0
    report = json.loads(subprocess.run([*command, "report", "--json"], check=True, capture_output=True).stdout)
    return {
        model: {name: sums[name] for name in NAMES.values()}
        for model, sums in report["models"].items()
        if any(sums[name] for name in NAMES.values())
    }


@pytest.mark.skipif(not WRITER, reason="CLAUDE_CODE_SESSION_WRITER names no program")
def test_the_report_equals_claude_codes_own_totals(scratch_home: Path, tmp_path: Path) -> None:
    directory = tmp_path / "real"
    root = directory / "home" / ".claude"

    def write(*words: str) -> dict[str, Totals]:
        given = [*words, "--dangerously-skip-permissions"] if words else []
        subprocess.run([WRITER, str(directory), *given], check=True, timeout=900, stdout=subprocess.DEVNULL)
        return own_totals(root)

    (session,) = begun = write()
    assert collected(root) == begun[session]
    assert collected_lines(root, tmp_path / "another" / "state.json") == own_lines(root)

    resumed = write("-p", "And now the tests", "--resume", session)
    assert collected(root) == resumed[session]
    assert resumed[session] != begun[session]

    forked = write("-p", "Try it another way", "--resume", session, "--fork-session")
    (fork,) = forked.keys() - resumed.keys()
    # The fork's total includes its parent's, and so does the sum over the messages of both.
    assert collected(root) == forked[fork]

    compacted = write("-p", "/compact", "--resume", session)
    # The call that wrote the summary is in no row, only in the totals.
    assert collected(root) == forked[fork]
    assert compacted[session] != forked[session]

    lost, seen, _ = report_of_leaves(sources(root))
    types = {name.partition("/")[0].partition(" ")[0] for name in seen if ":" not in name}
    assert types <= HANDLERS.keys()
    assert {name: set(paths) & UNTOUCHED for name, paths in lost.items() if set(paths) & UNTOUCHED} == {}
