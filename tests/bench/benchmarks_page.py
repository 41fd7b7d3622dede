"""Measures the tables of docs/benchmarks.md again and updates the page: `python -m tests.bench.benchmarks_page`.

Between `<!-- measured: NAME ... -->` and `<!-- end -->` goes what `python -m tests.bench.NAME ...` prints, followed by
how busy the machine was. `--only NAME` measures a single one. If a measurement fails, the page is left as it is.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.measure import REPOSITORY

PAGE = REPOSITORY / "docs" / "benchmarks.md"
MEASURED = re.compile(r"(<!-- measured: (\S+)([^>]*) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def circumstances(before: float) -> str:
    """When this was measured and how busy the machine was: the load averages before and after."""
    day, after = time.strftime("%-d %B %Y", time.gmtime()), os.getloadavg()[0]
    load = f"a load of {before:.0f} before and {after:.0f} after on {os.cpu_count()} processors"
    return f"Measured on {day}, with {load}."


def measured(name: str, arguments: str) -> str:
    """What a benchmark prints."""
    before = os.getloadavg()[0]
    command = [sys.executable, "-m", f"tests.bench.{name}", *shlex.split(arguments)]
    told = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True).stdout
    return f"\n{told.strip()}\n\n{circumstances(before)}\n"


def rewritten(page: str, only: set[str]) -> str:
    """The page with new figures."""

    def again(found: re.Match[str]) -> str:
        opening, name, arguments = found.groups()
        return found[0] if only and name not in only else f"{opening}{measured(name, arguments)}\n"

    return MEASURED.sub(again, page)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.benchmarks_page", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    given.page.write_text(rewritten(given.page.read_text(), set(given.only)))


if __name__ == "__main__":
    main()
