"""`collector quarantine`: shows what is in quarantine and acts on it; `collector reset`: sends a source again."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector import log, settings
from collector.cli.scan import Config, StatePath, flags
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.keeping.quarantine import Quarantine
from collector.log import printable, tame_json
from collector.settings import Settings

app = typer.Typer(help="Show what is in quarantine, retry it, or drop it.", no_args_is_help=True)
ID_WIDTH = 32
PIPE_WIDTH = 200  # for a file or a pipe, where rich would squeeze everything into 80 columns
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids from `quarantine list`.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Every entry.")]


class NotFound(CollectorError):
    """Nothing goes by the name or the id that was given."""


def _opened(config: Path | None, state: Path | None) -> tuple[Settings, Quarantine]:
    from collector.assembly import quarantine_of

    chosen = settings.load(config, flags(None, None, None, state), sinks=SINKS)
    return chosen, quarantine_of(chosen)


@app.command(name="list")
def list_(
    config: Config = None,
    state: StatePath = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each entry, payload included.")] = False,
) -> None:
    """Lists what is in quarantine: since when, why, from where.

    Example: collector quarantine list
    """
    _, quarantine = _opened(config, state)
    entries = quarantine.entries()
    if json:
        sys.stdout.write("".join(f"{tame_json(entry)}\n" for entry in entries))
        return
    if not entries:
        typer.echo("The quarantine is empty.")
        return
    table = Table(box=None)
    table.add_column("id", no_wrap=True, min_width=ID_WIDTH)  # whole, because the other commands ask for it
    sinks = {entry.get("sink", "") for entry in entries}
    for heading in ("time", "reason", "source", "offset", "characters", *(("sink",) if len(sinks) > 1 else ())):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        cells = [entry["id"], entry["time"], entry["reason"], entry["source"], entry["offset"], len(entry["payload"])]
        cells += [entry.get("sink", "")] if len(sinks) > 1 else []
        table.add_row(*(Text(printable(str(cell))) for cell in cells))
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)


@app.command()
def show(
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="An id from `quarantine list`.")],
    config: Config = None,
    state: StatePath = None,
) -> None:
    """Prints one entry as JSON, its redacted payload included.

    Example: collector quarantine show 0123456789abcdef0123456789abcdef
    """
    _, quarantine = _opened(config, state)
    for entry in _chosen(quarantine, [entry_id], everything=False):
        typer.echo(tame_json(entry, indent=2))


@app.command()
def drop(ids: Ids = None, everything: All = False, config: Config = None, state: StatePath = None) -> None:
    """Removes entries for good.

    Example: collector quarantine drop --all
    """
    _, quarantine = _opened(config, state)
    entries = _chosen(quarantine, ids or [], everything=everything)
    dropped = quarantine.drop({entry["id"] for entry in entries})
    typer.echo(f"Dropped {dropped}.")


@app.command()
def retry(ids: Ids = None, everything: All = False, config: Config = None, state: StatePath = None) -> None:
    """Sends refused events again; what the sink accepts now leaves.

    Exits 3 if any is refused again.

    Example: collector quarantine retry --all
    """
    from collector.assembly import retry_events

    chosen, quarantine = _opened(config, state)
    log.configure(chosen.log.level, chosen.log.format)
    entries = _chosen(quarantine, ids or [], everything=everything)
    taken: set[str] = set()
    fates: Counter[str] = Counter()
    try:
        for entry, fate in retry_events(chosen, entries):
            taken |= {entry["id"]} if fate == "taken" else set()
            fates[fate] += 1
    finally:
        delivered = quarantine.drop(taken) if taken else 0
        excluded = f", of an excluded project {fates['excluded']}" if fates["excluded"] else ""
        excluded += f", of another sink {fates['of another sink']}" if fates["of another sink"] else ""
        said = f"Delivered {delivered}, refused again {fates['refused']}, not an event {fates['not an event']}"
        typer.echo(f"{said}{excluded}.")
    if fates["refused"]:
        raise typer.Exit(3)


def _chosen(quarantine: Quarantine, ids: list[str], *, everything: bool) -> list[dict[str, Any]]:
    entries = quarantine.entries()
    if everything:
        return entries
    if not ids:
        raise typer.BadParameter("name at least one id, or give --all.", param_hint="ids")
    found = {entry["id"] for entry in entries}
    missing = [entry_id for entry_id in ids if entry_id not in found]
    if missing:
        raise NotFound(f"The quarantine has no entry {', '.join(missing)}. `collector quarantine list` shows the ids.")
    return [entry for entry in entries if entry["id"] in ids]


def reset(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Paths or state keys of sources.", show_default=False),
    ] = None,
    everything: All = False,
    forget: Annotated[bool, typer.Option("--forget", help="Drop what is held for a failing sink.")] = False,
    config: Config = None,
    state: StatePath = None,
) -> None:
    """Has the next pass send sources again, from their start.

    Ids make the repeats harmless. With --forget what is held of them is dropped, unsent; with --forget alone everything
    held, and no offset changes.

    Example: collector reset --all
    """
    from collector.assembly import committer_of, held_of, state_of
    from collector.keeping.lock import lock

    chosen = settings.load(config, flags(None, None, None, state), sinks=SINKS)
    if not sources and not everything and not forget:
        raise typer.BadParameter("name at least one source, or give --all.", param_hint="sources")
    with lock(chosen.state_path, "reset"):
        offsets = state_of(chosen).load()
        keys = list(offsets.entries) if everything else [settings.state_key(source) for source in sources or []]
        dropped = held_of(chosen).forget(None if everything or not sources else keys) if forget else 0
        unknown = [key for key in keys if key not in offsets.entries]
        if unknown and not dropped:
            raise NotFound(f"The state {chosen.state_path} knows nothing of {', '.join(unknown)}. Nothing was changed.")
        forgotten = committer_of(offsets, chosen).reset(keys)
    if forget:
        typer.echo(f"{dropped} held files were dropped.")
    typer.echo(f"{len(forgotten)} sources are sent again by the next pass.")
