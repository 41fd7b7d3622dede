"""The console script: starts the command line; `--version` is answered before anything large is imported."""

from __future__ import annotations

import sys

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
    """httpx brings a command line and structlog a pretty printer, and load click, rich and pygments for them: 6 MB,
    50 ms. Both do without what cannot be imported, and None in sys.modules is Python's own way to say so."""
    unused = ("click", "rich", "zstandard")
    sys.modules.update(dict.fromkeys(unused))  # type: ignore[arg-type]
    import httpx  # noqa: F401
    import structlog  # noqa: F401

    for name in unused:
        del sys.modules[name]


if __name__ == "__main__":
    main()
