"""`collector config`: writes a commented file, checks one, shows what is in force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer
from pydantic import BaseModel

from collector import settings
from collector.cli.scan import Config
from collector.errors import ConfigurationError
from collector.log import printable

app = typer.Typer(help="Write, check and show the configuration.", no_args_is_help=True)

HEADER = """\
# Configuration of collector. Every line that is commented out shows a default, or an example where there is none.
# A flag beats a COLLECTOR_* variable (COLLECTOR_SINK__URL), which beats this file.
# Secrets do not belong here: name a file that holds them (sink.token_file, redaction.key_file).

# Which Claude config directories are read; default: $CLAUDE_CONFIG_DIR, else ~/.claude and ~/.config/claude.
# roots = ["~/.claude"]
"""


@app.command()
def init(
    path: Annotated[
        Path | None, typer.Argument(help="Where to; default: the user's place.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Writes a commented configuration file."""
    target = path or settings.user_config()
    if str(target) == "-":
        typer.echo(commented(), nl=False)
        return
    try:
        if target.exists() and not force:
            raise ConfigurationError(f"{target} is already there. Give --force to replace it.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(commented(), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"Cannot write {target}: {error.strerror}. Give another path.") from None
    typer.echo(printable(f"Wrote {target}"))


@app.command()
def check(config: Config = None) -> None:
    """Says whether the configuration is valid; exit code 78 when it is not."""
    from collector.assembly import make_redactor

    chosen = settings.load(config)
    chosen.sink_token()
    make_redactor(chosen, b"check")
    path = settings.config_file(config)
    typer.echo(printable(f"{path or 'The defaults and the environment'}: valid."))


@app.command()
def show(config: Config = None) -> None:
    """Prints the values in force as JSON, secrets masked."""
    from collector.assembly import roots_of

    chosen = settings.load(config)
    shown = settings.masked(chosen) | {"roots": [root._asdict() for root in roots_of(chosen)]}
    typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())


def commented() -> str:
    """The configuration file that holds every option, its meaning and its default, all commented out."""
    parts = [HEADER]
    for name, field in settings.Settings.model_fields.items():
        section = field.annotation
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            continue
        parts.append(f"\n# {(section.__doc__ or '').strip()}\n[{name}]\n")
        for key, option in section.model_fields.items():
            comment = f"  # {option.description}" if option.description else ""
            value = option.examples[0] if option.examples else option.default
            parts.append(f"# {key} = {_toml(value)}{comment}\n")
    return "".join(parts)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{}"
    return orjson.dumps(value).decode()
