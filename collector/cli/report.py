"""`collector report`: the contents of the embedded store, as tables for people, as CSV, or as one JSON object.

In: a period, filters, and what to add up by. Out: an overview, or one table with a bar for each row. Invariant: the
report says what it leaves out: rows beyond the limit, columns that do not fit, models without a price.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from collector.cli.options import AsJson, Config, Database, Project, Since, Until, day_of, key_of_project
from collector.cli.tables import Column, bars, print_csv, shown
from collector.cli.which_agent import store_here
from collector.log import counted, printable, tame_json
from collector.store import prices, queries, tool_use
from collector.store.queries import EVERYTHING, Selection
from collector.store.report import asking, summarize

LEAST_WIDTH = 40
ENOUGH_OF_AN_ID = 8  # also for `preview`, which accepts the beginning of an id
PIPE_WIDTH = 160  # for a file or a pipe, which need not fit into 80 columns
OVERVIEW_ROWS = 15
NO_MATCH = "The store has nothing that matches."
IN_ORDER = frozenset({"day", "week", "month"})


class By(StrEnum):
    """What to add up by."""

    day = "day"
    week = "week"
    month = "month"
    model = "model"
    project = "project"
    session = "session"
    tool = "tool"
    host = "host"
    user = "user"
    agent = "agent"


TOKENS = (
    Column("messages", "messages", 4),
    Column("input_tokens", "input", 3),
    Column("output_tokens", "output", 0),
    Column("cache_read_tokens", "cache read", 2),
    Column("cache_creation_tokens", "cache write", 1),
)
COST = Column("cost_micros", "cost", 0, "dollars")
TOOLS = (
    Column("calls", "calls", 0),
    Column("failed", "failed", 0),
    Column("p50_ms", "p50", 2, "duration"),
    Column("p95_ms", "p95", 1, "duration"),
)
SESSIONS = (
    Column("last_time", "last (UTC)", 1, "minute"),
    Column("title", "title", 0, "title"),
    Column("project", "project", 3, "text"),
    Column("prompts", "prompts", 2),
    Column("tool_calls", "tools", 2),
    Column("tool_failures", "failed", 4),
    Column("output_tokens", "output", 0),
)


def report(
    by: Annotated[
        By | None, typer.Option(help="Group by this instead of showing an overview.", show_default=False)
    ] = None,
    since: Since = None,
    until: Until = None,
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="The last N days (UTC), today included.")] = None,
    project: Project = None,
    model: Annotated[str | None, typer.Option(help="Only this model.", show_default=False)] = None,
    host: Annotated[str | None, typer.Option(help="Only this machine, by name.", show_default=False)] = None,
    user: Annotated[str | None, typer.Option(help="Only this user.", show_default=False)] = None,
    agent: Annotated[
        str | None, typer.Option(help="Only this type of subagent; `main` is the session itself.", show_default=False)
    ] = None,
    cost: Annotated[bool, typer.Option("--cost", help="Show the cost, in US dollars at list prices.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Rows per table; 0 shows all.")] = 30,
    json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header line.")] = False,
    database: Database = None,
    config: Config = None,
) -> None:
    """Show the tokens, sessions, prompts and tools in the store.

    Example: collector report --by project --days 30 --cost
    """
    if since is not None and days is not None:
        raise typer.BadParameter("cannot be used together with --days.", param_hint="--since")
    if json and as_csv:
        raise typer.BadParameter("cannot be used together with --csv.", param_hint="--json")
    if days is not None:
        since = datetime.now(UTC) - timedelta(days=days - 1)
    chosen, path = store_here(config, database)
    table = prices.load(chosen.store.prices)
    selection = Selection(day_of(since), day_of(until), key_of_project(project), model, host, user, agent)
    if by is None:
        summary = summarize(path, chosen=selection, prices=table)
        rows = summary["tokens"]
    else:
        rows = _rows_by(path, by, selection, limit if not (json or as_csv) else 0, table)
        summary = {"by": by.value, "since": selection.since or None, "until": selection.until or None, "rows": rows}
    if json:
        typer.echo(tame_json(summary, indent=2))
    elif as_csv:
        if rows:
            print_csv(rows[0], map(dict.values, rows))
    elif by is None:
        _overview(summary, selection, _console(), limit, is_cost=cost)
    else:
        _table_by(by, rows, _console(), limit, is_cost=cost)
    if not (json or as_csv) and (said := _reach(by, selection)):
        typer.echo(said)


def _reach(by: By | None, chosen: Selection) -> str:
    """Explains what the filters do not apply to, where people might think they do."""
    if by is By.session and chosen != EVERYTHING:
        return "A session is listed if any part of it matches; its figures are for the whole session."
    if chosen.model is not None and by in {None, By.tool}:
        return "--model filters tokens only; tools, sessions, prompts and events cover all models."
    return ""


def _rows_by(path: Path, by: By, chosen: Selection, limit: int, table: prices.PriceTable) -> list[dict[str, Any]]:
    with asking(path, table) as connection:
        if by is By.tool:
            return tool_use.tools(connection, chosen)
        if by is By.session:
            return queries.sessions(connection, chosen, limit=limit + 1 if limit else -1)
        return queries.usage_by(connection, (by.value,), chosen)


def _key(by: By) -> str:
    return {By.tool: "name", By.session: "session_id"}.get(by, by.value)


def _table_by(by: By, rows: list[dict[str, Any]], console: Console, limit: int, *, is_cost: bool) -> None:
    if not rows:
        console.print(NO_MATCH)
        return
    if by is By.session:
        rows = [row | {"title": row["title"] or row["session_id"][:ENOUGH_OF_AN_ID]} for row in rows]
    measure = "calls" if by is By.tool else "cost_micros" if is_cost else "output_tokens"
    if by in IN_ORDER:
        left_out = rows[:-limit] if limit else []
        rows, which = rows[len(left_out) :], "earlier"
    else:
        if by is not By.session:
            rows = sorted(rows, key=lambda row: (-(row[measure] or 0), str(row[_key(by)])))
        rows, left_out, which = (rows[:limit], rows[limit:], "more") if limit else (rows, [], "")
    columns = {By.tool: TOOLS, By.session: SESSIONS}.get(by, TOKENS)
    if is_cost and by is not By.tool:
        columns = (*columns, COST)
    labels = () if by is By.session else (Column(_key(by), by.value, 0, "text"),)
    notes = shown(console, (*labels, *columns), rows, bars([row[measure] or 0 for row in rows]))
    if left_out:
        more = "More sessions" if by is By.session else counted(len(left_out), f"{which} {by.value}")
        notes.append(f"{more} not shown; --limit 0 shows all.")
    for note in notes + _doubts(rows, is_cost=is_cost):
        console.print(note, soft_wrap=True)


def _overview(summary: dict[str, Any], chosen: Selection, console: Console, limit: int, *, is_cost: bool) -> None:
    if not summary["events"]:
        console.print("The store has no events yet." if chosen == EVERYTHING else NO_MATCH)
        return
    columns = (*TOKENS, COST) if is_cost else TOKENS
    labels = (Column("day", "day", 0, "text"), Column("model", "model", 0, "text"))
    earlier = summary["tokens"][:-limit] if limit else []
    rows = summary["tokens"][len(earlier) :]
    notes = shown(console, (*labels, *columns), rows, title="Tokens by day and model", totals=summary["totals"])
    if earlier:
        notes.append(f"{counted(len(earlier), 'earlier row')} not shown, but in the total; --limit 0 shows all.")
    if len(summary["projects"]) > 1:
        rows, left = summary["projects"][:OVERVIEW_ROWS], summary["projects"][OVERVIEW_ROWS:]
        notes += shown(console, (Column("project", "project", 0, "text"), *columns), rows, title="Tokens by project")
        if left:
            notes.append(f"{counted(len(left), 'more project')} not shown; --by project shows all.")
    if summary["tools"]:
        rows, left = summary["tools"][:OVERVIEW_ROWS], summary["tools"][OVERVIEW_ROWS:]
        if left:
            rows = [*rows, {"name": f"{len(left)} more", "calls": sum(row["calls"] for row in left)}]
        shown(console, (Column("name", "tool", 0, "text"), TOOLS[0]), rows, title="Tools")
    console.print(", ".join(counted(summary[f"{what}s"], what) for what in ("session", "prompt", "event")))
    for note in dict.fromkeys(notes + _doubts(summary["tokens"], is_cost=is_cost)):
        console.print(note, soft_wrap=True)


def _doubts(rows: list[dict[str, Any]], *, is_cost: bool) -> list[str]:
    """Explains where the figures fall short."""
    notes = []
    unknown = sum(row.get("unknown_output", 0) for row in rows)
    if unknown:
        lack = counted(unknown, "message lacks its", "messages lack their")
        notes.append(f"{lack} final output count; the true total is higher than shown.")
    if is_cost:
        without = sum(row.get("messages_without_price", 0) for row in rows)
        models = sorted({str(row["model"]) for row in rows if row.get("model") and row.get("messages_without_price")})
        named = f" ({', '.join(map(printable, models))})" if models else ""
        if without:
            of = counted(without, "message")
            notes.append(f"The cost leaves out {of} from models without a price{named}; store.prices can add one.")
        notes.append(
            "Costs are at API list prices, not what you were billed; `collector store prices` shows the prices."
        )
    return notes


def _console() -> Console:
    terminal = Console(highlight=False)
    width = max(terminal.width, LEAST_WIDTH) if terminal.is_terminal else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False)  # in the name of a model, [/b] is no markup
