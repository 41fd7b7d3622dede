"""`collector preview`: the sessions, and what would be sent of them, redacted; nothing is sent or saved."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector import log, settings
from collector.cli.options import Config, Roots, SinkName, SinkType, SinkUrl, StatePath, flags
from collector.cli.which_agent import agent_here
from collector.delivery.sinks.registry import SINKS

if TYPE_CHECKING:
    from collector.inspection.preview import Preview

HINTS = {
    "NO_SOURCE": "; there is nothing to read",
    "NO_MATCH": "; no source matches {}",
    "NO_SESSION": "; no session's id begins with {}. `collector preview` lists them, and --source takes a path",
    "ALL_OLDER": "; none is that recent",
    "ALL_SENT": "; everything has already been sent (--all shows it)",
    "ALL_SKIPPED": "; no line produces an event",
}
FEW = 20
MARKED = "\x1b[7m", "\x1b[0m"  # reverse video


def preview(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION", help="A session's id, or its first characters: show all of it.", show_default=False
        ),
    ] = None,
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    source: Annotated[
        str | None,
        typer.Option(help="Only sources whose path contains this, or matches it as a glob.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only events since a date (2026-03-01), or since 3d, 12h or 30m ago.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="At most this many events; 0 for all. 20 if no session is given.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="From the start, including what was already sent.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the exact bytes, before compression.")] = False,
    json: Annotated[bool, typer.Option("--json", help="List sessions as JSON, one per line.")] = False,
    sink: SinkName = None,
) -> None:
    """Show what would be sent. Nothing is sent or saved.

    On its own, it lists the sessions: sent, partly sent, pending, excluded, left out or held. With a session, or an
    option that selects events, it shows those events in readable form, and what is left out and why.

    Example: collector preview --source history --limit 5
    """
    chosen = agent_here(settings.load(config, flags(root, sink_url, sink_type, state), sinks=SINKS)).one(sink)
    log.configure(chosen.log.level, chosen.log.format)
    from collector.inspection.preview import Wanted, previewed  # imported here, so `--help` does not load the agent

    is_list = session is None and source is None and since is None and limit is None and not (everything or raw)
    if is_list:
        _list(chosen, as_json=json)
        return
    if json:
        raise typer.BadParameter(
            "is for the list of sessions. For events, use --raw: one per line.", param_hint="--json"
        )
    count = limit if limit is not None else 0 if session or raw else FEW
    wanted = Wanted(source or "", start_of(since), everything or session is not None, session or "", count)
    with previewed(chosen, wanted) as found:
        if raw:
            _print_bytes(found)
        else:
            _print_events(chosen, found)
        rest = f"; stopped at --limit {count}" if found.is_cut else ""
        name = log.printable(source or session or "")
        hint = "" if found.shown else HINTS[found.why_empty.name].format(name)
    typer.echo(f"{log.counted(found.shown, 'event')} shown{rest}{hint}. Nothing was sent.", err=True)


def _list(chosen: settings.Settings, *, as_json: bool) -> None:
    from collector.inspection.sessions import sessions

    rows = sessions(chosen)
    if as_json:
        for row in rows:
            typer.echo(log.tame_json(row._asdict()))
        return
    for row in rows:
        size = (f"{log.in_words(row.unsent)} of " if row.state == "partly sent" else "") + log.in_words(row.bytes)
        when = row.changed.replace("T", " ")[:16]
        typer.echo(log.printable(f"{when}  {row.state:11}  {size:>18}  {row.session}  {row.project}".rstrip()))
    typer.echo(
        "`collector preview ID` shows what would be sent of a session. Times are UTC."
        if rows
        else "There is nothing to read; `collector doctor` says why.",
        err=True,
    )


def _print_bytes(found: Preview) -> None:
    for body in found.requests:
        sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _print_events(chosen: settings.Settings, found: Preview) -> None:
    """Prints the events as text for people, then the lines that would not be sent, and what leaves this machine."""
    from collector.flow import reasons
    from collector.inspection.readable import lines_of
    from collector.redact.marker import MARKER
    from collector.settings.disclosure import statement

    about: dict[str, Any] = {}
    is_terminal = sys.stdout.isatty()
    for event in found.events:
        for line in lines_of(event.body, about):
            shown = log.printable(line)
            typer.echo(MARKER.sub(lambda marker: marker[0].join(MARKED), shown) if is_terminal else shown)
    meanings = {each.name: each.meaning for each in reasons.SKIPPED_LINES}
    for name, lines in found.skipped.items():
        typer.echo(log.printable(f"not sent: {log.counted(lines, 'line')}, {name}. {meanings.get(name, '')}"))
    for name, lines in found.quarantined.items():
        typer.echo(
            log.printable(
                f"not sent: {log.counted(lines, 'line goes', 'lines go')} to quarantine on this machine: {name}"
            )
        )
    typer.echo(log.printable(statement(chosen)))


def start_of(since: str | None) -> str:
    from collector.inspection.preview import moment

    try:
        return moment(since, datetime.now(UTC)) if since else ""
    except ValueError:
        raise typer.BadParameter("write a date (2026-03-01T12:00), or how long ago (3d, 12h, 30m)") from None
