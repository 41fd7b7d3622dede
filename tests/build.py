"""Builds homes and sessions as Claude Code writes them, so that a test shows only what matters to it.

    home = Home(tmp_path)
    session = home.session(project="-work-app")
    session.prompt("Fix the login bug")
    session.reply("Done.", tokens=12)

Everything is seeded: the same calls give the same bytes. Methods that write a record return it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from tests.agents.claude_code import samples
from tests.agents.claude_code.sample_shapes import SESSION
from tests.transcript import MODEL, Pen, Record, Transcript, call_of, encode, milliseconds, usage

Layout = Literal["flat", "session", "subagents", "workflow"]

__all__ = ["Home", "Record", "Session", "Transcript", "call_of", "encode", "every_record", "usage"]


class Session(Transcript):
    """A main transcript, with methods that write its subagents' files."""

    def subagent(self, agent_id: str = "", layout: Layout = "subagents", meta: Record | None = None) -> Transcript:
        """A subagent's transcript, in one of the places where Claude Code has kept it over time."""
        agent = agent_id or "a" + self.pen.hex(16)
        project, own = self.path.parent, self.path.with_suffix("")
        directory = {
            "flat": project,
            "session": own,
            "subagents": own / "subagents",
            "workflow": own / "subagents" / "workflows" / "run-1",
        }[layout]
        path = directory / f"agent-{agent}.jsonl"
        transcript = Transcript(self.pen, path, self.session_id, self.cwd, agent)
        if meta is not None:
            path.with_suffix(".meta.json").write_bytes(encode(meta))
        return transcript

    def warmup(self, layout: Layout = "flat") -> Transcript:
        """A subagent started before it was needed: a single line that says Warmup."""
        stub = self.subagent(self.pen.hex(7), layout)
        stub.user("Warmup")
        return stub

    def journal(self, run: str = "run-1") -> Transcript:
        """The journal of a workflow, with one agent started and finished."""
        path = self.path.with_suffix("") / "subagents" / "workflows" / run / "journal.jsonl"
        journal = Transcript(self.pen, path, self.session_id, self.cwd)
        agent = "a" + self.pen.hex(16)
        journal.record({"type": "started", "key": "explore", "agentId": agent})
        journal.record({"type": "result", "key": "explore", "agentId": agent, "result": "Found 3 files."})
        return journal

    def fork(self) -> Session:
        """What `--fork-session` does: a new file with the same records and uuids under a new session id."""
        other = Session(self.pen, self.path.with_name(f"{self.pen.uuid()}.jsonl"), "", self.cwd)
        other.session_id = other.path.stem
        for line in self.lines:
            record = json.loads(line)
            if "sessionId" in record:
                record |= {"sessionId": other.session_id}
                record["forkedFrom"] = {"sessionId": self.session_id, "messageUuid": record.get("uuid")}
            other.record(record)
        return other

    def collect_garbage(self) -> None:
        """Drops what precedes a compaction, as Claude Code does with CLAUDE_CODE_TRANSCRIPT_LOCAL_GC."""
        lines, new = self.lines, self.path.with_suffix(".compact")
        kept = next(number for number, line in enumerate(lines) if b"compact_boundary" in line)
        new.write_bytes(b"".join(lines[kept:]))
        new.rename(self.path)

    def compact(self, summary: str) -> None:
        """What `/compact` writes: a boundary, and a summary of what was said before it."""
        *_, last = (record for line in self.lines if "uuid" in (record := json.loads(line)))
        boundary = {"type": "system", "subtype": "compact_boundary", "parentUuid": None}
        own = {"logicalParentUuid": last["uuid"], "uuid": self.pen.uuid(), "timestamp": self.pen.timestamp()}
        self.record(last | boundary | own | {"message": None})
        self.user(summary, isCompactSummary=True)

    def copy(self, directory: Path) -> Session:
        """What a backup or a sync does: the same file at a second place."""
        directory.mkdir(parents=True, exist_ok=True)
        path = Path(shutil.copy(self.path, directory / self.path.name))
        return Session(self.pen, path, self.session_id, self.cwd)


