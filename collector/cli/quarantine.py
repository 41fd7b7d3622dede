"""`collector quarantine`: shows what is in quarantine and acts on it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector import log, settings
from collector.cli.options import SOME_LEFT, All, AsJson, Config, SinkName, StatePath, flags
from collector.cli.which_agent import agents_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.keeping.quarantine import Quarantine
from collector.log import counted, printable, tame_json
from collector.settings import Settings

app = typer.Typer(help="List, show, retry or drop what is in quarantine.", no_args_is_help=True)
AS_WIDE_AS_IT_TAKES = 10_000  # rich would squeeze everything into the available width, letter by letter
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids from `quarantine list`.", show_default=False)]


class Kept(NamedTuple):
    """A sink's settings, its quarantine, and the selected entries."""

    chosen: Settings
    quarantine: Quarantine
    entries: list[dict[str, Any]]


def _opened(config: Path | None, state: Path | None, sink: str | None) -> list[Kept]:
    """The quarantine of each sink, or of the named one, with all its entries; also those of the system service that
    runs for this user."""
    from collector.assembly import quarantine_of

    loaded = settings.load(config, flags(state=state), sinks=SINKS)
    log.configure(loaded.log.level, loaded.log.format)
    every = [each for agent in agents_here(loaded) for each in agent.each() if sink in {None, each.sink_name}]
    kept = [(each, quarantine_of(each)) for each in every or loaded.named(sink)]
    return [Kept(each, quarantine, quarantine.entries()) for each, quarantine in kept]


@app.command(name="list")
def list_(
    config: Config = None,
    state: StatePath = None,
    sink: SinkName = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per entry, including the payload.")
    ] = False,
) -> None:
    """List what is in quarantine: since when, why, and where from.

    Example: collector quarantine list
    """
    entries = [entry for kept in _opened(config, state, sink) for entry in kept.entries]
    if json:
        sys.stdout.write("".join(f"{tame_json(entry)}\n" for entry in entries))
        return
    if not entries:
        typer.echo("The quarantine is empty.")
        return
    table = Table(box=None)
    sinks = {entry.get("sink", "") for entry in entries}
    for heading in ("id", "time", "reason", "source", "offset", "characters", *(("sink",) if len(sinks) > 1 else ())):
        table.add_column(heading, no_wrap=True)  # a row may be wider than the terminal; ids and paths stay whole
    for entry in entries:
        cells = [entry["id"], entry["time"], entry["reason"], entry["source"], entry["offset"], len(entry["payload"])]
        cells += [entry.get("sink", "")] if len(sinks) > 1 else []
        table.add_row(*(Text(printable(str(cell))) for cell in cells))
    Console(width=AS_WIDE_AS_IT_TAKES).print(table)


@app.command()
def show(
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="An id from `quarantine list`.")],
    config: Config = None,
    state: StatePath = None,
    sink: SinkName = None,
) -> None:
    """Print one entry as JSON, including its redacted payload.

    Example: collector quarantine show 0123456789abcdef0123456789abcdef
    """
    for kept in _meant(_opened(config, state, sink), [entry_id], everything=False):
        for entry in kept.entries:
            typer.echo(tame_json(entry, indent=2))


@app.command()
def drop(
    ids: Ids = None,
    everything: All = False,
    config: Config = None,
    state: StatePath = None,
    sink: SinkName = None,
    json: AsJson = False,
) -> None:
    """Remove entries for good.

    Example: collector quarantine drop --all
    """
    meant = _meant(_opened(config, state, sink), ids or [], everything=everything)
    dropped = sum(kept.quarantine.drop(kept.entries) for kept in meant)
    typer.echo(tame_json({"dropped": dropped}) if json else f"Dropped {counted(dropped, 'entry', 'entries')}.")


@app.command()
def retry(
    ids: Ids = None,
    everything: All = False,
    config: Config = None,
    state: StatePath = None,
    sink: SinkName = None,
    json: AsJson = False,
) -> None:
    """Send refused events again; remove those the sink now accepts.

    Exits 3 if any is refused again.

    Example: collector quarantine retry --all
    """
    meant = _meant(_opened(config, state, sink), ids or [], everything=everything)
    fates = Counter[str]()
    try:
        for kept in meant:
            _retried(kept, fates)
    finally:
        _say_fates(fates, as_json=json)
    if fates["refused"]:
        raise typer.Exit(SOME_LEFT)


FATES = ("delivered", "refused", "not an event", "excluded", "of another sink")


def _say_fates(fates: Counter[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(tame_json({name.replace(" ", "_"): fates[name] for name in FATES}))
    else:
        excluded = f", from an excluded project {fates['excluded']}" if fates["excluded"] else ""
        excluded += f", for another sink {fates['of another sink']}" if fates["of another sink"] else ""
        said = f"Delivered {fates['delivered']}, refused again {fates['refused']}, not an event {fates['not an event']}"
        typer.echo(f"{said}{excluded}.")


def _retried(kept: Kept, fates: Counter[str]) -> None:
    """Retries entries and counts the outcomes. However this ends, accepted events leave the quarantine."""
    from collector.assembly import retry_events

    taken: list[dict[str, Any]] = []
    try:
        for entry, fate in retry_events(kept.chosen, kept.entries):
            taken += [entry] if fate == "taken" else []
            fates[fate] += 1
    finally:
        fates["delivered"] += kept.quarantine.drop(taken)


def _meant(every: list[Kept], ids: list[str], *, everything: bool) -> list[Kept]:
    """The entries with these ids, for any sink."""
    if everything:
        return every
    if not ids:
        raise typer.BadParameter("name at least one id, or use --all.", param_hint="ids")
    found = {entry["id"] for kept in every for entry in kept.entries}
    missing = [entry_id for entry_id in ids if entry_id not in found]
    if missing:
        raise CollectorError(
            f"No such entry in quarantine: {', '.join(missing)}. `collector quarantine list` shows the ids."
        )
    return [kept._replace(entries=[entry for entry in kept.entries if entry["id"] in ids]) for kept in every]
