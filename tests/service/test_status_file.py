"""The status file: private, whole, written only on changes and not too often; and the one-line report."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from collector.log import in_words
from collector.service.status_file import StatusFile, one_line, read_status, status_path


class Told:
    """A status file with a test clock."""

    def __init__(self, path: Path) -> None:
        self.now = 0.0
        self.file = StatusFile(path, lambda: self.now)

    def tell(self, **report: Any) -> None:
        self.file.write(lambda: report)


def test_the_file_is_private_and_whole(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state.json"
    told = Told(status_path(state))
    told.tell(lag=3)
    path = tmp_path / "deep" / "state.status.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_status(state)["lag"] == 3
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_an_unchanged_status_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    told = Told(path)
    told.tell(lag=3)
    before = path.stat().st_ino
    told.tell(lag=3)
    assert path.stat().st_ino == before
    told.tell(lag=4)
    assert path.stat().st_ino != before


def test_the_status_is_written_at_most_once_a_second(tmp_path: Path) -> None:
    told = Told(tmp_path / "s.json")
    assert told.file.due_in == 0.0
    told.tell(lag=3)
    assert told.file.due_in == 1.0
    told.now = 1.0
    assert told.file.due_in == 0.0


def test_a_slow_description_is_made_less_often(tmp_path: Path) -> None:
    told = Told(tmp_path / "s.json")

    def slowly() -> dict[str, Any]:
        told.now += 0.2
        return {}

    told.file.write(slowly)
    assert told.file.due_in == pytest.approx(10.0)


def test_a_full_disk_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    Told(tmp_path / "taken" / "s.json").tell(lag=3)


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_a_damaged_status_file_is_read_as_empty(tmp_path: Path, content: str) -> None:
    state = tmp_path / "state.json"
    status_path(state).write_text(content)
    assert read_status(state) == {}


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2e6, "2.0 MB"), (3.2e9, "3.2 GB")]
)
def test_sizes_are_written_with_units(count: float, said: str) -> None:
    assert in_words(count) == said


def test_the_one_line_report_puts_what_matters_first() -> None:
    report = {
        "priorities": {"P0": {"sources": 3, "behind": 2, "lag": 1500}},
        "lag": 1500,
        "last_acknowledged": "2026-03-01T10:00:00Z",
        "problem": {"kind": "halted", "since": "2026-03-01T09:00:00Z", "reason": "HTTP 401"},
        "watcher": {"mode": "polling", "reason": "limit reached"},
        "roots": [{"path": "/home/alice/.claude", "is_there": True}],
    }
    assert one_line(report) == (
        "halted since 2026-03-01T09:00:00Z: HTTP 401; lag 1.5 kB in 2 sources; "
        "last acknowledged 2026-03-01T10:00:00Z; watcher polling: limit reached"
    )
    calm = report | {"lag": 0, "problem": None, "last_acknowledged": None, "watcher": {"mode": "events", "reason": ""}}
    assert one_line(calm) == "nothing waiting"
    early = calm | {"roots": [{"path": "/home/alice/.claude", "is_there": False}]}
    assert one_line(early) == "waiting for /home/alice/.claude, which does not exist yet"
