"""`collector store`: what the embedded store holds, making it smaller, taking events out; `collector forget`."""

from __future__ import annotations

import csv
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
from collector.cli.pause import as_kept_at, states_of_services
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.files import only_for_this_user
from collector.keeping.quarantine import Quarantine
from collector.log import counted, in_words, printable, tame_json
from collector.settings import Settings
from collector.store.queries import Selection
from collector.store.removing import Choice, Removed

app = typer.Typer(help="Look after the embedded store, and ask it.", no_args_is_help=True)


class NotPossible(CollectorError):
    """What was asked for cannot be done here."""


def _opened(config: Path | None, database: Path | None) -> tuple[Settings, Path]:
    chosen = settings.load(config, sinks=SINKS)
    return chosen, database or chosen.database_path


@app.command()
def info(database: Database = None, json: AsJson = False, config: Config = None) -> None:
    """Shows what the store holds and what it takes on the disk.

    Example: collector store info
    """
    from collector.store.upkeep import info as info_of

    chosen, path = _opened(config, database)
    found = info_of(path) | {"retention_days": chosen.store.retention_days}
    if json:
        typer.echo(tame_json(found, indent=2))
        return
    days = found["retention_days"]
    lines = [
        ("database", f"{path}, version {found['version']}"),
        ("size", f"{in_words(found['bytes'])}, of which {in_words(found['free_bytes'])} are free inside"),
        ("events", f"{found['events']:,} in {counted(found['sessions'], 'session')}"),
        ("from, to", f"{found['first_time'] or '-'}, {found['last_time'] or '-'}"),
        ("as sent", f"{in_words(found['bytes_sent'])}; packed: {in_words(found['bytes_of_bodies'])}"),
        ("an event", f"{counted(found['bytes_an_event'] or 0, 'byte')} in all"),
        (
            "kept",
            f"{counted(days, 'day')} (store.retention_days)" if days else "for ever (store.retention_days is not set)",
        ),
    ]
    if found["models_without_price"]:
        lines.append(("no price", ", ".join(printable(name) or "(none)" for name in found["models_without_price"])))
    for name, value in lines:
        typer.echo(f"{name:<9} {value}")


@app.command()
def compact(database: Database = None, json: AsJson = False, config: Config = None) -> None:
    """Removes what is too old, and makes the database small.

    Too old is what is older than store.retention_days, if that is set. Needs as much room again while it works. Nobody
    can write to the store meanwhile; senders wait and try again.

    Example: collector store compact
    """
    from collector.store.removing import remove_old
    from collector.store.upkeep import compact as make_small

    chosen, path = _opened(config, database)
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
        Path | None, typer.Argument(metavar="FILE", help="The file; without it, stdout.", show_default=False)
    ] = None,
    since: Since = None,
    until: Until = None,
    project: Annotated[str | None, typer.Option(help="Only this project.", show_default=False)] = None,
    session: Annotated[str | None, typer.Option(help="Only this session.", show_default=False)] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Parquet; needs duckdb or pyarrow.")] = False,
    database: Database = None,
    config: Config = None,
) -> None:
    """Writes events as they were sent, one a line, or as Parquet.

    Example: collector store export events.ndjson --since 2026-03-01
    """
    from collector.store.parquet import write_parquet
    from collector.store.upkeep import exported

    _, path = _opened(config, database)
    chosen = Selection(since=day_of(since), until=day_of(until), project=project, session=session)
    events = exported(path, chosen)
    if output is None:
        if parquet:
            raise typer.BadParameter("Parquet needs a file to go to.", param_hint="output")
        count = sum(1 for line in events if sys.stdout.write(f"{line}\n"))
    else:
        with only_for_this_user():
            count = write_parquet(events, output) if parquet else _write(events, output)
    typer.echo(f"{counted(count, 'event')}.", err=True)


