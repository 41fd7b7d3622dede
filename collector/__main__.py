"""The console script: starts the command line; `--version` is answered before anything large is imported."""

from __future__ import annotations

import os
import sys

from collector import __version__


def main() -> None:
    """Runs the command line; the exit code says how it went."""
    if sys.argv[1:] == ["--version"]:
        _say_version()
        return
    import signal

    try:
        _leave_out_what_nobody_uses()
        from collector.cli import run

        code = run()
    except KeyboardInterrupt:  # while it was loading
        code = 128 + signal.SIGINT
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the interpreter's own end would show where it was interrupted
    sys.exit(code)


def _say_version() -> None:
    try:
        os.write(1, f"collector {__version__}\n".encode())
    except OSError as error:
        sys.exit(f"collector: Cannot write to standard output: {error.strerror}.")


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
