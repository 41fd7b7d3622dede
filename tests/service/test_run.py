"""`collector run` as a process: it stops, it reloads, and it reports to the service manager."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.service.notify import Notifier
from tests.agent import Agent
from tests.build import Home
from tests.scopes import asking
from tests.service.process import NO_RESCANS, SLOW_RETRIES, is_watching, serving, status_of, wait_until
from tests.sink import PATIENCE, Answer, Sink, only_with_token, texts

# Stopping


STAGES: dict[str, tuple[Answer, dict[str, str]]] = {
    "reading": (Answer(), {"COLLECTOR_BATCH__MAX_EVENTS": "1", "COLLECTOR_SINK__WINDOW": "1"}),
    "in flight": (Answer(ending="silence"), {"COLLECTOR_SINK__TIMEOUT": "600"}),
    "waiting to try again": (Answer(503), SLOW_RETRIES),
    "halted": (Answer(401), SLOW_RETRIES),
    "uploading slowly": (Answer(), {"COLLECTOR_SINK__MAX_RATE": "1", "COLLECTOR_BATCH__MAX_EVENTS": "1"}),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_any_stage_and_loses_nothing(home: Home, sink: Sink, stage: str, how: signal.Signals) -> None:
    session = home.session()
    count = 400 if stage == "reading" else 8
    for number in range(count):
        session.prompt(f"prompt {number}")
    sink.then, environment = STAGES[stage]
    agent = Agent(home, sink, environment | {"COLLECTOR_RUN__SHUTDOWN_TIMEOUT": "0.3"})
    with agent.start() as running:
        sink.wait_for(lambda: sink.posts)
        assert running.stop(how) == 0
        assert stage != "reading" or len(sink.posts) < count
    sink.clear_script()
    assert Agent(home, sink).scan().code == 0
    assert set(texts(sink)) == {f"prompt {number}" for number in range(count)}
    assert "Traceback" not in running.stderr


def test_an_idle_agent_stops_with_everything_saved(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("one")
    agent.is_warm = False
    with agent.start() as running:
        sink.wait_for(lambda: sink.ids())
        session.prompt("two")
        sink.wait_for(lambda: len(sink.ids()) == 2)
        session.prompt("three")
        sink.wait_for(lambda: len(sink.ids()) == 3)
        assert running.stop() == 0
    assert list(agent.offsets().values()) == [session.path.stat().st_size]
    assert agent.scan().ledger["delivered"] == 0
    told = status_of(agent)
    assert (told["is_running"], told["delivered"], told["lag"]) == (False, 3, 0)


def test_a_stop_during_the_start_stops_it(agent: Agent) -> None:
    agent.is_warm = False
    with agent.start() as running:
        assert running.stop() in (0, -signal.SIGTERM)  # killed by the signal only while Python itself is starting


def test_it_runs_at_the_configured_niceness(agent: Agent) -> None:
    with agent.start(COLLECTOR_RUN__NICE="7") as running:
        wait_until(lambda: is_watching(agent, running), lambda: running.stderr)
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, running.process.pid) == max(7, usual)


def test_a_bad_configuration_has_its_own_exit_code(agent: Agent) -> None:
    result = agent.run("run", *agent.places(), env={"COLLECTOR_RUN__NICE": "many"})
    assert result.code == 78
    assert "run.nice" in result.stderr


# Reloading


class Configured:
    """An agent with its sink in a configuration file."""

    def __init__(self, home: Home, sink: Sink, more: str = "") -> None:
        self.path = home.path.parent / "collector.toml"
        self.agent = Agent(home, None, NO_RESCANS | {"COLLECTOR_CONFIG": str(self.path)})
        self.write(sink, more)

    def write(self, sink: Sink, more: str = "") -> None:
        self.path.write_text(f'[sink]\nurl = "{sink.url}"\n{more}')


def test_sighup_applies_the_new_configuration(home: Home, sink: Sink) -> None:
    configured = Configured(home, sink)
    session = home.session()
    session.prompt("to the first")
    with Sink() as other, configured.agent.start() as running:
        sink.wait_for(lambda: texts(sink) == ["to the first"])
        configured.write(other)
        running.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "configuration applied" in running.stderr)
        session.prompt("to the second")
        # It is a new sink, so it gets the history as well: offsets belong to a sink.
        other.wait_for(lambda: texts(other) == ["to the first", "to the second"])
        assert running.stop() == 0
    assert texts(sink) == ["to the first"]


@pytest.mark.parametrize(
    "mistake",
    [
        "enabled = false\nthis is no TOML",
        '[capture]\nlevl = "metadata"',
        "[capture]\nprompts = false\n[swept]\nmax_files = 0",
    ],
    ids=["damaged", "a misspelt no", "a no beside a mistake"],
)
def test_after_a_sighup_nothing_is_sent_until_the_configuration_is_valid(home: Home, sink: Sink, mistake: str) -> None:
    def prompts() -> list[str | None]:
        return [event.get("text") for event in sink.events if event["kind"] == "user_prompt"]

    configured = Configured(home, sink)
    agent = configured.agent
    agent.environment["COLLECTOR_HEARTBEAT__INTERVAL"] = "600"
    session = home.session()
    session.prompt("one")
    with agent.start() as running:
        wait_until(lambda: is_watching(agent, running) and prompts() == ["one"])
        for number in (1, 2):
            configured.write(sink, mistake)
            running.process.send_signal(signal.SIGHUP)
            wait_until(lambda: running.stderr.count("sending nothing until it is") == number)  # noqa: B023
            session.prompt("two")
        wait_until(lambda: (status_of(agent)["problem"] or {}).get("kind") == "configuration")
        assert "collector.toml" in status_of(agent)["problem"]["reason"]
        told = len(sink.posts)
        assert running.stop() == 0
    assert (prompts(), len(sink.posts)) == (["one"], told)
    configured.write(sink, "[capture]\nprompts = false\n")
    assert agent.scan().ledger["delivered"] == 2
    assert prompts() == ["one", None, None]


def test_a_reload_that_drops_a_sink_silences_it_and_applies_the_rest(home: Home, sink: Sink) -> None:
    session = home.session()
    session.prompt("one")
    with Sink() as other, Sink() as third:
        named = {"other": other, "third": third}
        more = [f'[[sinks]]\nname = "{name}"\nurl = "{each.url}"\n' for name, each in named.items()]
        configured = Configured(home, sink, more[0])
        with configured.agent.start() as running:
            for each in (sink, other):
                each.wait_for(lambda: texts(each) == ["one"])  # noqa: B023
            configured.write(sink, more[1] + "[capture]\nprompts = false\n")
            running.process.send_signal(signal.SIGHUP)
            wait_until(lambda: running.stderr.count('"event": "configuration ') == 2)
            session.prompt("two")
            sink.wait_for(lambda: len(sink.events) == 2)
            assert running.stop() == 0
        assert ("other was removed" in running.stderr, '"added": "third"' in running.stderr) == (True, True)
        assert (sink.events[1].get("text"), texts(other), third.posts) == (None, ["one"], [])


@pytest.mark.parametrize(
    ("mistake", "code"),
    [("[log", 78), ('[sinc]\nurl = "http://127.0.0.1:9/"\n', 78), ('[[sinks]]\nname = "third"\n', 0), ("", 0)],
    ids=["damaged", "unknown key", "a sink that needs a restart", "a token that is gone"],
)
def test_a_no_is_heard_although_the_configuration_cannot_be_applied(
    home: Home, sink: Sink, tmp_path: Path, mistake: str, code: int
) -> None:
    token = tmp_path / "token"
    token.write_text("made-up")
    private, open_one = home.session(project="-work-diary"), home.session()
    private.cwd = "/work/diary"
    private.prompt("first page")
    with Sink() as other:
        more = f'token_file = "{token}"\n[[sinks]]\nname = "other"\nurl = "{other.url}"\n'
        configured = Configured(home, sink, more)
        agent = configured.agent
        with agent.start() as running:
            for each in (sink, other):
                each.wait_for(lambda: texts(each) == ["first page"])  # noqa: B023
            configured.write(sink, more + mistake)
            token.unlink()
            said = agent.run("exclude", "/work/diary", "--state", str(agent.state))
            assert (said.code, "The running agent has been told" in said.stdout) == (code, True), said
            assert not code or f"Excluded anyway in {agent.directory / 'excluded.toml'}" in said.stderr
            wait_until(lambda: running.stderr.count('"event": "configuration ') == 2)
            private.prompt("second page")
            open_one.prompt("open")
            token.write_text("made-up")
            configured.path.write_text(configured.path.read_text().replace(mistake, ""))
            running.process.send_signal(signal.SIGHUP)
            for each in (sink, other):
                each.wait_for(lambda: "open" in texts(each))  # noqa: B023
            assert running.stop() == 0
        assert "second page" not in texts(sink) + texts(other)
    assert agent.scan().ledger["files"]["skipped"] == {"project": 2}  # once for each sink
    assert "Included /work/diary." in agent.run("include", "/work/diary", "--state", str(agent.state)).stdout


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
@pytest.mark.parametrize("broken", ["", "this is no TOML"], ids=["good", "bad"])
def test_repeated_reloads_leak_no_descriptor_and_no_thread(home: Home, sink: Sink, broken: str) -> None:
    configured = Configured(home, sink)
    home.session().prompt("one")
    with configured.agent.start() as running:
        wait_until(lambda: is_watching(configured.agent, running), lambda: running.stderr)
        wait_until(lambda: texts(sink) == ["one"])
        held = []
        for number in range(1, 7):
            configured.write(sink, broken)
            running.process.send_signal(signal.SIGHUP)
            wait_until(lambda: running.stderr.count('"event": "configuration ') == 2 * number - 1)  # noqa: B023
            configured.write(sink)
            running.process.send_signal(signal.SIGHUP)
            wait_until(lambda: running.stderr.count('"event": "configuration ') == 2 * number)  # noqa: B023
            home.session().prompt(f"after {number}")
            sink.wait_for(lambda: f"after {number}" in texts(sink))  # noqa: B023
            place = Path(f"/proc/{running.process.pid}")
            held.append((len(os.listdir(place / "fd")), len(os.listdir(place / "task"))))
        assert running.stop() == 0
    # A thread that has just sent something may still be there; a leak of one per reload would add five.
    assert all(last <= first + 2 for first, last in zip(held[0], held[-1], strict=True)), held


def test_a_storm_of_sighups_does_not_stop_delivery(home: Home, sink: Sink) -> None:
    def storm() -> None:
        while not calm.wait(0.05):
            running.process.send_signal(signal.SIGHUP)

    configured, calm = Configured(home, sink), threading.Event()
    prompts = [f"prompt {number}" for number in range(300)]
    for prompt in prompts:
        home.session().prompt(prompt)
    with configured.agent.start() as running:
        wait_until(lambda: '"event": "started"' in running.stderr)
        thread = threading.Thread(target=storm)
        thread.start()
        try:
            sink.wait_for(lambda: len(set(texts(sink))) == len(prompts))
            configured.write(sink, 'headers = { "X-Seen" = "the last one" }\n')
        finally:
            calm.set()
            thread.join()
        # A SIGHUP that arrives while the agent is idle is served, too.
        running.process.send_signal(signal.SIGHUP)
        running.process.send_signal(signal.SIGHUP)
        session = home.session()

        def is_served() -> bool:
            session.prompt("after the storm")
            return sink.posts[-1].headers.get("x-seen") == "the last one"

        wait_until(is_served)
        assert running.stop() == 0


def test_sighup_ends_the_wait_for_a_halted_sink(home: Home, sink: Sink, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("right")
    sink.then = only_with_token("right")
    configured = Configured(home, sink)
    configured.agent.environment |= SLOW_RETRIES
    home.session().prompt("kept")
    with configured.agent.start() as running:
        wait_until(lambda: "a person must act" in running.stderr)
        configured.write(sink, f'token_file = "{token}"\n')
        running.process.send_signal(signal.SIGHUP)
        sink.wait_for(lambda: texts(sink) == ["kept"])


def test_sigusr1_logs_the_status(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("one")
    with agent.start() as running:
        wait_until(lambda: is_watching(agent, running))
        running.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: '"event": "status"' in running.stderr)
    line = next(line for line in running.stderr.splitlines() if '"event": "status"' in line)
    assert json.loads(line)["delivered"] == 1


# The service manager


@pytest.fixture
def manager() -> Iterator[socket.socket]:
    """An abstract socket such as systemd listens on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0collector-test-{os.getpid()}")
        yield listening


