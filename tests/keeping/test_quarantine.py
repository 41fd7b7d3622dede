"""The quarantine: private, durable, bounded."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from collector.errors import StateError
from collector.flow.outcome import Quarantined
from collector.keeping.quarantine import Quarantine


def thing(name: str, payload: str = "text") -> Quarantined:
    return Quarantined(name, "torn line", "~/.claude/x.jsonl", 5, payload)


def test_a_quarantined_item_is_kept_with_its_reason_and_place(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q.jsonl", 10_000)
    assert quarantine.add([thing("a")]) == 0
    [entry] = quarantine.entries()
    assert {name: entry[name] for name in ("id", "reason", "source", "offset", "payload")} == thing("a")._asdict()
    assert stat.S_IMODE(os.stat(tmp_path / "q.jsonl").st_mode) == 0o600


def test_an_item_quarantined_again_after_a_crash_is_kept_once(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q.jsonl", 10_000)
    quarantine.add([thing("a")])
    quarantine.add([thing("a"), thing("b")])
    assert [entry["id"] for entry in quarantine.entries()] == ["a", "b"]
    assert quarantine.count() == 2
    quarantine.drop(quarantine.entries()[:1])
    assert quarantine.count() == 1
    (tmp_path / "q.jsonl").unlink()
    assert quarantine.count() == 0


def test_half_a_line_from_a_crash_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    quarantine = Quarantine(path, 10_000)
    quarantine.add([thing("a"), thing("b")])
    path.write_bytes(path.read_bytes()[:-10])
    quarantine.add([thing("c")])
    assert [entry["id"] for entry in quarantine.entries()] == ["a", "c"]


def test_a_full_quarantine_drops_the_oldest_and_says_how_many(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q.jsonl", 10_000)
    gone = sum(quarantine.add([thing(f"n{number}", "x" * 1000)]) for number in range(20))
    names = [entry["id"] for entry in quarantine.entries()]
    assert names == [f"n{number}" for number in range(gone, 20)]
    assert 0 < os.path.getsize(tmp_path / "q.jsonl") <= 10_000


def test_dropping_removes_only_the_named_entries(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q.jsonl", 10_000)
    quarantine.add([thing("a"), thing("b"), thing("c")])
    _, b, _ = quarantine.entries()
    assert quarantine.drop([b, {**b, "id": "z"}, {**b, "sink": "http elsewhere"}]) == 1
    assert [entry["id"] for entry in quarantine.entries()] == ["a", "c"]


def test_a_quarantine_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").mkdir()
    with pytest.raises(StateError, match="No offset moves"):
        Quarantine(tmp_path / "q.jsonl", 10_000).add([thing("a")])
