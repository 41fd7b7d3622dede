"""The cost of the service while nothing happens: 5,000 sources, all sent, then two idle minutes (Linux only)."""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

from tests.agent import Agent
from tests.bench.measure import SCRATCH, row
from tests.bench.unchanged import make
from tests.build import Home
from tests.sink import Sink

# Undoes what tests shorten: these are a user's defaults.
DEFAULTS = {
    "COLLECTOR_BATCH__LINGER": "1",
    "COLLECTOR_RETRY__INITIAL_INTERVAL": "0.5",
    "COLLECTOR_RETRY__MAX_INTERVAL": "60",
}
TARGET = "<= 0.15 CPU s, <= 60 MB, < 30 fds"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process: int) -> dict[str, float]:
    """Memory of a process in megabytes: VmRSS is the current value, VmHWM the peak."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    pairs = (line.split(":") for line in lines if line.startswith(("VmRSS", "VmHWM")))
    return {name: int(value.split()[0]) / 1000 for name, value in pairs}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.idle", description=__doc__)
    parser.add_argument("--sources", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=120, help="long enough to hold periodic rescans")
    given = parser.parse_args()
    directory = SCRATCH / "idle"
    shutil.rmtree(directory, ignore_errors=True)
    home = Home(directory)
    make(home.root, given.sources)
    with Sink() as sink:
        agent = Agent(home, sink, DEFAULTS)
        agent.is_warm = False
        first = agent.scan()  # sends the backlog, and leaves the redactor's compiled database behind
        assert first.code == 0, first.stderr
        sent = len(sink.posts)
        with agent.start() as running:
            home.session().prompt("It is awake")
            sink.wait_for(lambda: len(sink.posts) > sent, timeout=60)
            figures = idled(running.process.pid, given.seconds)
    row(f"idle for 30 s (of {given.seconds:.0f} s) with {given.sources:,} sources", TARGET, figures)


def idled(process: int, seconds: float) -> str:
    """The cost of a process while nothing happens."""
    time.sleep(3)  # the last commit and the first rescan do not count as idle
    before = cpu_seconds(process)
    time.sleep(seconds)
    spent = cpu_seconds(process) - before
    held = memory(process)
    files = len(os.listdir(f"/proc/{process}/fd"))
    return f"**{30 * spent / seconds:.2f} CPU s, {held['VmRSS']:.0f} MB, {files} fds** (peak {held['VmHWM']:.0f} MB)"


if __name__ == "__main__":
    main()
