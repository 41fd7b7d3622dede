"""Makes a backlog of realistic transcripts: `python -m tests.bench.backlog DIRECTORY --megabytes 400`.

DIRECTORY/home/.claude gets more than 3,000 files in every layout Claude Code has used: sizes with a long tail, empty
sessions, warmup stubs, forks, history and stats. DIRECTORY/planted.json lists what was planted. The same size and seed
give the same bytes; 400 MB take about half a minute of CPU.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import orjson

from tests.bench.records import SECRET_SHARE, Writer
from tests.bench.text import Library

MEGABYTE = 1_000_000
FILES = 3000
EMPTY_SHARE = 0.12  # of the files: sessions that were opened and abandoned
STUB_SHARE = 0.10  # of the files: warmup stubs
AGENT_SHARE = 0.45
FORK_SHARE = 0.01


class Recipe(NamedTuple):
    """What a backlog is made of; equal recipes give equal bytes."""

    megabytes: int
    seed: int = 1
    files: int = FILES
    texts: float = 1.0  # length of texts, as a multiple of real ones: for the same bytes, shorter texts make more lines
    secrets: float = SECRET_SHARE  # the share of tool results with a planted secret


class Backlog:
    """A backlog being written below a directory."""

    def __init__(self, directory: Path, recipe: Recipe) -> None:
        self.rng = random.Random(recipe.seed)
        self.root = directory / "home" / ".claude"
        self.size = recipe.megabytes * MEGABYTE
        self.files = recipe.files
        self.writer = Writer(self.rng, Library(self.rng, scale=recipe.texts), recipe.secrets)
        self.written = 0
        self.counts = {"files": 0, "forks": 0, "empty": 0, "stubs": 0}
        self.moment = 1_770_000_000

    def write(self) -> None:
        """Writes every file."""
        words = self.writer.library.words
        projects = [f"/home/user/{words(1)}/{words(2).replace(' ', '-')}" for _ in range(max(3, self.files // 60))]
        weights = self._weights()
        session, cwd = self.writer.uuid(), projects[0]
        for number, weight in enumerate(weights):
            # Turns are written whole, so files come out a little too large: what is left is shared out again.
            size = int(weight * max(0, self.size - self.written) / (sum(weights[number:]) or 1))
            kind = self.rng.random()
            if kind < AGENT_SHARE and self.counts["files"]:
                self._agent(cwd, session, size)
                continue
            cwd = self.rng.choice(projects)
            session = self.writer.uuid()
            self._session(cwd, session, size)
        self._around(projects)

    def _weights(self) -> list[float]:
        """The relative sizes of the files: a long tail, and 0 for empty ones and stubs."""
        weights = [self.rng.lognormvariate(0, 1.6) for _ in range(self.files)]
        small = EMPTY_SHARE + STUB_SHARE
        return [0.0 if self.rng.random() < small else weight for weight in weights]

    def _directory(self, cwd: str) -> Path:
        return self.root / "projects" / "".join(letter if letter.isalnum() else "-" for letter in cwd)

    def _session(self, cwd: str, session: str, size: int) -> None:
        path = self._directory(cwd) / f"{session}.jsonl"
        lines = self.writer.session(session, cwd, size) if size else []
        self.counts["empty"] += not size
        self._save(path, lines)
        if lines and size < 2 * MEGABYTE and self.rng.random() < FORK_SHARE * 2:
            other = self.writer.uuid()
            forked = [line.replace(session.encode(), other.encode()) for line in lines]
            self._save(path.with_name(f"{other}.jsonl"), forked)
            self.counts["forks"] += 1

    def _agent(self, cwd: str, session: str, size: int) -> None:
        agent = f"a{self.rng.getrandbits(64):016x}"
        project = self._directory(cwd)
        below = [project, project / session, project / session / "subagents"]
        below.append(project / session / "subagents" / "workflows" / "run-1")
        directory = self.rng.choices(below, [2, 1, 6, 1])[0]
        path = directory / f"agent-{agent}.jsonl"
        if not size:
            common = {"parentUuid": None, "isSidechain": True, "agentId": agent, "sessionId": session, "cwd": cwd}
            message = {"role": "user", "content": "Warmup"}
            stub = {**common, "type": "user", "message": message, "uuid": self.writer.uuid()}
            self._save(path, [orjson.dumps({**stub, "timestamp": self.writer.timestamp()}) + b"\n"])
            self.counts["stubs"] += 1
            return
        self._save(path, self.writer.session(session, cwd, size, agent))
        if directory.name == "subagents":
            meta = {"agentType": "general-purpose", "description": "look around", "toolUseId": "toolu_01"}
            path.with_suffix(".meta.json").write_bytes(orjson.dumps(meta))

    def _save(self, path: Path, lines: list[bytes]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
        self.moment += self.rng.randrange(1, 4000)
        os.utime(path, (self.moment, self.moment))
        self.written += sum(map(len, lines))
        self.counts["files"] += 1

    def _around(self, projects: list[str]) -> None:
        """Writes the history and the stats."""
        take = self.writer.library.take
        lines = [
            {
                "display": take("prose", 200),
                "pastedContents": {},
                "timestamp": (self.moment + number) * 1000,
                "project": self.rng.choice(projects),
                "sessionId": self.writer.uuid(),
            }
            for number in range(self.size // 100_000)
        ]
        self._save(self.root / "history.jsonl", [orjson.dumps(line) + b"\n" for line in lines])
        stats = {"version": 2, "totalSessions": self.files, "totalMessages": self.writer.records, "dailyActivity": []}
        self._save(self.root / "stats-cache.json", [orjson.dumps(stats)])


def make(directory: Path, recipe: Recipe) -> Path:
    """Makes a backlog below a directory, unless the same one is already there; returns its root."""
    note = directory / "planted.json"
    if note.exists() and orjson.loads(note.read_bytes())["recipe"] == recipe._asdict():
        return directory / "home" / ".claude"
    shutil.rmtree(directory / "home", ignore_errors=True)
    backlog = Backlog(directory, recipe)
    backlog.write()
    counts = {**backlog.counts, "bytes": backlog.written, "records": backlog.writer.records}
    content = {"recipe": recipe._asdict(), "counts": counts, "secrets": backlog.writer.secrets}
    note.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    return backlog.root


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.backlog", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=float, default=1.0, help="how long texts are, as a multiple of real ones")
    parser.add_argument("--secrets", type=float, default=SECRET_SHARE, help="the share of tool results with one")
    given = parser.parse_args()
    recipe = Recipe(given.megabytes, given.seed, given.files, given.texts, given.secrets)
    root = make(given.directory, recipe)
    counts = orjson.loads((given.directory / "planted.json").read_bytes())["counts"]
    print(f"{root}: {counts}; {time.process_time():.1f} CPU s")


if __name__ == "__main__":
    main()
