"""Compiles the patterns of all rules into one hyperscan database; also a program, to do so in a process of its own.

Compiling takes 45 MB at its peak, of which 10 MB would stay with an agent that lives for months. The program is started
by its path, reads a JSON list of patterns from stdin, and writes the database to the file named on its command line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

hyperscan: Any
try:
    import hyperscan
except ImportError:  # no wheel for this platform
    hyperscan = None

SECONDS = 120
# A system package puts its modules on this path itself. By its own path, this file does not load the whole room.
PROGRAM = "import runpy, sys; sys.path[:] = sys.argv[3:]; runpy.run_path(sys.argv[1], run_name='__main__')"
WITH_BEGIN = "(?#begin)"  # starts a pattern if the scanner must report where its matches begin


def compile_patterns(patterns: list[str]) -> Any:
    """One database that looks for all patterns in one scan."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.encode("latin-1") for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[hyperscan.HS_FLAG_DOTALL | _begin_flag(pattern) for pattern in patterns],
    )
    return database


def _begin_flag(pattern: str) -> int:
    return int(hyperscan.HS_FLAG_SOM_LEFTMOST) if pattern.startswith(WITH_BEGIN) else 0


def compiled_elsewhere(patterns: list[str]) -> bytes:
    """The serialized database, compiled by another process; empty if that fails."""
    if getattr(sys, "frozen", False):  # a self-contained package has no interpreter to start
        return b""
    with tempfile.NamedTemporaryFile() as made:
        command = [sys.executable, "-I", "-c", PROGRAM, __file__, made.name, *sys.path]
        try:
            subprocess.run(
                command, input=json.dumps(patterns).encode(), capture_output=True, timeout=SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return b""
        return made.read()


def main() -> None:
    """The program."""
    database = compile_patterns(json.load(sys.stdin))
    Path(sys.argv[2]).write_bytes(hyperscan.dumpb(database))


if __name__ == "__main__":
    main()
