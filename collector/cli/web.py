"""`collector web`: serves the report on the embedded store as web pages, to this machine only."""

from __future__ import annotations

import secrets
import webbrowser
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from collector.cli.options import Config, Database
from collector.cli.receive import listening
from collector.cli.which_agent import store_here
from collector.settings import Settings

if TYPE_CHECKING:
    from collector.inspection.check import Check

LOOPBACK = "127.0.0.1"


def web(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address without opening a browser.")] = False,
    database: Database = None,
    config: Config = None,
) -> None:
    """Show the report in a browser, until stopped. Only this machine can reach it.

    Example: collector web --no-open --port 8080
    """
    from collector.store import prices as price_table
    from collector.store.database import open_to_read
    from collector.store.limits import ReceiverLimits
    from collector.store.pages.asked import Site
    from collector.store.pages.site import application
    from collector.store.server import run_until_signal, serving

    chosen, path = store_here(config, database)
    prices = price_table.load(chosen.store.prices)
    open_to_read(path, prices).close()  # raises if it is unusable, before a browser is opened
    local = None if database else partial(_this_machine, chosen)
    site = Site(path, prices, local, chosen.store.retention_days)
    with listening(LOOPBACK, port) as listener:
        token = secrets.token_urlsafe(32)
        door = application(site, token)
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        typer.echo(f"{address}?token={token}")
        typer.echo("This address works on this machine only, until you press Ctrl-C.", err=True)
        if not no_open and _has_window():
            webbrowser.open(f"{address}?token={door.ticket()}")
        run_until_signal(serving(door, ReceiverLimits()), listener)
    typer.echo("Stopped.", err=True)


def _this_machine(chosen: Settings) -> list[Check]:
    """The facts about this machine's agent and its transcripts, for the Trust page."""
    from collector.inspection.trust import facts

    return list(facts(chosen))


def _has_window() -> bool:
    """Whether the browser opens a window: one that runs in the terminal would keep the server from starting."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser
