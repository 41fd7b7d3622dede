"""`collector forget`: removes events from the embedded store for good, and what else the agent still keeps of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import orjson
import typer

from collector import settings
from collector.cli.options import (
    SOME_LEFT,
    AsJson,
    Config,
    Database,
    Project,
    StatePath,
    day_of,
    flags,
    place_of_project,
)
from collector.cli.which_agent import agents_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.keeping.quarantine import Quarantine
from collector.log import counted, tame_json
from collector.settings import Settings
from collector.store.removing import Choice, Removed


class LetGo(NamedTuple):
    """How many held files and quarantined entries were dropped; `is_prevented` if a running agent holds the files."""

    held: int
    quarantined: int
    is_prevented: bool = False


def forget(
    session: Annotated[str | None, typer.Option(help="Only the session with this id.", show_default=False)] = None,
    project: Project = None,
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
    choice = Choice(session, place_of_project(project), day_of(before) or None)
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
    held, quarantined = sum(each.held for each in let_go), sum(each.quarantined for each in let_go)
    if any(each.is_prevented for each in let_go):
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
    from collector.store.writer import Writer

    try:
        with closing(Writer(path, own_prices=chosen.store.prices)) as writer:
            writer.rewrite()
    except StoreError as error:
        yield f"{error} What was removed may be in the files until `collector store compact` has run."


def _remove_stored(path: Path, chosen: Settings, choice: Choice, *, is_sure: bool) -> Removed:
    """Removes events from the store, after a person has confirmed how many."""
    from collector.store.removing import count, remove
    from collector.store.report import asking
    from collector.store.writer import Writer

    choice = choice._replace(names=_every_name(chosen, choice))
    with asking(path) as connection:
        found = count(connection, choice)
    if not is_sure and found.events:
        if not sys.stdin.isatty():
            raise CollectorError(
                f"This would remove {counted(found.events, 'event')}. Without a terminal to confirm on, add --yes."
            )
        typer.confirm(
            f"Remove {counted(found.events, 'event')} of {counted(found.sessions, 'session')} for good?", abort=True
        )
    with closing(Writer(path, own_prices=chosen.store.prices)) as writer:
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


def _let_go_of(agent: Settings, choice: Choice) -> list[LetGo]:
    """The results of `_let_go` for each sink of an agent, and for files held for sinks that are gone."""
    return [_let_go_left_behind(agent, choice), *(_let_go(each, choice) for each in agent.each())]


def _let_go(chosen: Settings, choice: Choice) -> LetGo:
    """Drops what is held or quarantined of a session or project."""
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
        return LetGo(0, dropped)
    try:
        with lock(chosen.state_path, "forget"):
            return LetGo(held_of(chosen).forget(keys), dropped)
    except StateLocked:
        return LetGo(0, dropped, is_prevented=True)


def _let_go_left_behind(chosen: Settings, choice: Choice) -> LetGo:
    """The same for files that no longer belong to any agent, so none can prevent it."""
    from collector.keeping.left_behind import drop_left_behind, quarantines_left_behind

    states = [each.state_path for each in chosen.each()]
    paths = quarantines_left_behind(chosen.state_path, states)
    dropped = sum(_drop_quarantined(Quarantine(path, chosen.quarantine.max_bytes), choice) for path in paths)
    return LetGo(drop_left_behind(chosen.state_path, states, lambda told: _is_told(choice, told)), dropped)


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
