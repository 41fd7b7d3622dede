"""The cost of the embedded store: CPU of a scan into it as a multiple of one over HTTP, and bytes per event.

The scans are interleaved, because CPU seconds on a shared machine drift; the cheapest of each counts, because noise
only ever adds. `--program DIR` also runs another checkout, to compare before and after.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from tests.bench.measure import SCRATCH, Cost, cost_of, drained, made_backlog, row

TARGET = "<= 1.6"


def scan(root: Path, checkout: Path, url: str | None) -> tuple[Cost, Path]:
    """Runs one scan from scratch, into the store or over HTTP; returns its cost and where the store is."""
    home = SCRATCH / "store-home"
    shutil.rmtree(home / "data", ignore_errors=True)
    shutil.rmtree(home / "state", ignore_errors=True)
    (home / "state").mkdir(parents=True)
    flags = ["--root", str(root), "--state", str(home / "state" / "state.json"), "--json"]
    flags += ["--sink-url", url] if url else []
    more = {"PYTHONPATH": str(checkout), "XDG_DATA_HOME": str(home / "data")}
    cost = cost_of([sys.executable, "-P", "-m", "collector", "scan", *flags], home, **more)
    if cost.code not in {0, 3}:
        sys.exit(f"scan ended with {cost.code}:\n{cost.stderr[-3000:]}")
    return cost, home / "data" / "collector" / "events.db"


def bytes_an_event(database: Path) -> float:
    """The size of the database divided by its events, with nothing left in the write-ahead log."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        events: int = connection.execute("SELECT count(*) FROM events").fetchone()[0]
    return database.stat().st_size / events


def main() -> None:
    """Prints the rows of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--program", type=Path, action="append", default=[], help="another checkout")
    chosen = parser.parse_args()
    root = made_backlog(chosen.megabytes)
    here = Path(__file__).resolve().parents[2]
    checkouts = [here, *chosen.program]
    costs: dict[tuple[Path, bool], list[float]] = {}
    sizes = {}
    with drained() as url:
        for _ in range(chosen.runs):
            for checkout in checkouts:
                for is_store in (False, True):
                    cost, database = scan(root, checkout, None if is_store else url)
                    costs.setdefault((checkout, is_store), []).append(cost.cpu_seconds)
                    if is_store:
                        sizes[checkout] = bytes_an_event(database)
    for checkout in checkouts:
        over_http, stored = min(costs[checkout, False]), min(costs[checkout, True])
        name = "" if checkout == here else f" ({checkout.name})"
        figures = f"{stored / over_http:.2f} times ({stored:.1f} s against {over_http:.1f} s)"
        row(f"a scan into the embedded store{name}, as a multiple of one over HTTP", TARGET, figures)
        row(f"the store{name}, bytes per event", "-", f"{sizes[checkout]:.0f}")


if __name__ == "__main__":
    main()
