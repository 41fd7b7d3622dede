"""`collector report`: what is in the embedded store, as tables for people or as one JSON object."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.log import printable, tame_json
from collector.store.report import summarize

TABLE_ROWS = 15
LEAST_WIDTH = 80
PIPE_WIDTH = 160  # for a file or a pipe, where rich would squeeze everything into 80 columns
HEADINGS = {
    "day": "day",
    "model": "model",
    "project": "project",
    "messages": "messages",
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cache read",
    "cache_creation_tokens": "cache write",
}


def report(
    database: Annotated[Path | None, typer.Option(help="The SQLite database; default: the embedded store's.")] = None,
    since: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DAY", help="Only from this day on (UTC)."),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Only the last N days (UTC), today included.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    config: Annotated[Path | None, typer.Option(help="The configuration file.")] = None,
) -> None:
    """Shows what is in the embedded store: tokens per day and model, sessions, prompts and tools."""
    if since is not None and days is not None:
        raise typer.BadParameter("--since and --days exclude each other.", param_hint="--since")
    if days is not None:
        since = datetime.now(UTC) - timedelta(days=days - 1)
    path = database or settings.load(config, sinks=SINKS).database_path
    summary = summarize(path, since.date().isoformat() if since else "")
    if json:
        typer.echo(tame_json(summary, indent=2))
    else:
        terminal = Console()
        # Any narrower, and rich would drop digits; the terminal is left to wrap the lines instead.
        _show(summary, Console(width=max(terminal.width, LEAST_WIDTH) if terminal.is_terminal else PIPE_WIDTH))


def _show(summary: dict[str, Any], console: Console) -> None:
    if not summary["events"]:
        console.print("The store holds no events" + (" in this period." if summary["since"] else " yet."))
        return
    console.print(_token_table("Tokens by day and model", ("day", "model"), summary["tokens"], summary["totals"]))
    if len(summary["projects"]) > 1:
        title = "Tokens by project"
        console.print(_token_table(title, ("project",), summary["projects"][:TABLE_ROWS], None))
    if summary["tools"]:
        console.print(_tool_table(summary["tools"]))
    console.print(f"{summary['sessions']:,} sessions, {summary['prompts']:,} prompts, {summary['events']:,} events")
    unknown = summary["totals"]["messages_with_unknown_output"]
    if unknown:
        console.print(f"{unknown:,} messages lack their final output count; the true figure is higher than shown.")


def _token_table(
    title: str, labels: tuple[str, ...], rows: list[dict[str, Any]], totals: dict[str, int] | None
) -> Table:
    table = Table(title=title, title_justify="left", show_footer=totals is not None)
    for number, (name, heading) in enumerate(HEADINGS.items()):
        if name in labels:
            table.add_column(heading, footer="" if number else "total", overflow="fold", no_wrap=name == "day")
        elif name not in {"day", "model", "project"}:
            footer = f"{totals[name]:,}" if totals else ""
            table.add_column(heading, footer=footer, justify="right", no_wrap=True)
    figures = [name for name in HEADINGS if name not in {"day", "model", "project"}]
    for row in rows:
        cells = [Text(printable(row[label]) or "(none)") for label in labels]
        table.add_row(*cells, *(f"{row[name]:,}" for name in figures))
    return table


def _tool_table(tools: list[dict[str, Any]]) -> Table:
    table = Table("tool", title="Tools", title_justify="left")
    table.add_column("calls", justify="right")
    for tool in tools[:TABLE_ROWS]:
        table.add_row(Text(printable(tool["name"]) or "(none)"), f"{tool['calls']:,}")
    if len(tools) > TABLE_ROWS:
        rest = sum(tool["calls"] for tool in tools[TABLE_ROWS:])
        table.add_row(f"{len(tools) - TABLE_ROWS} more", f"{rest:,}")
    return table
