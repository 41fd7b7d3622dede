"""`collector pause` and `collector resume`: nothing leaves until a person says so, across restarts."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from collector import settings
from collector.cli.options import Config, StatePath, flags, services_here
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
    from collector.keeping.pause import pause as write_pause

    now = time.time()
    until = now + _seconds(for_) if for_ else None
    try:
        chosen = chosen_here(config, state)
    except ConfigurationError as error:
        # A running agent continues with the configuration that it has read, but off means off.
        path = settings.state_file(state)
        write_pause(path, now, until)
        raise ConfigurationError(
            f"{error}\nPaused anyway: every agent that keeps its state in {path.parent}. For an agent that keeps it "
            "elsewhere, fix the configuration and pause again."
        ) from None
    if locked := chosen.origins.locked_by("enabled"):
        raise ConfigurationError(
            f"An administrator decides whether collector runs here: {locked} locks `enabled`. Nothing was changed."
        )
    for path in _states(chosen):
        write_pause(path, now, until)
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
    from collector.keeping.pause import ask_to_leave_out, paused_since, standstill
    from collector.keeping.pause import resume as end_pause

    chosen = chosen_here(config, state)
    configure(chosen.log.level, chosen.log.format)
    states = list(_states(chosen))
    for path in states if from_now else ():  # before the pause ends, or something could leave in between
        if since := paused_since(path, time.time()):
            note_left_out(path, since, time.time())
        for each in chosen.each():
            ask_to_leave_out(path.with_name(each.state_path.name))
    was_paused = [end_pause(path) for path in states]
    for path in states if from_now else ():
        for each in chosen.each():
            with contextlib.suppress(CollectorError):  # whoever is at work, or runs next, does it
                leave_out_now(each if path == chosen.state_path else as_kept_at(each, path))
    said = "Resumed." if any(was_paused) else "Was not paused."
    said += " What was unsent is left out for good." if from_now else ""
    left = standstill(chosen)
    typer.echo(printable(f"{said} Still {left}." if left else said))


def chosen_here(config: Path | None, state: Path | None) -> settings.Settings:
    """The settings of an agent that may name its sink only in its flags, so they need not name a working one."""
    return settings.load(config, flags(state=state), sinks=SINKS, sends=False)


def _states(chosen: settings.Settings) -> Iterator[Path]:
    """The state here, and those of system services that work for this person, if this user may enter them."""
    yield chosen.state_path
    yield from states_of_services(chosen)


def states_of_services(chosen: settings.Settings, *, only_own: bool = False) -> Iterator[Path]:
    """The states of system services that work for this person or, unless `only_own`, if there are none, for others.
    Raises StateError if only the service's user may enter one."""
    if chosen.state.path is not None:
        return
    own = f"collector@{settings.account()}.service"
    for facts in services_here():
        path = Path(facts.get("keeps", ""), "state.json")
        if not facts.get("keeps") or path.parent == chosen.state_path.parent or not path.parent.exists():
            continue
        if only_own and facts["unit"] != own:
            continue
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise StateError(
                f"{facts['unit']} keeps its state in {path.parent}, where you may not write. Run this command as that "
                "service's user (`sudo -u`), or ask whoever administers this machine."
            )
        yield path


def as_kept_at(chosen: settings.Settings, state: Path) -> settings.Settings:
    """The settings as a system service has them that keeps its state there, and beside it the embedded store."""
    database = chosen.store.database or state.with_name("events.db")
    update = {
        "state": chosen.state.model_copy(update={"path": state}),
        "store": chosen.store.model_copy(update={"database": database}),
    }
    return chosen.model_copy(update=update)


def _seconds(text: str) -> int:
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not found or not int(found[1]):
        raise typer.BadParameter("write a duration as 30m, 2h or 3d", param_hint="--for")
    return int(found[1]) * UNITS[found[2]]
