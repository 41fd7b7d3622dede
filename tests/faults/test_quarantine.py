"""The quarantine is durable, redacted, private and bounded, and can be inspected and used while the agent works."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from collector.errors import StateError
from collector.flow.outcome import Quarantined
from collector.keeping.quarantine import Quarantine
from tests.agent import REPOSITORY, Agent, Result
from tests.build import Home
from tests.sink import Answer, Event, Sink, poison, rejecting

KEY = "AKIA" + "Q7RSTUVWXY2ZABCD"  # has the shape of a key, but is nobody's


class Place:
    """A home, an agent, its sink and its quarantine."""

    def __init__(self, directory: Path, sink: Sink, **environment: str) -> None:
        self.home = Home(directory)
        self.session = self.home.session()
        self.sink = sink
        self.agent = Agent(self.home, sink, environment)
        self.path = self.agent.state.with_name("state.quarantine.jsonl")

    def tear(self, text: str = "torn") -> None:
        with self.session.path.open("ab") as file:
            file.write(b'{"type":"user","message":{"content":"' + text.encode() + b"\n")

    def quarantine(self, *arguments: str, **environment: str) -> Result:
        command, *rest = arguments
        where = ["--state", str(self.agent.state)]
        env = {"COLLECTOR_SINK__URL": self.sink.url, "COLLECTOR_RETRY__MAX_WAIT": "0", **environment}
        return self.agent.run("quarantine", command, *rest, *where, env=env)

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.quarantine("list", "--json").stdout.splitlines()]


def is_poison(event: Event) -> bool:
    return "poison" in event.get("text", "")


def test_an_entry_says_what_why_where_and_when_without_secrets(tmp_path: Path) -> None:
    with Sink(then=poison(is_poison)) as sink:
        place = Place(tmp_path, sink)
        place.session.prompt("all is well")
        place.session.prompt(f"poison with {KEY}")
        place.tear(f"torn with {KEY}")
        assert place.agent.scan().ledger["quarantined"] == 2
        refused, torn = sorted(place.entries(), key=lambda entry: int(entry["offset"]))
        first, second, _ = place.session.path.read_bytes().splitlines(keepends=True)
        assert (refused["offset"], torn["offset"]) == (len(first), len(first) + len(second))
        source = f"~/{place.session.path.relative_to(place.home.path)}"
        assert refused["source"] == torn["source"] == source
        assert ("HTTP 400" in refused["reason"], torn["reason"]) == (True, "torn line")
        assert all(each["time"].endswith("Z") and "REDACTED" in each["payload"] for each in (refused, torn))
        assert KEY.encode() not in place.path.read_bytes()
        assert stat.S_IMODE(place.path.stat().st_mode) == 0o600


def test_the_same_bytes_in_two_sources_are_two_entries_under_one_id(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.tear()
        other = place.home.session()
        other.path.write_bytes(place.session.path.read_bytes())
        place.agent.scan()
        entries = place.entries()
        assert len({entry["source"] for entry in entries}) == 2
        [entry_id] = {entry["id"] for entry in entries}
        assert place.quarantine("show", entry_id).stdout.count('"payload"') == 2
        assert "Dropped 2" in place.quarantine("drop", entry_id).stdout
        assert place.entries() == []


def test_a_retry_delivers_what_the_sink_now_accepts_and_keeps_the_rest(tmp_path: Path) -> None:
    with Sink(then=poison(is_poison)) as sink:
        place = Place(tmp_path, sink)
        for text in ("all is well", "poison a", "fine", "poison b", "fine too", "poison c"):
            place.session.prompt(text)
        place.tear()
        place.agent.scan()
        assert len(place.entries()) == 4
        for nothing, code in (((), 2), (("nope",), 1)):
            result = place.quarantine("retry", *nothing)
            assert (result.code, result.stdout) == (code, ""), nothing
        result = place.quarantine("retry", "--all")
        assert (result.code, result.stdout.strip()) == (3, "Delivered 0, refused again 3, not an event 1.")
        sink.clear_script(poison(lambda event: event.get("text") in {"poison a", "poison c"}))
        result = place.quarantine("retry", "--all")
        assert (result.code, result.stdout.strip()) == (3, "Delivered 1, refused again 2, not an event 1.")
        assert len(place.entries()) == 3
        sink.clear_script()
        result = place.quarantine("retry", "--all")
        assert (result.code, result.stdout.strip()) == (0, "Delivered 2, refused again 0, not an event 1.")
        assert sorted(event["text"] for event in sink.events if is_poison(event)) == [
            "poison a",
            "poison b",
            "poison c",
        ]
        assert [entry["reason"] for entry in place.entries()] == ["torn line"]


def test_an_entry_of_another_sink_is_kept_when_this_sink_accepts_the_event(tmp_path: Path) -> None:
    with Sink(then=rejecting(is_poison)) as before, Sink(then=rejecting(is_poison)) as now:
        place = Place(tmp_path, before)
        place.session.prompt("poison")
        place.session.prompt("fine")
        assert place.agent.scan().ledger["quarantined"] == 1
        place.sink = place.agent.sink = now
        assert place.agent.scan().ledger["quarantined"] == 1
        now.clear_script()
        assert len(place.entries()) == 2
        place.quarantine("retry", "--all")
        assert [entry["sink"] for entry in place.entries()] == [f"http {before.url}"]


def test_a_retry_sends_nothing_from_a_project_excluded_meanwhile(tmp_path: Path) -> None:
    with Sink(then=poison(is_poison)) as sink:
        place = Place(tmp_path, sink)
        for text in ("all is well", "poison of the app", "fine"):
            place.session.prompt(text)
        other = place.home.session(project="-work-other")
        other.prompt("poison of another")
        other.prompt("fine too")
        other.record({"type": "last-prompt", "lastPrompt": "poison that names no directory"})
        place.agent.scan()
        assert len(place.entries()) == 3
        sink.clear_script()
        result = place.quarantine("retry", "--all", COLLECTOR_PROJECTS__EXCLUDE="/work/other")
        said = "Delivered 1, refused again 0, not an event 0, from an excluded project 2."
        assert (result.code, result.stdout.strip()) == (0, said)
        assert [event["text"] for event in sink.events if is_poison(event)] == ["poison of the app"]


def test_an_interrupted_retry_keeps_what_was_not_accepted(tmp_path: Path) -> None:
    with Sink(then=poison(is_poison)) as sink:
        place = Place(tmp_path, sink)
        for text in ("all is well", "poison a", "poison b"):
            place.session.prompt(text)
        place.agent.scan()
        sink.clear_script(Answer(503))
        sink.answer(Answer())
        result = place.quarantine("retry", "--all")
        assert (result.code, "Delivered 1" in result.stdout) == (75, True)
        assert len(place.entries()) == 1


def test_the_quarantine_survives_restarts_and_the_loss_of_the_state(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.tear()
        place.session.prompt("after")
        place.agent.scan()
        before = place.entries()
        place.agent.state.unlink()
        place.agent.scan()
        assert place.entries() == before
        assert len(before) == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux how much memory a process has taken")
def test_counting_a_full_quarantine_does_not_load_it_into_memory(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink, COLLECTOR_HEARTBEAT__INTERVAL="1")
        place.path.parent.mkdir(mode=0o700)
        entry = {**Quarantined("a", "torn line", "~/x", 0, "x" * 900)._asdict(), "time": "2026-01-01T00:00:00Z"}
        with place.path.open("w") as file:
            file.writelines(json.dumps({**entry, "offset": number}) + "\n" for number in range(45_000))
        with place.agent.start() as running:
            sink.wait_for(lambda: len([event for event in sink.events if event["kind"] == "heartbeat"]) > 2)
            status = Path(f"/proc/{running.process.pid}/status").read_text()
    most = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert most < 100_000  # kB; all entries would take 140,000
    assert sink.events[-1]["attributes"]["quarantine"] == 45_000


def test_a_full_quarantine_drops_the_oldest_and_says_so_loudly(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink, COLLECTOR_QUARANTINE__MAX_BYTES="10000")
        for number in range(60):
            place.tear(f"{number} " + "x" * 300)
        result = place.agent.scan()
        entries = place.entries()
        assert place.path.stat().st_size <= 10_000
        assert [entry["payload"].split('"')[-1].split(" ")[0] for entry in entries] == [
            str(number) for number in range(60 - len(entries), 60)
        ]
        dropped = [json.loads(line) for line in result.stderr.splitlines() if "oldest entries dropped" in line]
        assert sum(line["dropped"] for line in dropped) == 60 - len(entries)
        assert {line["level"] for line in dropped} == {"error"}


def test_the_newest_entry_stays_even_if_it_alone_is_too_large(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path / "q.jsonl", 1000)
    quarantine.add([Quarantined("a", "r", "s", 0, "x" * 500)])
    assert quarantine.add([Quarantined("b", "r", "s", 1, "y" * 5000)]) == 1
    assert [entry["id"] for entry in quarantine.entries()] == ["b"]


ADDING = """
import sys
from pathlib import Path
from collector.flow.outcome import Quarantined
from collector.keeping.quarantine import Quarantine
quarantine = Quarantine(Path(sys.argv[1]), 10_000_000)
print("ready", flush=True)
for number in range(300):
    quarantine.add([Quarantined(f"n{number}", "r", "s", number, "x")])
