"""Puts the parts together from the settings, and takes them apart again. Used by `scan`, `run` and `demo` alike."""

from __future__ import annotations

import contextlib
import fnmatch
import getpass
import os
import re
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson

from collector import settings as configuration
from collector.delivery.batch import BatchLimits
from collector.delivery.sinks.http import HttpSink
from collector.delivery.transport import NO_TRUST, Transport
from collector.delivery.window import Deliverer
from collector.errors import ConfigurationError, StateError
from collector.files import created, make_private_directory
from collector.flow.batch import Batch
from collector.keeping.commit import Committer
from collector.keeping.lock import lock
from collector.keeping.quarantine import Quarantine
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.log import get_logger
from collector.pipeline import Flow
from collector.redact import Options, Redactor, seal
from collector.service import footprint
from collector.settings import Settings

log = get_logger()
SHORTEST_KEY = 16  # bytes


@dataclass(frozen=True, slots=True)
class Installation:
    """What this installation calls itself, and the key of its redaction markers."""

    id: str
    key: bytes


@contextlib.contextmanager
def assembled(
    settings: Settings,
    purpose: str,
    *,
    is_dry_run: bool = False,
    max_wait: float | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Flow]:
    """The flow that these settings describe, with its state locked for as long as it lasts."""
    with (
        held_state(settings, purpose, is_dry_run=is_dry_run) as state,
        flow_on(state, settings, is_dry_run=is_dry_run, max_wait=max_wait, stop=stop) as flow,
    ):
        yield flow


@contextlib.contextmanager
def held_state(settings: Settings, purpose: str, *, is_dry_run: bool = False) -> Iterator[State]:
    """The state, loaded, and locked for as long as it is held; a dry run locks nothing."""
    path = settings.state_path
    with contextlib.nullcontext() if is_dry_run else lock(path, purpose):
        state = State(path).load(may_repair=not is_dry_run)
        for note in state.notes:
            log.warning("state damaged", reason=note)
        yield state


@contextlib.contextmanager
def flow_on(
    state: State,
    settings: Settings,
    *,
    is_dry_run: bool = False,
    max_wait: float | None = None,
    stop: threading.Event | None = None,
    alive: Callable[[], None] = lambda: None,
) -> Iterator[Flow]:
    """The flow that these settings describe, on a state that is held already."""
    footprint.hold_little_memory()
    with contextlib.ExitStack() as stack:
        installation = load_installation(state.path.with_name("installation.json"), may_write=not is_dry_run)
        redactor = make_redactor(settings, installation.key)
        deliverer = stack.enter_context(delivering(settings, redactor, is_dry_run, max_wait, stop))
        yield Flow(
            roots=settings.resolved_roots(),
            home=configuration.home(),
            is_wanted=project_filter(settings.projects.include, settings.projects.exclude),
            state=state,
            redactor=redactor,
            limits=BatchLimits(settings.batch.max_events, settings.batch.max_bytes, settings.batch.linger),
            max_event_bytes=settings.batch.max_event_bytes,
            deliverer=deliverer,
            committer=committer_of(state, settings, is_dry_run=is_dry_run),
            held=held_of(settings, is_dry_run=is_dry_run, alive=alive),
            host={"id": installation.id, "name": socket.gethostname()},
            user=user_name(),
            level=settings.capture.level,
        )


@contextlib.contextmanager
def delivering(
    settings: Settings,
    redactor: Redactor,
    is_dry_run: bool = False,
    max_wait: float | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Deliverer]:
    """The way to the sink that these settings describe."""
    with _transport(settings, is_dry_run) as transport:
        yield Deliverer(
            HttpSink(settings.sink.format, settings.sink.content_type),
            transport,
            settings.retry,
            window=settings.sink.window,
            max_wait=settings.retry.max_wait if max_wait is None else max_wait,
            max_rate=settings.sink.max_rate,
            clean=lambda text: redactor.text(text)[:500],
            stop=stop,
            shutdown_timeout=settings.run.shutdown_timeout,
        )


