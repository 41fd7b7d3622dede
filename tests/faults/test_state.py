"""Whatever happens to the state file, nothing is lost, and whatever is sent again has the same ids."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collector.keeping.state import State
from tests.agent import COLLECTOR, Agent, Running
from tests.build import Home, Session
from tests.scopes import FORM
from tests.service.process import wait_until
from tests.sink import PATIENCE, Answer, Sink, texts

PROMPTS = 12
EVERY_EVENT = {"COLLECTOR_BATCH__MAX_EVENTS": "1", "COLLECTOR_SINK__WINDOW": "2"}


class Place:
    """A home with a session, an agent and a sink."""

    def __init__(self, directory: Path, sink: Sink, **environment: str) -> None:
        self.home = Home(directory)
        self.session: Session = self.home.session()
        self.prompts = 0
        self.write(PROMPTS)
        self.sink = sink
        self.agent = Agent(self.home, sink, environment)

    def write(self, count: int) -> None:
        for _ in range(count):
            self.prompts += 1
            self.session.prompt(f"prompt {self.prompts}")

    def tear(self) -> None:
        """Appends a line that belongs in the quarantine."""
        with self.session.path.open("ab") as file:
            file.write(b'{"type":"user","message":{"content":"torn\n')

    def wait_for_all(self) -> None:
        self.sink.wait_for(lambda: len(set(self.sink.ids())) == self.prompts)

    def offset(self) -> int:
        """The session's offset in the state on disk."""
        state = State(self.agent.state, FORM.name).load()
        return next((entry.position.offset for entry in state.entries.values()), 0)

    def wait_until_saved(self) -> None:
        self.sink.wait_for(lambda: self.offset() == self.session.path.stat().st_size)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "garbage": lambda data: os.urandom(len(data)),
    "zeros": lambda data: bytes(len(data)),
    "half": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "another document": lambda _: b'{"claude_code": {"files": []}}',
}


