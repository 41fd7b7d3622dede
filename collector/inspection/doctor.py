"""Checks everything the agent needs, and says what a person can do about each thing that is wrong.

In: the settings, and facts about installed services. Out: checks, one after another. Nothing is changed.
The checks that contact a sink are in sink_checks.py.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from collector import settings as configuration
from collector.agents.registry import AGENTS
from collector.assembly import installation_of, quarantine_of, roots_of, scope_of, state_of
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError, ConfigurationError
from collector.flow import reasons
from collector.inspection.check import Check, may, nearest
from collector.inspection.deletions import deletions, is_late, kept_alone, until_when
from collector.inspection.sink_checks import sink_checks
from collector.keeping.installation import damage_of
from collector.keeping.lock import holder
from collector.keeping.pause import standstill
from collector.keeping.rescue import NO_ROOM
from collector.log import counted, in_words
from collector.reading.discover import Findings, discover
from collector.reading.roots import doubt
from collector.redact.scan import rule_cache
from collector.service import watch_limits
from collector.service.status_file import read_status
from collector.settings import Settings
from collector.store import prices
from collector.way_out import make_redactor

LITTLE_ROOM = 200_000_000
OTHERS, WRITABLE = 0o077, 0o022
IN_ANYBODYS_HANDS = stat.S_IWOTH | stat.S_ISVTX  # in a sticky directory, such as /tmp, nobody can replace a file
DAYS_OF_WARNING = 5
NO_START = "Fix this: the agent will not start with this configuration."
Step = Callable[[Settings, Findings], Iterator[Check]]
PROBLEMS = ("unavailable", "halted", "state", "internal")  # how the status line of an agent in trouble begins


def checks(settings: Settings, services: Sequence[Mapping[str, str]], *, has_canary: bool = True) -> Iterator[Check]:
    """Every check, in the order in which things go wrong.

    `services` are the installed ones, as their manager sees them. `has_canary` sends test events to the sink.
    """
    try:
        scope = scope_of(settings)
    except ConfigurationError as error:
        yield Check("configuration", "fail", str(error), NO_START)
        return
    yield Check("configuration", "ok", f"{', '.join(settings.origins.files) or 'defaults and environment'}: valid")
    for each in settings.origins.overruled:
        yield Check("configuration", "warn", str(each), "Remove it there, or ask whoever administers this machine.")
    if reason := standstill(settings):
        yield Check("sending", "warn", f"nothing is read or sent: {reason}")
    found = discover(scope)
    steps: dict[str, Step] = {
        **STEPS,
        "sink": lambda settings, _: sink_checks(settings, has_canary=has_canary),
        "watching": _watching,
    }
    for name, step in steps.items():
        try:
            yield from step(settings, found)
        except (CollectorError, OSError) as error:
            yield Check(name, "fail", str(error))
    yield from of_services(services, is_agent_running=bool(holder(settings.state_path)))


def _roots(settings: Settings, found: Findings) -> Iterator[Check]:
    missing = {root.path for root in found.missing_roots}
    for root in roots_of(settings):
        if said := doubt(root, AGENTS[root.agent]):
            yield Check("root", "warn", said)
        elif root.path in missing:
            who = AGENTS[root.agent].title
            advice = f"{who} creates it when it first starts. If it is elsewhere, name it in `roots` or with --root."
            yield Check("root", "warn", f"{root.path} does not exist yet; `run` waits for it", advice)
        else:
            count = sum(source.root.path == root.path for source in found.files)
            yield Check("root", "ok" if count else "warn", f"{root.path}: {counted(count, 'source')}")
    for key, reason in list(found.errors.items())[:5]:
        yield Check("root", "fail", f"{key} cannot be listed: {reason}", "Make it readable to this user.")
    closed = (each.key for each in found.files if not may(each.path, os.R_OK))
    for key in itertools.islice(closed, 5):
        yield Check("root", "fail", f"{key} cannot be read: Permission denied", "Make it readable to this user.")
    if links := found.skipped.get(reasons.OUTSIDE_ROOT.name):
        finding = f"{counted(links, 'symbolic link leads', 'symbolic links lead')} out of a root"
        advice = "No such link is followed. To keep the files elsewhere, move the whole root, which may be a link."
        yield Check("root", "warn", finding, advice)
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
    state = state_of(settings).load(may_repair=False)
    for note in state.notes:
        yield Check("state", "warn", note, "The next run renames it and starts over; events sent again keep their ids.")
    own = path.with_name("installation.json")
    if damage := damage_of(own):
        advice = "Otherwise the next start makes a new one, and this machine's id and redaction markers change."
        yield Check(
            "state", "warn", f"{own} is damaged ({damage})", f"Restore it from a backup, if there is one. {advice}"
        )
    place = nearest(path.parent)
    if not may(place, os.W_OK | os.X_OK):
        advice = "Make the directory writable to this user, or name another file with --state or state.path."
        yield Check("state", "fail", f"{place} is not writable", advice)
        return
    yield Check("state", "ok", f"{path}: {counted(len(state.entries), 'source')} known")
    yield from _open_to_others(settings)
    named = holder(path)
    yield Check("agent", "ok", f"running: {named}" if named else "not running")
    problem = read_status(path).get("problem")
    if named and problem:
        yield Check("agent", "fail", f"{problem['kind']} since {problem['since']}", str(problem["reason"]))


def _open_to_others(settings: Settings) -> Iterator[Check]:
    """Warns about paths that others may read or replace: restored from a backup, say, or created by somebody else."""
    state = settings.state_path
    if state.parent.exists() and state.parent.stat().st_mode & WRITABLE:
        yield Check("state", "warn", f"others can write to {state.parent}", f"chmod 700 {state.parent}")
    for path in (state, state.with_name("installation.json"), quarantine_of(settings).path, settings.database_path):
        if path.exists() and path.stat().st_mode & OTHERS:
            yield Check("state", "warn", f"others can read {path}", f"chmod 600 {path}")
    for file in map(Path, settings.origins.files):
        for path in (file, file.parent):
            if path.stat().st_mode & IN_ANYBODYS_HANDS == stat.S_IWOTH:
                finding = f"anybody can write to {path}, and so decide what is sent where"
                yield Check("configuration", "warn", finding, f"chmod o-w {path}")


def _sweep(settings: Settings, found: Findings) -> Iterator[Check]:
    """Warns about unsent transcripts that an agent is about to delete: after that, they are lost."""
    state = state_of(settings).load(may_repair=False)
    for each in deletions(settings, found):
        title = AGENTS[each.root.agent].title
        yield Check("transcripts", "ok", f"{title} deletes transcripts {each}")
        old = [
            source
            for source in found.files
            if source.root == each.root and is_late(source.stamp.mtime_ns, each.days, DAYS_OF_WARNING)
        ]
        late = sum(bool(state.lag_of(source)) for source in old)
        if late and state.entries:
            age = max(1, each.days - DAYS_OF_WARNING)
            finding = counted(late, "source with unsent lines is", "sources with unsent lines are")
            finding += f" more than {counted(age, 'day')} old"
            advice = f"{title} deletes them after {counted(each.days, 'day')}: run `collector scan` now."
            yield Check("sweep", "warn", finding, advice)
    place = SINKS[settings.sink_type].place
    if place is not None and place(settings).exists():
        count = kept_alone(settings, found)
        gone = counted(count, "session whose transcript is gone is", "sessions whose transcripts are gone are")
        yield Check("kept", "ok", f"{gone} still in the store, {until_when(settings)}")


def _prices(settings: Settings, _: Findings) -> Iterator[Check]:
    if settings.store.prices is not None:
        prices.load(settings.store.prices)
        yield Check("prices", "ok", f"{settings.store.prices} (store.prices)")


def _room(settings: Settings, _: Findings) -> Iterator[Check]:
    places = {"state": settings.state_path.parent}
    events = SINKS[settings.sink_type].place
    if events is not None:
        places["store"] = events(settings).parent
    for name, path in places.items():
        place = nearest(path)
        free = shutil.disk_usage(place).free
        level = "fail" if free < NO_ROOM else "warn" if free < LITTLE_ROOM else "ok"
        advice = "" if level == "ok" else "Free some space: the agent must be able to record what was acknowledged."
        yield Check("disk", level, f"{in_words(free)} free for the {name} in {place}", advice)


def _quarantine(settings: Settings, _: Findings) -> Iterator[Check]:
    count = quarantine_of(settings).count()
    if count:
        yield Check("quarantine", "warn", counted(count, "entry", "entries"), "See `collector quarantine list`.")
    else:
        yield Check("quarantine", "ok", "empty")


def _redaction(settings: Settings, _: Findings) -> Iterator[Check]:
    redactor = make_redactor(settings, installation_of(settings).key)
    if redactor.engine_name == "python":
        advice = (
            "It finds the same secrets, but slowly. Install the `hyperscan` wheel, or set redaction.engine to python."
        )
        yield Check("redaction", "warn" if settings.redaction.engine == "auto" else "ok", "engine python", advice)
    else:
        yield Check("redaction", "ok", f"engine {redactor.engine_name}")
        cache = configuration.cache_directory()
        if reason := rule_cache.danger(cache):
            finding = f"{cache} cannot be used, so rules are compiled at every start: {reason}"
            yield Check("redaction", "warn", finding, rule_cache.ADVICE)
    if settings.redaction.disable:
        yield Check("redaction", "warn", f"disabled rules: {', '.join(settings.redaction.disable)}")


def _secrets(settings: Settings, _: Findings) -> Iterator[Check]:
    files = {
        "sink.token_file": configuration.token_path(settings.sink),
        "sink.client_key": settings.sink.client_key,
        "redaction.key_file": settings.redaction.key_file,
    }
    for name, path in files.items():
        if path is None:
            continue
        mode = path.stat().st_mode if path.exists() else None
        if mode is None or not may(path, os.R_OK):
            yield Check("secrets", "fail", f"{name}: {path} cannot be read", "Make it readable to this user.")
        elif mode & OTHERS:
            yield Check("secrets", "warn", f"{name}: others can read {path}", f"chmod 600 {path}")
        else:
            yield Check("secrets", "ok", f"{name}: {path}")
    configuration.token_of(settings.sink)


def _watching(_: Settings, found: Findings) -> Iterator[Check]:
    if not sys.platform.startswith("linux"):
        return
    directories = {os.path.dirname(source.path) for source in found.files}
    most = watch_limits.inotify_limit("max_user_watches")
    place = next(iter(directories), "/")
    if watch_limits.is_watch_limit_reached(place) or (most is not None and len(directories) > most):
        enough = max(524_288, 2 * (most or 0))
        advice = f"Raise it (sysctl fs.inotify.max_user_watches={enough}); until then, only rescans find new lines."
        yield Check("watching", "warn", f"the limit of {most} inotify watches is reached", advice)
    else:
        yield Check("watching", "ok", f"{counted(len(directories), 'directory', 'directories')}, limit {most}")
    for root in sorted({source.root.path for source in found.files}):
        name = watch_limits.network_file_system(os.path.realpath(root))
        if name:
            advice = "No notifications arrive for what other machines write there; rescans find it."
            yield Check("watching", "warn", f"{root} is on {name}", advice)


def of_services(services: Sequence[Mapping[str, str]], *, is_agent_running: bool) -> Iterator[Check]:
    """Judges each service by what its manager says: installed is not running, and running is not healthy."""
    for facts in services:
        unit, state, says = facts["unit"], facts["state"], facts.get("says", "")
        if state == "running":
            is_well = not says.startswith(PROBLEMS)
            advice = "" if is_well else "`collector service logs` shows more, with the same --system and --for as here."
            yield Check("service", "ok" if is_well else "fail", f"{unit}: running{says and ': '}{says}", advice)
        else:
            ended = facts.get("ended", "")
            finding = f"{unit} is installed, but {state}{ended and ': '}{ended}"
            yield Check("service", "fail", finding, f"`{facts.get('next', 'collector service status')}`")
    running = [facts["unit"] for facts in services if facts["state"] == "running"]
    if {"collector.service"} < set(running):
        finding = f"{' and '.join(running)} read the same files, so every event is sent by both"
        yield Check("service", "warn", finding, "`collector service uninstall` one of them.")
    if not services and is_agent_running:
        yield Check("service", "ok", "not installed, but the agent is running")
    elif not services:
        advice = (
            "`collector service install` installs it and starts it now and at every login. Where there is no service "
            "manager, as in a container, start `collector run`."
        )
        yield Check("service", "warn", "not installed", advice)


STEPS: dict[str, Step] = {
    "root": _roots,
    "state": _state,
    "sweep": _sweep,
    "disk": _room,
    "quarantine": _quarantine,
    "redaction": _redaction,
    "secrets": _secrets,
    "prices": _prices,
}