def retry_events(settings: Settings, entries: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Sends quarantined events once more, each by itself: the entries, with `taken`, `refused` or `not an event`."""
    installation = load_installation(settings.state_path.with_name("installation.json"), may_write=False)
    redactor = make_redactor(settings, installation.key)
    with delivering(settings, redactor) as deliverer:
        for entry in entries:
            event = _event_of(entry)
            if event is None:
                yield entry, "not an event"
                continue
            sealed = seal(event, redactor, settings.batch.max_event_bytes)
            batch = Batch(events=[sealed], places=[(entry["source"], entry["offset"])], size=len(sealed.body))
            deliverer.health.refused_in_a_row = 0  # these were refused before: that says nothing of the sink
            for receipt in deliverer.deliver([batch]):
                yield entry, "refused" if receipt.refused else "taken"


def _event_of(entry: dict[str, Any]) -> dict[str, Any] | None:
    try:
        event = orjson.loads(entry["payload"])
    except (ValueError, TypeError, KeyError):
        return None
    return event if isinstance(event, dict) and event.get("id") == entry["id"] else None


def quarantine_of(settings: Settings) -> Quarantine:
    """The quarantine that belongs to a state."""
    path = settings.state_path
    return Quarantine(path.with_name(f"{path.stem}.quarantine.jsonl"), settings.quarantine.max_bytes)


def committer_of(state: State, settings: Settings, *, is_dry_run: bool = False) -> Committer:
    """What moves the offsets of a state."""
    return Committer(state, quarantine_of(settings), settings.sink.window, is_dry_run=is_dry_run)


def held_of(settings: Settings, *, is_dry_run: bool = False, alive: Callable[[], None] = lambda: None) -> HeldFiles:
    """What is kept from the sweep, beside the state."""
    path = settings.state_path
    return HeldFiles(path.with_name(f"{path.stem}.held"), settings.swept, is_dry_run=is_dry_run, alive=alive)


def make_redactor(settings: Settings, key: bytes) -> Redactor:
    """The redactor with the rules in force; a fleet's key takes the place of the installation's."""
    chosen = settings.redaction
    if chosen.key_file is not None:
        key = configuration.read_secret(chosen.key_file, "redaction.key_file").encode()
    return Redactor(
        Options(
            key=key,
            engine=chosen.engine,
            disabled=frozenset(chosen.disable),
            rules=tuple(chosen.rules),
            fields=tuple(chosen.fields),
            cache_dir=configuration.cache_directory(),
        )
    )


@contextlib.contextmanager
def _transport(settings: Settings, is_dry_run: bool) -> Iterator[Transport]:
    """The way to the sink: a real one, the embedded store's, or one that goes nowhere."""
    with contextlib.ExitStack() as stack:
        if is_dry_run:
            nowhere = httpx.MockTransport(lambda _: httpx.Response(200))
            transport = Transport(settings.sink, "http://localhost/", None, nowhere)
        elif settings.sink_type == "store":
            from collector.store import EmbeddedStore

            store = stack.enter_context(EmbeddedStore(settings.database_path))
            # Its own transport: what the environment says of proxies is not meant for this process itself.
            local = httpx.HTTPTransport(verify=NO_TRUST, trust_env=False)
            transport = Transport(settings.sink, store.url, store.token, local)
        else:
            if settings.sink.url is None:
                raise ConfigurationError(
                    "sink.url is missing. Set it, or leave sink.type out to use the embedded store."
                )
            transport = Transport(settings.sink, settings.sink.url, settings.sink_token())
        try:
            yield transport
        finally:
            transport.close()


def load_installation(path: Path, *, may_write: bool) -> Installation:
    """This installation's id and marker key; made at the first start."""
    try:
        return _read_installation(path)
    except FileNotFoundError:
        is_new = True
    except (OSError, ValueError, KeyError, TypeError) as error:
        is_new = False
        log.warning("installation file damaged, a new one is made", path=str(path), error=type(error).__name__)
    made = Installation(secrets.token_hex(16), secrets.token_bytes(32))
    return _write_installation(path, made, is_new=is_new) if may_write else made


def _read_installation(path: Path) -> Installation:
    known = orjson.loads(path.read_bytes())
    key = bytes.fromhex(known["key"])
    if len(key) < SHORTEST_KEY:
        raise ValueError("with a key that can be guessed, so can what the markers stand for")
    return Installation(str(known["id"]), key)


def _write_installation(path: Path, made: Installation, *, is_new: bool) -> Installation:
    """Puts the file in place; where two agents start at once, the first one's counts for both."""
    temporary = path.with_name(f"{path.name}.new-{os.getpid()}")
    try:
        make_private_directory(path.parent)
        try:
            with created(temporary) as file:
                file.write(orjson.dumps({"id": made.id, "key": made.key.hex()}))
                file.flush()
                os.fsync(file.fileno())
            if not is_new or not _put_first(temporary, path):
                os.replace(temporary, path)
            return _read_installation(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"Cannot write {path}: {error.strerror}. Nothing was sent. Make room or check the mount."
        ) from None


def _put_first(temporary: Path, path: Path) -> bool:
    """Gives the file its name unless there is one of that name; False where the system cannot do that."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return True
    except OSError:
        return False
    return True


def user_name() -> str:
    """Who runs this; a number where the system knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def project_filter(include: list[str], exclude: list[str]) -> Callable[[str], bool]:
    """Whether a project directory is collected. A glob is over the directory's name, or over the path it is for."""
    wanted = [_pattern(glob) for glob in include]
    unwanted = [_pattern(glob) for glob in exclude]
    if not wanted and not unwanted:
        return lambda _: True
    known: dict[str, bool] = {}

    def is_wanted(project: str) -> bool:
        if project not in known:
            is_in = not wanted or any(pattern.fullmatch(project) for pattern in wanted)
            known[project] = is_in and not any(pattern.fullmatch(project) for pattern in unwanted)
        return known[project]

    return is_wanted


def _pattern(glob: str) -> re.Pattern[str]:
    """A path such as ~/work/* is turned into what Claude Code names its directory: other signs become `-`."""
    if glob.startswith(("/", "~")):
        glob = re.sub(r"[^A-Za-z0-9*?]", "-", os.path.expanduser(glob))
    return re.compile(fnmatch.translate(glob))


def describe(flow: Flow) -> dict[str, Any]:
    """What is in force, for the log at start."""
    return {
        "roots": [root.path for root in flow.roots],
        "sink": flow.deliverer.transport.address,
        "state": str(flow.state.path),
        "redaction_engine": flow.redactor.engine_name,
        "capture_level": flow.level,
    }