def hear(manager: socket.socket, pattern: str, timeout: float = PATIENCE) -> str:
    """Waits for a message that matches the pattern, and returns it."""
    deadline = time.monotonic() + timeout
    while True:
        manager.settimeout(max(0.01, deadline - time.monotonic()))
        message = manager.recv(8192).decode()
        if re.search(pattern, message):
            return message


def drain(manager: socket.socket) -> None:
    """Discards the messages received so far."""
    manager.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while manager.recv(8192):
            pass


def test_the_service_manager_is_told_of_every_stage(home: Home, sink: Sink, manager: socket.socket) -> None:
    configured = Configured(home, sink)
    home.session().prompt("one")
    address = {"NOTIFY_SOCKET": f"@collector-test-{os.getpid()}"}
    with configured.agent.start(**address) as running:
        hear(manager, "^READY=1$")
        assert "last acknowledged" in hear(manager, "^STATUS=nothing waiting")
        running.process.send_signal(signal.SIGHUP)
        hear(manager, "^RELOADING=1\nMONOTONIC_USEC=[0-9]+$")
        hear(manager, "^READY=1$")
        sink.then = Answer(401)
        home.session().prompt("two")
        assert "sink.token_file" in hear(manager, "^STATUS=halted since")
        running.process.send_signal(signal.SIGTERM)
        hear(manager, "^STOPPING=1$")
        assert running.process.wait(PATIENCE) == 0


