"""`collector resend`: sends events from the embedded store to a sink, including those of transcripts since swept."""

from __future__ import annotations

from typing import Annotated

import typer

from collector import log, settings
from collector.cli.options import (
    SOME_LEFT,
    Config,
    LedgerAsJson,
    MaxWait,
    SinkName,
    SinkType,
    SinkUrl,
    StatePath,
    flags,
)
from collector.cli.preview import start_of
from collector.cli.progress import ProgressBar
from collector.cli.scan import print_ledger, refuse_changed, stopping_on_signals
from collector.cli.verbosity import is_quiet
from collector.cli.which_agent import agent_with_store
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.flow.interrupt import Interrupt
from collector.flow.ledger import Ledger


def resend(
    from_store: Annotated[bool, typer.Option("--from-store", help="Send what is in the embedded store.")] = False,
    since: Annotated[
        str | None,
        typer.Option(help="Only events since a date (2026-03-01), or since 3d, 12h or 30m ago.", show_default=False),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Start over instead of continuing where the last run ended.")
    ] = False,
    config: Config = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    max_wait: MaxWait = None,
    sink: SinkName = None,
    json: LedgerAsJson = False,
) -> None:
    """Send events from the embedded store to the sink.

    For a sink that was added after transcripts had been swept. Redaction markers stay as they are, today's rules and
    filters apply, and ids make it harmless to send what the sink already has. Exit codes are those of `scan`.

    Example: collector resend --from-store --since 30d
    """
    if not from_store:
        raise typer.BadParameter("required: it says where to send from.", param_hint="--from-store")
    usual = settings.load(config, flags(state=state), sinks=SINKS, sends=False)

    def read() -> settings.Settings:
        return settings.load(config, flags(None, sink_url, sink_type, state, max_wait), sinks=SINKS)

    chosen = read().one(sink)
    log.configure(chosen.log.level, chosen.log.format)
    if SINKS[chosen.sink_type].place:
        raise ConfigurationError(
            "sink: the embedded store cannot send its events to itself. Name another sink with --sink-url or sink.url."
        )
    from collector.assembly import assembled  # imported here, so `--help` does not load the agent
    from collector.keeping.lock import note_elsewhere
    from collector.service.footprint import hold_little_memory
    from collector.service.resend import resend as send_again

    note_elsewhere(usual.state_path, settings.state_file(None))
    hold_little_memory()
    ledger, interrupt, database = Ledger(), Interrupt(), agent_with_store(usual).database_path
    bar = ProgressBar(interrupt)
    parts = assembled(chosen, "resend", interrupt=interrupt, observer=bar)
    with stopping_on_signals(interrupt, lambda: bar.has_begun), parts as flow:
        refuse_changed(chosen, read)
        try:
            with bar:
                send_again(flow, database, ledger, since=start_of(since), said=since or "", is_again=again)
        finally:
            if json or not is_quiet():
                print_ledger(ledger, as_json=json)
    if interrupt.is_set or ledger.as_dict()["quarantined"]:
        raise typer.Exit(SOME_LEFT)
