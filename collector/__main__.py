"""The console script: starts the command line; `--version` is answered before anything large is imported."""

from __future__ import annotations

import sys
from types import ModuleType

from collector import __version__


def main() -> None:
    """Runs the command line; the exit code says how it went."""
    if sys.argv[1:] == ["--version"]:
        print(f"collector {__version__}")
        return
    _leave_out_what_nobody_uses()
    from collector.cli import run

    sys.exit(run())


def _leave_out_what_nobody_uses() -> None:
    """httpx brings a command line and structlog a pretty printer, and load rich and pygments for them: 6 MB, 50 ms."""
    unused = ModuleType("httpx._main")
    unused.main = main  # type: ignore[attr-defined]
    sys.modules.update({"httpx._main": unused, "rich": None, "zstandard": None})  # type: ignore[dict-item]
    import httpx  # noqa: F401
    import structlog  # noqa: F401

    for name in ("httpx._main", "rich", "zstandard"):
        del sys.modules[name]


if __name__ == "__main__":
    main()
