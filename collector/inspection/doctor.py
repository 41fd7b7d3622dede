"""What `collector doctor` checks: everything the agent needs, each with what a person can do about it.

In: the settings. Out: checks, one after another. Nothing is changed; the sink gets one synthetic event (of kind
`heartbeat`, with `canary` in it), because only an acknowledgement proves that it can be reached and takes events.
"""

from __future__ import annotations

import email.utils
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from collector import settings as configuration
from collector.assembly import delivering, load_installation, make_redactor, project_filter, quarantine_of, user_name
from collector.delivery.settle import idempotency_key
from collector.delivery.sink import Accepted, Answer, Halt
from collector.delivery.window import Deliverer
from collector.errors import CollectorError
from collector.install import plans, templates
from collector.keeping.lock import holder
from collector.keeping.state import State
from collector.pipeline import lag_of
from collector.reading.discover import Findings, discover
from collector.redact import Redactor, seal
from collector.redact.scan import rule_cache
from collector.service import watch_limits
from collector.service.heartbeat import canary
from collector.service.status_file import in_words, read_status
from collector.settings import Settings

LITTLE_ROOM, NO_ROOM = 200_000_000, 20_000_000
CLOCK_SKEW_SECONDS = 300
OTHERS, WRITABLE = 0o077, 0o022
SWEPT_AFTER_DAYS, SWEPT_SOON_DAYS = 30, 25


class Check(NamedTuple):
    """One thing that was looked at: level is ok, warn or fail."""

    name: str
    level: str
    finding: str
    advice: str = ""


def checks(settings: Settings, source: str) -> Iterator[Check]:
    """Every check, in the order in which things go wrong."""
    yield Check("configuration", "ok", f"{source}: valid")
    found = discover(settings.resolved_roots(), _filter(settings), configuration.home())
    for name, step in STEPS.items():
        try:
            yield from step(settings, found)
        except (CollectorError, OSError) as error:
            yield Check(name, "fail", str(error))


def _filter(settings: Settings) -> Callable[[str], bool]:
    return project_filter(settings.projects.include, settings.projects.exclude)


def _roots(settings: Settings, found: Findings) -> Iterator[Check]:
    missing = {root.path for root in found.missing_roots}
    for root in settings.resolved_roots():
        if root.path in missing:
            advice = "Claude Code makes it at its first start; if it is elsewhere, name it in `roots` or with --root."
            yield Check("root", "warn", f"{root.path} is not there; `run` waits for it", advice)
        else:
            count = sum(source.root.path == root.path for source in found.files)
            yield Check("root", "ok" if count else "warn", f"{root.path}: {count} sources")
    for key, reason in list(found.errors.items())[:5]:
        yield Check("root", "fail", f"{key} cannot be listed: {reason}", "Make it readable to this user.")
    if found.skipped:
        yield Check("skipped", "ok", f"files not read: {_listed(found.skipped)}")
    if found.never_read:
        yield Check("never read", "ok", _listed(found.never_read))


def _listed(counts: dict[str, int], most: int = 8) -> str:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    more = [f"{len(ordered) - most} more"] if len(ordered) > most else []
    return ", ".join([f"{count} {name}" for name, count in ordered[:most]] + more)


def _state(settings: Settings, _: Findings) -> Iterator[Check]:
    path = settings.state_path
    state = State(path).load(may_repair=False)
    for note in state.notes:
        yield Check("state", "warn", note, "The next run moves it aside and starts over; repeats have the same ids.")
    place = next(each for each in (path.parent, *path.parent.parents) if each.exists())
    if not os.access(place, os.W_OK | os.X_OK):
        advice = "Make the directory writable to this user, or name another file with --state or state.path."
        yield Check("state", "fail", f"{place} is not writable", advice)
        return
    yield Check("state", "ok", f"{path}: {len(state.entries)} sources known")
    yield from _open_to_others(settings)
    named = holder(path)
    yield Check("agent", "ok", f"running: {named}" if named else "not running")
    problem = read_status(path).get("problem")
    if named and problem:
        yield Check("agent", "fail", f"{problem['kind']} since {problem['since']}", str(problem["reason"]))


