"""`collector exclude` and `collector include`: opt a project out, and in again, in the user's configuration file."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from collector import settings
from collector.cli.options import Config, StatePath
from collector.cli.pause import chosen_here
from collector.cli.which_agent import agent_here, named_state, states_beside
from collector.errors import ConfigurationError, StateError
from collector.files import make_private_directory
from collector.log import counted, in_words, printable

SPECIAL = re.compile(r"([\\*?\[])")
TOLD = {
    "run": "The running agent has been told and applies this now.",
    "scan": "A scan was under way and would not have noticed, so it was stopped. Start it again.",
    "resend": "A resend was under way and would not have noticed, so it was stopped. Start it again.",
}
Target = Annotated[
    str,
    typer.Argument(metavar="PATH", help="The project's directory, or a glob.", show_default=False),
]


class Left(NamedTuple):
    """What is left to send: all sources, how many of them have unsent bytes, and how many bytes."""

    sources: int
    behind: int
    bytes: int


def exclude(path: Target, config: Config = None, state: StatePath = None) -> None:
    """Exclude a project: stop reading and sending it.

    From now on nothing of it is read or sent, in any stream, and anything held for a failing sink is dropped. What was
    already sent stays where it is.

    Example: collector exclude ~/work/private
    """
    from collector.settings.editing import list_in, put_list

    _refuse_if_empty(path)
    if path.startswith("!"):
        raise typer.BadParameter(
            "a leading ! undoes an exclude: use `collector include` for that. For a name that really starts with !, "
            "write \\!...",
            param_hint="PATH",
        )
    try:
        chosen, file = chosen_here(config, state), settings.users_file(config)
    except (ConfigurationError, StateError) as error:
        # A running agent sends nothing until the configuration is valid, and from then on nothing of this project.
        places = " and ".join(str(place) for place in _exclude_without_settings(path, state))
        raise ConfigurationError(
            f"{error}\nExcluded anyway in {places}, for every agent that keeps its state there. A running one sends "
            "nothing until the configuration is valid. For an agent with its state elsewhere, fix the configuration "
            "and exclude again."
        ) from None
    _refuse_if_locked(chosen, "projects.exclude")
    # Before anything is changed, because this may fail for want of permission.
    services, (before, trouble) = _services(chosen, file), _agent_or_trouble(chosen)
    glob = glob_of(path)
    globs, mine = _as_it_may_lead_later(path, glob), list_in(file, "exclude")
    kept = [each for each in mine if each.removeprefix("!") not in globs]
    _refuse_if_not_understood(exclude=[*kept, *globs])
    changed = [file] if not set(globs) <= set(mine) else []
    if changed:
        try:
            put_list(file, "exclude", [*kept, *globs])
        except ConfigurationError:  # it may belong to a tool that manages dotfiles, but no means no
            file, changed, services = settings.no_file(chosen.state_path), [], [chosen.state_path, *services]
    changed += _exclude_for(services, path, glob)
    now = chosen_here(config, state)
    said = f"Excluded {' and '.join(globs)} in {' and in '.join(map(str, changed))}."
    typer.echo(printable(said if changed else f"{glob} is already excluded in {file}."))
    # Even if it was excluded before, because that command may have failed or been killed before it came to this. And at
    # once, because counting what is left takes seconds if there is much, and forever on a mount that hangs.
    _tell_agents([now.state_path, *services], is_no=True)
    if before and changed:
        typer.echo(_change(_left(before), _left(agent_here(now))))
    if dropped := _drop_left_behind(now) + sum(map(_drop_held, now.each())):
        typer.echo(f"Dropped {counted(dropped, 'file')} held for a failing sink.")
    typer.echo("What was already sent stays there; `collector forget --project` removes it from the embedded store.")
    _say_what_is_unknown("Excluded", trouble)


def include(path: Target, config: Config = None, state: StatePath = None) -> None:
    """Undo an exclude: collect a project again.

    Whatever has not been sent yet and still exists is sent from now on, except what was left out with --from-now, and
    lines skipped meanwhile in files shared with other projects, such as the prompt history (`collector reset` sends
    those again).

    Example: collector include ~/work/private
    """
    from collector.settings.editing import list_in, put_list

    _refuse_if_empty(path)
    chosen, file = chosen_here(config, state), settings.users_file(config)
    agent, trouble = _agent_or_trouble(chosen)
    glob, before = glob_of(path), _left(agent or chosen)
    directory = os.path.abspath(os.path.expanduser(path))
    services = _services(chosen, file)
    mine = list_in(file, "exclude")
    wanted = list_in(file, "include")
    was_excluded = glob in mine
    if was_excluded:
        _refuse_if_locked(chosen, "projects.exclude")
        kept = [each for each in mine if each not in _as_it_may_lead_later(path, glob)]
        _refuse_if_not_understood(exclude=kept)
        put_list(file, "exclude", kept)
    for place in map(settings.no_file, {chosen.state_path, *services}):
        told = list_in(place, "exclude")
        if glob in told:
            was_excluded = True
            gone = _as_seen_elsewhere(path, glob)
            put_list(place, "exclude", [each for each in told if each not in gone])
    if wanted and glob not in wanted and not _takes(chosen_here(config, state), directory):
        _refuse_if_locked(chosen, "projects.include")
        _refuse_if_not_understood(include=[*wanted, glob])
        put_list(file, "include", [*wanted, glob])
    now = chosen_here(config, state)
    if not _takes(now, directory):
        raise ConfigurationError(f"{glob} is still excluded {_why(now)}. Change it there.")
    here = agent_here(now) if agent else now
    after = _left(here)
    typer.echo(printable(f"Included {glob}." if after != before or was_excluded else f"{glob} was not excluded."))
    if agent:
        typer.echo(_change(before, after))
    if moment := max(map(_left_out_at, here.each())):
        typer.echo(f"What was written before {moment} stays left out, as you asked; `collector reset` sends it.")
    _tell_agents([now.state_path, *services])
    _say_what_is_unknown("Included", trouble)


def glob_of(path: str) -> str:
    """How the configuration spells a path: a directory with ~ for the home, or a glob as given."""
    absolute = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(absolute) and SPECIAL.search(path):
        return path
    if "/" not in path and not os.path.isdir(absolute):
        return path  # the name of a project, wherever the project is
    home = settings.home()
    told = "~" + absolute.removeprefix(home) if absolute.startswith(home + "/") else absolute
    return SPECIAL.sub(r"\\\1", told)


def _refuse_if_empty(path: str) -> None:
    """An empty path, as from an unset variable, must not mean the current directory."""
    if not path.strip():
        raise typer.BadParameter("must not be empty. Name the project's directory, or give a glob.", param_hint="PATH")


def _services(chosen: settings.Settings, file: Path) -> list[Path]:
    """The states of agents that work for this person without reading this configuration file: a system service, which
    sees only the root in a home, and an agent started with another file."""
    from collector.keeping.lock import holder
    from collector.service.status_file import read_status

    found = list(states_beside(chosen.state_path, named_state(chosen)))
    for each in chosen.each():
        reads = str(read_status(each.state_path).get("users_file") or file)
        if holder(each.state_path).startswith("collector run") and os.path.realpath(reads) != os.path.realpath(file):
            found.append(chosen.state_path)
    return list(dict.fromkeys(found))


def _exclude_without_settings(path: str, state: Path | None) -> list[Path]:
    """Excludes a path for the agents that keep their states in the usual place, or where a person says. Returns the
    files that say so."""
    own, glob = settings.state_file(state), glob_of(path)
    _refuse_if_not_understood(exclude=_as_seen_elsewhere(path, glob))
    make_private_directory(own.parent)
    told = []
    for place in chain([own], states_beside(own, state)):  # one by one: the last may not be writable
        _exclude_for([place], path, glob)
        told.append(place)
    _tell_agents(told, is_no=True)
    return [settings.no_file(place) for place in told]


def _exclude_for(states: Sequence[Path], path: str, glob: str) -> list[Path]:
    """Excludes a path for agents that do not read this user's file. Returns the files that did not say so yet."""
    from collector.settings.editing import list_in, put_list

    changed = []
    for place in map(settings.no_file, states):
        told = list_in(place, "exclude")
        if more := [each for each in _as_seen_elsewhere(path, glob) if each not in told]:
            put_list(place, "exclude", [*told, *more])
            changed.append(place)
    return changed


