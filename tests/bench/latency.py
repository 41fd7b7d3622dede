"""The time from appending a line to its arrival at the sink, with a linger of 30 ms: p50 and p99."""

from __future__ import annotations

import argparse
import shutil
import time

from tests.agent import Agent
from tests.bench.measure import SCRATCH, row
from tests.build import Home
from tests.sink import Sink


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.latency", description=__doc__)
    parser.add_argument("--lines", type=int, default=300)
    lines = parser.parse_args().lines
    directory = SCRATCH / "latency"
    shutil.rmtree(directory, ignore_errors=True)
    home = Home(directory)
    session = home.session()
    session.prompt("The first line")
    waits = []
    with Sink() as sink, Agent(home, sink, {"COLLECTOR_BATCH__LINGER": "0.03"}).start():
        sink.wait_for(lambda: sink.posts, timeout=60)
        for number in range(lines):
            time.sleep(0.02 + home.pen.random.random() * 0.1)  # keeps appends out of step with the agent's waits
            arrived = len(sink.posts)
            before = time.monotonic()
            session.reply(f"Line {number}")
            sink.wait_for(lambda arrived=arrived: len(sink.posts) > arrived)  # type: ignore[misc]
            waits.append(sink.posts[-1].arrived - before)
    waits.sort()
    median, slow = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
    row(
        "append to arrival, linger 30 ms",
        "<= 50 / 200 ms (p50 / p99)",
        f"**{1000 * median:.0f} / {1000 * slow:.0f} ms**",
    )


if __name__ == "__main__":
    main()
