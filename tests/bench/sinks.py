"""The agent's CPU seconds per GB for each kind of sink: the same backlog scanned into a drain, in turns."""

from __future__ import annotations

import argparse
import shutil
from statistics import median

from tests.bench.measure import COLLECTOR, SCRATCH, cost_of, drained, made_backlog, row

# The name and configuration of each kind; the drain answers 200 to everything.
KINDS: dict[str, dict[str, str]] = {
    "http": {},
    "otlp": {"COLLECTOR_SINK__TYPE": "otlp"},
    "otlp, JSON": {"COLLECTOR_SINK__TYPE": "otlp", "COLLECTOR_SINK__OTLP__ENCODING": "json"},
    "otlp, traces": {"COLLECTOR_SINK__TYPE": "otlp", "COLLECTOR_SINK__OTLP__TRACES": "true"},
}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sinks", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    given = parser.parse_args()
    root = made_backlog(given.megabytes)
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl")) / 1e9
    spent: dict[str, list[float]] = {kind: [] for kind in given.kinds}
    with drained() as url:
        for _ in range(given.rounds):
            for kind in given.kinds:
                home = SCRATCH / "sinks"
                shutil.rmtree(home / "state", ignore_errors=True)  # the compiled rules stay cached
                flags = ["--root", str(root), "--state", str(home / "state" / "state.json"), "--sink-url", url]
                cost = cost_of([*COLLECTOR, "scan", *flags], home, **KINDS[kind])
                assert cost.code in {0, 3}, cost.stderr
                spent[kind].append(cost.cpu_seconds)
    first = median(spent[given.kinds[0]])
    for kind, seconds in spent.items():
        figures = f"{median(seconds) / size:.1f} CPU s/GB", f"{median(seconds) / first:.2f} of {given.kinds[0]}"
        row(f"a backlog into {kind}", "", *figures)


if __name__ == "__main__":
    main()
