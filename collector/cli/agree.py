"""`collector agree`: a person says that they know what leaves this machine."""

from __future__ import annotations

import typer

from collector import settings
from collector.cli.options import Config, SinkType, SinkUrl, StatePath, flags
from collector.cli.which_agent import agents_here
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
    every = [each for agent in agents_here(chosen) for each in agent.each()]
    for said in dict.fromkeys(map(statement, every)):
        typer.echo(printable(said))
    for each in every:
        note(each)
    typer.echo("Agreed.")
