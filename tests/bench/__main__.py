"""Every benchmark, one after another: the rows of docs/benchmarks.md."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("scan", "idle", "latency", "kill", "unchanged", "startup", "redaction")

if __name__ == "__main__":
    codes = [subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], check=False).returncode for name in BENCHMARKS]
    sys.exit(max(codes))
