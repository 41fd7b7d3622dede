"""`collector status` as shown to people."""

from __future__ import annotations

import re
from typing import Any

import pytest

from collector.cli.status import lines_of

REPORT: dict[str, Any] = {
    "is_running": True,
    "pid": 12,
    "holder": "collector run, process 12",
    "since": "2026-03-01T10:00:00Z",
    "updated": "2026-03-01T11:00:00Z",
    "version": "1.0",
    "sink": "https://sink.example/",
    "last_acknowledged": "2026-03-01T12:59:55Z",
    "problem": {"kind": "halted", "reason": "HTTP 401", "since": "2026-03-01T12:58:00Z", "tries": 4},
    "roots": [{"path": "/home/ada/.claude", "is_there": True}, {"path": "/mnt/x", "is_there": False}],
    "priorities": {
        "P0": {"sources": 3, "behind": 1, "lag": 1500},
        "P1": {"sources": 40, "behind": 0, "lag": 0},
    },
    "lag": 1500,
    "watcher": {"mode": "polling", "reason": "limit reached"},
    "redaction_engine": "hyperscan",
    "redactions": {"aws": 2},
    "quarantine": 1,
    "unlisted_directories": 0,
}
NOW = 1772370000.0  # 2026-03-01T13:00:00Z


def test_the_report_as_lines() -> None:
    assert lines_of(REPORT, NOW) == [
        "agent       running, process 12, for 3 h, version 1.0",
        "problem     halted for 2 min, 4 tries",
        "problem     HTTP 401",
        "sink        https://sink.example/, last acknowledged 5 s ago",
        "root        /home/ada/.claude",
        "root        /mnt/x does not exist yet",
        "P0          3 sessions, 1 behind by 1.5 kB",
        "P1          40 subagents, up to date",
        "lag         1.5 kB",
        "watcher     polling: limit reached",
        "redaction   hyperscan; 2 values redacted since the start",
        "quarantine  1; see `collector quarantine list`",
    ]


def test_the_number_of_withheld_texts_is_shown() -> None:
    report = REPORT | {"is_running": False, "redactions": {"aws": 2, "withheld": 11}}
    [line] = [line for line in lines_of(report, NOW) if line.startswith("redaction")]
    assert line.endswith(
        "hyperscan; 2 values redacted since the start; 11 texts withheld because they could not be redacted"
    )


def test_counts_of_one_use_the_singular() -> None:
    one = REPORT | {
        "problem": REPORT["problem"] | {"tries": 1},
        "priorities": {f"P{n}": {"sources": 1, "behind": 0, "lag": 0} for n in range(4)},
        "redactions": {"aws": 1, "withheld": 1},
        "held": {"files": 1, "left_out": 0},
        "unlisted_directories": 1,
        "offsets": {"left_out": {"bytes": 1, "sources": 1, "at": "2026-03-01T10:00:00Z"}},
    }
    said = "\n".join(lines_of(one, NOW))
    for words in (
        *("1 try", "P0          1 session,", "P1          1 subagent,", "P2          1 prompt history,"),
        *("1 value redacted", "1 text withheld because it could not", "held        1 file,", "1 directory;"),
        "in 1 source",
    ):
        assert re.search(rf"{re.escape(words)}(?!\w)", said), (words, said)


@pytest.mark.parametrize("is_running", [True, False])
def test_only_a_running_agent_mentions_its_start(is_running: bool) -> None:
    report = REPORT | {"is_running": is_running, "holder": None, "last_acknowledged": None}
    [line] = [line for line in lines_of(report, NOW) if line.startswith("sink")]
    assert line == "sink        https://sink.example/" + is_running * ", nothing acknowledged since it started"


@pytest.mark.parametrize("path", ["/home/\x1b[2J", "/home/\nroot"])
def test_names_cannot_move_the_cursor(path: str) -> None:
    report = REPORT | {"roots": [{"path": path, "is_there": True}]}
    assert all(line.isprintable() for line in lines_of(report, NOW))


def test_the_capture_level_and_a_pause_have_their_own_lines() -> None:
    paused = {"by": "pause", "reason": "paused since 2026-03-01T12:00:00Z; `collector resume` ends it"}
    for level, left_out, expected in (
        ("content", [], "content"),
        ("metadata", ["metadata"], "metadata"),
        ("content", ["prompts", "thinking"], "content without prompts, thinking"),
    ):
        lines = lines_of(REPORT | {"capture_level": level, "left_out": left_out, "paused": paused}, NOW)
        assert f"capture     {expected}" in lines
        assert f"paused      nothing is sent: {paused['reason']}" in lines
