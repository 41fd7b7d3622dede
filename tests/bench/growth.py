"""The cost of a scan as work grows: `python -m tests.bench.growth` prints the table and draws the plots of the docs.

Bytes, files, lines for the same bytes, rules and secrets are each doubled three times while the rest stays the same.
All runs take turns; the cheapest of several rounds counts, because noise only ever adds. Growth is linear where each
unit costs the same, however many there are.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from collector.redact.all_rules import RULES
from tests.bench.measure import REPOSITORY, SCRATCH, Cost, drained, made_backlog
from tests.bench.plot import Point, drawn, fitted
from tests.bench.scan import scan, size_of

MEGABYTES = 50
FILES = 1000
COST = "CPU seconds"
PICTURES = REPOSITORY / "docs" / "pictures"


class Work(NamedTuple):
    """One scan: the axis it belongs to, the backlog, and how many rules are on."""

    axis: str
    root: Path
    rules: int = 0  # 0: all of them


# What each axis counts.
AXES = {"bytes": "megabytes", "files": "files", "lines": "lines of the same bytes", "rules": "rules"}
AXES |= {"secrets": "redactions"}


def works() -> Iterator[Work]:
    """Every scan, axis by axis, from the least to the most."""
    for megabytes in (MEGABYTES // 2, MEGABYTES, 2 * MEGABYTES, 4 * MEGABYTES):
        yield Work("bytes", made_backlog(megabytes, files=FILES))
    for files in (FILES // 4, FILES // 2, FILES, 2 * FILES):
        yield Work("files", made_backlog(MEGABYTES, files=files))
    for texts in (5, 2.1, 1, 0.32):  # gives 10.9, 5.4, 2.7 and 1.3 kB per line
        yield Work("lines", made_backlog(MEGABYTES, files=FILES // 4, texts=texts))
    usual = made_backlog(MEGABYTES, files=FILES)
    for parts in (8, 4, 2, 1):
        yield Work("rules", usual, len(ids()) // parts)
    for share in (0.05, 0.1, 0.2, 0.4):
        yield Work("secrets", made_backlog(MEGABYTES, files=FILES, secrets=share))


def ids() -> list[str]:
    """The rules in an order that mixes their families and is the same every time."""
    found = sorted({rule.id for rule in RULES})
    random.Random(1).shuffle(found)
    return found


def configured(work: Work) -> tuple[str, ...]:
    """The flags that leave only `work.rules` rules on."""
    if not work.rules:
        return ()
    path = SCRATCH / f"rules-{work.rules}.toml"
    path.write_text(f"[redaction]\ndisable = {json.dumps(ids()[work.rules :])}\n")
    return ("--config", str(path))


def amount(work: Work, cost: Cost) -> float:
    """How much there was of whatever the axis counts."""
    ledger = json.loads(cost.stdout)
    match work.axis:
        case "bytes":
            return size_of(work.root) / 1e6
        case "files":
            return float(ledger["files"]["read"])
        case "lines":
            return float(ledger["lines"])
        case "rules":
            return float(work.rules)
        case _:
            return float(sum(ledger["redactions"].values()))


def main() -> None:
    """Prints the table, and draws the plots."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    given = parser.parse_args()
    given.pictures.mkdir(parents=True, exist_ok=True)
    every, costs = list(works()), dict[Work, list[Cost]]()
    with drained() as url:
        for work in every:
            scan(made_backlog(1), url, flags=configured(work))  # compiles and caches these rules
        for _ in range(given.rounds):
            for work in every:
                costs.setdefault(work, []).append(scan(work.root, url, flags=configured(work)))
    print("| what | amount | CPU s | us per additional unit | peak RSS |\n|---|---|---|---|---|")
    for axis, unit in AXES.items():
        points: list[Point] = []
        for work in every:
            if work.axis != axis:
                continue
            seconds = min(cost.cpu_seconds for cost in costs[work])
            points.append(Point(amount(work, costs[work][0]), seconds))
            more = ""
            if len(points) > 1:
                more = f"{1e6 * (points[-1].cost - points[-2].cost) / (points[-1].amount - points[-2].amount):,.1f}"
            peak = max(cost.peak_bytes for cost in costs[work]) / 1e6
            print(f"| {unit} | {points[-1].amount:,.0f} | {seconds:.2f} | {more} | {peak:.0f} MB |", flush=True)
        start, slope = fitted(points)
        print(f"| {unit}, linear fit | | {start:.2f} + {1e6 * slope:,.1f} us each | | |")
        picture = drawn(f"What a scan costs by {unit}", unit, COST, points)
        (given.pictures / f"growth-{axis}.svg").write_text(picture)


if __name__ == "__main__":
    main()