def _agent_or_trouble(chosen: settings.Settings) -> tuple[settings.Settings | None, str]:
    """The agent that works here or, if the configuration of the system service is invalid, what is wrong with it."""
    try:
        return agent_here(chosen), ""
    except ConfigurationError as error:
        return None, str(error)


def _say_what_is_unknown(done: str, trouble: str) -> None:
    """Raises if the configuration of the system service is invalid."""
    if trouble:
        raise ConfigurationError(
            f"{trouble}\n{done} anyway, for the system service with this configuration too. What it has left is "
            "unknown."
        )


def _as_it_may_lead_later(path: str, glob: str) -> list[str]:
    """The globs that exclude a path even if a link in the home changes later: the glob, and where it leads now."""
    absolute, home = os.path.abspath(os.path.expanduser(path)), settings.home()
    is_plain = os.path.realpath(absolute) == os.path.realpath(home) + absolute.removeprefix(home)
    return [glob] if absolute.startswith(home + "/") and is_plain else _as_seen_elsewhere(path, glob)


def _as_seen_elsewhere(path: str, glob: str) -> list[str]:
    """The globs that exclude a path for an agent that cannot follow links in a home: the glob and, for a directory, its
    real path."""
    directory = os.path.realpath(os.path.expanduser(path))
    return list(dict.fromkeys([glob, glob_of(directory)])) if os.path.isdir(directory) else [glob]


