"""Which agent a command is about: this user's own, or the system service that works for them.

In: the settings of this user's own agent. Out: settings, each as its agent has them, with the places of its files. A no
is for every agent; what a person looks at is the one that works here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError, StateError
from collector.keeping.lock import holder, states_elsewhere
from collector.log import printable
from collector.settings import Settings
from collector.settings.options import StateSettings


def services_here() -> list[dict[str, str]]:
    """The services installed for the user who runs this command."""
    from collector.install.installed import services_of
    from collector.install.plans import Person

    return services_of(Person(settings.account(), os.getuid(), settings.home()), sys.platform)


def agent_here(chosen: Settings) -> Settings:
    """The agent that works for this user: the system service, unless an agent of their own is running or named."""
    return chosen if is_running(chosen) else agent_among(chosen, services_here(), with_others=False)


def agent_among(chosen: Settings, services: Sequence[Mapping[str, str]], *, with_others: bool) -> Settings:
    """The same, of these services; of other users' only one that is running, which root would want to know of."""
    for facts in () if _is_named(chosen) else sorted(services, key=_is_of_this_user, reverse=True):
        if not facts.get("keeps") or not os.access(facts["keeps"], os.R_OK | os.X_OK):
            continue
        service = _settings_of(facts)
        if _is_of_this_user(facts) or (with_others and is_running(service)):
            return service
    return chosen


def agent_with_store(chosen: Settings) -> Settings:
    """The same, with its embedded store; with this user's own if it has none, or if they name one."""
    try:
        found = agent_here(chosen)
    except ConfigurationError as error:  # only its unit is needed to tell where its store usually is
        typer.echo(printable(f"{error}\nIgnored: this is the configuration of the system service."), err=True)
        found = agent_among(chosen, [facts | {"config": ""} for facts in services_here()], with_others=False)
    has_store = chosen.store.database is None and found.database_path.exists()
    return found if has_store else found.model_copy(update={"store": chosen.store})


def store_here(config: Path | None, database: Path | None) -> tuple[Settings, Path]:
    """The settings for a store, and its file: the one that a person names, or that of the agent that works for them."""
    chosen = settings.load(config, sinks=SINKS, sends=False)
    chosen = chosen if database else agent_with_store(chosen)
    return chosen, database or chosen.database_path


def agents_here(chosen: Settings) -> list[Settings]:
    """The agents whose states are this one or those of `states_beside`."""
    states = _states_elsewhere(chosen.state_path, named_state(chosen))
    elsewhere = [chosen.model_copy(update={"state": StateSettings(path=path)}) for path in states]
    return [chosen, *elsewhere, *system_services(chosen)]


def system_services(chosen: Settings, *, with_others: bool = False) -> list[Settings]:
    """The system services of `states_beside`."""
    return list(map(_settings_of, _services_beside(named_state(chosen), with_others=with_others)))


def named_state(chosen: Settings) -> Path | None:
    """The state that a person names for one command. A file that names one says nothing about the other agents here."""
    return None if chosen.origins.place("state.path") in chosen.origins.files else chosen.state.path


def states_beside(own: Path, named: Path | None, *, with_others: bool = False) -> Iterator[Path]:
    """The states in other directories than this one: the usual state, those of agents that keep theirs elsewhere, and
    those of system services that work for this user; none if a person names a state. If there is no such service,
    perhaps those of others, which concern root. Raises StateError, last, if this user may not write there."""
    yield from _states_elsewhere(own, named)
    yield from map(_state_of, _services_beside(named, with_others=with_others))


def _states_elsewhere(own: Path, named: Path | None) -> Iterator[Path]:
    usual = settings.state_file(None)
    for path in (usual, *states_elsewhere(usual)) if named is None else ():
        if path.parent != own.parent and path.parent.exists():
            yield path


def _services_beside(named: Path | None, *, with_others: bool) -> Iterator[dict[str, str]]:
    for facts in services_here() if named is None else ():
        path = _state_of(facts)
        if not facts.get("keeps") or path == settings.state_file(None) or not path.parent.exists():
            continue
        if os.access(path.parent, os.W_OK | os.X_OK):
            if with_others or _is_of_this_user(facts):
                yield facts
        elif _is_of_this_user(facts):
            raise StateError(
                f"{facts['unit']} keeps its state in {path.parent}, where you may not write. Run this command as that "
                "service's user (`sudo -u`), or ask whoever administers this machine."
            )


def is_running(chosen: Settings) -> bool:
    """Whether this agent is running, for any of its sinks."""
    return any(holder(each.state_path).startswith("collector run") for each in chosen.each())


def _is_named(chosen: Settings) -> bool:
    """Whether a person says which agent they mean: by its state, its configuration file, or other flags."""
    flags = {key for key, place in chosen.origins.places.items() if place == settings.A_FLAG}
    is_usual = chosen.origins.users_file == str(settings.user_config())
    return chosen.state.path is not None or not is_usual or bool(flags - {"log.level"})


def _settings_of(facts: Mapping[str, str]) -> Settings:
    """The settings of a system service: not those of the user's file, nor of this shell."""
    file = Path(facts["config"]) if facts.get("config") else None
    return settings.load_for_service(_state_of(facts), file, sinks=SINKS)


def _state_of(facts: Mapping[str, str]) -> Path:
    return Path(facts.get("keeps", ""), "state.json")


def _is_of_this_user(facts: Mapping[str, str]) -> bool:
    return facts["unit"] == f"collector@{settings.account()}.service"
