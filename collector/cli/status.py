"""`collector status`: how far the agent has come, whether it is running or not."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from collector import settings
from collector.cli.options import AsJson, Config, Roots, SinkType, SinkUrl, StatePath, flags
from collector.cli.which_agent import agent_among, is_running, services_here
from collector.delivery.sinks.registry import SINKS
from collector.log import TIMESTAMP, counted, in_words, printable, tame_json

EVERY_SECONDS = 1.0
CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def status(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every second, until interrupted.")] = False,
) -> None:
    """Show how far the agent has got, and what is wrong.

    Reports the lag, the last acknowledgement, problems and the quarantine. If no agent is running, as a service or
    otherwise, it reports what the state and the files say.

    Example: collector status --watch
    """
    from collector.inspection.status import status_of_each

    chosen = settings.load(config, flags(root, sink_url, sink_type, state), sinks=SINKS)
    try:
        while True:
            services = None if is_running(chosen) else services_here()
            agent = agent_among(chosen, services or (), with_others=True)
            _show(status_of_each(agent, services), as_json=json, is_screen=watch and sys.stdout.isatty())
            if not watch:
                return
            time.sleep(EVERY_SECONDS)
    except KeyboardInterrupt:
        if not watch:
            raise


def _show(report: dict[str, Any], *, as_json: bool, is_screen: bool) -> None:
    if as_json:
        typer.echo(tame_json(report))
    else:
        typer.echo((CLEAR if is_screen else "") + "\n".join(lines_of_each(report, time.time())))


def lines_of_each(report: dict[str, Any], now: float) -> list[str]:
    """The report; with several sinks, the report on each, under its name."""
    if "sinks" not in report:
        return lines_of(report, now)
    said = []
    for name, each in report["sinks"].items():
        said += [f"--- {name}", *lines_of(each, now)]
    return said


def lines_of(report: dict[str, Any], now: float) -> list[str]:
    """The report as text for people."""
    rows = [("agent", _agent(report, now))]
    if report.get("paused"):
        rows.append(("paused", f"nothing is sent: {report['paused']['reason']}"))
    rows += [("service", _service(facts)) for facts in report.get("services", [])]
    rows += [("problem", text) for text in _problem(report, now)]
    rows += [("overruled", text) for text in report.get("overruled", [])]
    if locked := report.get("locked"):
        rows.append(("locked", f"{', '.join(locked)}; in {' and '.join(dict.fromkeys(locked.values()))}"))
    rows += [("sink", f"{report['sink']}{_acknowledged(report, now)}")]
    rows += [("", text) for text in _offsets(report.get("offsets") or {})]
    rows += [("root", _root(each)) for each in report["roots"]]
    words = _words([root.get("agent", "") for root in report["roots"]])
    if report.get("capture_level"):
        rows.append(("capture", _capture(report)))
    rows += [
        (name, _priority(words.get(name, ("source", "sources")), row)) for name, row in report["priorities"].items()
    ]
    rows += [("lag", in_words(report["lag"]))]
    rows += [("watcher", ": ".join(filter(None, [report["watcher"]["mode"], report["watcher"]["reason"]])))]
    if report.get("redaction_engine"):
        rows.append(("redaction", _redaction(report)))
    rows += [("quarantine", _quarantine(report["quarantine"]))]
    rows += [("damaged", _damaged(source)) for source in report.get("damaged") or ()]
    held = report.get("held") or {}
    if held.get("files") or held.get("left_out"):
        said = f"{counted(held['files'], 'file')}, so that no sweep deletes what is unsent"
        rows.append(("held", f"{said}; no room for {held['left_out']} more" if held["left_out"] else said))
    if report.get("unlisted_directories"):
        rows.append(
            (
                "unreadable",
                f"{counted(report['unlisted_directories'], 'directory', 'directories')}; see `collector doctor`",
            )
        )
    rows += [("note", note) for note in report.get("notes", [])]
    return [f"{name:11} {printable(text)}" for name, text in rows]


def _agent(report: dict[str, Any], now: float) -> str:
    if report["is_running"]:
        return f"running, process {report['pid']}, for {_ago(report['since'], now)}, version {report['version']}"
    if report["holder"]:
        return f"not running; the state is in use by {report['holder']}"
    last = f"; last seen {_ago(report['updated'], now)} ago" if report.get("updated") else ""
    return f"not running{last}"


def _service(facts: dict[str, str]) -> str:
    """What the service manager says about one service; anybody may ask it."""
    said = facts.get("says") or facts.get("ended") or ""
    again = f" (`{facts['next']}`)" if "next" in facts else ""
    return f"{facts['unit']}: {facts['state']}{said and ', '}{said}{again}"


def _problem(report: dict[str, Any], now: float) -> list[str]:
    problem = report.get("problem")
    if not problem:
        return []
    when = f"{problem['kind']} for {_ago(problem['since'], now)}, {counted(problem['tries'], 'try', 'tries')}"
    return [when if report["is_running"] else f"{problem['kind']} when the last run ended", problem["reason"]]


def _acknowledged(report: dict[str, Any], now: float) -> str:
    last = report.get("last_acknowledged")
    if last:
        return f", last acknowledged {_ago(last, now)} ago"
    return ", nothing acknowledged since it started" if report["is_running"] else ""


def _offsets(told: dict[str, Any]) -> list[str]:
    """What is known about the sink that the offsets belong to, since each sink has its own."""
    said = []
    if told.get("is_new"):
        said.append("nothing sent to it yet: the first pass sends all history, unless run with --from-now")
    if told.get("formerly"):
        said.append(f"the same sink as {', '.join(told['formerly'])}")
    left_out = told.get("left_out")
    if left_out:
        size, sources, at = in_words(left_out["bytes"]), left_out["sources"], left_out["at"]
        said.append(f"what was there at {at} was left out, as you asked: {size} in {counted(sources, 'source')}")
    if told.get("others"):
        said.append(f"offsets are also kept for: {', '.join(told['others'])}")
    return said


def _capture(report: dict[str, Any]) -> str:
    level, left_out = report["capture_level"], report.get("left_out") or []
    return level if left_out in ([], [level]) else f"{level} without {', '.join(left_out)}"


def _root(root: dict[str, Any]) -> str:
    return f"{root['path']}{'' if root['is_there'] else ' does not exist yet'}"


def _words(agents: Sequence[str]) -> dict[str, tuple[str, str]]:
    """For each priority, the words for one source and for several, given the agents that are read."""
    from collector.agents.registry import AGENTS

    words: dict[str, list[tuple[str, str]]] = {}
    for form in [AGENTS[name] for name in dict.fromkeys(agents) if name in AGENTS] or AGENTS.values():
        for number, what in form.priorities.items():
            words.setdefault(f"P{number}", []).append(what)
    return {
        name: (
            " or ".join(dict.fromkeys(one for one, _ in each)),
            " and ".join(dict.fromkeys(many for _, many in each)),
        )
        for name, each in words.items()
    }


def _priority(what: tuple[str, str], row: dict[str, int]) -> str:
    waiting = f"{row['behind']} behind by {in_words(row['lag'])}" if row["behind"] else "up to date"
    return f"{counted(row['sources'], *what)}, {waiting}"


def _redaction(report: dict[str, Any]) -> str:
    counts = dict(report.get("redactions") or {})
    withheld = counts.pop("withheld", 0)
    found = f"; {counted(sum(counts.values()), 'value')} redacted since the start" if counts else ""
    kept = counted(withheld, "text withheld because it", "texts withheld because they")
    stayed = f"; {kept} could not be redacted" if withheld else ""
    return f"{report['redaction_engine']}{found}{stayed}"


def _quarantine(count: int | None) -> str:
    if count is None:
        return "cannot be read"
    return f"{count}; see `collector quarantine list`" if count else "empty"


def _damaged(source: str) -> str:
    return f"{source} is not valid JSON; it is in quarantine, and is read again when it changes"


def _ago(moment: str, now: float) -> str:
    """How long ago a moment was, in the largest unit that fits at least twice."""
    then = datetime.strptime(moment, TIMESTAMP).replace(tzinfo=UTC).timestamp()
    seconds = max(0, int(now - then))
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
