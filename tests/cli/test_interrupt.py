"""Ctrl-C on a terminal at any moment of a scan: exit code 130, one line, no traceback, and nothing lost."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.sink import PATIENCE, Answer, Sink

INTERRUPTED = 130
CTRL_C = b"\x03"
SLOW_TO_START = "import os, time\nos.write(2, b'loading')\ntime.sleep(60)\n"
# Loaded before the agent's own modules: stops at the start of discovery, until it is interrupted.
SLOW_TO_FIND = """
import os, time
def slow(event, arguments):
    if event == "os.scandir" and b"projects" in os.fsencode(arguments[0] or b""):
        os.write(2, b"finding"); time.sleep(60)
import sys; sys.addaudithook(slow)
"""
# Sends itself a signal when a module is looked for, from where Python loses exceptions, as imports do at any moment.
LOSES_EXCEPTIONS = """
import os, signal, sys, weakref
class Finder:
    def find_spec(self, name, *_):
        if name == "{module}":
            weakref.ref(Finder(), lambda _: (os.kill(os.getpid(), signal.{signal}), [None for _ in range(1000)]))
sys.meta_path.insert(0, Finder())
"""


class Terminal:
    """A command on its own terminal, as a shell starts it."""

    def __init__(self, agent: Agent, *words: str, **environment: str) -> None:
        self.shown = b""
        self.process_id, self.end = pty.fork()
        if self.process_id == 0:
            made = {**agent.environment, "TERM": "xterm", "COLUMNS": "120", **environment}
            os.execvpe(COLLECTOR[0], [*COLLECTOR, *words], made)

    def wait_for(self, pattern: bytes) -> None:
        """Reads until the pattern is shown."""
        while not re.search(pattern, self.shown):
            assert select.select([self.end], [], [], PATIENCE)[0], f"{pattern!r} was not shown: {self.shown!r}"
            piece = self._read()
            assert piece, f"it ended without {pattern!r}: {self.shown!r}"

    def read_until(self, condition: Callable[[], object]) -> None:
        """Reads until the condition holds. A command whose terminal nobody reads stops once that is full."""
        while not condition():
            if select.select([self.end], [], [], 0.02)[0]:
                assert self._read(), f"it ended: {self.shown!r}"

    def press(self, keys: bytes) -> None:
        """Presses keys."""
        os.write(self.end, keys)

    def code(self) -> int:
        """Reads to the end and returns the exit code."""
        while self._read():
            pass
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.process_id, 0)[1])

    def _read(self) -> bytes:
        try:
            piece = os.read(self.end, 65536)
        except OSError:  # a terminal's end of file: nobody writes to it any more
            piece = b""
        self.shown += piece
        return piece

    @property
    def said(self) -> list[str]:
        """The agent's lines that stay on the screen below the `^C`, without control sequences."""
        text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.shown.rpartition(b"^C")[2]).decode()
        return [line for line in re.split(r"[\r\n]+", text) if line.startswith("collector") or "Traceback" in line]


@pytest.fixture
def agent(tmp_path: Path, sink: Sink) -> Agent:
    home = Home(tmp_path)
    for number in range(3):
        home.session().prompt(f"prompt {number}")
    return Agent(home, sink, {"COLLECTOR_RETRY__INITIAL_INTERVAL": "30", "COLLECTOR_RETRY__MAX_INTERVAL": "30"})


def module_first(directory: Path, name: str, text: str, agent: Agent) -> dict[str, str]:
    """An environment in which Python finds this module first."""
    directory.mkdir()
    (directory / f"{name}.py").write_text(text)
    return {"PYTHONPATH": f"{directory}:{agent.environment['PYTHONPATH']}"}


def test_ctrl_c_during_the_start_the_preparation_of_rules_and_discovery(
    agent: Agent, sink: Sink, tmp_path: Path
) -> None:
    moments = {
        b"loading": module_first(tmp_path / "1", "httpx", SLOW_TO_START, agent),
        b"preparing rules, once": {"XDG_CACHE_HOME": str(tmp_path / "empty")},
        b"finding": module_first(tmp_path / "2", "sitecustomize", SLOW_TO_FIND, agent),
    }
    ended = {}
    for moment, environment in moments.items():
        terminal = Terminal(agent, "scan", *agent.places(), **environment)
        terminal.wait_for(moment)
        terminal.press(CTRL_C)
        ended[moment] = (terminal.code(), terminal.said)
    assert ended == dict.fromkeys(moments, (INTERRUPTED, ["collector: Interrupted."]))
    assert sink.posts == []


@pytest.mark.parametrize(
    ("module", "signal", "code"),
    [("collector.cli", "SIGINT", INTERRUPTED), ("collector.service.loop", "SIGTERM", 0)],
)
def test_a_signal_while_modules_load_is_not_lost(
    agent: Agent, tmp_path: Path, module: str, signal: str, code: int
) -> None:
    text = LOSES_EXCEPTIONS.format(module=module, signal=signal)
    environment = {**agent.environment, **module_first(tmp_path / "1", "sitecustomize", text, agent)}
    done = subprocess.run([*COLLECTOR, "run", *agent.places()], env=environment, timeout=PATIENCE, check=False)
    assert done.returncode == code


def test_ctrl_c_while_waiting_for_a_failing_sink(agent: Agent, sink: Sink) -> None:
    sink.then = Answer(503)
    terminal = Terminal(agent, "scan", "--max-wait", "50", *agent.places())
    terminal.wait_for(rb"waiting for the sink: try 2, \d+ s left")
    terminal.press(CTRL_C)
    assert (terminal.code(), terminal.said) == (INTERRUPTED, ["collector: Interrupted."])
    sink.then = Answer()
    assert agent.scan().ledger["delivered"] == 3


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_while_sending(agent: Agent, sink: Sink, presses: int) -> None:
    """Once: requests in flight are finished, and the ledger counts them. Twice: the scan ends at once."""
    answered = threading.Event()
    sink.then = Answer(held=answered)
    terminal = Terminal(agent, "scan", *agent.places(), COLUMNS="160")
    terminal.read_until(lambda: sink.posts)
    terminal.press(CTRL_C)
    terminal.wait_for(b"finishing what is in flight; Ctrl-C again to quit now")
    if presses > 1:
        terminal.press(CTRL_C)
    if presses == 1:
        answered.set()
    assert (terminal.code(), terminal.said) == (INTERRUPTED, ["collector: Interrupted."])
    answered.set()
    assert (b"3 delivered" in terminal.shown) == (presses == 1)


def test_a_reader_that_closes_the_pipe_counts_as_success(agent: Agent) -> None:
    agent.run("scan", "--state", str(agent.state), env={"COLLECTOR_SINK__TYPE": "store"})
    for words in ("config show", "preview --all", "report", "scan", "help"):
        command = ["bash", "-c", 'set -o pipefail; "$@" | true', "bash", *COLLECTOR, *words.split()]
        done = subprocess.run(command, capture_output=True, env=agent.environment, timeout=PATIENCE, check=False)
        assert (words, done.returncode, done.stderr.count(b"Error")) == (words, 0, 0)
