"""Scans a backlog into real engines (`make engines`), in turns with the http sink into a drain.

Prints the agent's own CPU seconds per GB. The engines are those of the tests, with the same settings; a missing one is
reported and left out.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import pytest

from tests.bench.measure import COLLECTOR, SCRATCH, cost_of, drained, made_backlog, row
from tests.bench.scan import size_of
from tests.engines import running
from tests.engines.test_engines import TABLE_OF_2018

Places = dict[str, tuple[str, str, dict[str, str]]]  # name: (type of sink, URL, options)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.engines", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    root = made_backlog(given.megabytes)
    cost_of(
        [*COLLECTOR, "scan", "--dry-run", "--root", str(made_backlog(1))], SCRATCH / "engines"
    )  # compiles the rules
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="collector-engines-", dir="/tmp")))
        places: Places = {"http, into a drain": ("http", stack.enter_context(drained()), {})}
        for name, kind, engine in (
            ("ClickHouse 18.16", "clickhouse", running.clickhouse),
            ("an OpenTelemetry Collector 0.161", "otlp", running.opentelemetry_collector),
            ("VictoriaLogs 1.121, its Elasticsearch input", "elasticsearch", running.victoria_logs),
            ("Loki 3.5", "loki", running.loki),
        ):
            try:
                place = stack.enter_context(engine(directory))
            except pytest.skip.Exception as reason:
                print(f"{name}: skipped, {reason}")
                continue
            url = place.url
            if kind == "clickhouse":
                place.ask("POST", "/", content=TABLE_OF_2018)
            if kind == "elasticsearch":
                url += "/insert/elasticsearch?_time_field=@timestamp&_msg_field=text&_stream_fields=host.name,kind"
            more = {
                "clickhouse": {"COLLECTOR_SINK__CLICKHOUSE__DEDUPLICATES": "false"},
                "elasticsearch": {"COLLECTOR_SINK__ELASTICSEARCH__EVENT_TIME_DAYS": "6"},
            }
            places[name] = (kind, url, more.get(kind, {}))
        measure(root, places, given.rounds)


def measure(root: Path, places: Places, rounds: int) -> None:
    """Measures each in turn, so that other work on the machine affects all alike."""
    spent: dict[str, list[float]] = {name: [] for name in places}
    home = SCRATCH / "engines"
    for _ in range(rounds):
        for name, (kind, url, more) in places.items():
            shutil.rmtree(home / "state", ignore_errors=True)  # the compiled rules stay cached
            flags = ["--root", str(root), "--state", str(home / "state" / "state.json"), "--sink-url", url]
            cost = cost_of([*COLLECTOR, "scan", *flags], home, COLLECTOR_SINK__TYPE=kind, **more)
            if cost.code not in {0, 3}:
                print(f"{name}: scan ended with {cost.code}: {cost.stderr[-500:]}")
                continue
            spent[name].append(cost.cpu_seconds)
    size, first = size_of(root) / 1e9, next(iter(places))
    for name, seconds in spent.items():
        if seconds:
            times = median(seconds) / median(spent[first])
            row(f"a backlog into {name}", "", f"{median(seconds) / size:.1f} CPU s/GB", f"{times:.2f} of {first}")


if __name__ == "__main__":
    main()
