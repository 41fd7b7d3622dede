"""`collector config`: writes a commented file, checks one, shows what is in force."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from collector import settings
from collector.cli.options import AsJson, Config, Roots, SinkType, SinkUrl, StatePath, flags
from collector.delivery.credentials import credentials_now
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError, ConfigurationError
from collector.files import make_directory
from collector.log import printable, tame_json

app = typer.Typer(help="Write, check and show the configuration.", no_args_is_help=True)

System = Annotated[
    bool,
    typer.Option(
        "--system",
        help="Read only the files in /etc/collector, with that of --config in place of its collector.toml.",
    ),
]


@app.command()
def init(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="The file to write; - for stdout. Default: your configuration file.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file, keeping it as .bak.")] = False,
) -> None:
    """Write a commented configuration file.

    The file changes nothing until a line in it is uncommented.

    Example: collector config init
    """
    from collector.agents.registry import AGENTS
    from collector.settings.reference import Whereabouts, commented

    target = path or settings.user_config()
    agents = [Whereabouts(form.title, form.root_variable, form.usual_roots) for form in AGENTS.values()]
    text = commented(SINKS, agents)
    if str(target) == "-":
        typer.echo(text, nl=False)
        return
    try:
        kept = target.with_name(f"{target.name}.bak") if target.exists() else None
        if kept and not force:
            raise ConfigurationError(
                f"{target} already exists. `collector config init -` prints one to copy from; --force replaces "
                f"this one and keeps it as {kept.name}."
            )
        if kept:
            shutil.copy2(target, kept)  # it may exclude a project
        make_directory(target.parent)
        # A crash leaves the beginning of the file. Every option in it is commented out, so nothing takes effect.
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"Cannot write {target}: {error.strerror}. Name another path.") from None
    typer.echo(printable(f"Wrote {target}"))
    if kept:
        typer.echo(
            printable(f"The old settings, including projects.exclude, are no longer in force; they are in {kept}.")
        )


@app.command()
def check(
    config: Config = None,
    system: System = False,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    json: AsJson = False,
) -> None:
    """Check that the configuration is valid; exit 78 if it is not.

    Example: collector config check --system --config collector.toml
    """
    try:
        chosen = _checked(config, flags(root, sink_url, sink_type, state), is_for_system=system)
    except CollectorError as error:
        if json:
            typer.echo(tame_json({"is_valid": False, "problems": str(error).splitlines()}))
        raise
    if json:
        overruled = [each._asdict() for each in chosen.origins.overruled]
        told = {"is_valid": True, "problems": [], "files": chosen.origins.files, "overruled": overruled}
        typer.echo(tame_json(told))
        return
    typer.echo(printable(f"{', '.join(chosen.origins.files) or 'The defaults and the environment'}: valid."))
    _say_overruled(chosen)


@app.command()
def show(
    config: Config = None,
    system: System = False,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    json: AsJson = False,
) -> None:
    """Show every value in force, where it comes from, and any lock.

    Secrets are masked.

    Example: collector config show
    """
    from collector.assembly import roots_of
    from collector.settings.disclosure import statement

    given = flags(root, sink_url, sink_type, state)
    chosen = settings.load(config, given, sinks=SINKS, is_for_system=system)
    shown = settings.masked(chosen) | {"roots": [each._asdict() for each in roots_of(chosen)]}
    origins = chosen.origins
    options = {
        key: {
            "value": value,
            "from": origins.place(key) or _usual_place(key),
            "locked_by": origins.locked_by(key) or None,
        }
        for key, value in _flat(shown)
    }
    if json:
        overruled = [each._asdict() for each in origins.overruled]
        told = {"files": origins.files, "options": options, "overruled": overruled}
        typer.echo(tame_json(told | {"disclosure": [statement(each) for each in chosen.each()]}, indent=2))
        return
    width = max(map(len, options))
    for key, option in options.items():
        value = "(not set)" if option["value"] is None else tame_json(option["value"])
        locked = f", locked by {option['locked_by']}" if option["locked_by"] else ""
        typer.echo(printable(f"{key:{width}}  {value}  ({option['from']}{locked})"))
    for each in chosen.each():
        typer.echo(printable(statement(each)))
    _say_overruled(chosen)


def _checked(config: Path | None, given: Mapping[str, Any], *, is_for_system: bool) -> settings.Settings:
    """The settings, after what would fail only at the start has been tried. Raises what it would raise."""
    from collector.assembly import scope_of
    from collector.delivery.trust import trust_of
    from collector.store import prices
    from collector.way_out import make_redactor

    chosen = settings.load(config, given, sinks=SINKS, is_for_system=is_for_system)
    make_redactor(chosen, b"check")
    prices.load(chosen.store.prices)
    for each in chosen.each():
        sink = SINKS[each.sink_type]
        sink.sink(each)
        credentials_now(each.sink, sink.scheme)
        if each.sink.is_encrypted:
            trust_of(each.sink)
        scope_of(each)
    return chosen


def _usual_place(key: str) -> str:
    """Where a value comes from if no layer sets it: an agent's own variable may name its roots."""
    from collector.agents.registry import AGENTS

    variables = (form.root_variable for form in AGENTS.values() if key == "roots" and form.root_variable)
    named = next((name for name in variables if settings.variable(name)), "")
    return f"the environment variable {named}" if named else "default"


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its dotted key; an empty table counts as a value, too."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def _say_overruled(chosen: settings.Settings) -> None:
    for each in chosen.origins.overruled:
        typer.echo(printable(str(each)), err=True)
