"""`collector help`: the help of a command, for those who ask for it in that order."""

from __future__ import annotations

from typing import Annotated

import typer


def help_(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="The command.", show_default=False)
    ] = None,
) -> None:
    """Show help for a command.

    Example: collector help service install
    """
    from collector.cli import run

    raise typer.Exit(run([*(words or []), "--help"]))
