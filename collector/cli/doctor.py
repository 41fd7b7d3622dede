"""`collector doctor`: checks everything the agent needs, and says what to do about what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector import log, settings
from collector.cli.scan import Config, Roots, SinkType, SinkUrl, StatePath, flags
from collector.delivery.sinks import SINKS
from collector.errors import ConfigurationError

if TYPE_CHECKING:
    from collector.inspection.doctor import Check


def doctor(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Checks configuration, roots, state, redaction, sink and service; exit code 1 when something fails.

    Changes nothing here. The sink gets one synthetic event of kind `heartbeat`, to see whether it takes it.
    """
    log.configure("error")
    found = []
    for check in _checks(config, flags(root, sink_url, sink_type, state)):
        found.append(check)
        if not json:
            _print(check)
    if json:
        told = {"checks": [check._asdict() for check in found]}
        typer.echo(log.tame_json(told))
    if any(check.level == "fail" for check in found):
        raise typer.Exit(1)


def _checks(config: Path | None, given: Mapping[str, Any]) -> Iterator[Check]:
    from collector.inspection.doctor import Check, checks

    try:
        chosen = settings.load(config, given, sinks=SINKS)
        source = settings.config_file(config)
    except ConfigurationError as error:
        yield Check("configuration", "fail", str(error), "The agent does not start with it.")
        return
    yield from checks(chosen, str(source or "defaults and environment"))


def _print(check: Check) -> None:
    finding = "; ".join(check.finding.splitlines())
    typer.echo(f"{check.level:5} {check.name:13} {log.printable(finding)}")
    if check.advice:
        typer.echo(f"{'':19} -> {log.printable(check.advice)}")
