"""Shared by the benchmarks: a command's cost by os.wait4, a cheap sink in a process of its own, one table row.

They measure CPU seconds, because wall time is noise on a shared machine. The measuring process must stay small: Linux
carries a parent's peak RSS over fork and exec into the child's ru_maxrss.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
SCRATCH = Path(tempfile.gettempdir()) / "collector-bench"
COLLECTOR = (sys.executable, "-m", "collector")
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Cost(NamedTuple):
    """What a finished process cost."""

    code: int
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: str


def environment(home: Path, **more: str) -> dict[str, str]:
    """A clean environment with a scratch HOME, and without heartbeats, so that every event comes from a line."""
    home.mkdir(parents=True, exist_ok=True)
    clean = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
    return {**clean, "COLLECTOR_HEARTBEAT__INTERVAL": "0", **more}


def cost_of(command: Sequence[str], home: Path, **more: str) -> Cost:
    """Runs a command to its end; counts only its own CPU and peak memory."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, env=environment(home, **more), stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        texts = stdout.read().decode(), stderr.read().decode()
    return Cost(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, *texts)


def megabytes(cost: Cost) -> str:
    """The peak memory of a command; exits if the figure may be this process's instead."""
    if cost.peak_bytes <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT:
        sys.exit("the measuring process is larger than what it measures; its peak RSS would be reported instead")
    return f"{cost.peak_bytes / 1e6:.0f} MB"


def made_backlog(megabytes: int, **different: float) -> Path:
    """The root of a backlog of this size, made in a process of its own unless it exists. `different` overrides parts
    of backlog.Recipe."""
    given = [(name, str(value)) for name, value in different.items()]
    directory = SCRATCH / "-".join(["backlog", str(megabytes), *(part for pair in given for part in pair)])
    command = [sys.executable, "-m", "tests.bench.backlog", str(directory), "--megabytes", str(megabytes)]
    command += [part for name, value in given for part in (f"--{name}", value)]
    subprocess.run(command, check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    return directory / "home" / ".claude"


@contextmanager
def drained() -> Iterator[str]:
    """Runs a sink that reads everything and answers 200, in a process of its own; yields its URL."""
    command = [sys.executable, str(Path(__file__).with_name("drain.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/events"
        finally:
            process.terminate()


def row(measure: str, target: str, *figures: str) -> None:
    """Prints one row of the table in docs/benchmarks.md."""
    print(f"| {measure} | {target} | {', '.join(figures)} |", flush=True)
