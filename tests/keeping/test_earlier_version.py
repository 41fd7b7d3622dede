"""Files written by an earlier version, given here byte for byte, are understood, and nothing is sent again.

State version 1 never changes its shape. The bytes below are those that version 0.1.0 wrote; only what the file system
chooses (inodes, times, the path of the home) is filled in.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from collector.flow.outcome import Quarantined
from collector.flow.source import Entry, Position, Stamp, digest
from collector.keeping.held import look_into
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import State
from tests.agent import Agent
from tests.build import Home, Session
from tests.scopes import FORM
from tests.sink import Answer, Sink

WRITTEN = 1_768_263_841  # seconds since 1970, when Claude Code last wrote
STATE = (
    '{"version":1,"claude_code":{"files":{'
    '"~/.claude/projects/-work-app/%(stub)s":'
    '{"offset":0,"head":"","tail":"","mtime":1768263841000,"size":%(stub_size)d,"mtime_ns":1768263841000000000,'
    '"inode":%(stub_inode)d,"skip":"warmup"},'
    '"~/.claude/projects/-work-app/gone.jsonl":'
    '{"offset":4711,"head":"28371e0750261b95","tail":"e0344b30dfe3f796","missing_since":1768263000},'
    '"~/.claude/projects/-work-app/%(session)s":'
    '{"offset":%(offset)d,"head":"%(head)s","tail":"%(tail)s","mtime":1768263841000,"size":%(offset)d,'
    '"mtime_ns":1768263841000000000,"inode":%(inode)d}'
    "}}}\n"
)
INDEX = (
    '{"version": 1, "files": [{"number": 1, "source": [["%(root)s", "claude"], '
    '"%(root)s/projects/-work-app/%(session)s", "~/.claude/projects/-work-app/%(session)s", "session", 0, '
    '"-work-app", "%(session_id)s", "", [%(size)d, 1768263841000000000, %(inode)d]], '
    '"start": [%(offset)d, "%(head)s", "%(tail)s"], "unsent": %(unsent)d}]}'
)
BASE = b'{"version":1,"claude_code":{"files":{"a":{"offset":10,"head":"h","tail":"t"}}}}\n'
JOURNAL = [
    b'{"base":"cab3a297ec513a1e5cf4b9c615611d2c"}\n',
    b'{"b":{"offset":20,"head":"h","tail":"t","mtime":1768263841305,"size":20,"mtime_ns":1768263841305000000,"inode":8}}\n',
    b'{"a":null,"c":{"offset":5,"head":"h","tail":"t","missing_since":1768263000}}\n',
]
QUARANTINE = (
    b'{"id":"9d671b30a3faf2b7cb60e2158b22ac46","reason":"torn line","source":"~/.claude/projects/-work-app/s.jsonl",'
    b'"offset":792,"payload":"{\\"type\\":\\"user\\",\\"message\\":{\\"content\\":\\"torn","time":"2026-01-13T00:24:01Z"}\n'
)


class Place:
    """A home where the earlier version of the agent has run until now."""

    def __init__(self, directory: Path, sink: Sink) -> None:
        self.home = Home(directory)
        self.session: Session = self.home.session()
        for number in range(3):
            self.session.prompt(f"sent {number}")
        self.stub = self.session.warmup().path
        for path in (self.session.path, self.stub):
            os.utime(path, (WRITTEN, WRITTEN))
        self.agent = Agent(self.home, sink)
        self.agent.directory.mkdir(0o700)
        data, status = self.session.path.read_bytes(), self.session.path.stat()
        self.known = {
            "session": self.session.path.name,
            "session_id": self.session.path.stem,
            "root": str(self.home.root),
            "offset": len(data),
            "head": digest(data[:1024]),
            "tail": digest(data[-1024:]),
            "inode": status.st_ino,
            "stub": self.stub.name,
            "stub_size": self.stub.stat().st_size,
            "stub_inode": self.stub.stat().st_ino,
        }
        self.agent.state.write_text(STATE % self.known)

    def hold(self, *, copy: bool) -> None:
        """Holds a file as the earlier version did after a pass was given up: its index, and the file beside it."""
        path, directory = self.session.path, self.agent.state.with_name("state.held")
        os.utime(path, (WRITTEN, WRITTEN))
        size = path.stat().st_size
        directory.mkdir(0o700)
        index = INDEX % (self.known | {"size": size, "unsent": size - self.known["offset"]})  # type: ignore[operator]
        (directory / "index.json").write_text(index)
        if copy:
            (directory / "1.jsonl").write_bytes(path.read_bytes())
            os.utime(directory / "1.jsonl", (WRITTEN, WRITTEN))
        else:
            os.link(path, directory / "1.jsonl")


def test_an_earlier_state_is_loaded_and_nothing_is_sent_again(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        result = place.agent.scan().assert_balanced()
        assert (result.code, result.ledger["lines"], result.ledger["lag"]) == (0, 0, 0)
        assert result.ledger["files"] == {"seen": 2, "read": 0, "unchanged": 1, "skipped": {"warmup": 1}}
        place.session.prompt("new")
        assert place.agent.scan().ledger["delivered"] == 1
        assert [event["text"] for event in sink.events] == ["new"]


def test_an_earlier_state_is_saved_byte_for_byte(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        before = place.agent.state.read_bytes()
        State(place.agent.state, FORM.name).load().save(is_whole=True)
        assert place.agent.state.read_bytes() == before


def test_a_file_that_was_only_touched_is_recognised_by_its_bytes(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        os.utime(place.session.path, (WRITTEN + 5, WRITTEN + 5))
        assert place.agent.scan().assert_balanced().ledger["lines"] == 0
        assert sink.posts == []


@pytest.mark.parametrize("copy", [False, True], ids=["link", "copy"])
@pytest.mark.parametrize("is_swept", [False, True], ids=["there", "swept"])
def test_an_earlier_held_file_is_delivered_and_nothing_else(tmp_path: Path, copy: bool, is_swept: bool) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.session.prompt("held")
        place.hold(copy=copy)
        [file] = look_into(place.agent.state.with_name("state.held")).files
        assert file.unsent == len(place.session.lines[-1])
        if is_swept:
            place.session.path.unlink()
        result = place.agent.scan().assert_balanced()
        assert (result.code, result.ledger["lag"]) == (0, 0)
        assert [event["text"] for event in sink.events] == ["held"]
        assert not place.agent.state.with_name("state.held").exists()
        assert place.agent.scan().ledger["lines"] == 0


def test_the_earlier_version_could_read_what_is_held_now(tmp_path: Path) -> None:
    """The earlier version reads a root as two strings, and ignores the other keys of an index entry."""
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.session.prompt("held")
        os.utime(place.session.path, (WRITTEN, WRITTEN))
        sink.then = Answer(503)
        assert place.agent.scan("--max-wait", "0").code == 75
        size = place.session.size
        written = json.loads(place.agent.state.with_name("state.held").joinpath("index.json").read_bytes())
        unsent = size - int(str(place.known["offset"]))
        expected = json.loads(INDEX % (place.known | {"size": size, "unsent": unsent}))
        expected["files"][0]["source"][0][1] = place.home.root.name.lstrip(".")
        assert [entry.pop("agent") for entry in written["files"]] == [FORM.name]
        assert [entry.pop("sinks") for entry in written["files"]] == [[f"http {sink.url}"]]
        assert written == expected


def test_an_earlier_journal_is_applied(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_bytes(BASE)
    (tmp_path / "state.json.journal").write_bytes(b"".join(JOURNAL))
    assert State(tmp_path / "state.json", FORM.name).load().entries == {
        "b": Entry(Position(20, "h", "t", Stamp(20, 1768263841305000000, 8))),
        "c": Entry(Position(5, "h", "t"), missing_since=1768263000),
    }


def test_a_journal_is_written_as_the_earlier_version_did(tmp_path: Path) -> None:
    state = State(tmp_path / "state.json", FORM.name, journal_from=1)
    state.set_offset("a", Position(10, "h", "t"))
    state.save()
    state.advance_offsets({"b": Position(20, "h", "t", Stamp(20, 1768263841305000000, 8))})
    state.save()
    assert (tmp_path / "state.json").read_bytes() == BASE
    assert (tmp_path / "state.json.journal").read_bytes() == JOURNAL[0] + JOURNAL[1]


def test_an_earlier_quarantine_is_read_and_its_entries_are_not_duplicated(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(QUARANTINE)
    quarantine = Quarantine(path, 100_000)
    [entry] = quarantine.entries()
    again = Quarantined(*(entry[name] for name in Quarantined._fields))
    quarantine.add([again])
    assert quarantine.entries() == [entry]
    assert path.read_bytes().split(b',"time"')[0] == QUARANTINE.split(b',"time"')[0]
    assert quarantine.drop([entry]) == 1