@app.command()
def prices(config: Config = None) -> None:
    """Prints the table of prices that the cost is computed from.

    store.prices names a file of the same form whose rows take the place of these.

    Example: collector store prices
    """
    chosen = settings.load(config, sinks=SINKS)
    typer.echo((resources.files("collector.store") / "prices.toml").read_text(encoding="utf-8"), nl=False)
    if chosen.store.prices is not None:
        typer.echo(f"\n# {chosen.store.prices} (store.prices) takes the place of rows above.", err=True)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT.")],
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV, with a line of names.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long it may take.")] = 20.0,
    database: Database = None,
    config: Config = None,
) -> None:
    """Asks the store in SQL, read-only; one JSON object for each row.

    docs/store.md names the views.

    Example: collector store sql "SELECT model, sum(output_tokens) FROM messages GROUP BY 1"
    """
    from collector.store import prices as price_table
    from collector.store.asking import ask

    chosen, path = _opened(config, database)
    answer = ask(path, statement, prices=price_table.load(chosen.store.prices), seconds=seconds)
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([answer.columns, *answer.rows])
    else:
        for row in answer.objects:
            typer.echo(tame_json(row))
    if answer.is_cut:
        typer.echo(f"Only the first {counted(len(answer.rows), 'row')}.", err=True)


