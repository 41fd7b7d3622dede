"""Writes a store of a million events straight into a database: `python -m tests.web.bulk DATABASE [EVENTS]`.

About three thousand sessions of ten people on as many machines, over two years. Seeded, and with short bodies.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from collector.store.rows import Row, from_line
from collector.store.writer import Writer

START, DAYS = datetime(2024, 11, 1, tzinfo=UTC), 730
OF_A_SESSION, AT_ONCE = 330, 5000
MODELS = ("claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5")
TOOLS = ("Bash", "Read", "Edit", "Grep", "mcp__github__get", "mcp__postgres__query", "Skill", "Task", "WebSearch")


def events(count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """One session after another, each on one machine and in one project, with a subagent."""
    made = 0
    while made < count:
        person = chance.randrange(10)
        start = START + timedelta(days=chance.random() * DAYS)
        session: dict[str, Any] = {
            "session_id": f"{chance.getrandbits(128):032x}",
            "project": f"-home-person{person}-work-project{chance.randrange(40)}",
            "cwd": "/home/person/work/project",
            "git_branch": "main",
            "host": {"id": f"{person:032x}", "name": f"machine-{person}"},
            "user": f"person{person}",
            "client": {"name": "claude_code", "version": f"2.1.{300 + (start - START).days // 30}"},
        }
        for event in _session(session, start, chance):
            made += 1
            yield {"id": f"{made:032x}", "schema": "collector.event/1", "priority": 0, **event}


def _session(who: dict[str, Any], now: datetime, chance: random.Random) -> Iterator[dict[str, Any]]:
    model = chance.choice(MODELS)
    agent = who | {"agent_id": f"a{chance.getrandbits(60):015x}", "agent_type": chance.choice(("Explore", "Plan"))}
    yield who | {"kind": "title", "text": f"Work on ticket {chance.randrange(100_000)}", "time": _said(now)}
    for number in range(OF_A_SESSION // 3):
        whose = agent if number % 5 == 4 else who
        now += timedelta(seconds=chance.expovariate(1 / 20))
        if number % 10 == 0:
            yield whose | {"kind": "user_prompt", "origin": "human", "text": "Go on, please.", "time": _said(now)}
        call, tool = f"toolu_{chance.getrandbits(80):020x}", chance.choice(TOOLS)
        given = (
            {"skill": "release"}
            if tool == "Skill"
            else {"subagent_type": "Explore"}
            if tool == "Task"
            else {"command": "ls"}
        )
        usage = {
            "input_tokens": chance.randrange(50),
            "output_tokens": chance.randrange(900),
            "cache_read_tokens": chance.randrange(90_000),
            "cache_creation_tokens": chance.randrange(4000),
        }
        yield whose | {
            "kind": "tool_call",
            "model": model,
            "message_id": f"msg_{chance.getrandbits(80):020x}",
            "usage": usage,
            "blocks": [{"type": "tool_call", "call_id": call, "name": tool, "input": given}],
            "time": _said(now),
        }
        now += timedelta(seconds=chance.lognormvariate(0.5, 1.5))
        result = {
            "type": "tool_result",
            "call_id": call,
            "ok": chance.random() > 0.06,
            "text": "total 12\nREADME.md\n" * 8,
        }
        found = (
            {"redactions": {chance.choice(("aws-access-key-id", "github-token")): 1}} if chance.random() < 0.01 else {}
        )
        yield whose | {"kind": "tool_result", "origin": "tool", "blocks": [result], "time": _said(now), **found}
        yield whose | {"kind": "attachment", "record_subtype": "date", "text": "", "time": _said(now)}


def _said(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def fill(database: Path, count: int) -> None:
    """Writes this many events."""
    rows: list[Row] = []
    with closing(Writer(database)) as writer:
        for event in events(count, random.Random(1)):
            row = from_line(json.dumps(event).encode())
            assert isinstance(row, Row), row
            rows.append(row)
            if len(rows) == AT_ONCE:
                writer.store(rows)
                rows = []
        writer.store(rows)


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
