"""The command line: one module for each command or group of commands. The only place that prints or exits.

In: arguments. Out: an exit code; data on stdout, logs and errors on stderr. Invariant: any failure ends in a sentence
and an exit code (errors.py), never in a traceback.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer

import collector.cli.run  # noqa: F401 - first, because importing it later would replace the function `run` below
from collector import __version__, log
from collector.cli import verbosity
from collector.errors import CollectorError, OutputError

# Where each command is. Only the requested one is imported, because a service keeps its modules in memory for months.
COMMANDS = {
    "scan": "scan:scan",
    "run": "run:run",
    "status": "status:status",
    "doctor": "doctor:doctor",
    "preview": "preview:preview",
    "receive": "receive:receive",
    "report": "report:report",
    "web": "web:web",
    "store": "store:app",
    "forget": "forget:forget",
    "redact": "redact:redact",
    "demo": "demo:demo",
    "reset": "reset:reset",
    "resend": "resend:resend",
    "quarantine": "quarantine:app",
    "config": "config:app",
    "service": "service:app",
    "exclude": "exclude:exclude",
    "include": "exclude:include",
    "agree": "agree:agree",
    "pause": "pause:pause",
    "resume": "pause:resume",
    "help": "help:help_",
}
WITHOUT_LOG = {"service"}  # its output comes from the service manager


def application(*names: str) -> typer.Typer:
    """The command line with these commands, or with all of them."""
    app = typer.Typer(
        name="collector",
        help="""Ship what Claude Code writes under ~/.claude to an HTTP sink, with secrets removed.

        A saved offset moves only after the sink has acknowledged everything before it. With no sink configured,
        events go to the embedded store, a local database.

        New here? Start with: collector demo, then collector preview, then collector scan.
        """,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"collector.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
            infos = command.registered_commands
        else:
            app.command(name)(command)
            infos = app.registered_commands[-1:]
        for info in infos:
            if info.callback is not None and not hasattr(info.callback, "__wrapped__"):  # wrapped already, in a group
                info.callback = verbosity.completed(info.callback, has_log=name not in WITHOUT_LOG)
    return app


def __getattr__(name: str) -> typer.Typer:
    """`app`: the whole command line, for the man page and completions."""
    if name == "app":
        return application()
    raise AttributeError(name)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"collector {__version__}")
        raise typer.Exit


def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
    verbose: verbosity.Verbose = False,
    quiet: verbosity.Quiet = False,
) -> None:
    verbosity.ask(verbose=verbose, quiet=quiet)


def run(arguments: list[str] | None = None) -> int:
    """Runs one command line; returns its exit code."""
    os.umask(os.umask(0o077) | 0o022)  # whatever the umask was, others must not be able to write to files created here
    _prepare_streams()
    log.configure()
    verbosity.forget()
    given = sys.argv[1:] if arguments is None else arguments
    code = _ended(given)
    try:
        sys.stdout.flush()
    except ReaderGone:  # `| head` has seen enough, and the command has done its work
        return code
    except OutputError as error:
        return _fail(str(error), error.exit_code)
    return code


def _ended(given: list[str]) -> int:
    """Runs the command line. Any failure becomes an exit code and a sentence on stderr."""
    named = next((word for word in given if not word.startswith("-")), "")
    try:
        application(*([named] if named in COMMANDS else []))(given, prog_name="collector")
    except ReaderGone:
        return 0
    except KeyboardInterrupt:
        return interrupted()
    except SystemExit as end:  # how typer ends a command; 2 for a usage error, 130 for Ctrl-C
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return interrupted() if code == INTERRUPTED else code
    except CollectorError as error:
        return _fail(str(error), error.exit_code)
    except MemoryError:
        return _fail(OUT_OF_MEMORY, NO_MEMORY)
    except RuntimeError as error:
        is_full = str(error) == NO_THREAD
        return _fail(OUT_OF_THREADS, NO_MEMORY) if is_full else _fail(_unexpected(error), FAULT)
    except FileNotFoundError as error:
        return _fail(NOWHERE, CollectorError.exit_code) if _is_nowhere(error) else _fail(_unexpected(error), FAULT)
    except OSError as error:
        if not isinstance(error.filename, str | bytes):
            return _fail(_unexpected(error), FAULT)
        return _fail(_unreachable(error), NO_PERMISSION if isinstance(error, PermissionError) else OUT_OF_REACH)
    except Exception as error:  # noqa: BLE001 - a user gets a sentence, not a traceback
        return _fail(_unexpected(error), FAULT)
    return 0


def _prepare_streams() -> None:
    """Opens closed streams on /dev/null, because otherwise the next file would get their number; makes standard output
    escape characters that it cannot encode, and standard error drop what it cannot write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - stays open for the life of the process
    old = sys.stdout
    if old is sys.__stdout__ and isinstance(old, io.TextIOWrapper):
        output = io.BufferedWriter(_Output(old.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(output, old.encoding, "backslashreplace", line_buffering=old.line_buffering)
    old = sys.stderr
    if old is sys.__stderr__ and isinstance(old, io.TextIOWrapper):
        complaints = io.BufferedWriter(_Complaints(old.fileno(), "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(complaints, old.encoding, "backslashreplace", line_buffering=True)


class ReaderGone(Exception):
    """Nobody reads standard output any more, as after `| head`. Not an OSError, because libraries exit on those."""


class _Output(io.FileIO):
    """Standard output that reports a full disk for what it is, not as an internal error."""

    def write(self, data: Any) -> int:
        """Writes like any file."""
        try:
            return super().write(data)
        except OSError as error:
            # Discard the rest, including anything the interpreter flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from None
            raise OutputError(CANNOT_PRINT.format(error.strerror)) from None


class _Complaints(io.FileIO):
    """Standard error, which changes no exit code when it is full or nobody reads it: the code is about the work."""

    def write(self, data: Any) -> int:
        """Writes like any file, or drops what it cannot write; without a number, the reader is only slow."""
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


FAULT, NO_MEMORY, OUT_OF_REACH, NO_PERMISSION = 70, 71, 74, 77  # from sysexits.h, like those in errors.py
INTERRUPTED = 130  # as a shell reports it: 128 plus the number of SIGINT
CANNOT_PRINT = (
    "Cannot write to standard output: {}. The output is incomplete; what was acknowledged before is remembered. "
    "Free some space, or send the output elsewhere."
)
NO_THREAD = "can't start new thread"  # Python's message
OUT_OF_THREADS = (
    "The system would not start another thread. Nothing is lost: what was not acknowledged is read again at the next "
    "start. Raise the limit on processes for this user or container (ulimit -u, pids.max), or free some memory."
)
NOWHERE = (
    "The current directory has been deleted, so no path can start there. Change to another directory, or write the "
    "path from / (that of a deleted project works too)."
)
OUT_OF_MEMORY = (
    "Out of memory. Nothing is lost: what was not acknowledged is read again at the next start. "
    "A line needs about ten times its size. Give this process more memory, or find out what else is using it."
)


def interrupted() -> int:
    """After Ctrl-C: prints one line, below the `^C` that a terminal shows."""
    with contextlib.suppress(OSError):
        typer.echo("\n" * sys.stderr.isatty() + "collector: Interrupted.", err=True)
    return INTERRUPTED


def _fail(message: str, code: int) -> int:
    lines = [log.printable(line) for line in message.splitlines()]
    with contextlib.suppress(OSError):  # then the exit code has to suffice
        typer.echo("collector: " + "\n  ".join(lines), err=True)
    return code


def _unreachable(error: OSError) -> str:
    is_forbidden = isinstance(error, PermissionError)
    advice = "Make it and the directories above it accessible to this user" if is_forbidden else "Check its disk"
    return (
        f"Cannot reach {os.fsdecode(error.filename)}: {error.strerror}. Nothing that was acknowledged is lost. "
        f"{advice}, or name another place."
    )


def _is_nowhere(error: FileNotFoundError) -> bool:
    """Whether a relative path was resolved while the current directory is gone: the error then names no file."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return error.filename is None
    return False


def _unexpected(error: Exception) -> str:
    """Says what failed and where, but not the error's message, which may contain somebody's text."""
    reason = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    return (
        f"Internal error {type(error).__name__}{reason} at {log.place_of(error)}. Nothing that was acknowledged is "
        f"lost. Please report it, with this line and the version ({__version__})."
    )
