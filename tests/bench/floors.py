"""The cost of a scan in floors: the agent and the floor in turns over the same backlog, medians of several rounds."""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from tests.bench.measure import SCRATCH, Cost, cost_of, drained, made_backlog, row
from tests.bench.scan import scan, size_of

FLOOR = Path(__file__).with_name("floor.py")


def floor(root: Path, url: str) -> Cost:
    """Runs the floor once."""
    cost = cost_of([sys.executable, str(FLOOR), str(root), url], SCRATCH / "floor-home")
    if cost.code:
        sys.exit(f"the floor ended with {cost.code}:\n{cost.stderr[-3000:]}")
    return cost


def in_floors(root: Path, url: str, rounds: int) -> tuple[float, float, float]:
    """The medians of the floor's CPU seconds, of the agent's, and of the round-by-round ratio of both."""
    floors, agents = [], []
    for _ in range(rounds):
        floors.append(floor(root, url).cpu_seconds)
        agents.append(scan(root, url).cpu_seconds)
    ratios = [agent / floor for agent, floor in zip(agents, floors, strict=True)]
    return statistics.median(floors), statistics.median(agents), statistics.median(ratios)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.floors", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with drained() as url:
        scan(made_backlog(1), url)  # compiles and caches the redactor's database
        root = made_backlog(given.megabytes)
        floor_seconds, agent, ratio = in_floors(root, url, given.rounds)
        per_gigabyte = agent / (size_of(root) / 1e9)
        seconds = f"{agent:.2f} CPU s, the floor {floor_seconds:.2f}"
        row("scan, in floors", "<= 3.0", f"**{ratio:.2f} floors**", seconds, f"{per_gigabyte:.1f} CPU s/GB")


if __name__ == "__main__":
    main()
