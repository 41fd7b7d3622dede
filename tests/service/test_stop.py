"""A stop while the sink does not answer: the first one waits, the second one does not."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.service.process import serving, wait_until
from tests.sink import PATIENCE, Answer, Sink


def test_a_second_stop_does_not_wait_for_the_sink(agent: Agent, home: Home, sink: Sink) -> None:
    home.session().prompt("one")
    sink.then = Answer(held=threading.Event())
    with agent.start(COLLECTOR_RUN__SHUTDOWN_TIMEOUT="600") as running:
        sink.wait_for(lambda: sink.posts)
        for _ in range(100):  # signals sent at the same moment merge into one
            running.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.process.wait(0.2)
                break
        assert running.process.poll() in (0, -signal.SIGTERM)  # the last signal may arrive after the handlers are gone
    assert '"event": "stopped"' in running.stderr
    assert not agent.state.exists()


IN_A_WINDOW = """
import os, sys

os.login_tty(0)
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 2)
os.execvp(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("program", [[], ["nohup"]])
def test_it_stops_when_its_terminal_is_closed_unless_it_runs_under_nohup(agent: Agent, program: list[str]) -> None:
    ours, theirs = os.openpty()
    log = agent.directory.with_name("window.stderr")
    command = [sys.executable, "-c", IN_A_WINDOW, str(log), *program, *agent.program, "run", *agent.places()]
    with subprocess.Popen(command, env=agent.environment, cwd=agent.home.path, stdin=theirs) as process:
        try:
            os.close(theirs)
            wait_until(lambda: log.exists() and "started" in log.read_text())
            process.send_signal(signal.SIGHUP)
            wait_until(lambda: log.read_text().count("configuration applied") == 1)
            os.close(ours)
            if program:
                wait_until(lambda: log.read_text().count("configuration applied") == 2)
                process.terminate()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


WHILE_IT_STARTS = """
import os, signal, sys

class Garbage:
    def __del__(self):  # Python drops whatever is raised in here
        os.kill(os.getpid(), signal.SIGTERM)

def hook(event, arguments):
    if event == "import" and arguments[0] == "collector.service.loop":
        Garbage()

sys.addaudithook(hook)
from collector.__main__ import main
main()
"""


def test_a_stop_while_it_starts_is_heard_at_any_point(agent: Agent) -> None:
    command = [sys.executable, "-c", WHILE_IT_STARTS, "run", *agent.places(), "--state", "/dev/null/state.json"]
    stopped = subprocess.run(command, env=agent.environment, capture_output=True, check=False)
    assert (stopped.returncode, stopped.stderr) == (0, b"")


SAID_NO_WHILE_IT_STARTS = """
import os, sys

def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith("state.json.lock"):  # about to be locked, but not yet
        open(os.environ["COLLECTOR_CONFIG"], "w").write('[projects]\\nexclude = ["/work/app"]\\n')

sys.addaudithook(hook)
from collector.__main__ import main
main()
"""


@pytest.mark.parametrize(("command", "said"), [("run", "configuration applied"), ("scan", "Start it again")])
def test_a_no_said_while_it_starts_is_heard(home: Home, sink: Sink, command: str, said: str) -> None:
    file = home.path / "collector.toml"
    agent = Agent(home, sink, {"COLLECTOR_CONFIG": str(file)}, program=[sys.executable, "-c", SAID_NO_WHILE_IT_STARTS])
    agent.is_warm = False
    home.session().prompt("canary")
    file.write_text("")
    with agent.start(command=command) as running:
        wait_until(lambda: said in running.stderr, lambda: running.stderr)
    assert sink.posts == []


def test_a_no_said_while_a_resend_starts_is_heard(home: Home, sink: Sink) -> None:
    (file := home.path / "collector.toml").write_text("")
    named = {"COLLECTOR_CONFIG": str(file)}
    home.session().prompt("canary")
    assert Agent(home, None, named).scan("--sink-type", "store").code == 0
    agent = Agent(home, sink, named, program=[sys.executable, "-c", SAID_NO_WHILE_IT_STARTS], names_its_root=False)
    done = agent.run("resend", "--from-store", *agent.places())
    assert (done.code, "Start it again" in done.stderr, sink.posts) == (3, True, [])


def test_a_reload_clears_its_interrupt(home: Home, sink: Sink) -> None:
    with serving(home, sink) as service:
        wait_until(lambda: service.passes.seen.at)
        service.reload()
        wait_until(lambda: not service.interrupt.is_set and not service.is_interrupted)
        home.session().prompt("after it")
        service.wake.doubt()
        sink.wait_for(lambda: sink.ids())
