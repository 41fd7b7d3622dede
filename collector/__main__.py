"""The console script: starts the command line; `--version` is answered before anything large is imported."""

from __future__ import annotations

import sys

from collector import __version__


def main() -> None:
    """Runs the command line; the exit code says how it went."""
    if sys.argv[1:] == ["--version"]:
        print(f"collector {__version__}")
        return
    from collector.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
