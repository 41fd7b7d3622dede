"""`collector run` as a process: how soon it notices changes, at what cost, and how it copes without notifications."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers import Observer

from collector.service.watch import Watcher
from tests.agent import COLLECTOR, Agent, Running
from tests.build import Home
from tests.service.process import NO_RESCANS, QUICK_RESCANS, is_watching, serving, status_of, wait_until
from tests.sink import Sink, texts


def test_new_lines_arrive_long_before_any_rescan(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("before the start")
    took = []
    with agent.start(**NO_RESCANS) as running:
        wait_until(lambda: is_watching(agent, running), lambda: running.stderr)
        for number in range(20):
            before = time.monotonic()
            session.prompt(f"line {number}")
            sink.wait_for(lambda: len(sink.posts) == number + 2)  # noqa: B023
            took.append(sink.posts[-1].arrived - before)
        other = home.session(project="-work-new")
        other.prompt("a new project")
        sink.wait_for(lambda: "a new project" in texts(sink))
        other.subagent().prompt("a new subagent")
        sink.wait_for(lambda: "a new subagent" in texts(sink))
    assert texts(sink)[:21] == ["before the start", *(f"line {number}" for number in range(20))]
    # It is 32 ms on a quiet machine; the benchmark allows 50.
    assert statistics.median(took) < 0.5


def test_a_root_that_appears_later_is_found(home: Home, sink: Sink, agent: Agent) -> None:
    home.root.rmdir()
    with agent.start(**QUICK_RESCANS) as running:
        wait_until(lambda: "waiting for it" in running.stderr)
        assert status_of(agent).get("pid") != running.process.pid or status_of(agent)["roots"][0]["is_there"] is False
        home.session().prompt("at last")
        sink.wait_for(lambda: texts(sink) == ["at last"])
        wait_until(lambda: status_of(agent)["watcher"]["mode"] == "events")
    assert "all roots exist" in running.stderr


def test_without_hints_rescans_find_everything(home: Home, sink: Sink) -> None:
    agent = Agent(home, sink, QUICK_RESCANS | {"COLLECTOR_RUN__WATCH": "false"})
    session = home.session()
    with agent.start():
        session.prompt("one")
        sink.wait_for(lambda: texts(sink) == ["one"])
        session.prompt("two")
        sink.wait_for(lambda: texts(sink) == ["one", "two"])
        wait_until(lambda: status_of(agent).get("watcher", {}).get("mode") == "polling")


def megabytes(process: int) -> float:
    """The memory that a process uses now, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[0]) / 1000


def spent(process: int) -> tuple[float, int, int]:
    """CPU seconds, thread wake-ups, and open files of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    tasks = [Path(f"/proc/{process}/task/{task}/status").read_text() for task in os.listdir(f"/proc/{process}/task")]
    wakes = sum(int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.MULTILINE)[0]) for text in tasks)
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, wakes, len(os.listdir(f"/proc/{process}/fd"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux what a process costs")
def test_an_idle_agent_sleeps_and_holds_no_file_open(home: Home, sink: Sink) -> None:
    sessions = [home.session(project=f"-work-{number % 20}") for number in range(400)]
    for session in sessions:
        session.prompt("x")
    agent = Agent(home, sink, NO_RESCANS)
    agent.is_warm = False
    with agent.start() as running:
        sink.wait_for(lambda: len(sink.ids()) == len(sessions))
        wait_until(lambda: is_watching(agent, running) and status_of(agent)["delivered"] == len(sessions))
        before = spent(running.process.pid)
        started = time.monotonic()
        wait_until(lambda: time.monotonic() - started > 3)
        after = spent(running.process.pid)
        memory = megabytes(running.process.pid)
        opened = {
            os.readlink(f"/proc/{running.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{running.process.pid}/fd")
        }
    # The benchmark measures 0.00 to 0.02 s and 60 MB, over 30 seconds with 5,000 sources.
    assert after[0] - before[0] < 0.3
    assert after[1] - before[1] < 30
    assert after[2] < 30
    assert memory < 90
    assert not [path for path in opened if path.startswith(str(home.root))]


def test_a_root_replaced_while_it_is_watched_is_watched_again(home: Home, sink: Sink, agent: Agent) -> None:
    """The old root's watches end with it, and so do the threads that wait for them."""
    home.session().prompt("before")
    with agent.start(**QUICK_RESCANS) as running:
        wait_until(lambda: is_watching(agent, running), lambda: running.stderr)
        sink.wait_for(lambda: texts(sink) == ["before"])
        shutil.rmtree(home.root)
        wait_until(lambda: "waiting for it" in running.stderr, lambda: running.stderr)
        wait_until(lambda: status_of(agent)["watcher"]["mode"] == "polling")
        home.root.mkdir()
        wait_until(lambda: "all roots exist" in running.stderr, lambda: running.stderr)
        home.session().prompt("after")
        sink.wait_for(lambda: texts(sink) == ["before", "after"])
        wait_until(lambda: status_of(agent)["watcher"]["mode"] == "events")
        assert running.stop() == 0
    assert "Traceback" not in running.stderr


