"""The console script: starts the command line. `--version` is answered before anything large is imported."""

from __future__ import annotations

import os
import sys

from collector import __version__

CANNOT_PRINT = 74  # EX_IOERR, like OutputError of errors.py
INTERRUPTED = 130  # as a shell says it: 128 and the number of SIGINT


def main() -> None:
    """Runs the command line; exits with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        _say_version()
        return
    try:
        import gc
        import signal

        is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's background ignores it
        if is_heard:  # not by an exception, which modules may lose while they load
            signal.signal(signal.SIGINT, _interrupted)
        # What modules make stays, and to look through it for garbage is an eighth of a scan with nothing to do.
        gc.disable()
        _import_without_unused_parts()
        from collector.cli import run

        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000)  # little is ever left for it; with Python's own 700 it takes 2 % of a scan
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
    except KeyboardInterrupt:  # before or after what `run` does
        _interrupted()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # from here on an interrupt would end in a traceback
    if sys.flags.inspect:  # PYTHONINSPECT: Python would end with a traceback, a prompt, and 1
        os._exit(code)
    sys.exit(code)


def _interrupted(*_: object) -> None:
    try:
        os.write(2, b"collector: Interrupted.\n")
    finally:
        os._exit(INTERRUPTED)


def _say_version() -> None:
    try:
        os.write(1, f"collector {__version__}\n".encode())
    except OSError as error:
        os.write(2, f"collector: Cannot write to standard output: {error.strerror}.\n".encode())
        sys.exit(CANNOT_PRINT)


def _import_without_unused_parts() -> None:
    """Has packages do without what they load for parts that we do not use.

    httpx loads click for its command line, and structlog rich and pygments for its pretty printer: 6 MB and 50 ms. Both
    do without what cannot be imported, and None in sys.modules is Python's own way of saying that something cannot.
    structlog and pydantic-settings load asyncio for coroutines, of which we have none: 3 MB and 10 ms. They are given a
    module that loads it when they ask for anything in it; from Python 3.12 on, logging would, for every record.
    """
    import logging
    import types

    logging.logAsyncioTasks = False  # type: ignore[attr-defined]  # no record of ours says which task it is from
    stand_in = types.ModuleType("asyncio")

    def of_asyncio(name: str) -> object:
        if sys.modules.get("asyncio") is stand_in:
            del sys.modules["asyncio"]
        import asyncio

        return getattr(asyncio, name)

    stand_in.__getattr__ = of_asyncio  # type: ignore[method-assign]
    sys.modules["httpx._main"] = sys.modules["rich"] = None  # type: ignore[assignment]
    sys.modules["asyncio"] = stand_in
    import pydantic_settings  # noqa: F401
    import structlog  # noqa: F401

    del sys.modules["rich"]
    if sys.modules["asyncio"] is stand_in:
        del sys.modules["asyncio"]


if __name__ == "__main__":
    main()
