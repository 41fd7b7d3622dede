"""The generated backlog is what docs/benchmarks.md says it is."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from tests.bench.backlog import Recipe, make


def digest(root: Path) -> str:
    seen = hashlib.sha256()
    for path in sorted(root.rglob("*.json*")):
        seen.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return seen.hexdigest()


def test_the_same_recipe_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again, other = (make(tmp_path / name, Recipe(2, seed, 40)) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert digest(first) == digest(again) != digest(other)


def test_the_backlog_has_the_shape_of_real_transcripts(tmp_path: Path) -> None:
    root = make(tmp_path, Recipe(10, files=150))
    data = b"".join(path.read_bytes() for path in root.glob("projects/**/*.jsonl"))
    records = [json.loads(line) for line in data.splitlines()]
    assert 9e6 < len(data) < 12e6
    assert 2000 < len(data) / len(records) < 4000
    assert 3 < len(data) / len(gzip.compress(data, 1)) < 6
    assert list(root.glob("projects/*/agent-*.jsonl"))
    assert list(root.glob("projects/*/*/subagents/agent-*.jsonl"))
    rows = [record for record in records if record["type"] == "assistant"]
    messages = {row["message"]["id"] for row in rows}
    assert 1.5 < len(rows) / len(messages) < 3
    planted = json.loads((tmp_path / "planted.json").read_bytes())["secrets"]
    assert all(secret.encode() in data for secret in planted)
