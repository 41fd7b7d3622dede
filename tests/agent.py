"""Runs the `collector` command on a built home against a scripted sink, as a person or systemd would.

    agent = Agent(home, sink)
    result = agent.scan()               # Result(code, stdout, stderr); result.ledger is what --json printed
    with agent.start() as running:      # the service
        sink.wait_for(lambda: sink.ids())
        running.stop()

Each command is a real process with a scratch HOME and nothing of the caller's environment but PATH. It is forked from a
process that already has the modules loaded (warm.py); with `agent.is_warm = False`, `start` does without.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests import warm
from tests.build import Home
from tests.redactors import CACHE
from tests.sink import PATIENCE, Sink

REPOSITORY = Path(__file__).resolve().parent.parent
COLLECTOR = warm.COLLECTOR
# Durations in seconds: short enough that no test waits, long enough that backing off shows. The agent keeps its normal
# priority (nice 0); otherwise a busy machine would keep every test waiting for it.
QUICK = {
    "COLLECTOR_RETRY__INITIAL_INTERVAL": "0.02",
    "COLLECTOR_RETRY__MAX_INTERVAL": "0.05",
    "COLLECTOR_BATCH__LINGER": "0.03",
    "COLLECTOR_RUN__NICE": "0",
    "COLLECTOR_HEARTBEAT__INTERVAL": "0",
}


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def ledger(self) -> dict[str, Any]:
        """The ledger of `scan --json`."""
        return dict(json.loads(self.stdout))

    def assert_balanced(self) -> Self:
        """Promise 2: lines = delivered + skipped + quarantined."""
        ledger = self.ledger
        decided = ledger["delivered"] + sum(ledger["skipped"].values()) + ledger["quarantined"]
        assert ledger["lines"] == decided, ledger
        return self


class Agent:
    """The command, bound to a home, a sink and a state of its own; `environment` adds COLLECTOR_* and the like."""

    patience = PATIENCE  # seconds a command may take
    is_warm = True  # whether `start` may fork what it starts

    def __init__(
        self,
        home: Home,
        sink: Sink | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        program: Sequence[str] = COLLECTOR,
        names_its_root: bool = True,
    ) -> None:
        self.home = home
        self.program = program
        self.names_its_root = names_its_root
        self.sink = sink
        self.directory = home.path.parent / "agent"
        self.state = self.directory / "state.json"
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home.path),
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONUTF8": "1",
            "XDG_CACHE_HOME": str(CACHE),
            **QUICK,
            **(environment or {}),
        }

    def run(self, *arguments: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        """Runs any command to its end."""
        finished = warm.run(
            [*self.program, *arguments],
            input=given,
            timeout=self.patience,
            env={**self.environment, **(env or {})},
            cwd=self.home.path,
        )
        return Result(finished.returncode, finished.stdout.decode(), finished.stderr.decode())

    def scan(self, *flags: str, **environment: str) -> Result:
        """Runs one pass over the home's root, with the ledger on stdout."""
        arguments = ["scan", "--json", *self.places(), *flags]
        if "--max-wait" not in flags:
            arguments += ["--max-wait", "10"]
        return self.run(*arguments, env=environment)

    def places(self) -> list[str]:
        """The flags that bind a command to this home, sink and state."""
        sink = ["--sink-url", self.sink.url] if self.sink else []
        root = ["--root", str(self.home.root)] if self.names_its_root else []
        return [*root, "--state", str(self.state), *sink]

    def start(self, *flags: str, command: str = "run", **environment: str) -> Running:
        """Starts the service (or another command) in the background; it is stopped when the `with` block ends."""
        command_line = [*self.program, command, *self.places(), *flags]
        return Running(command_line, self.environment | environment, self.directory, is_warm=self.is_warm)

    def offsets(self) -> dict[str, int]:
        """The offsets in the state file: source key -> offset."""
        files = json.loads(self.state.read_bytes())["claude_code"]["files"]
        return {key: entry["offset"] for key, entry in files.items()}

    def kept(self) -> dict[Path, bytes]:
        """Every file outside the root, by path: the place to search for leaks."""
        found: dict[Path, bytes] = {}
        for top in (self.directory, self.home.path):
            for path in top.rglob("*"):
                if path.is_file() and not path.is_relative_to(self.home.root):
                    found[path] = path.read_bytes()
        return found


class Running:
    """A service under test; its output goes to files beside its state."""

    def __init__(
        self, command: list[str], environment: dict[str, str], directory: Path, *, is_warm: bool = False
    ) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = directory.with_name("run.stderr")
        start = warm.start if is_warm else subprocess.Popen
        with directory.with_name("run.stdout").open("ab") as stdout, self.log.open("ab") as stderr:
            self.process = start(command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
                raise

    @property
    def stderr(self) -> str:
        """What the service has logged so far."""
        return self.log.read_text(errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM, timeout: float = PATIENCE) -> int:
        """Asks the service to stop; returns its exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait(PATIENCE)


# Runs between this process and the scan: on Linux a child inherits its parent's peak RSS.
BETWEEN = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
code = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def scan_with(address_space: int, agent: Agent) -> tuple[int, int, str]:
    """Scans with this limit on memory; returns the exit code, the peak RSS and the output."""
    scan = [sys.executable, "-m", "collector", "scan", "--max-wait", "10", *agent.places()]
    command = [sys.executable, "-S", "-c", BETWEEN, str(address_space), *scan]
    done = subprocess.run(command, env=agent.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said, _, peak = done.stdout.rstrip().rpartition("\n")
    return done.returncode, int(peak) * 1024, said