def _open_to_others(settings: Settings) -> Iterator[Check]:
    """What others may read or replace: files from a backup, a directory that somebody else made."""
    state = settings.state_path
    if state.parent.exists() and state.parent.stat().st_mode & WRITABLE:
        yield Check("state", "warn", f"others can write into {state.parent}", f"chmod 700 {state.parent}")
    for path in (state, state.with_name("installation.json"), quarantine_of(settings).path, settings.database_path):
        if path.exists() and path.stat().st_mode & OTHERS:
            yield Check("state", "warn", f"others can read {path}", f"chmod 600 {path}")


def _sweep(settings: Settings, found: Findings) -> Iterator[Check]:
    """Claude Code deletes old transcripts; what is not sent by then is lost."""
    state = State(settings.state_path).load(may_repair=False)
    soon = (time.time() - SWEPT_SOON_DAYS * 86400) * 1e9
    late = [source for source in found.files if source.stamp.mtime_ns < soon and lag_of(source, state)]
    if late and state.entries:
        finding = f"{len(late)} sources that are not sent are older than {SWEPT_SOON_DAYS} days"
        advice = f"Claude Code deletes them after {SWEPT_AFTER_DAYS} days: run `collector scan` now."
        yield Check("sweep", "warn", finding, advice)


def _room(settings: Settings, _: Findings) -> Iterator[Check]:
    places = {"state": settings.state_path.parent}
    if settings.sink_type == "store":
        places["store"] = settings.database_path.parent
    for name, path in places.items():
        place = next(each for each in (path, *path.parents) if each.exists())
        free = shutil.disk_usage(place).free
        level = "fail" if free < NO_ROOM else "warn" if free < LITTLE_ROOM else "ok"
        advice = "" if level == "ok" else "Make room: what is acknowledged must be remembered on disk."
        yield Check("disk", level, f"{in_words(free)} free for the {name} in {place}", advice)


def _quarantine(settings: Settings, _: Findings) -> Iterator[Check]:
    count = len(quarantine_of(settings).entries())
    if count:
        yield Check("quarantine", "warn", f"{count} entries", "Look at them with `collector quarantine list`.")
    else:
        yield Check("quarantine", "ok", "empty")


def _redaction(settings: Settings, _: Findings) -> Iterator[Check]:
    redactor = _redactor(settings)
    if redactor.engine_name == "python":
        advice = "It finds the same, only slower. Install the `hyperscan` wheel, or set redaction.engine to python."
        yield Check("redaction", "warn" if settings.redaction.engine == "auto" else "ok", "engine python", advice)
    else:
        yield Check("redaction", "ok", f"engine {redactor.engine_name}")
        cache = configuration.cache_directory()
        if reason := rule_cache.danger(cache):
            finding = f"{cache} is not used and rules are compiled at every start: {reason}"
            yield Check("redaction", "warn", finding, rule_cache.ADVICE)
    if settings.redaction.disable:
        yield Check("redaction", "warn", f"rules turned off: {', '.join(settings.redaction.disable)}")


def _redactor(settings: Settings) -> Redactor:
    known = load_installation(settings.state_path.with_name("installation.json"), may_write=False)
    return make_redactor(settings, known.key)


def _secrets(settings: Settings, _: Findings) -> Iterator[Check]:
    token = settings.sink.token_file or configuration.credential("sink-token")
    files = {"sink.token_file": token, "sink.client_key": settings.sink.client_key}
    files["redaction.key_file"] = settings.redaction.key_file
    for name, path in files.items():
        if path is None:
            continue
        mode = path.stat().st_mode if path.exists() else None
        if mode is None or not os.access(path, os.R_OK):
            yield Check("secrets", "fail", f"{name}: {path} cannot be read", "Make it readable to this user.")
        elif mode & OTHERS:
            yield Check("secrets", "warn", f"{name}: others can read {path}", f"chmod 600 {path}")
        else:
            yield Check("secrets", "ok", f"{name}: {path}")
    settings.sink_token()


def _sink(settings: Settings, _: Findings) -> Iterator[Check]:
    """One event goes the whole way; a sink that takes it takes others."""
    if settings.sink_type == "store":
        yield from _store(settings)
        return
    url = str(settings.sink.url)
    if url.startswith("http://") and settings.sink.allow_http:
        yield Check("sink", "warn", "events travel in the clear (sink.allow_http)", "Use https:// where you can.")
    known = load_installation(settings.state_path.with_name("installation.json"), may_write=False)
    redactor = make_redactor(settings, known.key)
    host = {"id": known.id, "name": socket.gethostname()}
    event = seal(canary(host, user_name(), time.time()), redactor, settings.batch.max_event_bytes)
    with delivering(settings, redactor) as deliverer:
        started = time.monotonic()
        request = deliverer.sink.render([event])
        answer = deliverer.transport.post(request, idempotency_key([event]))[0]
        took = time.monotonic() - started
        yield _verdict(deliverer, answer, took)
    if isinstance(answer, Answer):
        yield from clock(answer, time.time())


