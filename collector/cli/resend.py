"""`collector resend`: sends to a sink what the embedded store has, also of transcripts that were swept since."""

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
from collector.cli.scan import print_ledger, stopping_on_signals
from collector.cli.verbosity import is_quiet
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.flow.interrupt import Interrupt
from collector.flow.ledger import Ledger


def resend(
    from_store: Annotated[bool, typer.Option("--from-store", help="From the embedded store's database.")] = False,
    since: Annotated[
        str | None,
        typer.Option(help="Only events since then: 2026-03-01, or 3d, 12h, 30m ago.", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="From the start, not from where the last call ended.")] = False,
    config: Config = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    max_wait: MaxWait = None,
    sink: SinkName = None,
    json: LedgerAsJson = False,
) -> None:
    """Sends to the sink what the embedded store has.

    For a sink that came after transcripts were swept. Redaction marks stay as they are, today's rules and filters
    apply, and ids make it harmless where the sink has an event already. Exit codes as for `scan`.

    Example: collector resend --from-store --since 30d
    """
    if not from_store:
        raise typer.BadParameter("say where from: --from-store", param_hint="--from-store")
    given = flags(None, sink_url, sink_type, state, max_wait)
    chosen = settings.load(config, given, sinks=SINKS).one(sink)
    log.configure(chosen.log.level, chosen.log.format)
    if SINKS[chosen.sink_type].place:
        raise ConfigurationError(
            "sink: events from the embedded store cannot be sent to the embedded store. Name another sink with "
            "--sink-url or sink.url."
        )
    from collector.assembly import assembled  # here: `--help` need not pay for the whole agent
    from collector.service.footprint import hold_little_memory
    from collector.service.resend import resend as send_again

    hold_little_memory()
    ledger, interrupt = Ledger(), Interrupt()
    bar = ProgressBar(interrupt)
    parts = assembled(chosen, "resend", interrupt=interrupt, observer=bar)
    with stopping_on_signals(interrupt, lambda: bar.has_begun), parts as flow:
        try:
            with bar:
                send_again(flow, chosen.database_path, ledger, since=start_of(since), said=since or "", is_again=again)
        finally:
            if json or not is_quiet():
                print_ledger(ledger, as_json=json)
    if interrupt.is_set or ledger.as_dict()["quarantined"]:
        raise typer.Exit(SOME_LEFT)
