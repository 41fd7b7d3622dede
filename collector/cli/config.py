"""`collector config`: writes a commented file, checks one, shows what is in force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from collector import settings
from collector.cli.scan import Config
from collector.delivery.credentials import credentials
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.log import printable

app = typer.Typer(help="Write, check and show the configuration.", no_args_is_help=True)


@app.command()
def init(
    path: Annotated[
        Path | None, typer.Argument(help="Where to; default: the user's place.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Writes a commented configuration file."""
    from collector.agents.registry import AGENTS
    from collector.settings.reference import Whereabouts, commented

    target = path or settings.user_config()
    agents = [Whereabouts(form.title, form.root_variable, form.usual_roots) for form in AGENTS.values()]
    text = commented(SINKS, agents)
    if str(target) == "-":
        typer.echo(text, nl=False)
        return
    try:
        if target.exists() and not force:
            raise ConfigurationError(f"{target} already exists. Use --force to replace it.")
        target.parent.mkdir(parents=True, exist_ok=True)
        # A crash leaves the beginning of the file. Every option in it is a comment, so nothing can come into force.
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"Cannot write {target}: {error.strerror}. Give another path.") from None
    typer.echo(printable(f"Wrote {target}"))


@app.command()
def check(config: Config = None) -> None:
    """Says whether the configuration is valid; exit code 78 when it is not."""
    from collector.assembly import make_redactor, scope_of

    chosen = settings.load(config, sinks=SINKS)
    credentials(chosen.sink, chosen.sink_token())
    make_redactor(chosen, b"check")
    scope_of(chosen)
    path = settings.config_file(config)
    typer.echo(printable(f"{path or 'The defaults and the environment'}: valid."))


@app.command()
def show(config: Config = None) -> None:
    """Prints the values in force as JSON, secrets masked."""
    from collector.assembly import roots_of

    chosen = settings.load(config, sinks=SINKS)
    shown = settings.masked(chosen) | {"roots": [root._asdict() for root in roots_of(chosen)]}
    typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