class Home:
    """A user's home directory with a Claude config directory in it."""

    def __init__(self, directory: Path, seed: int = 1, name: str = ".claude") -> None:
        self.pen = Pen(seed)
        self.path = directory / "home"
        self.root = self.path / name
        self.root.mkdir(parents=True, exist_ok=True)

    def project(self, project: str = "-work-app") -> Path:
        """The directory of a project's transcripts."""
        return self.root / "projects" / project

    def session(self, project: str = "-work-app", session_id: str = "") -> Session:
        """A new, empty session transcript."""
        name = session_id or self.pen.uuid()
        return Session(self.pen, self.project(project) / f"{name}.jsonl", name, project.replace("-", "/"))

    def history(self, *prompts: str, project: str = "/work/app", session_id: str = "") -> Transcript:
        """Appends these prompts to the prompt history."""
        history = Transcript(self.pen, self.root / "history.jsonl", session_id, project)
        for text in prompts:
            self.pen.timestamp()
            line = {
                "display": text,
                "pastedContents": {},
                "timestamp": milliseconds(self.pen),
                "project": project,
            }
            history.record(line | ({"sessionId": session_id} if session_id else {}))
        return history

    def index(self, *sessions: Session, **keys: Any) -> Path:
        """The session index of a project, with one entry per session."""
        path = sessions[0].path.parent / "sessions-index.json"
        entries = [
            {
                "sessionId": session.session_id,
                "fullPath": str(session.path),
                "fileMtime": milliseconds(self.pen),
                "firstPrompt": "Fix the login bug",
                "summary": "Login bug fixed",
                "messageCount": len(session.lines),
                "created": self.pen.timestamp(),
                "modified": self.pen.timestamp(),
                "gitBranch": "main",
                "projectPath": session.cwd,
                "isSidechain": False,
                **keys,
            }
            for session in sessions
        ]
        path.write_text(json.dumps({"version": 1, "entries": entries, "originalPath": sessions[0].cwd}))
        return path

    def stats(self, **keys: Any) -> Path:
        """The stats cache."""
        path = self.root / "stats-cache.json"
        totals = {"inputTokens": 120, "outputTokens": 340, "cacheReadInputTokens": 9000}
        stats = {
            "version": 2,
            "lastComputedDate": "2026-03-01",
            "dailyActivity": [{"date": "2026-03-01", "messageCount": 9, "sessionCount": 2}],
            "modelUsage": {MODEL: totals},
            "totalSessions": 2,
            "totalMessages": 9,
            **keys,
        }
        path.write_text(json.dumps(stats))
        return path

    def with_everything(self) -> Session:
        """Writes every source and record type, and files that are never read; returns the main session."""
        session = self.session(session_id=SESSION)
        session.records(every_record())
        for layout in ("flat", "session", "subagents", "workflow"):
            agent = session.subagent(layout=layout, meta={"agentType": "Explore", "toolUseId": "toolu_01x"})
            agent.user("Look around")
            agent.reply(f"Nothing in {layout}", tokens=7)
        session.warmup()
        session.journal().records(samples.JOURNAL_LINES.values())
        self.session(project="-work-other").prompt("A second project")
        self.session(project="-work-other")  # stays empty, as 38 % of the files do
        self.history("Fix the login bug", "Now the tests", session_id=session.session_id)
        self.history("A line from before sessions had ids").records(samples.HISTORY_LINES.values())
        self.index(session)
        self.stats()
        for name in ("tool-results/toolu_01.txt", "subagents/agent-x.meta.json"):
            path = session.path.with_suffix("") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        for name in ("file-history/a@v1", "shell-snapshots/snapshot-bash-1.sh", "settings.json"):
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text("never read")
        return session


def every_record() -> Iterator[Record]:
    """One record of each type that Claude Code is known to write, up to its newest version."""
    yield from (json.loads(json.dumps(record)) for record in samples.ALL_RECORDS.values())
