"""`collector preview`: prints exactly what would be sent, redacted; nothing is sent or saved."""

from __future__ import annotations

import itertools
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from collector import log, settings
from collector.cli.scan import Config, Roots, SinkName, SinkType, SinkUrl, StatePath, flags
from collector.delivery.sinks.registry import SINKS

if TYPE_CHECKING:
    from collector.flow.outcome import Sealed

HINTS = {
    "NO_SOURCE": "; there is nothing to read",
    "NO_MATCH": "; no source matches {}",
    "ALL_OLDER": "; none is that recent",
    "ALL_SENT": "; everything has been sent already, --all shows it",
    "ALL_SKIPPED": "; no line gives an event",
}


def preview(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Only sources whose path contains this, or matches it as a glob.", show_default=False
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="Only events since then: 2026-03-01, or 3d, 12h, 30m ago.", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="At most this many events; 0 for all.")] = 20,
    everything: Annotated[bool, typer.Option("--all", help="From the start, including what was sent already.")] = False,
    sink: SinkName = None,
) -> None:
    """Prints the events that would be sent next, one a line.

    They are redacted, exactly as they would be sent. Nothing is sent and nothing is saved. On a terminal, events are
    indented.

    Example: collector preview --since 1d --limit 3
    """
    chosen = settings.load(config, flags(root, sink_url, sink_type, state), sinks=SINKS).one(sink)
    log.configure(chosen.log.level, chosen.log.format)
    from collector.inspection.preview import Wanted, previewed  # here: `--help` need not pay for the whole agent

    shown = 0
    with previewed(chosen, Wanted(source or "", start_of(since), is_from_start=everything)) as found:
        for shown, event in enumerate(itertools.islice(found.events, limit or None), 1):  # noqa: B007 - also counts
            _print(event)
    what = "event" if shown == 1 else "events"
    rest = f"; --limit {limit} ends it here" if limit and shown >= limit else ""
    hint = "" if shown else HINTS[found.why_empty.name].format(log.printable(source or ""))
    typer.echo(f"{shown} {what} shown{rest}{hint}. Nothing was sent.", err=True)


def start_of(since: str | None) -> str:
    from collector.inspection.preview import moment

    try:
        return moment(since, datetime.now(UTC)) if since else ""
    except ValueError:
        raise typer.BadParameter("write a date as 2026-03-01T12:00, or a time ago as 3d, 12h, 30m") from None


def _print(event: Sealed) -> None:
    """As it is sent; on a terminal, indented and with control characters escaped."""
    if sys.stdout.isatty():
        text = orjson.dumps(orjson.loads(event.body), option=orjson.OPT_INDENT_2).decode()
        typer.echo("\n".join(log.printable(line) for line in text.splitlines()))
    else:
        sys.stdout.buffer.write(event.body + b"\n")
