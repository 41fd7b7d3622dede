"""`collector doctor`: checks everything the agent needs, and prints what is wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector import log, settings
from collector.cli.options import AsJson, Config, Roots, SinkType, SinkUrl, StatePath, flags
from collector.cli.verbosity import asked_level
from collector.cli.which_agent import agent_among, is_running, services_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError, StateError

if TYPE_CHECKING:
    from collector.inspection.check import Check


def doctor(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    canary: Annotated[
        bool, typer.Option("--canary/--no-canary", help="Send test events to see whether the sink accepts them.")
    ] = True,
    json: AsJson = False,
) -> None:
    """Check everything the agent needs; exit 1 if anything fails.

    One line each for configuration, roots, state, disk, redaction, secrets, sink, watching and service, with what to do
    about it. For a sink: proxy, DNS, connection, certificate, token, clock, and whether it accepts events, old ones
    too, and then has them. Nothing on this machine is changed. Each sink gets two synthetic events of kind `canary`,
    one of them dated 40 days back.

    Example: collector doctor
    """
    log.configure(asked_level() or "error")
    found = []
    for check in _checks(config, flags(root, sink_url, sink_type, state), has_canary=canary):
        found.append(check)
        if not json:
            _print(check)
    if json:
        typer.echo(log.tame_json({"checks": [check._asdict() for check in found]}))
    if any(check.level == "fail" for check in found):
        raise typer.Exit(1)


def _checks(config: Path | None, given: Mapping[str, Any], *, has_canary: bool) -> Iterator[Check]:
    from collector.inspection.check import Check
    from collector.inspection.doctor import NO_START, checks

    try:
        chosen, services = settings.load(config, given, sinks=SINKS), services_here()
        every = (chosen if is_running(chosen) else agent_among(chosen, services, with_others=False)).each()
    except (ConfigurationError, StateError) as error:
        yield Check("configuration", "fail", str(error), NO_START)
        return
    for each in every:
        for check in checks(each, services, has_canary=has_canary):
            yield check._replace(name=f"{check.name} {each.sink_name}") if len(every) > 1 else check


def _print(check: Check) -> None:
    finding = "; ".join(check.finding.splitlines())
    advice = f" -> {check.advice}" if check.advice else ""
    typer.echo(f"{check.level:5} {check.name:13} {log.printable(finding + advice)}")