def test_the_watchdog_is_fed_while_idle_and_while_a_request_is_in_flight(
    home: Home, sink: Sink, manager: socket.socket
) -> None:
    agent = Agent(home, sink, {"WATCHDOG_USEC": "300000", "NOTIFY_SOCKET": f"@collector-test-{os.getpid()}"})
    with agent.start() as running:
        hear(manager, "^READY=1$")
        for _ in range(3):
            hear(manager, "^WATCHDOG=1$")
        answered = threading.Event()
        sink.then = Answer(held=answered)
        home.session().prompt("one")
        sink.wait_for(lambda: sink.posts)
        for _ in range(3):
            hear(manager, "^WATCHDOG=1$")
        assert texts(sink) == []
        answered.set()
        sink.wait_for(lambda: texts(sink) == ["one"])
        assert running.stop() == 0


def test_a_hanging_main_loop_stops_feeding_the_watchdog(home: Home, sink: Sink, manager: socket.socket) -> None:
    hanging, is_over = threading.Event(), threading.Event()

    def hang() -> bool:
        hanging.set()
        return is_over.wait(PATIENCE)

    home.session().prompt("one")
    with serving(home, sink, notifier=Notifier(f"@collector-test-{os.getpid()}", 0.3)) as service:
        try:
            sink.wait_for(lambda: texts(sink) == ["one"])
            hear(manager, "^WATCHDOG=1$")
            asking(service.flow, hang)
            service.wake.doubt()
            assert hanging.wait(PATIENCE)
            drain(manager)
            with pytest.raises(TimeoutError):  # a healthy loop would feed it ten times in this second
                hear(manager, "", timeout=1.0)
            is_over.set()
            hear(manager, "^WATCHDOG=1$")
        finally:
            is_over.set()
