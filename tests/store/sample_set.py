"""A sample data set: events of two people on two machines over a few days, always the same bytes.

    python -m tests.store.sample_set        # writes config/sample-events.ndjson, and the store's dictionary

People who build dashboards can load it before they have data of their own, and the shipped SQL is tested on it. The
tests' builders make it, and it is normalized like any transcript.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import zstandard

from collector.agents.claude_code import places
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.dispatch import event
from collector.flow.frame import Frame
from collector.flow.line import Line, Reading
from collector.flow.outcome import Skip
from collector.flow.source import Source, Stamp
from tests.agents.claude_code.reader import outcome
from tests.agents.claude_code.samples import ALL_RECORDS
from tests.build import Home, Session
from tests.scopes import root_of
from tests.transcript import Record, Transcript, call_of, usage

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "config" / "sample-events.ndjson"
DICTIONARY = REPOSITORY / "collector" / "store" / "dictionary.zstd"
PEOPLE = (("ada", "engine-1"), ("grace", "laptop-7"))
MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "claude-opus-5-5")
PROMPTS = ("Fix the login bug", "Add a test for the upload", "Why is the build slow?", "Rename the package")
DICTIONARY_BYTES = 8192


def sample_events() -> Iterator[dict[str, Any]]:
    """The events of both people."""
    for number, (user, host) in enumerate(PEOPLE):
        with tempfile.TemporaryDirectory() as folder:
            home = Home(Path(folder), seed=number + 1)
            frame = Frame({"id": f"{number + 1:032x}", "name": host}, user)
            for day in range(3):
                for project in ("-work-shop", "-work-engine")[: 2 - day % 2]:
                    session = home.session(project=project)
                    agents = work(session, number + day)
                    for transcript in (session, *agents):
                        yield from read(transcript, frame, project, session.session_id)
                home.pen.now += timedelta(hours=20, minutes=7 * number)


def work(session: Session, number: int) -> list[Transcript]:
    """Writes a session: prompts, tools that succeed or fail, an MCP server, a skill, a subagent, the advisor, costs."""
    model = MODELS[number % len(MODELS)]
    pen = session.pen
    session.record({"type": "permission-mode", "permissionMode": "default", "sessionId": session.session_id})
    session.prompt(PROMPTS[number % len(PROMPTS)])
    session.record({"type": "ai-title", "aiTitle": PROMPTS[number % len(PROMPTS)], "sessionId": session.session_id})
    calls: list[tuple[str, Record, Any, bool]] = [
        ("Bash", {"command": "make test", "description": "Run the tests"}, "3 passed in 0.41s", False),
        ("Read", {"file_path": "/work/shop/cart.py"}, "1\tdef total(cart):\n2\t    return sum(cart)", False),
        ("Edit", {"file_path": "/work/shop/cart.py", "old_string": "sum(cart)", "new_string": "0"}, "Updated.", False),
        ("mcp__issues__search", {"query": "login"}, "2 issues", number % 2 == 1),
        ("Skill", {"skill": "review"}, "Launching skill: review", False),
        ("Bash", {"command": "make deploy", "description": "Deploy"}, "Exit code 2\nno such target", True),
    ]
    for name, given, answer, is_error in calls:
        block = {"type": "tool_use", "id": pen.token("toolu_01"), "name": name, "input": given}
        text = {"type": "text", "text": f"I will use {name} for this."}
        row = session.rows(text, block, tokens=pen.random.randint(40, 400), model=model)[-1]
        pen.now += timedelta(milliseconds=pen.random.randint(80, 9_000))
        patch = {"structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b", "+c"]}]}
        session.tool_result(row, answer, result=patch if name == "Edit" else None, is_error=is_error)
    agent = session.subagent(agent_id=f"a{pen.hex(16)}")
    task = {"description": "Look around", "prompt": "Find callers", "subagent_type": "Explore"}
    call = session.tool_call("Agent", task, model=model)
    (agent.path.with_suffix(".meta.json")).write_bytes(
        orjson.dumps({"agentType": "Explore", "toolUseId": call_of(call)})
    )
    agent.user("Find callers of total()")
    agent.reply("Three callers.", tokens=70, model=MODELS[2])
    session.tool_result(call, "Three callers.")
    advised = usage(51, given=11)
    advised["iterations"] = [
        {"type": "message", "input_tokens": 11, "output_tokens": 51},
        {"type": "advisor_message", "model": MODELS[0], "input_tokens": 7000, "output_tokens": 900},
    ]
    session.reply("The advisor agrees.", usage=advised, model=model)
    if number % 2:
        session.common("assistant", message=unfinished(pen.token("msg_01"), model))
    session.reply("Done: the cause was a missing check.", tokens=120, model=model)
    session.system("turn_duration", durationMs=64_000 + number)
    session.record({"type": "permission-mode", "permissionMode": "default", "sessionId": session.session_id})
    session.record(cost_state(session.session_id, model))
    return [agent]


def unfinished(message_id: str, model: str) -> Record:
    """A message whose final count was never written."""
    content = [{"type": "text", "text": "I was stopped"}]
    shape = {"id": message_id, "type": "message", "role": "assistant", "model": model, "stop_reason": None}
    return shape | {"content": content, "usage": usage(1)}


def cost_state(session_id: str, model: str) -> Record:
    """Invented totals of Claude Code's own, larger than the sum of the messages, as after /compact."""
    return {
        "type": "cost-state",
        "sessionId": session_id,
        "totalCostUSD": 0.75,
        "totalLinesAdded": 2,
        "totalLinesRemoved": 1,
        "modelUsage": {model: {"inputTokens": 40, "outputTokens": 2000, "costUSD": 0.75}},
    }


def read(transcript: Transcript, frame: Frame, project: str, session_id: str) -> Iterator[dict[str, Any]]:
    """The events of one file, as a pass would produce them."""
    is_agent = bool(transcript.agent_id)
    meta_path = transcript.path.with_suffix(".meta.json")
    meta = orjson.loads(meta_path.read_bytes()) if is_agent and meta_path.exists() else {}
    path = f"~/.claude/projects/{project}/{transcript.path.name}"
    source = Source(
        root=root_of("/home/dev/.claude", "main"),
        path=path,
        key=path,
        kind=places.SUBAGENT if is_agent else places.SESSION,
        project=project,
        session_id=session_id,
        agent_id=transcript.agent_id,
        stamp=Stamp(1000, 1_772_359_200_000_000_000, 7),
    )
    where = Context(Reading(source, b"", source.stamp, meta), frame)
    offset = 0
    for line in transcript.lines:
        made = event(Line(where.reading, offset, offset + len(line), orjson.loads(line), "", b"", b""), where)
        offset += len(line)
        if not isinstance(made, Skip):
            yield made


def dictionary(events: list[dict[str, Any]]) -> bytes:
    """A zstandard dictionary trained on these events and on one of every known record."""
    found = [*events, *(made for record in ALL_RECORDS.values() if not isinstance(made := outcome(record), Skip))]
    texts: list[Any] = [orjson.dumps(each) for each in found]
    random.Random(1).shuffle(texts)
    trained: bytes = zstandard.train_dictionary(DICTIONARY_BYTES, texts * 3).as_bytes()
    return trained


if __name__ == "__main__":
    made = list(sample_events())
    SAMPLE.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in made))
    if not DICTIONARY.exists():  # each database keeps the dictionary it was created with, so a new one gains little
        DICTIONARY.write_bytes(dictionary(made))
    print(f"{len(made)} events, {SAMPLE.stat().st_size} bytes")
