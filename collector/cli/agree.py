"""`collector agree`: a person says that they know what leaves this machine."""

from __future__ import annotations

import typer

from collector import settings
from collector.cli.options import Config, SinkType, SinkUrl, StatePath, flags
from collector.cli.pause import as_kept_at, states_of_services
from collector.delivery.sinks.registry import SINKS
from collector.log import printable


def agree(config: Config = None, sink_url: SinkUrl = None, sink_type: SinkType = None, state: StatePath = None) -> None:
    """Confirm that you know what is sent.

    Where your organisation requires this (disclosure.require_ack), nothing leaves until you do. If the destination,
    the level or the text changes, you have to confirm again.

    Example: collector agree
    """
    from collector.keeping.disclosed import acknowledge as note
    from collector.settings.disclosure import statement

    chosen = settings.load(config, flags(None, sink_url, sink_type, state), sinks=SINKS)
    services = list(
        states_of_services(chosen, only_own=True)
    )  # before anything is noted: we may not be allowed to read one
    for each in chosen.each():
        typer.echo(printable(statement(each)))
        note(each)
        for path in services:
            note(as_kept_at(each, path))
    typer.echo("Agreed.")