class Mortal(Observer):  # type: ignore[misc, valid-type]
    """A watchdog observer with a thread that dies at its first event."""

    has_died = False

    def start(self) -> None:
        for emitter in self.emitters if not Mortal.has_died else ():
            emitter.queue_event = self._die
        super().start()

    def _die(self, event: object) -> None:
        Mortal.has_died = True
        raise LookupError("somebody's file name")


def test_a_watcher_thread_that_dies_is_replaced(home: Home, sink: Sink, capfd: pytest.CaptureFixture[str]) -> None:
    session = home.session()
    session.prompt("before")
    with serving(home, sink, make_watcher=functools.partial(Watcher, observer=Mortal)) as service:
        sink.wait_for(lambda: texts(sink) == ["before"])
        wait_until(lambda: service.watcher.mode == "events")
        session.prompt("its death")
        sink.wait_for(lambda: texts(sink) == ["before", "its death"])
        wait_until(lambda: service.watcher.restarts == 1)
        session.prompt("long before the next rescan")
        sink.wait_for(lambda: texts(sink)[2:] == ["long before the next rescan"])
    said = "".join(capfd.readouterr())
    assert "a thread died" in said
    assert "somebody" not in said


def test_a_watcher_thread_that_dies_is_replaced_beside_the_service_of_another_sink(
    home: Home, sink: Sink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mortal, "has_died", False)
    rarely: dict[str, Any] = {"run": {"nice": 0, "rescan_interval": 600}}
    beside = {**rarely, "state": {"path": str(tmp_path / "beside" / "state.json")}}
    session = home.session()
    session.prompt("before")
    with serving(home, sink, given=rarely, make_watcher=functools.partial(Watcher, observer=Mortal)) as service:
        sink.wait_for(lambda: texts(sink) == ["before"])
        with Sink() as other, serving(home, other, given=beside):
            other.wait_for(lambda: texts(other) == ["before"])
            session.prompt("its death")
            wait_until(lambda: service.watcher.restarts == 1)
            other.wait_for(lambda: texts(other) == ["before", "its death"])


IN_A_NAMESPACE = ("unshare", "--user", "--map-root-user", "sh", "-c")


def can_limit() -> bool:
    """Whether this machine allows us to set our own limits in a namespace."""
    command = [*IN_A_NAMESPACE, "echo 1 >/proc/sys/user/max_inotify_instances"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(
    not can_limit(), reason="needs user namespaces; tests/service/test_watch.py has the same with a made-up limit"
)
@pytest.mark.parametrize(
    ("limit", "modes"), [("max_inotify_watches=3", ["events", "polling"]), ("max_inotify_instances=0", ["polling"])]
)
def test_at_an_inotify_limit_rescans_find_everything_and_the_status_says_so(
    home: Home, sink: Sink, agent: Agent, limit: str, modes: list[str]
) -> None:
    for number in range(5):
        home.session(project=f"-work-{number}").prompt(f"before {number}")
    name, _, value = limit.partition("=")
    limited = f'echo {value} >/proc/sys/user/{name} && exec "$0" "$@"'
    command = [*IN_A_NAMESPACE, limited, *COLLECTOR, "run", *agent.places()]
    with Running(command, agent.environment | QUICK_RESCANS, agent.directory) as running:
        sink.wait_for(lambda: len(sink.ids()) == 5)
        for number in range(5):
            home.session(project=f"-work-{number}").prompt(f"after {number}")
        sink.wait_for(lambda: len(sink.ids()) == 10)
        wait_until(lambda: "inotify" in status_of(agent)["watcher"]["reason"], lambda: status_of(agent))
        assert status_of(agent)["watcher"]["mode"] in modes
        assert running.stop() == 0


def test_a_frozen_process_continues_afterwards(home: Home, sink: Sink, agent: Agent) -> None:
    """SIGSTOP and SIGCONT imitate a machine that sleeps."""
    session = home.session()
    session.prompt("before")
    with agent.start(**NO_RESCANS) as running:
        wait_until(lambda: is_watching(agent, running), lambda: running.stderr)
        running.process.send_signal(signal.SIGSTOP)
        session.prompt("meanwhile")
        home.session(project="-work-new").prompt("elsewhere")
        running.process.send_signal(signal.SIGCONT)
        sink.wait_for(lambda: sorted(texts(sink)) == ["before", "elsewhere", "meanwhile"])
        assert running.stop() == 0
