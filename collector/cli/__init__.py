"""The command line: one module a command group. The only place that prints or exits.

stdout is data, stderr is logs and errors. Whatever goes wrong ends in one sentence and an exit code (errors.py), never
in a traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from collector import __version__, log
from collector.cli.config import app as config_app
from collector.cli.demo import demo
from collector.cli.doctor import doctor
from collector.cli.preview import preview
from collector.cli.quarantine import app as quarantine_app
from collector.cli.quarantine import reset
from collector.cli.receive import receive
from collector.cli.redact import redact
from collector.cli.report import report
from collector.cli.run import run as run_service
from collector.cli.scan import scan
from collector.cli.service import app as service_app
from collector.cli.status import status
from collector.errors import CollectorError

app = typer.Typer(
    name="collector",
    help="Ships what Claude Code writes under ~/.claude to an HTTP sink: incrementally, redacted, acknowledged.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(scan)
app.command("run")(run_service)
app.command()(status)
app.command()(doctor)
app.command()(preview)
app.command()(receive)
app.command()(report)
app.command()(redact)
app.command()(demo)
app.command()(reset)
app.add_typer(quarantine_app, name="quarantine")
app.add_typer(config_app, name="config")
app.add_typer(service_app, name="service")


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(f"collector {__version__}")
        raise typer.Exit


def run(arguments: list[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    log.configure()
    try:
        app(arguments)
    except SystemExit as end:  # how a command ends; usage errors are 2
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except CollectorError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # Whoever read stdout has gone; nothing may be written to it any more, not even by the interpreter at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user
        return _fail(_unexpected(error), 1)
    return 0


def _fail(message: str, code: int) -> int:
    lines = [log.printable(line) for line in message.splitlines()]
    typer.echo("collector: " + "\n  ".join(lines), err=True)
    return code


def _unexpected(error: Exception) -> str:
    """Where it broke, without what was being processed: a message may hold somebody's text."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    reason = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    return (
        f"Internal error {type(error).__name__}{reason} at {place}. Nothing that was acknowledged is lost. "
        f"Please report it with this line and the version ({__version__})."
    )
