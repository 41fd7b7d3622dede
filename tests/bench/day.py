"""A developer's day in bytes, events and requests: the figures for sizing a receiver of many developers.

    python -m tests.bench.day

20 MB of transcripts with the mix of real records are made and scanned into a sink. How many requests `collector run`
makes of them depends on when records are written, because an event waits `batch.linger` for others. That number is
counted from the records' own times, which are drawn 4 seconds apart on average. The scan is then repeated with batches
of that size, because small requests compress less well. Bytes are those of bodies, without headers.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from tests.bench.measure import COLLECTOR, SCRATCH, cost_of, drained, made_backlog
from tests.bench.scan import size_of

MEGABYTES = 20
LINGERS = (1.0, 10.0, 60.0)  # values of batch.linger: the default, and longer ones


def scanned(root: Path, url: str, events: int, level: str) -> dict[str, Any]:
    """The ledger of a scan from scratch, with at most this many events per request."""
    home = SCRATCH / "day-home"
    shutil.rmtree(home / "state", ignore_errors=True)
    flags = ("--root", str(root), "--sink-url", url, "--state", str(home / "state" / "state.json"), "--json")
    more = {"COLLECTOR_BATCH__MAX_EVENTS": str(events), "COLLECTOR_CAPTURE__LEVEL": level}
    cost = cost_of([*COLLECTOR, "scan", *flags], home, **more)
    if cost.code not in {0, 3}:
        raise SystemExit(f"scan ended with {cost.code}:\n{cost.stderr[-3000:]}")
    return dict(json.loads(cost.stdout))


def moments(root: Path) -> Iterator[list[float]]:
    """When the records of each file were written."""
    for path in root.glob("projects/**/*.jsonl"):
        records = (orjson.loads(line) for line in path.read_bytes().splitlines() if line.startswith(b"{"))
        times = [datetime.fromisoformat(str(each["timestamp"])).timestamp() for each in records if "timestamp" in each]
        if times:
            yield sorted(times)


def requests_of(times: list[float], linger: float) -> int:
    """How many requests these become: the first event opens a batch, which is sent after the linger."""
    requests, until = 0, float("-inf")
    for moment in times:
        if moment > until:
            requests, until = requests + 1, moment + linger
    return requests


def main() -> None:
    """Prints the figures per megabyte written, for each level and linger."""
    root = made_backlog(MEGABYTES)
    written = size_of(root) / 1e6
    files = list(moments(root))
    timed = sum(map(len, files))
    with drained() as url:
        for level in ("content", "metadata"):
            whole = scanned(root, url, 1000, level)
            lines, events = whole["lines"] / written, whole["delivered"] / written
            print(f"{level}: {lines:.0f} lines, {events:.0f} events a MB written")
            print(f"    scan: {_said(whole, written)}")
            for linger in LINGERS:
                requests = sum(requests_of(times, linger) for times in files)
                together = max(1, round(whole["delivered"] * timed / whole["lines"] / requests))
                found = scanned(root, url, together, level)
                print(f"    run, linger {linger:g} s: {together} events a request, {_said(found, written)}")


def _said(ledger: dict[str, Any], written: float) -> str:
    return f"{ledger['batches'] / written:.1f} requests, {ledger['bytes'] / written / 1e3:.0f} kB compressed"


if __name__ == "__main__":
    main()
