"""A small, realistic root as Claude Code would have written it: what `collector demo` reads."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import orjson

PROMPTS = ("Fix the login bug", "Add a test for the upload", "Why is the build slow?")
MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929")
PROJECT = "projects/-home-ada-engine"


def example(secret: str, chance: random.Random, now: datetime) -> dict[str, bytes]:
    """Three sessions, a subagent, a warmup stub, history and statistics; the secret is in a tool's output."""
    started = now - timedelta(days=2)
    files, history = {}, []
    for number, prompt in enumerate(PROMPTS):
        session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        writer = _Writer(chance, session, started + timedelta(hours=11 * number), MODELS[number % len(MODELS)])
        writer.talk(prompt, f"AWS_ACCESS_KEY_ID={secret}" if number == 0 else "3 passed in 0.41s")
        files[f"{PROJECT}/{session}.jsonl"] = _lines(writer.records)
        history.append({"display": prompt, "pastedContents": {}, "timestamp": int(started.timestamp() * 1000)})
        history[-1].update(project="/home/ada/engine", sessionId=session)
    helper = _Writer(chance, session, started + timedelta(hours=23), MODELS[1], agent="a5f3c21")
    helper.talk("Look for callers of upload()", "src/upload.py:41: def upload(path):")
    subagents = f"{PROJECT}/{session}/subagents"
    files[f"{subagents}/agent-a5f3c21.jsonl"] = _lines(helper.records)
    files[f"{subagents}/agent-a000001.jsonl"] = _lines(
        [{"type": "user", "message": {"role": "user", "content": "Warmup"}}]
    )
    files["history.jsonl"] = _lines(history)
    files["stats-cache.json"] = orjson.dumps({"version": 1, "totalSessions": len(PROMPTS)})
    return files


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


class _Writer:
    """Writes one session as Claude Code does: one row per content block, with a growing output count."""

    def __init__(self, chance: random.Random, session: str, start: datetime, model: str, agent: str = "") -> None:
        self.chance, self.session, self.time, self.model, self.agent = chance, session, start, model, agent
        self.parent: str | None = None
        self.records: list[dict[str, Any]] = []

    def talk(self, prompt: str, output: str) -> None:
        self._add("user", {"role": "user", "content": prompt})
        call = f"toolu_{self.chance.getrandbits(96):024x}"
        command = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make test"}}
        self._reply([{"type": "text", "text": "I'll run the tests first."}, command], "tool_use")
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
        self._add("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": output, "stderr": ""})
        self._reply(
            [{"type": "text", "text": "Done: the cause was a missing check, and it has a test now."}], "end_turn"
        )

    def _reply(self, blocks: list[dict[str, Any]], reason: str) -> None:
        message = f"msg_{self.chance.getrandbits(96):024x}"
        usage = {
            "input_tokens": self.chance.randint(4, 40),
            "cache_read_input_tokens": self.chance.randint(9_000, 40_000),
        }
        usage["cache_creation_input_tokens"] = self.chance.randint(100, 3_000)
        for number, block in enumerate(blocks, 1):
            body: dict[str, Any] = {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
            }
            body["usage"] = {**usage, "output_tokens": 120 * number, "service_tier": "standard"}
            body["stop_reason"] = reason if number == len(blocks) else None
            self._add("assistant", body, requestId=f"req_{self.chance.getrandbits(96):024x}")

    def _add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        self.time += timedelta(seconds=self.chance.randint(1, 40))
        record: dict[str, Any] = {
            "parentUuid": self.parent,
            "isSidechain": bool(self.agent),
            "type": kind,
            "message": message,
            **more,
        }
        record["uuid"] = self.parent = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        record["timestamp"] = self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03d}Z"
        record.update(sessionId=self.session, cwd="/home/ada/engine", version="2.1.4", gitBranch="main")
        if self.agent:
            record["agentId"] = self.agent
        self.records.append(record)