@pytest.mark.parametrize("both", [False, True], ids=["one generation", "both"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_reported_and_kept_and_only_causes_repeats(tmp_path: Path, damage: str, both: bool) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.agent.scan()
        place.write(3)
        place.agent.scan()
        for path in place.agent.directory.glob("state.json*" if both else "state.json"):
            if path.suffix != ".lock":
                path.write_bytes(DAMAGES[damage](path.read_bytes()))
        result = place.agent.scan().assert_balanced()
        assert (result.code, result.ledger["lag"]) == (0, 0)
        assert "state damaged" in result.stderr
        assert len(set(sink.ids())) == place.prompts
        assert len(list(place.agent.directory.glob("*damaged*"))) == (2 if both else 1)
        assert place.agent.scan().ledger["delivered"] == 0


@pytest.mark.parametrize("command", ["scan", "run"])
def test_a_state_from_a_newer_version_is_left_alone_and_nothing_is_sent(tmp_path: Path, command: str) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.agent.scan()
        newer = place.agent.state.read_bytes().replace(b'"version":1', b'"version":2')
        place.agent.state.write_bytes(newer)
        place.write(1)
        result = place.agent.run(command, *place.agent.places())
        assert (result.code, "newer collector" in result.stderr) == (74, True)
        assert place.agent.state.read_bytes() == newer
        assert len(sink.ids()) == PROMPTS


def test_with_yesterdays_state_whatever_came_since_is_sent_again(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.agent.scan()
        backup = place.agent.state.read_bytes()
        place.write(5)
        place.agent.scan()
        place.agent.state.write_bytes(backup)
        place.write(1)
        assert place.agent.scan().ledger["delivered"] == 6
        assert len(set(sink.ids())) == place.prompts
        assert len(sink.ids()) == place.prompts + 5


@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_state_deleted_under_a_running_agent_is_written_again(tmp_path: Path, what: str) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        with place.agent.start() as running:
            place.wait_until_saved()
            if what == "file":
                place.agent.state.unlink()
            else:
                place.agent.directory.rename(tmp_path / "deleted")
            place.write(1)
            place.wait_for_all()
            place.wait_until_saved()
            assert json.loads(place.agent.run("status", "--json", *place.agent.places()).stdout)["is_running"]
            assert place.agent.scan().code == 73
            assert running.stop() == 0
        assert place.agent.scan().ledger["delivered"] == 0
        assert len(sink.ids()) == place.prompts


def test_an_idle_agent_whose_directory_was_deleted_writes_its_state_again(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink, COLLECTOR_RUN__RESCAN_INTERVAL="0.1")
        with place.agent.start():
            place.wait_until_saved()
            place.agent.directory.rename(tmp_path / "deleted")
            place.wait_until_saved()
        assert place.agent.scan().ledger["delivered"] == 0


def test_a_no_that_is_said_while_a_deleted_state_is_missing_is_heard(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("one")
    with agent.start() as running:
        sink.wait_for(lambda: texts(sink) == ["one"])
        wait_until(agent.state.exists)
        running.process.send_signal(signal.SIGSTOP)
        agent.directory.rename(home.path / "deleted")
        assert "has been told" not in agent.run("exclude", session.cwd).stdout
        running.process.send_signal(signal.SIGCONT)
        session.prompt("two")  # whether or not it is sent, the lock is taken again
        wait_until(lambda: '"event": "configuration applied"' in running.stderr)
        session.prompt("three")
        other = home.session(project="-work-open")
        other.cwd = "/work/open"
        other.prompt("four")
        sink.wait_for(lambda: "four" in texts(sink))
    assert "three" not in texts(sink)


def test_a_home_mounted_over_a_running_agent_keeps_its_offsets_and_key(tmp_path: Path) -> None:
    """Otherwise the exclusions and levels in that home would be ignored, and everything sent again under other ids."""
    with Sink() as sink:
        place = Place(tmp_path, sink, COLLECTOR_RUN__RESCAN_INTERVAL="0.5")
        there = place.agent.directory
        assert place.agent.scan().code == 0
        there.rename(tmp_path / "home that is not mounted yet")
        root = place.home.root.rename(tmp_path / "root")
        with place.agent.start() as running:
            sink.wait_for(lambda: "a root does not exist" in running.stderr)
            running.process.send_signal(signal.SIGSTOP)  # a mount takes no time
            there.rename(tmp_path / "what the mount covers")
            (tmp_path / "home that is not mounted yet").rename(there)
            running.process.send_signal(signal.SIGCONT)
            known = _written_in(there)
            root.rename(place.home.root)
            place.write(1)
            assert running.process.wait(PATIENCE) == 74
            assert "such as a home mounted later" in running.stderr
        assert _written_in(there) == known
        assert len(sink.ids()) == PROMPTS
        assert place.agent.scan().ledger["delivered"] == 1


def test_a_home_mounted_over_an_agent_that_changed_its_sink_keeps_its_offsets(
    tmp_path: Path,
) -> None:
    with Sink() as sink, Sink() as other:
        place = Place(tmp_path, sink, COLLECTOR_RUN__RESCAN_INTERVAL="0.5")
        configuration = tmp_path / "collector.toml"
        configuration.write_text(f'[sink]\nurl = "{sink.url}"\n')
        agent = Agent(place.home, None, place.agent.environment | {"COLLECTOR_CONFIG": str(configuration)})
        there = agent.directory
        with agent.start() as running:
            sink.wait_for(lambda: len(sink.ids()) == PROMPTS)
            configuration.write_text(f'[sink]\nurl = "{other.url}"\n')
            running.process.send_signal(signal.SIGHUP)
            whole = f'"offset":{place.session.path.stat().st_size}'
            other.wait_for(lambda: other.url in (now := _offsets_now(there / "state.json")) and whole in now)
            running.process.send_signal(signal.SIGSTOP)  # a mount takes no time
            there.rename(tmp_path / "what the mount covers")
            there.mkdir()
            (there / "state.json.lock").write_text("collector run, process 1, since long ago\n")
            running.process.send_signal(signal.SIGCONT)
            known = _written_in(there)
            place.write(1)
            assert running.process.wait(PATIENCE) == 74
        assert _written_in(there) == known


def _offsets_now(state: Path) -> str:
    """The state without the offsets of other sinks."""
    return state.read_text().partition('"other_sinks"')[0] if state.is_file() else ""


def _written_in(directory: Path) -> dict[str, bytes]:
    """All but the status, which a process that was interrupted while describing itself may still write."""
    files = (path for path in directory.iterdir() if path.is_file() and path.name != "state.status.json")
    return {path.name: path.read_bytes() for path in files}


def test_an_unwritable_state_directory_is_reported_before_anything_is_sent(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        (tmp_path / "file").write_text("not a directory")
        place.agent.state = tmp_path / "file" / "state.json"
        for command in ("scan", "run"):
            result = place.agent.run(command, *place.agent.places())
            assert (result.code, "Cannot write" in result.stderr) == (74, True), result.stderr
        assert sink.posts == []
        place.agent.state = tmp_path / "agent" / "state.json"
        assert place.agent.scan().code == 0


@contextmanager
def full_disk(running: Running) -> Iterator[None]:
    """Keeps this process from growing any file, even its log, beyond a few bytes, as on a full disk."""
    before = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (16, before[1]))
    yield
    if running.process.poll() is None:
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, before)


def test_a_full_disk_stops_no_delivery_and_is_caught_up_with_later(tmp_path: Path) -> None:
    """The state and the quarantine wait in memory; meanwhile the state on disk claims nothing new."""
    with Sink() as sink:
        place = Place(tmp_path, sink, **EVERY_EVENT)
        with place.agent.start() as running:
            place.wait_until_saved()
            before = place.offset()
            with full_disk(running):
                for _ in range(4):
                    place.tear()
                    place.write(5)
                    place.wait_for_all()
                assert place.offset() == before
            place.wait_until_saved()
            assert running.stop() == 0
        assert len(sink.ids()) == place.prompts
        assert len(place.agent.state.with_name("state.quarantine.jsonl").read_bytes().splitlines()) == 4
        assert place.agent.scan().ledger["lines"] == 0


def test_a_full_disk_and_a_failing_sink_at_once_lose_nothing(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink, **EVERY_EVENT)
        with place.agent.start() as running:
            place.wait_until_saved()
            with full_disk(running):
                sink.clear_script(Answer(503))
                place.tear()
                place.write(5)
                asked = len(sink.posts)
                sink.wait_for(lambda: len(sink.posts) > asked + 4)
                sink.clear_script()
                place.wait_for_all()
            place.wait_until_saved()
            assert running.stop() == 0
        assert len(sink.ids()) == place.prompts


def test_a_crash_on_a_full_disk_repeats_what_could_not_be_saved(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink, **EVERY_EVENT)
        with place.agent.start() as running:
            place.wait_until_saved()
            with full_disk(running):
                place.write(5)
                place.wait_for_all()
                running.kill()
        assert place.agent.scan().ledger["delivered"] == 5
        assert len(set(sink.ids())) == place.prompts


def test_a_scan_on_a_full_disk_says_that_its_commits_are_not_saved(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.agent.scan()
        place.write(3)
        limited = ["prlimit", "--fsize=16", *COLLECTOR, "scan", "--json", *place.agent.places()]
        ended = subprocess.run(limited, env=place.agent.environment, capture_output=True, text=True, check=False)
        assert (ended.returncode, "Cannot write the state" in ended.stderr) == (74, True), ended.stderr
        assert json.loads(ended.stdout)["delivered"] == 3
        assert place.agent.scan().ledger["delivered"] == 3
        assert len(set(sink.ids())) == place.prompts
