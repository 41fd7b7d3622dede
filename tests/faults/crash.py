"""Runs the agent over and over, killing it with SIGKILL at a different moment each time. The agent has no part in it.

    with CrashServer() as server:
        run = server.run(agent, "scan", die_at=7)     # dies before its 7th change to the files below agent.directory
        run.was_killed, run.steps

The moments are those the interpreter reports to audit hooks: files opened for writing, renamed, linked, removed. A
server process imports everything once and forks for each run, so that a run only costs its own work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Self

from tests.agent import REPOSITORY, Agent

CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate", "os.utime"}


@dataclass(frozen=True)
class Run:
    """How a run ended; `steps` are the changes it made or was about to make."""

    code: int
    steps: list[str]

    @property
    def was_killed(self) -> bool:
        """Whether the run ended by SIGKILL."""
        return self.code == -signal.SIGKILL


class CrashServer:
    """The process that forks a run for every moment."""

    def __enter__(self) -> Self:
        environment = {"PATH": os.defpath, "PYTHONPATH": str(REPOSITORY), "HOME": "/nonexistent"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.crash"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def run(self, agent: Agent, *arguments: str, die_at: int = 0, die_in: str = "", **environment: str) -> Run:
        """Runs one command, killed at its n-th change (0: never) or right before the first that contains `die_in`."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        command, *flags = arguments
        task = {
            "arguments": [command, *agent.places(), *flags],
            "environment": {**agent.environment, **environment},
            "directory": str(agent.directory),
            "die_at": die_at,
            "die_in": die_in,
        }
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        self.running = int(self.process.stdout.readline())
        answer = json.loads(self.process.stdout.readline())
        return Run(answer["code"], answer["steps"])

    def kill(self) -> None:
        """Kills the current run with kill -9."""
        os.kill(self.running, signal.SIGKILL)


def main() -> None:
    """The server: one task per line in, one answer per line out."""
    import collector.assembly
    import collector.cli
    import collector.pipeline
    import collector.store  # noqa: F401 - imported once, before the forks

    for line in sys.stdin:
        task = json.loads(line)
        ear, mouth = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(ear)
            _child(task, mouth)
        os.close(mouth)
        print(process, flush=True)
        with os.fdopen(ear) as told:
            steps = told.read().splitlines()
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(json.dumps({"code": code, "steps": steps}), flush=True)


def _child(task: dict[str, Any], mouth: int) -> None:
    from collector.cli import run

    os.environ.clear()
    os.environ.update(task["environment"])
    directory, seen = task["directory"], 0
    log = os.open(f"{directory}.log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (0, 1, 2):
        os.dup2(log, descriptor)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if not _changes(event, arguments, directory):
            return
        seen += 1
        step = f"{event} {' '.join(str(each)[len(directory) :] for each in arguments[:2] if isinstance(each, str))}"
        os.write(mouth, f"{step}\n".encode())
        if seen == task["die_at"] or (task["die_in"] and task["die_in"] in step):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    os._exit(run(task["arguments"]))


def _changes(event: str, arguments: tuple[Any, ...], directory: str) -> bool:
    is_writing = event == "open" and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
    return (is_writing or event in CHANGES) and any(str(each).startswith(directory) for each in arguments[:2])


if __name__ == "__main__":
    main()
