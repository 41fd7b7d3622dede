"""The process may die at any moment: nothing is lost, and fewer than two windows of batches are sent twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.flow.ledger import Ledger
from collector.keeping.quarantine import Quarantine
from collector.pipeline import run_pass
from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.faults.crash import CrashServer
from tests.model.actions import MEMORY
from tests.model.world import World
from tests.redactors import FEW_RULES
from tests.scopes import Asking, root_of, scope
from tests.sink import PATIENCE, Answer, Request, Sink

WINDOW, EVENTS, PROMPTS = 2, 4, 40
MOST_REPEATED = (2 * WINDOW - 1) * EVENTS  # by a kill
SMALL = {
    "COLLECTOR_SINK__WINDOW": str(WINDOW),
    "COLLECTOR_BATCH__MAX_EVENTS": str(EVENTS),
    **FEW_RULES,  # crashes have nothing to do with the rules
}
LARGE, ADDRESS_SPACE = 40_000_000, 200_000_000
PATIENT = {
    "COLLECTOR_RETRY__MAX_INTERVAL": "600",
    "COLLECTOR_RETRY__MAX_WAIT": "3600",
    "COLLECTOR_SINK__TIMEOUT": "600",
}


@pytest.fixture(scope="module")
def server() -> Iterator[CrashServer]:
    with CrashServer() as server:
        yield server


class Place:
    """A home with a torn line in it, an agent and a sink; each moment of a matrix gets its own."""

    def __init__(self, directory: Path, sink: Sink, **environment: str) -> None:
        self.home = Home(directory)
        session = self.home.session()
        for number in range(PROMPTS):
            session.prompt(f"prompt {number}")
        self.path = session.path
        with self.path.open("ab") as file:
            file.write(b'{"type":"user","message":{"content":"torn\n')
        session.prompt("the last")
        self.sink = sink
        self.agent = Agent(self.home, sink, SMALL | environment)

    def assert_whole(self) -> None:
        """Checks that every prompt arrived and that the torn line is quarantined."""
        assert len(set(self.sink.ids())) == PROMPTS + 1
        quarantine = Quarantine(self.agent.state.with_name("state.quarantine.jsonl"), 10_000)
        assert len(quarantine.entries()) == 1

    def repeated(self) -> int:
        """How many events were sent again."""
        return repeated(self.sink.posts)


def repeated(requests: list[Request]) -> int:
    seen: set[str] = set()
    again = 0
    for request in requests:
        again += len(seen.intersection(request.ids))
        seen.update(request.ids)
    return again


def test_a_kill_at_any_change_to_the_agents_files_loses_nothing(tmp_path: Path, server: CrashServer) -> None:
    with Sink() as sink:
        steps = server.run(Place(tmp_path / "undisturbed", sink).agent, "scan").steps
    most = 0
    for moment in range(1, len(steps) + 1):
        with Sink() as sink:
            place = Place(tmp_path / str(moment), sink)
            assert server.run(place.agent, "scan", die_at=moment).was_killed
            assert server.run(place.agent, "scan").code in {0, 3}  # 3 for the torn line, unless it was settled before
            place.assert_whole()
            most = max(most, place.repeated())
    assert {step.split(".")[-1] for step in steps} >= {"lock", "new", "previous", "json", "jsonl"}
    assert 0 < most <= MOST_REPEATED


def test_a_kill_at_any_request_loses_nothing(tmp_path: Path, server: CrashServer) -> None:
    """Each request is stored, but the agent is killed before it reads the answer, so it sends that batch again."""
    most = 0
    for number in range(1, 13):
        with Sink() as sink:
            place = Place(tmp_path / str(number), sink)
            sink.answer(*[Answer()] * (number - 1), lambda _: kill(server))
            server.run(place.agent, "scan")
            server.run(place.agent, "scan")
            place.assert_whole()
            most = max(most, place.repeated())
    assert 0 < most <= MOST_REPEATED


def kill(server: CrashServer) -> Answer:
    server.kill()
    return Answer()


def test_a_kill_while_files_are_held_or_let_go_loses_nothing(tmp_path: Path, server: CrashServer) -> None:
    """A failing pass, the sweep, then a pass that works, with a kill at every change to the files."""
    with Sink(then=Answer(503)) as sink:
        place = Place(tmp_path / "undisturbed", sink)
        held = len(server.run(place.agent, "scan", "--max-wait", "0").steps)
        place.path.unlink()
        sink.clear_script()
        steps = server.run(place.agent, "scan").steps
        place.assert_whole()
        steps = [step for step in steps if ".held" in step]
    assert steps
    for moment in range(1, held + 1):
        with Sink(then=Answer(503)) as sink:
            place = Place(tmp_path / f"hold-{moment}", sink)
            assert server.run(place.agent, "scan", "--max-wait", "0", die_at=moment).was_killed
            assert server.run(place.agent, "scan", "--max-wait", "0").code == 75
            place.path.unlink()
            sink.clear_script()
            server.run(place.agent, "scan")
            place.assert_whole()
    for number, step in enumerate(steps):
        with Sink(then=Answer(503)) as sink:
            place = Place(tmp_path / f"release-{number}", sink)
            server.run(place.agent, "scan", "--max-wait", "0")
            place.path.unlink()
            sink.clear_script()
            assert server.run(place.agent, "scan", die_in=step).was_killed
            server.run(place.agent, "scan")
            place.assert_whole()
            assert not place.agent.state.with_name("state.held").exists()


def test_a_kill_between_two_links_leaves_the_first_one_usable(tmp_path: Path, server: CrashServer) -> None:
    with Sink(then=Answer(503)) as sink:
        place = Place(tmp_path, sink)
        newer = place.home.session()
        newer.prompt("newer")
        os.utime(place.path, (1_700_000_000, 1_700_000_000))
        assert server.run(place.agent, "scan", "--max-wait", "0", die_in="/2.jsonl").was_killed
        place.path.unlink()
        newer.path.unlink()
        sink.clear_script()
        server.run(place.agent, "scan")
        place.assert_whole()


@pytest.mark.parametrize("command", ["scan", "run"])
def test_kills_under_a_slow_sink_lose_nothing(tmp_path: Path, command: str) -> None:
    """Three times kill -9 while requests are unanswered; some of them are stored all the same."""
    closing = threading.Event()

    def slow(request: Request) -> Answer:
        closing.wait(0.02)
        return Answer()

    with Sink(then=slow) as sink:
        place = Place(tmp_path, sink, COLLECTOR_BATCH__MAX_EVENTS="2")
        for number in range(1, 4):
            with place.agent.start(command=command) as running:
                sink.wait_for(lambda: len(sink.posts) >= 5 * number)  # noqa: B023
                running.kill()
        closing.set()
        place.agent.scan()
        place.assert_whole()
        assert place.repeated() <= 3 * MOST_REPEATED


def test_a_second_agent_exits_at_once_and_says_who_holds_the_state(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        with place.agent.start() as running:
            sink.wait_for(lambda: len(set(sink.ids())) == PROMPTS + 1)
            for command in ("scan", "run", "reset"):
                arguments = place.agent.places() if command != "reset" else ["--all", "--state", str(place.agent.state)]
                second = place.agent.run(command, *arguments)
                assert second.code == 73
                assert f"collector run, process {running.process.pid}" in second.stderr
            running.kill()
        assert place.agent.scan().code == 0
        assert len(sink.ids()) == PROMPTS + 1


def test_two_agents_with_states_of_their_own_give_the_same_ids(tmp_path: Path) -> None:
    with Sink() as sink:
        place = Place(tmp_path, sink)
        other = Agent(place.home, sink, SMALL)
        other.state = other.directory / "other.json"
        with place.agent.start(command="scan") as one, other.start(command="scan") as two:
            assert {one.process.wait(PATIENCE), two.process.wait(PATIENCE)} == {3}
        place.assert_whole()
        assert len({event["host"]["id"] for event in sink.events}) == 1


@pytest.mark.parametrize("command", ["scan", "run"])
@pytest.mark.parametrize("answer", [Answer(503, {"Retry-After": "600"}), Answer(401), Answer(ending="silence")])
def test_a_stop_while_the_sink_fails_is_quick_and_keeps_everything(
    tmp_path: Path, command: str, answer: Answer
) -> None:
    with Sink(then=answer) as sink:
        place = Place(tmp_path, sink, **PATIENT, COLLECTOR_RUN__SHUTDOWN_TIMEOUT="0.5")
        with place.agent.start(command=command) as running:
            sink.wait_for(lambda: sink.posts)
            code = running.stop()
            assert code in ({0} if command == "run" else {0, 3, 75})
        place.path.rename(tmp_path / "kept")
        if answer.ending != "silence":
            assert len(list(place.agent.state.with_name("state.held").glob("*.jsonl"))) == 1
        (tmp_path / "kept").rename(place.path)
        sink.clear_script()
        place.agent.scan()
        place.assert_whole()
        assert len(sink.ids()) == PROMPTS + 1


def no_memory(*_: object) -> bool:
    raise MemoryError


def test_running_out_of_memory_on_a_record_does_not_quarantine_it(tmp_path: Path) -> None:
    """The record is neither quarantined nor withheld, but read again."""
    world = World(tmp_path)
    (world.root / "history.jsonl").write_bytes(b'{"display":"say <<m1>>","timestamp":1,"project":"/work/x"}\n')
    form = Asking(recording=no_memory)
    flow = world.flow(scope=scope(root_of(world.root), home=world.home, exclude=["/elsewhere"], form=form))
    for place in world.root.glob("projects/*"):
        place.rmdir()
    with contextlib.suppress(MemoryError):
        run_pass(flow, Ledger())
    ledger = world.run()
    assert ledger is not None
    assert (ledger.as_dict()["delivered"], ledger.as_dict()["quarantined"]) == (1, 0)


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit")
def test_too_little_memory_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    """A line that does not fit into memory is neither quarantined nor skipped: it is read once there is room again."""
    with Sink() as sink:
        place = Place(tmp_path, sink)
        with place.path.open("ab") as file:
            file.write(b'{"type":"user","uuid":"u","message":{"content":"' + b"x" * LARGE + b'"}}\n')
        limited = ["prlimit", f"--as={ADDRESS_SPACE}", *COLLECTOR, "scan", *place.agent.places()]
        scan = subprocess.run(limited, env=place.agent.environment, capture_output=True, text=True, check=False)
        assert (scan.returncode in {1, 3}, "memory" in scan.stderr.lower()) == (True, True), scan.stderr
        assert "Traceback" not in scan.stderr
        place.agent.scan()
        assert len(set(sink.ids())) == PROMPTS + 2
        [large] = [event for event in sink.events if event.get("text", "").startswith("xxx")]
        assert large["text"].endswith(f"[cut: {LARGE} bytes]")
        assert large["truncated"] == {"text": LARGE}


def test_a_clock_that_jumps_makes_no_difference(tmp_path: Path) -> None:
    """With file times from the past and the future, in any order, what grows is sent and the rest is left alone."""
    with Sink() as sink:
        place = Place(tmp_path, sink)
        place.agent.scan()
        session = place.home.session()
        for number, moment in enumerate((4_102_444_800, 0, 4_102_444_801, 1_700_000_000)):
            session.prompt(f"at {moment}")
            os.utime(session.path, (moment, moment))
            assert place.agent.scan().ledger["delivered"] == 1, number
            os.utime(place.path, (moment, moment))
        assert len(sink.ids()) == PROMPTS + 5


@pytest.mark.skipif(not MEMORY.is_dir(), reason="needs a file system that keeps any time")
@pytest.mark.parametrize("year", [3000, -3000])
def test_a_file_time_that_does_not_fit_into_the_state_makes_no_difference(year: int) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory, Sink() as sink:
        place = Place(Path(directory), sink)
        os.utime(place.path, (year * 31_556_952, year * 31_556_952))
        assert place.agent.scan().ledger["delivered"] == PROMPTS + 1
        assert place.agent.scan().ledger["files"]["unchanged"] == 1
