"""The CPU cost of starting: `collector --version`, and a scan with nothing to do, for either kind of sink."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from tests.bench.measure import COLLECTOR, SCRATCH, cost_of, drained, row
from tests.bench.unchanged import make

RUNS = 11


def median(arguments: Sequence[str]) -> float:
    """The median CPU seconds of a command."""
    costs = sorted(cost_of([*COLLECTOR, *arguments], SCRATCH / "startup-home").cpu_seconds for _ in range(RUNS))
    return costs[RUNS // 2]


def main() -> None:
    """The command."""
    row("`collector --version`", "<= 100 ms CPU", f"{1000 * median(['--version']):.0f} ms CPU (median of {RUNS})")
    home = SCRATCH / "startup-home"
    shutil.rmtree(home, ignore_errors=True)
    make(home / ".claude", 30)
    with drained() as url:
        state = str(home / "state.json")
        for name, flags in (("store", []), ("http", ["--sink-url", url, "--state", state])):
            scan = ["scan", "--json", *flags]
            cost_of([*COLLECTOR, *scan], home)
            row(f"`collector scan` ({name}) with nothing to do", "<= 0.35 CPU s", f"**{median(scan):.2f} CPU s**")


if __name__ == "__main__":
    main()
