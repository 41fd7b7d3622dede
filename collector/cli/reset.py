"""`collector reset`: sends sources again from the start, or drops what is held of them."""

from __future__ import annotations

from typing import Annotated

import typer

from collector import settings
from collector.cli.options import All, AsJson, Config, SinkName, StatePath, flags
from collector.cli.which_agent import agent_here
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.log import counted, tame_json
from collector.settings import Settings


def reset(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE", help="Paths or state keys of sources.", show_default=False)
    ] = None,
    everything: All = False,
    forget: Annotated[bool, typer.Option("--forget", help="Drop what is held for a failing sink, unsent.")] = False,
    config: Config = None,
    state: StatePath = None,
    sink: SinkName = None,
    json: AsJson = False,
) -> None:
    """Make the next pass send sources again from the start.

    That includes what was left out of them with --from-now. Event ids make the repeats harmless. With --forget, what is
    held of these sources is dropped, unsent. --forget alone drops everything held and changes no offset.

    Example: collector reset --all
    """
    loaded = agent_here(settings.load(config, flags(state=state), sinks=SINKS))
    if not sources and not everything and not forget:
        raise typer.BadParameter("name at least one source, or use --all.", param_hint="sources")
    from collector.assembly import held_of, state_of
    from collector.keeping.left_behind import drop_left_behind
    from collector.keeping.left_out import spans_left_out

    every = loaded.named(sink)
    keys = None if everything else [settings.state_key(source) for source in sources or []]
    states = [state_of(each).load(may_repair=False) for each in every]
    was_left_out = bool(spans_left_out(loaded.state_path)) or any(each.left_out_at() for each in states)
    known = {key for each in states for key in each.entries}
    if forget:
        known |= {file.original.key for each in every for file in held_of(each).held.files}
    if unknown := [key for key in keys or () if key not in known]:
        raise CollectorError(
            f"Not in the state {loaded.state_path}: {', '.join(unknown)}. Nothing was changed. "
            "Look up the keys of sources in that file, or use --all."
        )
    told = [_reset(each, keys, forget=forget) for each in every]
    forgotten, dropped = set().union(*(names for names, _ in told)), sum(count for _, count in told)
    if forget and not keys and sink is None:
        dropped += drop_left_behind(loaded.state_path, [each.state_path for each in every], lambda _: True)
    if json:
        typer.echo(tame_json({"reset": sorted(forgotten), "dropped": dropped}))
        return
    if forget:
        typer.echo(f"Dropped {counted(dropped, 'held file')}.")
    too = ", and what was left out of them with --from-now" if forgotten and was_left_out else ""
    typer.echo(f"The next pass sends {counted(len(forgotten), 'source')} again from the start{too}.")


def _reset(chosen: Settings, keys: list[str] | None, *, forget: bool) -> tuple[set[str], int]:
    """Forgets these sources, or all, in one sink's state. Returns their keys and how many held files were dropped."""
    from collector.assembly import committer_of, held_of, state_of
    from collector.keeping.lock import lock

    with lock(chosen.state_path, "reset"):
        offsets = state_of(chosen).load()
        dropped = held_of(chosen).forget(keys or None) if forget else 0
        meant = list(offsets.entries) if keys is None else keys
        return set(committer_of(offsets, chosen).reset(meant)), dropped
