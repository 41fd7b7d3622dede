"""`collector store`: queries, shrinks and exports the embedded store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from collector import settings
from collector.cli.options import AsJson, Config, Database, Project, Since, Until, day_of, key_of_project
from collector.cli.which_agent import store_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.files import only_for_this_user
from collector.log import counted, in_words, printable, tame_json
from collector.store.queries import Selection

app = typer.Typer(help="Query, export and maintain the embedded store.", no_args_is_help=True)


@app.command()
def info(database: Database = None, json: AsJson = False, config: Config = None) -> None:
    """Show what the store holds and how much disk it uses.

    Example: collector store info
    """
    from collector.store.upkeep import info as info_of

    chosen, path = store_here(config, database)
    found = info_of(path) | {"retention_days": chosen.store.retention_days}
    if json:
        typer.echo(tame_json(found, indent=2))
        return
    days = found["retention_days"]
    lines = [
        ("database", f"{path}, version {found['version']}"),
        ("size", f"{in_words(found['bytes'])}, {in_words(found['free_bytes'])} of it free"),
        ("events", f"{found['events']:,} in {counted(found['sessions'], 'session')}"),
        ("period", f"{found['first_time'] or '-'} to {found['last_time'] or '-'}"),
        ("as sent", f"{in_words(found['bytes_sent'])}; compressed: {in_words(found['bytes_of_bodies'])}"),
        ("per event", f"{counted(found['bytes_an_event'] or 0, 'byte')} in all"),
        (
            "kept",
            f"{counted(days, 'day')} (store.retention_days)" if days else "forever (store.retention_days is not set)",
        ),
    ]
    if found["models_without_price"]:
        lines.append(("no price", ", ".join(printable(name) or "(none)" for name in found["models_without_price"])))
    for name, value in lines:
        typer.echo(f"{name:<9} {value}")


@app.command()
def compact(database: Database = None, json: AsJson = False, config: Config = None) -> None:
    """Remove events past their retention and shrink the database.

    Events older than store.retention_days are removed, if that is set. Shrinking needs twice as much free space as the
    database takes. Nothing can be written to the store meanwhile; senders wait and try again.

    Example: collector store compact
    """
    from collector.store.database import open_to_read
    from collector.store.removing import remove_old
    from collector.store.upkeep import compact as make_small
    from collector.store.writer import Writer

    chosen, path = store_here(config, database)
    open_to_read(path).close()  # raises if there is none
    days, removed = chosen.store.retention_days, 0
    with closing(Writer(path, own_prices=chosen.store.prices)) as writer:
        if days is not None:
            removed = remove_old(writer, days)
        before, after = make_small(writer)
    if json:
        typer.echo(tame_json({"removed_events": removed, "bytes_before": before, "bytes_after": after}))
        return
    if days is not None:
        typer.echo(f"Removed {counted(removed, 'event')} older than {counted(days, 'day')}.")
    typer.echo(f"{in_words(before)} before, {in_words(after)} now.")


@app.command()
def export(
    output: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The file to write. Default: stdout.", show_default=False)
    ] = None,
    since: Since = None,
    until: Until = None,
    project: Project = None,
    session: Annotated[str | None, typer.Option(help="Only this session.", show_default=False)] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet; needs duckdb or pyarrow.")] = False,
    database: Database = None,
    config: Config = None,
) -> None:
    """Export events as they were sent, one per line, or as Parquet.

    Example: collector store export events.ndjson --since 2026-03-01
    """
    from collector.store.parquet import write_parquet
    from collector.store.upkeep import exported

    _, path = store_here(config, database)
    chosen = Selection(since=day_of(since), until=day_of(until), project=key_of_project(project), session=session)
    events = exported(path, chosen)
    if output is None:
        if parquet:
            raise typer.BadParameter("--parquet needs a FILE to write to.", param_hint="output")
        count = sum(1 for line in events if sys.stdout.write(f"{line}\n"))
    else:
        with only_for_this_user():
            count = write_parquet(events, output) if parquet else _write(events, output)
    typer.echo(f"Exported {counted(count, 'event')}.", err=True)


@app.command()
def prices(config: Config = None) -> None:
    """Print the price table that costs are computed from.

    store.prices names a file of the same form; its rows override these.

    Example: collector store prices
    """
    chosen = settings.load(config, sinks=SINKS, sends=False)
    typer.echo((resources.files("collector.store") / "prices.toml").read_text(encoding="utf-8"), nl=False)
    if chosen.store.prices is not None:
        typer.echo(f"\n# {chosen.store.prices} (store.prices) overrides rows above.", err=True)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT statement.")],
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header line.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="Stop the query after this many seconds.")] = 20.0,
    database: Database = None,
    config: Config = None,
) -> None:
    """Query the store in SQL, read-only; print one JSON object per row.

    docs/store.md describes the views.

    Example: collector store sql "SELECT model, sum(output_tokens) FROM messages GROUP BY 1"
    """
    from collector.cli.tables import print_csv
    from collector.store import prices as price_table
    from collector.store.asking import ask

    chosen, path = store_here(config, database)
    answer = ask(path, statement, prices=price_table.load(chosen.store.prices), seconds=seconds)
    if as_csv:
        print_csv(answer.columns, answer.rows)
    else:
        for row in answer.objects:
            typer.echo(tame_json(row))
    if answer.is_cut:
        typer.echo(f"Cut off after {counted(len(answer.rows), 'row')}; there are more.", err=True)


def _write(lines: Iterator[str], output: Path) -> int:
    count = 0
    try:
        with output.open("w", encoding="utf-8") as file:
            for count, line in enumerate(lines, 1):  # noqa: B007 - counted on purpose
                file.write(f"{line}\n")
    except OSError as error:
        raise CollectorError(f"Cannot write {output}: {error.strerror}. Name another file.") from None
    return count
