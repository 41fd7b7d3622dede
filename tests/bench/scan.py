"""CPU seconds per GB and peak memory of `collector scan` over a backlog, and over one twice as large.

`--profile` runs it once more under cProfile and prints where the time went.
"""

from __future__ import annotations

import argparse
import json
import pstats
import tempfile
from pathlib import Path

from tests.bench.measure import COLLECTOR, SCRATCH, Cost, cost_of, drained, made_backlog, megabytes, row

MEASURE = "read + parse + normalize + redact + gzip + POST"
GIGABYTE = 1e9


def size_of(root: Path) -> int:
    """The total size of the sources below a root."""
    patterns = ("projects/**/*.jsonl", "history.jsonl", "stats-cache.json")
    return sum(path.stat().st_size for pattern in patterns for path in root.glob(pattern))


def scan(root: Path, url: str, before: tuple[str, ...] = COLLECTOR, flags: tuple[str, ...] = ()) -> Cost:
    """Runs one scan from scratch: no state, but the redactor's compiled database is cached if it was made before."""
    home = SCRATCH / "scan-home"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="state-", dir=home) as state:  # two may run at once
        flags = (*flags, "--root", str(root), "--sink-url", url, "--state", f"{state}/state.json", "--json")
        cost = cost_of([*before, "scan", *flags], home)
    if cost.code not in {0, 3}:
        raise SystemExit(f"scan ended with {cost.code}:\n{cost.stderr[-3000:]}")
    return cost


def measured(size: int, url: str, *, runs: int) -> tuple[Cost, int]:
    """The cheapest of several scans of a backlog of this size (noise only ever adds), and the backlog's bytes."""
    root = made_backlog(size)
    return min((scan(root, url) for _ in range(runs)), key=lambda cost: cost.cpu_seconds), size_of(root)


def profile(root: Path, url: str) -> None:
    """Prints where the time goes, by file and function, under cProfile (which makes Python look slower than C)."""
    output = SCRATCH / "scan.profile"
    scan(root, url, (COLLECTOR[0], "-m", "cProfile", "-o", str(output), "-m", "collector"))
    stats = pstats.Stats(str(output))
    by_file: dict[str, float] = {}
    for (path, _, name), entry in stats.stats.items():  # type: ignore[attr-defined]
        place = name if path == "~" else "/".join(Path(path).parts[-2:])
        by_file[place] = by_file.get(place, 0.0) + entry[2]
    total = sum(by_file.values())
    for place, seconds in sorted(by_file.items(), key=lambda item: -item[1])[:25]:
        print(f"{seconds:8.2f} s {100 * seconds / total:5.1f} %  {place}")
    stats.sort_stats("tottime").print_stats(40)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scan", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="not the doubled backlog")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    with drained() as url:
        scan(made_backlog(1), url)  # compiles and caches the redactor's database
        cost, size = measured(given.megabytes, url, runs=given.runs)
        ledger = json.loads(cost.stdout)
        print(json.dumps({name: ledger[name] for name in ("lines", "delivered", "quarantined", "batches", "bytes")}))
        per_gigabyte = cost.cpu_seconds / (size / GIGABYTE)
        figures = f"{cost.cpu_seconds:.2f} CPU s for {size / 1e6:.0f} MB", f"**{per_gigabyte:.1f} CPU s/GB**"
        row(MEASURE, "<= 10, stretch 7 CPU s/GB", *figures)
        peaks = [megabytes(cost)]
        if not given.once:
            doubled, _ = measured(2 * given.megabytes, url, runs=1)
            peaks.append(f"doubled {megabytes(doubled)}")
        row("peak RSS, and with the backlog doubled", "<= 90 MB, the same", *peaks)
        if given.profile:
            profile(made_backlog(min(given.megabytes, 100)), url)


if __name__ == "__main__":
    main()
