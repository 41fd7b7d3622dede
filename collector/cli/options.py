"""Shared by several commands: options, and their values as settings."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from collector.cli.verbosity import asked_level
from collector.delivery.sinks.registry import SINKS

SOME_LEFT = 3  # the exit code if some lines were quarantined, or something was left for later

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="PATH", help="Use this configuration file instead of your usual one.", show_default=False
    ),
]
Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="DIRECTORY",
        help="A directory to read, such as ~/.claude; may be repeated.",
        show_default=False,
    ),
]
SinkUrl = Annotated[
    str | None, typer.Option("--sink-url", metavar="URL", help="Where to POST the batches.", show_default=False)
]
SinkType = Annotated[
    str | None, typer.Option("--sink-type", metavar="TYPE", help=f"One of {', '.join(SINKS)}.", show_default=False)
]
StatePath = Annotated[Path | None, typer.Option("--state", metavar="PATH", help="The state file.", show_default=False)]
SinkName = Annotated[
    str | None, typer.Option("--sink", help="Use the sink with this name, if there are several.", show_default=False)
]
All = Annotated[bool, typer.Option("--all", help="All of them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
LedgerAsJson = Annotated[bool, typer.Option("--json", help="Print the ledger as one JSON object.")]
MaxWait = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="Seconds to wait for a failing sink, in total.", show_default=False),
]
Database = Annotated[
    Path | None, typer.Option(help="The SQLite database. Default: the embedded store's.", show_default=False)
]
Since = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], metavar="DAY", help="From this day on (UTC).")]
Until = Annotated[
    datetime | None, typer.Option(formats=["%Y-%m-%d"], metavar="DAY", help="Up to and including this day (UTC).")
]
Project = Annotated[
    str | None,
    typer.Option(help="Only this project: its path, or the name of its directory below projects/.", show_default=False),
]
FromNow = Annotated[
    bool, typer.Option("--from-now", help="If a sink has never been sent anything, leave out what already exists.")
]


def place_of_project(given: str | None) -> str | None:
    """A project that was given as a path, as an absolute one; its name stays as it is."""
    if given is not None and ("/" in given or given.startswith("~") or given in (".", "..")):
        return os.path.abspath(os.path.expanduser(given))
    return given


def key_of_project(given: str | None) -> str | None:
    """The name that a project has in events."""
    from collector.agents.registry import AGENTS

    place = place_of_project(given)
    return next(iter(AGENTS.values())).key_of(place) if place and place.startswith("/") else place


def flags(
    root: list[str] | None = None,
    sink_url: str | None = None,
    sink_type: str | None = None,
    state: Path | None = None,
    max_wait: float | None = None,
) -> dict[str, dict[str, Any] | list[str]]:
    """The flags that commands share, in the shape of the settings."""
    given: dict[str, dict[str, Any] | list[str]] = {}
    if level := asked_level():
        given["log"] = {"level": level}
    if root:
        given["roots"] = root
    sink = {name: value for name, value in (("url", sink_url), ("type", sink_type)) if value is not None}
    if sink:
        given["sink"] = sink
    if state is not None:
        given["state"] = {"path": str(state)}
    if max_wait is not None:
        given["retry"] = {"max_wait": max_wait}
    return given


def day_of(moment: datetime | None) -> str:
    """The day that --since or --until names, in the store's format; empty if not given."""
    return moment.date().isoformat() if moment else ""
