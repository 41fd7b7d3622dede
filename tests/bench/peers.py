"""Compares the agent with other shippers of files: `make bench-peers` installs those available and prints the tables.

All get the same backlogs, read them from the beginning, and send every line to this machine; ours normalizes, redacts
and keeps its offsets as always. They take turns with each other and the floor. The figures are medians over several
rounds of each process's own CPU seconds and peak memory. A shipper that keeps running is stopped once the sink has all
lines, or when nothing has arrived for a while; the table says what had not arrived whole by then.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.bench.floors import floor
from tests.bench.lines import Counted
from tests.bench.measure import REPOSITORY, RSS_UNIT, SCRATCH, drained, environment, made_backlog
from tests.bench.scan import scan, size_of
from tests.bench.shippers import SHIPPERS, Job, Shipper

# Lines of 2.7, 2.0 and 15 kB. The last two are a quarter as large as the first, in a fifth of the files.
BACKLOGS: dict[str, dict[str, float]] = {
    "lines like real ones": {},
    "small lines": {"files": 600, "texts": 0.62},
    "large lines": {"files": 600, "texts": 8.0},
}
POLL = 0.1
PATIENCE = 30.0  # seconds without anything new


class Taken(NamedTuple):
    """What one run cost, and what had arrived."""

    cpu_seconds: float
    peak_bytes: int
    delivered: str


@contextmanager
def counting() -> Iterator[int]:
    """Runs a sink that counts lines, in a process of its own; yields its port."""
    command = [sys.executable, "-m", "tests.bench.lines"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def counted(port: int) -> Counted:
    """What the sink has received so far."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/counted")
    try:
        return Counted(**json.loads(connection.getresponse().read()))
    finally:
        connection.close()


def expected_of(root: Path) -> Counted:
    """What is to be delivered, counted in another process: if this one grew, it would spoil the measurements."""
    command = [sys.executable, "-m", "tests.bench.lines", str(root)]
    said = subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY).stdout
    return Counted(**json.loads(said))


def run(shipper: Shipper, root: Path, expected: Counted) -> Taken:
    """Runs a shipper once, from scratch."""
    work = SCRATCH / "shipper-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with counting() as port, (work / "said").open("wb") as said:
        command = [str(part) for part in shipper.command(shipper.place, Job(root, port, work))]
        process = subprocess.Popen(command, env=environment(work / "home"), cwd=work, stdout=said, stderr=said)
        delivered, since = Counted(), time.monotonic()
        while delivered.lines < expected.lines and time.monotonic() - since < PATIENCE and process.poll() is None:
            time.sleep(POLL)
            now = counted(port)
            if now != delivered:
                delivered, since = now, time.monotonic()
        if process.returncode is not None:
            sys.exit(f"{shipper.name} ended by itself:\n{(work / 'said').read_text()[-3000:]}")
        process.terminate()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        time.sleep(POLL)
        delivered = counted(port)
    told = "; ".join(filter(None, (arrived(expected, delivered), shipper.note)))
    return Taken(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, told)


def arrived(expected: Counted, delivered: Counted) -> str:
    """How many of the lines arrived, and whether they were whole."""
    if delivered == expected:
        return "all lines, complete"
    if delivered.lines == expected.lines:
        return f"all lines, {expected.size - delivered.size:,} bytes short"
    return f"{delivered.lines:,} of {expected.lines:,} lines"


def ours(root: Path, url: str) -> Taken:
    """Runs one scan; its ledger says what happened to every line."""
    cost = scan(root, url)
    ledger = json.loads(cost.stdout)
    skipped = sum(ledger["skipped"].values())
    told = f"{ledger['delivered']:,} events; {skipped:,} lines skipped, with reasons"
    return Taken(cost.cpu_seconds, cost.peak_bytes, told)


def the_floor(root: Path, url: str) -> Taken:
    """Runs the floor once."""
    cost = floor(root, url)
    return Taken(cost.cpu_seconds, cost.peak_bytes, "without gzip")


def compare(root: Path, shippers: list[Shipper], rounds: int) -> None:
    """Prints a table of interleaved runs over one backlog."""
    expected = expected_of(root)
    taken: dict[str, list[Taken]] = {}
    for _ in range(rounds):
        with drained() as url:
            taken.setdefault("the floor", []).append(the_floor(root, url))
            taken.setdefault("collector", []).append(ours(root, url))
        for shipper in shippers:
            taken.setdefault(shipper.name, []).append(run(shipper, root, expected))
    a_floor = median(each.cpu_seconds for each in taken["the floor"])
    size = size_of(root) / 1e6
    print(f"\n{size:.0f} MB, {expected.lines:,} lines of {1e3 * size / expected.lines:.1f} kB; medians of {rounds}\n")
    print("| | floors | CPU s | peak RSS | delivered |\n|---|---|---|---|---|")
    for name, runs in taken.items():
        seconds, peak = median(each.cpu_seconds for each in runs), median(each.peak_bytes for each in runs) / 1e6
        told = " / ".join(sorted({each.delivered for each in runs}))  # a single one, unless rounds differ
        print(f"| {name} | {seconds / a_floor:.1f} | {seconds:.2f} | {peak:.0f} MB | {told} |", flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400, help="of the first backlog")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[shipper.name for shipper in SHIPPERS], metavar="NAME")
    given = parser.parse_args()
    shippers = []
    for shipper in SHIPPERS:
        if shipper.name not in given.only:
            continue
        if reason := shipper.installed():
            print(f"{shipper.name}: skipped: {reason}", flush=True)
        else:
            shippers.append(shipper)
    with drained() as url:
        scan(made_backlog(1), url)  # compiles and caches the redactor's database
    for name, different in BACKLOGS.items():
        print(f"\n### With {name}", flush=True)
        root = made_backlog(given.megabytes // (4 if different else 1), **different)
        compare(root, shippers, given.rounds)


if __name__ == "__main__":
    main()
