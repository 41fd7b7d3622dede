"""`collector preview`: exactly what would be sent, redacted, and nothing is sent or saved."""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from collector import log, settings
from collector.cli.scan import Config, Roots, SinkType, SinkUrl, StatePath, flags

if TYPE_CHECKING:
    from collector.flow.ledger import Ledger
    from collector.flow.outcome import Sealed
    from collector.pipeline import Flow
    from collector.reading.discover import Findings

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def preview(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    source: Annotated[
        str | None, typer.Option(help="Only sources whose path holds this, or matches this glob.", show_default=False)
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only events from then on: 2026-03-01, or 3d, 12h, 30m ago.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many events; 0 for all.")] = 20,
    everything: Annotated[bool, typer.Option("--all", help="From the start, not only what is not sent yet.")] = False,
) -> None:
    """Prints the events that would be sent next: redacted, one a line. Nothing is sent, nothing is saved."""
    chosen = settings.load(config, flags(root, sink_url, sink_type, state))
    log.configure(chosen.log.level, chosen.log.format)
    start = _moment(since) if since else ""
    from collector.assembly import assembled
    from collector.flow.ledger import Ledger
    from collector.reading.discover import discover

    shown, ledger = 0, Ledger()
    with assembled(chosen, "preview", is_dry_run=True) as flow:
        if everything:
            flow.committer.reset(list(flow.state.entries))
        found = discover(flow.roots, flow.is_wanted, flow.home)
        if source is not None:
            found.files = [each for each in found.files if _matches(each.key, source)]
            found.is_partial = True  # nothing follows from what is left out
        for event in _events(flow, ledger, found):
            if start and orjson.loads(event.body)["time"] < start:
                continue
            _print(event)
            shown += 1
            if limit and shown >= limit:
                break
    what = "event" if shown == 1 else "events"
    rest = f"; --limit {limit} ends it here" if limit and shown >= limit else ""
    hint = "" if shown else _why_nothing(found, was_asked_for=source or "", everything=everything)
    typer.echo(f"{shown} {what} shown{rest}{hint}. Nothing was sent.", err=True)


def _why_nothing(found: Findings, *, was_asked_for: str, everything: bool) -> str:
    if not found.files:
        return f"; no source matches {log.printable(was_asked_for)}" if was_asked_for else "; there is nothing to read"
    return "" if everything else "; everything was sent already, --all shows it"


def _events(flow: Flow, ledger: Ledger, found: Findings) -> Iterator[Sealed]:
    from collector.flow.outcome import Sealed
    from collector.pipeline import outcomes

    for item in outcomes(flow, ledger, found):
        if isinstance(item.outcome, Sealed):
            yield item.outcome


def _print(event: Sealed) -> None:
    """As it is sent; on a terminal, indented and without control characters."""
    if sys.stdout.isatty():
        text = orjson.dumps(orjson.loads(event.body), option=orjson.OPT_INDENT_2).decode()
        typer.echo("\n".join(log.printable(line) for line in text.splitlines()))
    else:
        sys.stdout.buffer.write(event.body + b"\n")


def _matches(key: str, pattern: str) -> bool:
    return pattern in key or fnmatch.fnmatchcase(key, pattern)


def _moment(text: str) -> str:
    """A point in time as events carry it."""
    ago = re.fullmatch(r"(\d+)([smhdw])", text)
    try:
        if ago:
            moment = datetime.now(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        else:
            moment = datetime.fromisoformat(text)
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter("write a date as 2026-03-01T12:00, or a time ago as 3d, 12h, 30m") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
