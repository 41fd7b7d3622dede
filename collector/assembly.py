"""Builds the parts from the settings and closes them again. Every command that reads or sends starts here.

In: settings. Out: a flow for use inside a `with` block, which also holds the lock on the state. Invariant: each part
gets everything it needs when it is built, so nobody reaches into it later. A dry run locks nothing and moves no offset
on disk.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from collector import settings as configuration
from collector.agents.format import AgentFormat
from collector.agents.registry import AGENTS
from collector.delivery.credentials import credentials_now
from collector.delivery.sinks.registry import SINKS
from collector.delivery.waiting import Uniform
from collector.errors import ConfigurationError
from collector.flow.batch import Batch
from collector.flow.capture import Capture, in_turn
from collector.flow.frame import Frame
from collector.flow.interrupt import Interrupt
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.sink_identity import SinkIdentity
from collector.flow.source import Root
from collector.keeping.commit import Committer
from collector.keeping.installation import Installation, load_installation
from collector.keeping.lock import HeldLock, lock
from collector.keeping.parked import told
from collector.keeping.quarantine import Quarantine
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.leaving_out import leave_out_at_once
from collector.log import get_logger
from collector.pipeline import Flow
from collector.reading.roots import doubt
from collector.reading.scope import Scope
from collector.settings import Settings
from collector.settings.options import RedactionSettings

if TYPE_CHECKING:
    from collector.way_out import WayOut

log = get_logger()


@contextlib.contextmanager
def assembled(
    settings: Settings,
    purpose: str,
    *,
    is_dry_run: bool = False,
    interrupt: Interrupt | None = None,
    observer: Observer = UNOBSERVED,
) -> Iterator[Flow]:
    """Opens the flow that these settings describe, with its state locked while the block runs."""
    with (
        held_state(settings, purpose, is_dry_run=is_dry_run) as state,
        flow_on(state, settings, is_dry_run=is_dry_run, interrupt=interrupt, observer=observer) as flow,
    ):
        yield flow


@contextlib.contextmanager
def held_state(settings: Settings, purpose: str, *, is_dry_run: bool = False) -> Iterator[State]:
    """Loads the state and locks it while the block runs. A dry run does not lock it."""
    path = settings.state_path
    with contextlib.nullcontext() if is_dry_run else lock(path, purpose) as taken:
        state = state_of(settings, taken).load(may_repair=not is_dry_run)
        for note in state.notes:
            log.warning("state damaged", reason=note)
        yield state


def state_of(settings: Settings, taken: HeldLock | None = None) -> State:
    """The state for this sink, not loaded yet. Entries without an owner belong to the first agent in the registry."""
    return State(settings.state_path, next(iter(AGENTS)), sink=sink_of(settings), lock=taken)


def sink_of(settings: Settings) -> SinkIdentity:
    """The sink that these settings send to."""
    return SINKS[settings.sink_type].identity(settings)


@contextlib.contextmanager
def flow_on(
    state: State,
    settings: Settings,
    *,
    is_dry_run: bool = False,
    interrupt: Interrupt | None,
    observer: Observer,
    uniform: Uniform = random.uniform,
) -> Iterator[Flow]:
    """Opens the flow that these settings describe, on a state that is already locked."""
    scope = scope_of(settings)
    for each in settings.origins.overruled:
        log.warning("a setting has no effect", reason=str(each))
    for root in scope.roots:
        if said := doubt(root, scope.form_of(root)):
            log.warning("not a root", reason=said)
    with contextlib.ExitStack() as stack:
        installation = installation_of(settings, may_write=not is_dry_run)

        @cache
        def way_out() -> WayOut:
            from collector.way_out import opened  # imported here: a scan that finds nothing new needs none of it

            way = opened(
                settings,
                installation.key,
                is_dry_run=is_dry_run,
                interrupt=interrupt,
                observer=observer,
                uniform=uniform,
            )
            return stack.enter_context(way)

        # Check custom redaction settings and credentials at every start, not only once there is something to send.
        if settings.redaction != RedactionSettings():
            way_out()
        elif not is_dry_run and SINKS[settings.sink_type].needs_url:
            credentials_now(settings.sink, SINKS[settings.sink_type].scheme)
        yield Flow(
            scope=scope,
            frame=frame_of(settings, installation),
            capture=capture_of(settings, installation),
            state=state,
            way_out=way_out,
            committer=committer_of(state, settings, is_dry_run=is_dry_run),
            held=held_of(settings, is_dry_run=is_dry_run, alive=observer.alive),
            observer=observer,
            follower=SINKS[settings.sink_type].followed_by(settings),
        )


def leave_out_now(settings: Settings) -> None:
    """Treats everything unsent by now as sent, for the sink whose offsets are in force. Raises StateLocked if an agent
    is running: it does this itself."""
    with lock(settings.state_path, "resume") as taken:
        state = State(settings.state_path, next(iter(AGENTS)), lock=taken).load()
        leave_out_at_once(scope_of(settings), held_of(settings), committer_of(state, settings))


def retry_events(settings: Settings, entries: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Resends quarantined events one by one. Yields each entry with its result: `taken`, `refused`, `not an event`,
    `of another sink`, or `excluded` if its project has been excluded since."""
    from collector.delivery.window import Deliverer
    from collector.redact import seal
    from collector.way_out import lesser, make_redactor, open_channel, policy_of

    scope, sink = scope_of(settings), sink_of(settings)
    installation = installation_of(settings)
    redactor, capture = make_redactor(settings, installation.key), capture_of(settings, installation)
    with open_channel(settings, redactor) as channel:
        # All of these were refused before, so a row of refusals says nothing about the sink and must not halt it.
        deliverer = Deliverer(channel, policy_of(settings, may_halt=False))
        max_event_bytes = lesser(settings.batch.max_event_bytes, channel.sink.limits.event)
        for entry in entries:
            if not sink.is_named(str(entry.get("sink", ""))):
                yield entry, "of another sink"
                continue
            event = _event_of(entry)
            if event is None:
                yield entry, "not an event"
                continue
            if not scope.takes_event(event):
                yield entry, "excluded"
                continue
            # The capture level may have changed since the event was made.
            form = form_of(event)
            shown, reduced = in_turn(event, form.vocabulary, capture)
            sealed = seal(shown, redactor, max_event_bytes, form.shapes, reduced)
            batch = Batch(events=[sealed], places=[(entry["source"], entry["offset"])], size=len(sealed.body))
            for receipt in deliverer.deliver([batch]):
                yield entry, "refused" if receipt.refused else "taken"