def _verdict(deliverer: Deliverer, answer: Any, took: float) -> Check:
    address = deliverer.transport.address
    verdict = deliverer.sink.classify(answer) if isinstance(answer, Answer) else answer
    if isinstance(verdict, Accepted) and not verdict.rejected:
        return Check("sink", "ok", f"{address} took an event in {took * 1000:.0f} ms")
    if isinstance(verdict, Accepted):
        reason = deliverer.clean(next(iter(verdict.rejected.values())))
        return Check("sink", "warn", f"{address} answers, but rejected the canary: {reason}", "Check what it expects.")
    advice = (
        deliverer.clean(verdict.advice) if isinstance(verdict, Halt) else "Check that it is up and reachable from here."
    )
    return Check("sink", "fail", f"{address}: {deliverer.clean(verdict.reason)}", advice)


def clock(answer: Answer, now: float) -> Iterator[Check]:
    """Whether the sink's clock and ours agree; events of a wrong clock land in the wrong day."""
    told = answer.headers.get("date", "")
    try:
        skew = now - email.utils.parsedate_to_datetime(told).timestamp()
    except (ValueError, TypeError):
        return
    if abs(skew) > CLOCK_SKEW_SECONDS:
        finding = f"this clock and the sink's differ by {abs(skew):.0f} seconds"
        yield Check("clock", "warn", finding, "Set this machine's clock, or let NTP do it.")
    else:
        yield Check("clock", "ok", f"within {abs(skew) + 1:.0f} seconds of the sink's")


def _store(settings: Settings) -> Iterator[Check]:
    path = settings.database_path
    if not path.exists():
        yield Check("sink", "ok", f"the embedded store, {path}, is made by the first run")
        return
    from collector.store.database import open_to_read

    open_to_read(path).close()
    yield Check("sink", "ok", f"the embedded store, {path}, {in_words(path.stat().st_size)}")


def _watching(_: Settings, found: Findings) -> Iterator[Check]:
    if not sys.platform.startswith("linux"):
        return
    directories = {os.path.dirname(source.path) for source in found.files}
    most = watch_limits.inotify_limit("max_user_watches")
    place = next(iter(directories), "/")
    if watch_limits.is_watch_limit_reached(place) or (most is not None and len(directories) > most):
        enough = max(524_288, 2 * (most or 0))
        advice = f"Until it is raised (sysctl fs.inotify.max_user_watches={enough}), rescans find new lines."
        yield Check("watching", "warn", f"the limit of {most} inotify watches is reached", advice)
    else:
        yield Check("watching", "ok", f"{len(directories)} directories, limit {most}")
    for root in sorted({source.root.path for source in found.files}):
        name = watch_limits.network_file_system(os.path.realpath(root))
        if name:
            advice = "What other machines write there is found by rescans only."
            yield Check("watching", "warn", f"{root} is on {name}", advice)


def _service(settings: Settings, _: Findings) -> Iterator[Check]:
    person = plans.Person(user_name(), os.getuid(), configuration.home())
    if sys.platform == "darwin":
        places = [plans.launch_agent_path(person)]
    else:
        wants = f"collector@{person.name}.service"
        places = [
            plans.user_unit_path(person),
            Path("/usr/lib/systemd/user") / templates.UNIT,
            Path("/etc/systemd/system/multi-user.target.wants") / wants,
        ]
    installed = next((place for place in places if place.exists()), None)
    if installed is not None:
        yield Check("service", "ok", str(installed))
    elif holder(settings.state_path):
        yield Check("service", "ok", "not installed, but the agent runs")
    else:
        yield Check("service", "warn", "not installed", "`collector service install` starts it now and at every login.")


STEPS: dict[str, Callable[[Settings, Findings], Iterator[Check]]] = {
    "root": _roots,
    "state": _state,
    "sweep": _sweep,
    "disk": _room,
    "quarantine": _quarantine,
    "redaction": _redaction,
    "secrets": _secrets,
    "sink": _sink,
    "watching": _watching,
    "service": _service,
}
