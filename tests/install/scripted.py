"""A systemctl, launchctl and journalctl on the PATH that write down their calls and say what a test scripted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


class ServiceManager:
    """The commands of all service managers; what they print and how they end is up to the test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir()
        for name in ("systemctl", "launchctl", "journalctl"):
            self.says(name)
        self.knows_agent_for(0)

    def knows_agent_for(self, asked: int) -> None:
        """How many more times `launchctl print` finds an agent; after that it is gone."""
        (self.directory / "prints").write_text("." * asked)

    def says(self, name: str, output: str = "", code: int = 0) -> None:
        """From now on the command prints this and ends with this code."""
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
    """Time that passes only while somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    @property
    def sleep(self) -> Callable[[float], None]:
        """Sleeps, as time.sleep does."""

        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.now += seconds

        return sleep
