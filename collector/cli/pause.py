"""`collector pause` and `collector resume`: nothing leaves until a person says so, across restarts."""

from __future__ import annotations

import contextlib
import re
import time
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from collector import settings
from collector.cli.options import Config, StatePath, flags
from collector.cli.which_agent import named_state, states_beside, system_services
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError, ConfigurationError, StateError
from collector.log import configure, printable, timestamp

UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
AFTERWARDS = (
    "Until then no event, heartbeat or test event leaves. What is written during the pause is sent afterwards, unless "
    "you run `collector resume --from-now` or exclude its project."
)


def pause(
    for_: Annotated[
        str | None,
        typer.Option("--for", help="For how long: 30m, 2h, 3d. Default: until `collector resume`.", show_default=False),
    ] = None,
    config: Config = None,
    state: StatePath = None,
) -> None:
    """Pause: let nothing leave this machine, even across restarts.

    Example: collector pause --for 2h
    """
    now = time.time()
    until = None if for_ is None else now + _seconds(for_)
    try:
        chosen = chosen_here(config, state)
    except (ConfigurationError, StateError) as error:
        # A running agent continues with the configuration that it has read, but off means off.
        places = " and ".join(str(path.parent) for path in _pause_all(settings.state_file(state), state, now, until))
        raise ConfigurationError(
            f"{error}\nPaused anyway: every agent that keeps its state in {places}. For an agent that keeps it "
            "elsewhere, fix the configuration and pause again."
        ) from None
    if locked := chosen.origins.locked_by("enabled"):
        raise ConfigurationError(
            f"An administrator decides whether collector runs here: {locked} locks `enabled`. Nothing was changed."
        )
    _pause_all(chosen.state_path, named_state(chosen), now, until)
    when = f"until {timestamp(until)}" if until is not None else "until `collector resume`"
    typer.echo(printable(f"Paused {when}. {AFTERWARDS}"))


def resume(
    from_now: Annotated[
        bool,
        typer.Option("--from-now", help="Never send what is unsent so far, such as what was written during the pause."),
    ] = False,
    config: Config = None,
    state: StatePath = None,
) -> None:
    """End a pause.

    What is still unsent is then sent or, with --from-now, left out for good.

    Example: collector resume --from-now
    """
    from collector.assembly import leave_out_now
    from collector.keeping.left_out import note_left_out
    from collector.keeping.lock import states_at
    from collector.keeping.pause import ask_to_leave_out, paused_since, standstill
    from collector.keeping.pause import resume as end_pause

    chosen = chosen_here(config, state)
    configure(chosen.log.level, chosen.log.format)
    places = [chosen.state_path, *states_beside(chosen.state_path, named_state(chosen), with_others=True)]
    # Which sinks an agent has depends on its configuration, and whether it is paused does not.
    agents = [chosen, *system_services(chosen, with_others=True)] if from_now else []
    known = {each.state_path: each for agent in agents for each in agent.each()}
    for place in places if from_now else ():  # before the pause ends, or something could leave in between
        if since := paused_since(place, time.time()):
            note_left_out(place, since, time.time())
        for path in [path for path in known if path.parent == place.parent] or states_at(place):
            ask_to_leave_out(path)
    was_paused = [end_pause(place) for place in places]
    for each in known.values():
        with contextlib.suppress(CollectorError):  # whoever is at work, or runs next, does it
            leave_out_now(each)
    said = "Resumed." if any(was_paused) else "Was not paused."
    said += " What was unsent is left out for good." if from_now else ""
    left = standstill(chosen)
    typer.echo(printable(f"{said} Still {left}." if left else said))


def _pause_all(own: Path, named: Path | None, now: float, until: float | None) -> list[Path]:
    """Pauses this user's own agents, and system services; returns where their states are."""
    from collector.keeping.pause import pause as write_pause

    paused = []
    for path in chain([own], states_beside(own, named, with_others=True)):  # one by one: the last may not be writable
        write_pause(path, now, until)
        paused.append(path)
    return paused


def chosen_here(config: Path | None, state: Path | None) -> settings.Settings:
    """The settings of an agent that may name its sink only in its flags, so they need not name a working one."""
    return settings.load(config, flags(state=state), sinks=SINKS, sends=False)


def _seconds(text: str) -> int:
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not found or not int(found[1]):
        raise typer.BadParameter("write a duration as 30m, 2h or 3d", param_hint="--for")
    return int(found[1]) * UNITS[found[2]]
