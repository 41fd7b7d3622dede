"""The CPU of a pass over 100,000 files that have not changed since the previous pass."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from tests.bench.measure import COLLECTOR, SCRATCH, Cost, cost_of, drained, megabytes, row

LINE = '{{"type":"user","uuid":"{0:08x}-0000-4000-a000-000000000000","timestamp":"2026-03-01T10:00:00.000Z",'
LINE += '"sessionId":"{0:08x}-0000-4000-a000-000000000001","message":{{"role":"user","content":"hello"}}}}\n'


def make(root: Path, files: int) -> None:
    """Makes small sessions, 500 per project."""
    shutil.rmtree(root, ignore_errors=True)
    for number in range(files):
        directory = root / "projects" / f"-work-project-{number // 500}"
        if number % 500 == 0:
            directory.mkdir(parents=True)
        (directory / f"{number:08x}-0000-4000-a000-000000000001.jsonl").write_text(LINE.format(number))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.unchanged", description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    files = parser.parse_args().files
    home = SCRATCH / "unchanged-home"
    shutil.rmtree(home, ignore_errors=True)
    root, empty = home / ".claude", home / "empty"
    make(root, files)
    (empty / "projects").mkdir(parents=True)
    with drained() as url:

        def scan(where: Path, state: str) -> Cost:
            flags = ("--root", str(where), "--sink-url", url, "--state", str(home / state / "state.json"), "--json")
            return cost_of([*COLLECTOR, "scan", *flags], home)

        first = scan(root, "full")
        second = scan(root, "full")
        base = scan(empty, "empty")
    found = json.loads(second.stdout)["files"]
    if found["unchanged"] != files or second.code:
        raise SystemExit(f"expected {files} unchanged files, got {found}; first scan: {first.stderr[-1000:]}")
    net = second.cpu_seconds - base.cpu_seconds
    figures = f"**{net:.2f} CPU s**", f"{second.cpu_seconds:.2f} with start-up", megabytes(second)
    row(f"a pass over {files:,} unchanged files", "<= 1.5 CPU s", *figures)


if __name__ == "__main__":
    main()