def _refuse_if_locked(chosen: settings.Settings, key: str) -> None:
    if locked := chosen.origins.locked_by(key):
        raise ConfigurationError(
            f"{key} cannot be changed: an administrator locked it in {locked}. Nothing was changed. "
            "`collector pause` stops all sending, unless that is locked too."
        )


def _refuse_if_not_understood(*, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
    """Raises ConfigurationError if one of these globs is invalid: written to the file, it would stop every command and,
    at its next start, the service."""
    from collector.agents.registry import AGENTS
    from collector.reading.scope import Scope

    try:
        Scope([], AGENTS, settings.home(), include, [exclude])
    except ConfigurationError as error:
        raise ConfigurationError(f"{error} Nothing was changed.") from None


def _left(chosen: settings.Settings) -> Left:
    from collector.assembly import scope_of, state_of
    from collector.keeping.left_out import to_be_sent
    from collector.reading.discover import discover

    state, found = state_of(chosen).load(may_repair=False), discover(scope_of(chosen))
    lags = [lag for source in found.files if (lag := to_be_sent(source, state))]
    return Left(len(found.files), len(lags), sum(lags))


def _drop_held(chosen: settings.Settings) -> int:
    """Drops held files of projects that are now excluded; a running agent does that itself."""
    from collector.assembly import held_of, scope_of
    from collector.errors import StateLocked
    from collector.keeping.lock import lock
    from collector.leaving_out import drop_refused

    try:
        with lock(chosen.state_path, "exclude"):
            return drop_refused(held_of(chosen), scope_of(chosen))
    except StateLocked:
        return 0


def _drop_left_behind(chosen: settings.Settings) -> int:
    """Drops held files of excluded projects that no longer belong to any agent."""
    from collector.assembly import scope_of
    from collector.keeping.left_behind import drop_left_behind

    scope = scope_of(chosen)
    states = [each.state_path for each in chosen.each()]
    return drop_left_behind(chosen.state_path, states, lambda told: any(map(scope.excludes, told)))


def _left_out_at(chosen: settings.Settings) -> str:
    from collector.assembly import state_of

    return state_of(chosen).load(may_repair=False).left_out_at()


def _takes(chosen: settings.Settings, directory: str) -> bool:
    from collector.assembly import scope_of

    return scope_of(chosen).takes(directory)


def _why(chosen: settings.Settings) -> str:
    """Which lists may exclude a directory."""
    keys = ("projects.exclude", "projects.include")
    places = [f"{key} in {place}" for key in keys if (place := chosen.origins.place(key))]
    return "by " + " and ".join(places) if places else "by the configuration"


def _change(before: Left, after: Left) -> str:
    files = after.sources - before.sources
    more = "more" if files > 0 else "fewer"
    are = counted(abs(files), f"{more} source is", f"{more} sources are")
    said = f"{are} read" if files else "No sources are affected"
    was = f" (before: {in_words(before.bytes)})" if before.bytes != after.bytes else ""
    return f"{said}; {in_words(after.bytes)} in {counted(after.behind, 'source')} left to send{was}."


def _tell_agents(places: Sequence[Path], *, is_no: bool = False) -> None:
    """Makes every agent that works beside these states apply the change. A scan cannot, so after an exclude it is
    stopped. Says so if an agent could not be told, such as one of another user."""
    from collector.keeping.lock import holder, is_another, states_at

    states = [state for place in places for state in states_at(place)]
    held = ((re.match(r"collector (run|scan|resend), process (\d+),", holder(state)), state) for state in states)
    for (what, process), state in {found.groups(): state for found, state in held if found}.items():
        if what != "run" and not is_no:
            continue
        try:
            if is_another(int(process), state):
                raise ProcessLookupError(errno.ESRCH, "it runs on another machine, or in another container")
            os.kill(int(process), signal.SIGHUP if what == "run" else signal.SIGTERM)
        except OSError as error:
            who = "agent" if what == "run" else what
            typer.echo(f"Could not tell the running {who} ({error.strerror}): it carries on as before until it ends.")
        else:
            typer.echo(TOLD[what])
