"""Where the CPU of a line goes: `python -m tests.bench.stages` prints microseconds per line and floors for each stage.

The stages run cumulatively over the benchmark's backlog, in turns: each run includes all stages before it. A stage's
cost is the difference to the previous run of the same round; the median over the rounds counts. Each run is a fork of
one process that has everything loaded and nothing remembered, like a scan when it begins. No profiler is involved.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from collector import settings
from collector.assembly import assembled
from collector.delivery.channel import idempotency_key
from collector.delivery.compression import COMPRESSIONS
from collector.delivery.gather import batches
from collector.delivery.sinks.registry import SINKS
from collector.errors import SkipSource
from collector.flow.batch import Batch
from collector.flow.capture import captured
from collector.flow.ledger import Ledger
from collector.flow.line import Line
from collector.flow.outcome import Skip
from collector.flow.source import Source
from collector.pipeline import Flow, outcomes, run_pass
from collector.reading import document, tail
from collector.reading.discover import discover
from collector.redact import Options, Redactor, seal
from collector.redact.scan.engines import Engine
from collector.redact.scan.matching import Zones
from collector.redact.scan.segments import KeyBook, gather
from tests.bench.backlog import FILES
from tests.bench.floors import floor
from tests.bench.measure import SCRATCH, drained, environment, made_backlog
from tests.bench.scan import scan

Event = dict[str, Any]
COMPRESSION = "gzip"


class Silent:
    """An engine that finds nothing, with or without running a real engine first."""

    name = "silent"

    def __init__(self, inner: Engine | None = None) -> None:
        self._inner = inner

    def zones(self, text: bytes) -> dict[int, Zones]:
        """No zones, whatever the inner engine finds."""
        if self._inner is not None:
            self._inner.zones(text)
        return {}


def lines_of(flow: Flow, source: Source) -> Iterator[Line]:
    """Every line of a source, or none if the source is skipped."""
    form = flow.scope.form_of(source.root)
    read = document.read if source.kind.is_document else tail.read
    with contextlib.suppress(SkipSource):
        yield from (item for item in read(source, None, form) if isinstance(item, Line))


def each_event(flow: Flow, do: Callable[[Event], object]) -> None:
    """Reads and normalizes everything, and calls `do` with each event."""
    for source in discover(flow.scope).files:
        form = flow.scope.form_of(source.root)
        normalize = None
        for line in lines_of(flow, source):
            normalize = normalize or form.normalizer(line.reading, flow.frame)
            made = normalize(line) if line.record is not None else None
            if made is not None and not isinstance(made, Skip):
                do(captured(made, form.vocabulary, flow.capture))


def read_all(flow: Flow) -> None:
    """Reads and parses everything."""
    for source in discover(flow.scope).files:
        for _ in lines_of(flow, source):
            pass


def each_batch(flow: Flow, do: Callable[[Batch], object]) -> None:
    """Runs everything up to batches, and calls `do` with each batch."""
    for batch in batches(outcomes(flow, Ledger(), discover(flow.scope)), flow.limits):
        do(batch)


def compressed(flow: Flow, batch: Batch) -> None:
    """Renders a batch and compresses its requests."""
    for events in filter(None, (batch.companions.events, batch.events)):
        COMPRESSIONS[COMPRESSION](flow.deliverer.channel.sink.render(events, idempotency_key(events)).body)


def deliver_all(flow: Flow) -> None:
    """Runs everything except commits."""
    for _ in flow.deliverer.deliver(batches(outcomes(flow, Ledger(), discover(flow.scope)), flow.limits)):
        pass


def stages_of(flow: Flow) -> dict[str, Callable[[], object]]:
    """The stages in order, each including all before it."""
    options = Options(key=b"a key for measuring only", cache_dir=settings.cache_directory())
    book = KeyBook(frozenset(word for rule in flow.redactor.rules for word in rule.keywords))
    blind, silent = Redactor(options, Silent()), Redactor(options, Silent(flow.redactor._engine))
    most, redactor = flow.way_out().max_event_bytes, flow.redactor
    return {
        "find the files": lambda: discover(flow.scope),
        "read, parse": lambda: read_all(flow),
        "normalize": lambda: each_event(flow, lambda event: None),
        "redact: gather the strings": lambda: each_event(flow, lambda event: gather(event, book)),
        "redact: encode, recall the session": lambda: each_event(flow, blind.event),
        "redact: scan": lambda: each_event(flow, silent.event),
        "redact: confirm, replace": lambda: each_event(flow, redactor.event),
        "serialize": lambda: each_event(flow, lambda event: seal(event, redactor, most)),
        "batch": lambda: each_batch(flow, lambda batch: None),
        "render, compress": lambda: each_batch(flow, lambda batch: compressed(flow, batch)),
        "post": lambda: deliver_all(flow),
        "commit, the rest of a pass": lambda: run_pass(flow, Ledger()),
    }


def cpu_of(work: Callable[[], object]) -> float:
    """The CPU seconds of some work, done by a fork of this process."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        began = time.process_time()
        work()
        os.write(sending, repr(time.process_time() - began).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if status or not said:
        sys.exit("a stage failed; what it said stands above")
    return float(said)


def measured(root: Path, url: str, rounds: int) -> tuple[dict[str, list[float]], list[float], int]:
    """The CPU seconds of each cumulative stage and of a whole scan, those of the floor, and the number of lines."""
    home = SCRATCH / "stages-home"
    os.environ.clear()
    os.environ.update(environment(home))
    given: Mapping[str, Any] = {
        "roots": [str(root)],
        "sink": {"url": url, "compression": COMPRESSION},
        "state": {"path": str(home / "state" / "state.json")},
    }
    lines = 0
    took: dict[str, list[float]] = {}
    floors: list[float] = []
    with assembled(settings.load(None, given, sinks=SINKS), "measuring") as flow:
        stages = stages_of(flow)
        gc.collect()
        gc.freeze()
        for _ in range(rounds):
            for name, work in stages.items():
                took.setdefault(name, []).append(cpu_of(work))
            cost = scan(root, url)
            took.setdefault("start and end", []).append(cost.cpu_seconds)
            lines = json.loads(cost.stdout)["lines"]
            floors.append(floor(root, url).cpu_seconds)
    return took, floors, lines


def main() -> None:
    """Prints the table of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.stages", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with drained() as url:
        root = made_backlog(given.megabytes, files=given.megabytes * FILES // 400)
        took, floors, lines = measured(root, url, given.rounds)
    before = [0.0] * given.rounds
    a_floor, whole = statistics.median(floors), statistics.median(took["start and end"])
    print(f"{lines:,} lines; the floor takes {a_floor / lines * 1e6:.1f} us per line\n")
    print("| stage | us per line | floors | share |\n|---|---|---|---|")
    for name, seconds in took.items():
        more = statistics.median(now - then for now, then in zip(seconds, before, strict=True))
        print(f"| {name} | {more / lines * 1e6:.1f} | {more / a_floor:.2f} | {100 * more / whole:.0f} % |")
        before = seconds
    print(f"| **a scan** | **{whole / lines * 1e6:.1f}** | **{whole / a_floor:.2f}** | |")


if __name__ == "__main__":
    main()