def form_of(event: Mapping[str, Any]) -> AgentFormat:
    """The format of the agent that an event comes from; the first in the registry if the agent is unknown."""
    client = event.get("client")
    name = str(client.get("name")) if isinstance(client, dict) else ""
    return AGENTS.get(name, next(iter(AGENTS.values())))


def _event_of(entry: dict[str, Any]) -> dict[str, Any] | None:
    try:
        event = orjson.loads(entry["payload"])
    except (ValueError, TypeError, KeyError):
        return None
    return event if isinstance(event, dict) and event.get("id") == entry["id"] else None


def quarantine_of(settings: Settings) -> Quarantine:
    """The quarantine that belongs to this state; new entries name this sink."""
    path = settings.state_path.with_name(f"{settings.state_path.stem}.quarantine.jsonl")
    return Quarantine(path, settings.quarantine.max_bytes, sink=sink_of(settings))


def committer_of(state: State, settings: Settings, *, is_dry_run: bool = False) -> Committer:
    """The committer, which moves the offsets of a state."""
    return Committer(state, quarantine_of(settings), settings.sink.window, is_dry_run=is_dry_run)


def held_of(settings: Settings, *, is_dry_run: bool = False, alive: Callable[[], None] = UNOBSERVED.alive) -> HeldFiles:
    """The files held beside the state, out of reach of the sweep."""
    path = settings.state_path
    first = next(iter(AGENTS.values()))
    return HeldFiles(
        path.with_name(f"{path.stem}.held"),
        settings.swept,
        sink=sink_of(settings),
        name_companion=lambda source: AGENTS.get(source.root.agent, first).companion(source),
        is_dry_run=is_dry_run,
        alive=alive,
    )


def capture_of(settings: Settings, installation: Installation) -> Capture:
    """What may leave of an event. Pseudonyms of names are made with the same key as the redaction markers."""
    chosen = settings.capture
    key = settings.redaction_key(installation.key)
    return Capture(chosen.level, chosen.off, has_pseudonyms=chosen.names == "pseudonym", key=key)


def installation_of(settings: Settings, *, may_write: bool = False) -> Installation:
    """The identity of the installation that this state belongs to."""
    return load_installation(settings.state_path.with_name("installation.json"), may_write=may_write)


def frame_of(settings: Settings, installation: Installation) -> Frame:
    """The fields that tell, in every event, where it comes from."""
    return Frame(
        {"id": settings.host_id or installation.id, "name": settings.host_name},
        configuration.account(),
        installation.id,
        settings.labels,
        names_accounts=settings.capture.account,
        key=settings.redaction_key(installation.key),
    )


def scope_of(settings: Settings) -> Scope:
    """The scope of what these settings allow us to read."""
    included = settings.projects.include, settings.exclusions, settings.narrower
    return Scope(roots_of(settings), AGENTS, configuration.home(), *included)


def roots_of(settings: Settings) -> list[Root]:
    """The configured roots. Without any, each agent contributes the roots its environment variable names, or else those
    of its usual roots that exist."""
    if settings.roots:
        return [_root(item.path, item.label, item.agent) for item in settings.roots]
    found: list[Root] = []
    for form in AGENTS.values():
        listed = configuration.variable(form.root_variable) if form.root_variable else ""
        named = [part.strip() for part in listed.split(",") if part.strip()]
        usual = [_root(path, "", form.name) for path in named or form.usual_roots]
        found += usual if named else [root for root in usual if os.path.isdir(root.path)]
    return found or [_root(form.usual_roots[0], "", form.name) for form in AGENTS.values()][:1]


def _root(path: str, label: str, agent: str) -> Root:
    if agent and agent not in AGENTS:
        raise ConfigurationError(f"roots: {path} names unknown agent {agent!r}. Known: {', '.join(sorted(AGENTS))}.")
    absolute = os.path.abspath(os.path.expanduser(path))
    label = label or os.path.basename(absolute).lstrip(".") or "root"
    return Root(absolute, label, agent or _agent_at(absolute))


def _agent_at(path: str) -> str:
    """The agent that usually keeps its files here; the first in the registry for any other path."""
    for form in AGENTS.values():
        if path in {os.path.abspath(os.path.expanduser(usual)) for usual in form.usual_roots}:
            return form.name
    return next(iter(AGENTS))


def describe(flow: Flow) -> dict[str, Any]:
    """A summary of what is in force, for the log at startup."""
    return {
        "roots": [root.path for root in flow.scope.roots],
        "sink": flow.deliverer.channel.address,
        "offsets": told(flow.state.about, flow.state.parked, is_new=flow.state.is_new_sink and not flow.state.entries),
        "state": str(flow.state.path),
        "redaction_engine": flow.redactor.engine_name,
        "capture_level": flow.capture.level,
        "left_out": flow.capture.left_out,
    }
