"""`collector store`: queries, shrinks and exports the embedded store; `collector forget` removes events from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from collector import settings
from collector.cli.options import SOME_LEFT, AsJson, Config, Database, Since, StatePath, Until, day_of, flags
from collector.cli.which_agent import agents_here, store_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.files import only_for_this_user
from collector.keeping.quarantine import Quarantine
from collector.log import counted, in_words, printable, tame_json
from collector.settings import Settings
from collector.store.queries import Selection
from collector.store.removing import Choice, Removed

app = typer.Typer(help="Query, export and maintain the embedded store.", no_args_is_help=True)


class NotPossible(CollectorError):
    """The request cannot be carried out here."""


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
    from collector.store.removing import remove_old
    from collector.store.upkeep import compact as make_small

    chosen, path = store_here(config, database)
    _must_exist(path)
    days, removed = chosen.store.retention_days, 0
    with closing(_writer(path, chosen)) as writer:
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
    project: Annotated[str | None, typer.Option(help="Only this project.", show_default=False)] = None,
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
    chosen = Selection(since=day_of(since), until=day_of(until), project=project, session=session)
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


def forget(
    session: Annotated[str | None, typer.Option(help="Only the session with this id.", show_default=False)] = None,
    project: Annotated[
        str | None,
        typer.Option(
            help="Only this project: its path, or the name of its directory below projects/.", show_default=False
        ),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], metavar="DAY", help="Only what happened before this day (UTC).", show_default=False
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    json: AsJson = False,
    database: Database = None,
    state: StatePath = None,
    config: Config = None,
) -> None:
    """Remove events from the embedded store for good.

    Whatever is held or quarantined of them goes too. Transcripts, and what was sent elsewhere, are not touched: exclude
    the project first, or new events will come in. An event is removed only if it meets every condition given.

    Example: collector forget --project ~/work/shop
    """
    for name, given in (("--session", session), ("--project", project)):
        if given is not None and not given.strip():  # as from a variable that is not set
            raise typer.BadParameter("must not be empty. Nothing was removed.", param_hint=name)
    if project is not None and ("/" in project or project.startswith("~") or project in (".", "..")):
        project = os.path.abspath(os.path.expanduser(project))
    choice = Choice(session, project, day_of(before) or None)
    if not choice.described:
        raise typer.BadParameter("say what to remove: --session, --project or --before.", param_hint="--session")
    chosen = settings.load(config, flags(state=state), sinks=SINKS, sends=False)
    agents = [chosen] if database else agents_here(chosen)
    # Who sends elsewhere has no store, but may have something held or quarantined.
    stores = {database or each.database_path: each for each in reversed(agents)}
    there = [path for path in stores if database or path.exists()]
    removed = [_remove_stored(path, stores[path], choice, is_sure=yes) for path in there]
    left = [problem for path in there for problem in _left_in(path, stores[path])]
    # By date, nothing but the store: what is held is still due to be sent.
    let_go = [] if database or before else [gone for agent in agents for gone in _let_go_of(agent, choice)]
    events, sessions = sum(each.events for each in removed), sum(each.sessions for each in removed)
    held, quarantined = sum(held for held, _, _ in let_go), sum(dropped for _, dropped, _ in let_go)
    if any(is_left for _, _, is_left in let_go):
        left.append("A running agent holds some files. Stop it and run this again, or wait until they are sent.")
    told = {"events": events, "sessions": sessions, "held": held, "quarantined": quarantined}
    if json:
        typer.echo(tame_json(told))
    else:
        typer.echo(
            f"Removed {counted(events, 'event')} from the store, {counted(held, 'held file')}, "
            f"{counted(quarantined, 'quarantined entry', 'quarantined entries')}."
        )
    if left:
        typer.echo("\n".join(left), err=True)
        raise typer.Exit(SOME_LEFT)


def _left_in(path: Path, chosen: Settings) -> Iterator[str]:
    """Writes the store anew without what was removed; what prevented that, if anything."""
    from collector.store.database import StoreError

    try:
        with closing(_writer(path, chosen)) as writer:
            writer.rewrite()
    except StoreError as error:
        yield f"{error} What was removed may be in the files until `collector store compact` has run."


def _remove_stored(path: Path, chosen: Settings, choice: Choice, *, is_sure: bool) -> Removed:
    """Removes events from the store, after a person has confirmed how many."""
    from collector.store.removing import count, remove
    from collector.store.report import asking

    _must_exist(path)
    choice = choice._replace(names=_every_name(chosen, choice))
    with asking(path) as connection:
        found = count(connection, choice)
    if not is_sure and found.events:
        if not sys.stdin.isatty():
            raise NotPossible(
                f"This would remove {counted(found.events, 'event')}. Without a terminal to confirm on, add --yes."
            )
        typer.confirm(
            f"Remove {counted(found.events, 'event')} of {counted(found.sessions, 'session')} for good?", abort=True
        )
    with closing(_writer(path, chosen)) as writer:
        return remove(writer, choice, "asked for by a person")


def _every_name(chosen: Settings, choice: Choice) -> str:
    """Every name that the project may have in events, including its pseudonyms at the level metadata."""
    from collector.assembly import capture_of, installation_of
    from collector.flow.pseudonym import pseudonym

    if choice.project is None:
        return choice.names
    key, names = capture_of(chosen, installation_of(chosen)).key, sorted(_names_of(choice.project))
    return orjson.dumps([*names, *(pseudonym("project", name, key) for name in names)]).decode()


def _names_of(project: str) -> set[str]:
    """The names a project may have: the given one, and those that coding agents give to a directory at this path."""
    from collector.agents.registry import AGENTS

    return {project, *(form.key_of(project) for form in AGENTS.values())}


def _let_go_of(agent: Settings, choice: Choice) -> list[tuple[int, int, bool]]:
    """The results of `_let_go` for each sink of an agent, and for files held for sinks that are gone."""
    return [_let_go_left_behind(agent, choice), *(_let_go(each, choice) for each in agent.each())]


def _let_go(chosen: Settings, choice: Choice) -> tuple[int, int, bool]:
    """Drops what is held or quarantined of a session or project. Returns how many of each, and whether a running agent
    prevented it."""
    from collector.assembly import held_of, quarantine_of
    from collector.errors import StateLocked
    from collector.keeping.left_behind import said_in
    from collector.keeping.lock import lock

    held = held_of(chosen).held
    keys = [
        file.original.key
        for file in held.files
        if _is_of(choice, file.original.session_id, file.original.project)
        or _is_told(choice, said_in(held.path_of(file)))
    ]
    dropped = _drop_quarantined(quarantine_of(chosen), choice)
    if not keys:
        return 0, dropped, False
    try:
        with lock(chosen.state_path, "forget"):
            return held_of(chosen).forget(keys), dropped, False
    except StateLocked:
        return 0, dropped, True


def _let_go_left_behind(chosen: Settings, choice: Choice) -> tuple[int, int, bool]:
    """The same for files that no longer belong to any agent, so none can prevent it."""
    from collector.keeping.left_behind import drop_left_behind, quarantines_left_behind

    states = [each.state_path for each in chosen.each()]
    paths = quarantines_left_behind(chosen.state_path, states)
    dropped = sum(_drop_quarantined(Quarantine(path, chosen.quarantine.max_bytes), choice) for path in paths)
    return drop_left_behind(chosen.state_path, states, lambda told: _is_told(choice, told)), dropped, False


def _drop_quarantined(quarantine: Quarantine, choice: Choice) -> int:
    return quarantine.drop(entry for entry in quarantine.entries() if _holds(choice, entry))


def _is_told(choice: Choice, told: Iterable[str]) -> bool:
    """Whether a transcript belongs to this session and project, or to a directory below it, judging by its records."""
    is_session, is_project = choice.session is None, choice.project is None
    for text in told:
        is_session = is_session or text == choice.session
        is_project = is_project or _is_at(text, choice.project or "")
    return is_session and is_project


def _is_at(place: str, project: str) -> bool:
    """Whether a directory belongs to a project, which is named by its path or by its directory below projects/."""
    return f"{place}/".startswith(f"{project}/") or (len(place) == len(project) and project in _names_of(place))


def _is_of(choice: Choice, session: str, project: str) -> bool:
    return choice.session in {None, session} and (choice.project is None or project in _names_of(choice.project))


def _holds(choice: Choice, entry: dict[str, Any]) -> bool:
    """Whether a quarantined entry belongs to this session and project: an event says where it happened; a torn line, or
    an event without a directory, is judged by its file and by what it mentions."""
    path, payload = Path(str(entry.get("source", ""))), str(entry.get("payload", ""))
    session, project = choice.session or "", choice.project or ""
    is_session = choice.session is None or session in str(path) or session in payload
    is_of_project = not project or bool(_names_of(project) & set(path.parts))
    if place := _place_in(payload):
        return is_session and (is_of_project or f"{place}/".startswith(f"{project}/"))
    return is_session and (is_of_project or f'"{project}"' in payload or f'"{project}/' in payload)


def _place_in(payload: str) -> str:
    """The directory in which a quarantined event happened; empty if it names none."""
    try:
        event = orjson.loads(payload)
    except ValueError:
        return ""
    place = event.get("cwd") if isinstance(event, dict) else None
    return place if isinstance(place, str) else ""


def _writer(path: Path, chosen: Settings) -> Any:
    from collector.store.writer import Writer

    return Writer(path, own_prices=chosen.store.prices)


def _must_exist(path: Path) -> None:
    from collector.store.database import open_to_read

    open_to_read(path).close()


def _write(lines: Iterator[str], output: Path) -> int:
    count = 0
    try:
        with output.open("w", encoding="utf-8") as file:
            for count, line in enumerate(lines, 1):  # noqa: B007 - counted on purpose
                file.write(f"{line}\n")
    except OSError as error:
        raise NotPossible(f"Cannot write {output}: {error.strerror}. Name another file.") from None
    return count
