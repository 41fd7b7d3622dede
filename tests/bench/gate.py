"""Fails when a line costs a fifth more than it did when the limit was set: `make bench-gate`, and CI.

Costs are medians in floors, with the agent and the floor in turns over a small backlog. What each takes to start is
measured on an empty root and subtracted, because it would be a quarter of so small a scan; the rest is what a large one
costs. Above the limit it keeps measuring before it fails: other work on the machine makes the agent, the larger of the
two, up to a tenth more expensive.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

from tests.bench.floors import floor
from tests.bench.measure import SCRATCH, drained, made_backlog
from tests.bench.scan import scan

MEASURED = 7.1  # floors, on 19 November 2026; lower it when the agent gets faster
LIMIT = 1.2 * MEASURED
MEGABYTES, FILES = 60, 450  # as many bytes per file as in the benchmark's backlog
ROUNDS = 3
PROGRAMS = ("agent", "agent's start", "floor", "floor's start")


class Runs:
    """The CPU seconds of every run so far."""

    def __init__(self, root: Path, empty: Path, url: str) -> None:
        self._root, self._empty, self._url = root, empty, url
        self._taken: dict[str, list[float]] = {name: [] for name in PROGRAMS}

    def go_round(self) -> None:
        """Runs each program. The floor, so short that its noise matters most, runs both before and after the agent."""
        root, empty, url = self._root, self._empty, self._url
        for name in ("floor", "agent", "floor", "agent's start", "floor's start"):
            where = empty if name.endswith("start") else root
            run = floor if name.startswith("floor") else scan
            self._taken[name].append(run(where, url).cpu_seconds)

    @property
    def floors(self) -> float:
        """The agent's cost beyond its start, as a multiple of the floor's."""
        agent, start, floors, floors_start = (median(self._taken[name]) for name in PROGRAMS)
        return (agent - start) / (floors - floors_start)

    def __str__(self) -> str:
        return ", ".join(f"{name} {median(seconds):.2f}" for name, seconds in self._taken.items())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gate", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    given = parser.parse_args()
    empty = SCRATCH / "gate-empty"
    (empty / "projects").mkdir(parents=True, exist_ok=True)
    with drained() as url:
        runs = Runs(made_backlog(given.megabytes, files=FILES), empty, url)
        scan(empty, url)  # compiles and caches the redactor's database
        for number in range(1, 2 * ROUNDS + 1):
            runs.go_round()
            if number >= ROUNDS and runs.floors <= LIMIT:
                break
    print(f"{runs.floors:.2f} floors beyond the start; the limit is {LIMIT:.2f} ({runs} CPU s)", flush=True)
    if runs.floors > LIMIT:
        sys.exit("A line has become dearer. `python -m tests.bench.stages`, before and after the change, says where.")


if __name__ == "__main__":
    main()