"""


def test_dropping_while_the_agent_adds_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    quarantine = Quarantine(path, 10_000_000)
    quarantine.add([Quarantined(f"old{number}", "r", "s", number, "x") for number in range(50)])
    agent = subprocess.Popen(
        [sys.executable, "-c", ADDING, str(path)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)},
    )
    assert agent.stdout
    agent.stdout.readline()
    for number in range(50):
        assert quarantine.drop([each for each in quarantine.entries() if each["id"] == f"old{number}"]) == 1
    agent.communicate()
    assert [entry["id"] for entry in quarantine.entries()] == [f"n{number}" for number in range(300)]


def test_a_lock_that_is_never_released_does_not_block_the_agent_for_ever(tmp_path: Path) -> None:
    holder = os.open(tmp_path / "q.jsonl.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    quarantine = Quarantine(tmp_path / "q.jsonl", 10_000, lock_seconds=10)
    with pytest.raises(StateError, match="another process holds its lock"):
        Quarantine(quarantine.path, 10_000, lock_seconds=0.05).add([Quarantined("a", "r", "s", 0, "x")])
    threading.Timer(0.02, os.close, [holder]).start()
    quarantine.add([Quarantined("a", "r", "s", 0, "x")])
    assert [entry["id"] for entry in quarantine.entries()] == ["a"]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"id":"x"}', b'{"id":1,"reason":2,"source":3,"offset":4,"payload":5}'])
def test_a_line_that_is_not_an_entry_is_ignored(tmp_path: Path, line: bytes) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.tear()
        place.agent.scan()
        place.path.write_bytes(line + b"\n" + place.path.read_bytes())
        listed = place.quarantine("list")
        assert (listed.code, "torn line" in listed.stdout) == (0, True)
        [entry] = place.entries()
        assert place.quarantine("drop", entry["id"]).code == 0
