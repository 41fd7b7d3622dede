"""`collector demo`: makes a small, realistic root in a scratch folder, ships it to an embedded store, shows the report.

Touches nothing but the scratch folder, which is removed at the end (or kept, with --keep). The planted key is random.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import string
import tempfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from collector import log, settings
from collector.cli.report import report
from collector.cli.scan import print_ledger
from collector.delivery.sinks import SINKS
from collector.flow.ledger import Ledger

PROMPTS = ("Fix the login bug", "Add a test for the upload", "Why is the build slow?")
MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929")


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the scratch folder and say where it is.")] = False,
) -> None:
    """Makes a small realistic root in a scratch folder, ships it to the embedded store, shows the report."""
    from collector.assembly import assembled
    from collector.pipeline import run_pass

    log.configure("warning")
    with _scratch(keep) as folder:
        root = folder / ".claude"
        secret = _write_root(root)
        chosen = settings.load(
            None,
            {
                "roots": [str(root)],
                "sink": {"type": "store"},
                "state": {"path": str(folder / "state.json")},
                "store": {"database": str(folder / "events.db")},
            },
            sinks=SINKS,
        )
        typer.echo(f"A root with three sessions, a subagent, a warmup stub and a planted key ({secret[:4]}...):")
        for title in ("\nFirst pass", "\nSecond pass: nothing is sent twice"):
            typer.echo(title)
            ledger = Ledger()
            with assembled(chosen, "demo") as flow:
                run_pass(flow, ledger)
            print_ledger(ledger)
        leaked = secret.encode() in b"".join(path.read_bytes() for path in folder.glob("events.db*"))
        typer.echo(f"\nThe planted key in the store: {'FOUND' if leaked else 'not there, redacted'}\n")
        report(database=folder / "events.db")
        if leaked:
            raise typer.Exit(1)


@contextlib.contextmanager
def _scratch(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="collector-demo-"))
    try:
        yield folder
    finally:
        if keep:
            typer.echo(f"\nKept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _write_root(root: Path) -> str:
    """Three sessions with tools, tokens and a key in a tool's output; returns the key."""
    rng = random.Random()
    secret = "AKIA" + "".join(rng.choices(string.ascii_uppercase + "234567", k=16))
    project = root / "projects" / "-home-ada-engine"
    started = datetime.now(UTC) - timedelta(days=2)
    history = []
    for number, prompt in enumerate(PROMPTS):
        session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        writer = _Writer(rng, session, started + timedelta(hours=11 * number), MODELS[number % len(MODELS)])
        writer.talk(prompt, f"AWS_ACCESS_KEY_ID={secret}" if number == 0 else "3 passed in 0.41s")
        _save(project / f"{session}.jsonl", writer.records)
        history.append({"display": prompt, "pastedContents": {}, "timestamp": int(started.timestamp() * 1000)})
        history[-1].update(project="/home/ada/engine", sessionId=session)
    helper = _Writer(rng, session, started + timedelta(hours=23), MODELS[1], agent="a5f3c21")
    helper.talk("Look for callers of upload()", "src/upload.py:41: def upload(path):")
    subagents = project / session / "subagents"
    _save(subagents / "agent-a5f3c21.jsonl", helper.records)
    _save(subagents / "agent-a000001.jsonl", [{"type": "user", "message": {"role": "user", "content": "Warmup"}}])
    _save(root / "history.jsonl", history)
    (root / "stats-cache.json").write_bytes(orjson.dumps({"version": 1, "totalSessions": len(PROMPTS)}))
    return secret


def _save(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


class _Writer:
    """Writes one session the way Claude Code does: one row for each content block, the output count growing."""

    def __init__(self, rng: random.Random, session: str, start: datetime, model: str, agent: str = "") -> None:
        self.rng, self.session, self.time, self.model, self.agent = rng, session, start, model, agent
        self.parent: str | None = None
        self.records: list[dict[str, Any]] = []

    def talk(self, prompt: str, output: str) -> None:
        self._add("user", {"role": "user", "content": prompt})
        call = f"toolu_{self.rng.getrandbits(96):024x}"
        command = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make test"}}
        self._reply([{"type": "text", "text": "I'll run the tests first."}, command], "tool_use")
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
        self._add("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": output, "stderr": ""})
        self._reply(
            [{"type": "text", "text": "Done: the cause was a missing check, and it has a test now."}], "end_turn"
        )

    def _reply(self, blocks: list[dict[str, Any]], reason: str) -> None:
        message = f"msg_{self.rng.getrandbits(96):024x}"
        usage = {"input_tokens": self.rng.randint(4, 40), "cache_read_input_tokens": self.rng.randint(9_000, 40_000)}
        usage["cache_creation_input_tokens"] = self.rng.randint(100, 3_000)
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
            self._add("assistant", body, requestId=f"req_{self.rng.getrandbits(96):024x}")

    def _add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        self.time += timedelta(seconds=self.rng.randint(1, 40))
        record: dict[str, Any] = {
            "parentUuid": self.parent,
            "isSidechain": bool(self.agent),
            "type": kind,
            "message": message,
            **more,
        }
        record["uuid"] = self.parent = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        record["timestamp"] = self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03d}Z"
        record.update(sessionId=self.session, cwd="/home/ada/engine", version="2.1.4", gitBranch="main")
        if self.agent:
            record["agentId"] = self.agent
        self.records.append(record)
