"""Runs one benchmark after another and prints the rows of docs/benchmarks.md."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("scan", "idle", "latency", "kill", "unchanged", "startup", "redaction", "store")

if __name__ == "__main__":
    commands = [[sys.executable, "-m", f"tests.bench.{name}"] for name in BENCHMARKS]
    sys.exit(max(subprocess.run(command, check=False).returncode for command in commands))