def forget(
    session: Annotated[str | None, typer.Option(help="The id of a session.", show_default=False)] = None,
    project: Annotated[
        str | None, typer.Option(help="A project's path, or its directory's name below projects/.", show_default=False)
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DAY", help="What happened before this day.", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: AsJson = False,
    database: Database = None,
    state: StatePath = None,
    config: Config = None,
) -> None:
    """Removes events from the embedded store for good.

    What is held or quarantined of them goes as well. What was sent elsewhere is not touched, nor are the transcripts:
    exclude the project first, or new events come in. All conditions that are given must hold.

    Example: collector forget --project ~/work/shop
    """
    if project is not None and ("/" in project or project.startswith("~") or project in (".", "..")):
        project = os.path.abspath(os.path.expanduser(project))
    choice = Choice(session, project, day_of(before) or None)
    if not choice.described:
        raise typer.BadParameter("say what: --session, --project or --before.", param_hint="--session")
    chosen = settings.load(config, flags(state=state), sinks=SINKS)
    # Here, and where a system service works for whoever asks.
    places = [] if database else [as_kept_at(chosen, path) for path in states_of_services(chosen, only_own=True)]
    agents = [chosen, *places]
    # Who sends elsewhere has no store, but may have something held or quarantined.
    stores = {database or each.database_path: each for each in reversed(agents)}
    there = [path for path in stores if database or path.exists()]
    removed = [_remove_stored(path, stores[path], choice, is_sure=yes) for path in there]
    let_go = [] if database else [gone for agent in agents for gone in _let_go_of(agent, choice)]
    events, sessions = sum(each.events for each in removed), sum(each.sessions for each in removed)
    held, quarantined = sum(held for held, _, _ in let_go), sum(dropped for _, dropped, _ in let_go)
    is_left = any(is_left for _, _, is_left in let_go)
    told = {"events": events, "sessions": sessions, "held": held, "quarantined": quarantined}
    if json:
        typer.echo(tame_json(told))
    else:
        typer.echo(
            f"Removed {counted(events, 'event')} from the store, {counted(held, 'held file')}, "
            f"{counted(quarantined, 'quarantined entry', 'quarantined entries')}."
        )
    if is_left:
        typer.echo("Files are held by a running agent. Stop it and ask again, or wait until they are sent.", err=True)
        raise typer.Exit(SOME_LEFT)


def _remove_stored(path: Path, chosen: Settings, choice: Choice, *, is_sure: bool) -> Removed:
    """Removes events from the store, once a person has agreed to how many that is."""
    from collector.store.removing import count, remove
    from collector.store.report import asking

    _must_exist(path)
    choice = choice._replace(names=_every_name(chosen, choice))
    with asking(path) as connection:
        found = count(connection, choice)
    if not is_sure and found.events:
        if not sys.stdin.isatty():
            raise NotPossible(
                f"That would remove {counted(found.events, 'event')}. Say --yes where nobody can be asked."
            )
        typer.confirm(
            f"Remove {counted(found.events, 'event')} of {counted(found.sessions, 'session')} for good?", abort=True
        )
    with closing(_writer(path, chosen)) as writer:
        return remove(writer, choice, "asked for by a person")


def _every_name(chosen: Settings, choice: Choice) -> str:
    """What the project's directory below projects/ may be called in events, at the level metadata as well."""
    from collector.assembly import capture_of, installation_of
    from collector.flow.pseudonym import pseudonym

    if choice.project is None:
        return choice.names
    key, names = capture_of(chosen, installation_of(chosen)).key, sorted(_names_of(choice.project))
    return orjson.dumps([*names, *(pseudonym("project", name, key) for name in names)]).decode()


def _names_of(project: str) -> set[str]:
    """What a project may be called: as it was named, and as coding agents call the directory of one at this path."""
    from collector.agents.registry import AGENTS

    return {project, *(form.key_of(project) for form in AGENTS.values())}


def _let_go_of(agent: Settings, choice: Choice) -> list[tuple[int, int, bool]]:
    """What `_let_go` says for each sink of an agent, and for what belongs to none of them any more."""
    return [_let_go_left_behind(agent, choice), *(_let_go(each, choice) for each in agent.each())]


def _let_go(chosen: Settings, choice: Choice) -> tuple[int, int, bool]:
    """Drops what is held or quarantined of a session or a project; and whether the agent kept that from happening."""
    from collector.assembly import held_of, quarantine_of
    from collector.errors import StateLocked
    from collector.keeping.left_behind import said_in
    from collector.keeping.lock import lock

    if choice.before is not None:
        return 0, 0, False  # by day: what is held is about to be sent, and belongs to what a sink is owed
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
    """The same for what belongs to no agent any more, so that none keeps it from happening."""
    from collector.keeping.left_behind import drop_left_behind, quarantines_left_behind

    if choice.before is not None:
        return 0, 0, False
    states = [each.state_path for each in chosen.each()]
    paths = quarantines_left_behind(chosen.state_path, states)
    dropped = sum(_drop_quarantined(Quarantine(path, chosen.quarantine.max_bytes), choice) for path in paths)
    return drop_left_behind(chosen.state_path, states, lambda told: _is_told(choice, told)), dropped, False


def _drop_quarantined(quarantine: Quarantine, choice: Choice) -> int:
    return quarantine.drop(entry for entry in quarantine.entries() if _holds(choice, entry))


def _is_told(choice: Choice, told: Iterable[str]) -> bool:
    """Whether a transcript is of this session or project, or lies below it, by what its records say."""
    is_session, is_project = choice.session is None, choice.project is None
    for text in told:
        is_session = is_session or text == choice.session
        is_project = is_project or _is_at(text, choice.project or "")
    return is_session and is_project


def _is_at(place: str, project: str) -> bool:
    """Whether a directory is that of a project, which is named by its path or by its directory below projects/."""
    return f"{place}/".startswith(f"{project}/") or (len(place) == len(project) and project in _names_of(place))


def _is_of(choice: Choice, session: str, project: str) -> bool:
    return choice.session in {None, session} and (choice.project is None or project in _names_of(choice.project))


def _holds(choice: Choice, entry: dict[str, Any]) -> bool:
    """Whether a quarantined entry is of this session or project: an event says where it happened; a torn line, and an
    event that names no directory, are known by their file and by what they mention."""
    path, payload = Path(str(entry.get("source", ""))), str(entry.get("payload", ""))
    session, project = choice.session or "", choice.project or ""
    is_session = choice.session is None or session in str(path) or session in payload
    is_of_project = not project or bool(_names_of(project) & set(path.parts))
    if place := _place_in(payload):
        return is_session and (is_of_project or f"{place}/".startswith(f"{project}/"))
    return is_session and (is_of_project or f'"{project}"' in payload or f'"{project}/' in payload)


def _place_in(payload: str) -> str:
    """Where a quarantined event happened; empty where it does not say."""
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
