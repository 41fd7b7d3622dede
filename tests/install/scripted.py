"""Fake systemctl, launchctl and journalctl on the PATH, which record their calls and print what a test scripted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


class ServiceManager:
    """The commands of all service managers; the test decides their output and exit codes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir()
        for name in ("systemctl", "launchctl", "journalctl"):
            self.says(name)
        self.knows_agent_for(0)

    def knows_agent_for(self, asked: int) -> None:
        """Sets how many more times `launchctl print` finds the agent before it is gone."""
        (self.directory / "prints").write_text("." * asked)

    def says(self, name: str, output: str = "", code: int = 0) -> None:
        """Makes the command print this and exit with this code from now on."""
        said = self.directory / f"{name}.out"
        said.write_text(output)
        program = self.directory / name
        calls = self.directory / "calls"
        left = self.directory / "prints"
        fades = (
            f'[ "$1" = print ] && {{ [ -s {left} ] || exit 113; tail -c +2 {left} >{left}.new; mv {left}.new {left}; }}'
        )
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>{calls}\n{fades}\ncat {said}\nexit {code}\n')
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """Every call so far."""
        calls = self.directory / "calls"
        return calls.read_text().splitlines() if calls.exists() else []


@dataclass
class Clock:
    """Time that passes only during `sleep`."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    @property
    def sleep(self) -> Callable[[float], None]:
        """A replacement for time.sleep."""

        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.now += seconds

        return sleep
