"""`collector scan`: one pass over everything, then exit. For cron, CI and people."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Annotated

import orjson
import typer

from collector import log, settings
from collector.cli.options import (
    SOME_LEFT,
    Config,
    FromNow,
    LedgerAsJson,
    MaxWait,
    Roots,
    SinkType,
    SinkUrl,
    StatePath,
    flags,
)
from collector.cli.progress import ProgressBar
from collector.cli.verbosity import is_quiet
from collector.delivery.sinks.registry import SINKS
from collector.errors import NotARoot, RootNotFound, Stopped
from collector.flow import reasons
from collector.flow.interrupt import Interrupt
from collector.flow.ledger import Ledger, sums
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.sink_identity import UNNAMED
from collector.flow.source import Root


def scan(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and redact, but send and save nothing.")] = False,
    max_wait: MaxWait = None,
    from_now: FromNow = False,
    json: LedgerAsJson = False,
) -> None:
    """Send everything new once, then print the ledger.

    With --quiet, nothing is printed if all goes well; --json always prints.

    Exit codes: 0 all acknowledged, 3 some quarantined or left for the next pass, 65 not a root, 66 no root, 73 another
    agent holds the state, 74 state not writable, 75 sink unreachable, 77 no permission, 78 bad configuration, 2 usage,
    130 interrupted with Ctrl-C.

    Example: collector scan --dry-run
    """

    def read() -> settings.Settings:
        return settings.load(config, flags(root, sink_url, sink_type, state, max_wait), sinks=SINKS)

    chosen = read()
    log.configure(chosen.log.level, chosen.log.format)
    from collector.assembly import roots_of  # imported here, so `--help` does not load the agent

    if not (dry_run or may_send(chosen)):
        if json:
            print_ledger(Ledger(), as_json=True)
        return
    _check_roots(roots_of(chosen))
    from collector.keeping.lock import note_elsewhere
    from collector.service.footprint import hold_little_memory

    if not dry_run:
        note_elsewhere(chosen.state_path, settings.state_file(None))
    hold_little_memory()
    every, interrupt = chosen.each(), Interrupt()
    passes = [OnePass(each, read, is_dry_run=dry_run, from_now=from_now) for each in every]
    bar = ProgressBar(interrupt)
    with stopping_on_signals(interrupt, lambda: bar.has_begun or len(passes) > 1):
        try:
            if len(passes) == 1:
                with bar:
                    passes[0].run(interrupt, bar)
            else:
                from collector.service.several import side_by_side

                side_by_side({each.name: partial(each.run, interrupt) for each in passes})
        finally:
            if any(each.has_begun for each in passes):
                print_ledgers({each.name: each.ledger for each in passes}, as_json=json, is_dry_run=dry_run)
    if interrupt.is_set or any(each.has_left_some for each in passes):
        raise typer.Exit(SOME_LEFT)


def may_send(chosen: settings.Settings) -> bool:
    """Whether anything may be sent to any sink. Says why not and, before the first time, what would be sent."""
    from collector.keeping.pause import standstill

    found = [(each, standstill(each)) for each in chosen.each()]
    for each, reason in found:
        if reason is None or reason.by == "disclosure":
            disclose(each)
    if all(reason for _, reason in found):
        typer.echo(log.printable(f"Nothing was read or sent: {found[0][1]}."), err=True)
        return False
    return True


def disclose(chosen: settings.Settings) -> None:
    """States once what is sent where, before anything is sent."""
    from collector.keeping.disclosed import is_to_be_said, note_said
    from collector.settings.disclosure import statement

    if is_to_be_said(chosen):
        typer.echo(log.printable(statement(chosen)), err=True)
        note_said(chosen)


class OnePass:
    """The pass for one sink."""

    def __init__(
        self,
        chosen: settings.Settings,
        reread: Callable[[], settings.Settings],
        *,
        is_dry_run: bool,
        from_now: bool,
    ) -> None:
        self.chosen, self.name, self.reread = chosen, chosen.sink_name, reread
        self.is_dry_run, self.from_now = is_dry_run, from_now
        self.ledger = Ledger()
        self.has_begun = False

    def run(self, interrupt: Interrupt, observer: Observer = UNOBSERVED) -> None:
        """Sends everything new. Raises if the sink or the state prevents it."""
        from collector.assembly import assembled
        from collector.leaving_out import meet_sink
        from collector.pipeline import run_pass

        chosen, started = self.chosen, time.monotonic()
        parts = assembled(chosen, "scan", is_dry_run=self.is_dry_run, interrupt=interrupt, observer=observer)
        with parts as flow:
            refuse_changed(chosen, self.reread)
            meet_sink(flow, from_now=self.from_now)
            self.has_begun = True  # until now, a ledger would say that nothing waits
            found = run_pass(flow, self.ledger)
            for path, reason in found.errors.items():
                log.get_logger().warning("a directory cannot be listed", path=path, reason=reason)
            if chosen.heartbeat.interval and not (self.is_dry_run or SINKS[chosen.sink_type].place):
                from collector.service.heartbeat import after_scan

                took, every = time.monotonic() - started, chosen.heartbeat.interval
                after_scan(flow, self.ledger, settings.fingerprint(chosen), took=took, interval=every)

    @property
    def has_left_some(self) -> bool:
        """Whether something that should have been sent was not."""
        left = any(self.ledger.skipped_files.get(reason) for reason in reasons.LEFT_BEHIND)
        return left or bool(self.ledger.as_dict()["quarantined"])


def refuse_changed(chosen: settings.Settings, reread: Callable[[], settings.Settings]) -> None:
    """Raises if the configuration is no longer what was read: until the state was locked, whoever said no found nobody
    to stop."""
    if reread().one(chosen.sink_name).model_dump() != chosen.model_dump():
        raise Stopped("The configuration changed while this started. Nothing was sent. Start it again.")


def _check_roots(roots: Sequence[Root]) -> None:
    """Raises if there is nothing to read. If only some of several roots are wrong, that is a warning in the log."""
    from collector.agents.registry import AGENTS
    from collector.reading.roots import doubt, is_missing

    missing = [found.path for found in roots if is_missing(found)]
    doubts = [said for found in roots if (said := doubt(found, AGENTS[found.agent]))]
    if doubts and len(missing) + len(doubts) == len(roots):
        raise NotARoot("\n".join(doubts))
    if len(missing) == len(roots):
        forms = [AGENTS[name] for name in dict.fromkeys(found.agent for found in roots)]
        makers = " or ".join(form.title for form in forms)
        ways = " or ".join(["--root", *(f"${form.root_variable}" for form in forms if form.root_variable)])
        do, them = ("does", "it") if len(missing) == 1 else ("do", "them")
        raise RootNotFound(
            f"There is nothing to read: {', '.join(missing)} {do} not exist. {makers} creates {them} when it "
            f"first starts. If the files are elsewhere, name the directory with {ways}."
        )
    for path in missing:
        log.get_logger().warning("a root does not exist", path=path)


@contextmanager
def stopping_on_signals(interrupt: Interrupt, has_begun: Callable[[], bool]) -> Iterator[None]:
    """Lets what is in flight finish after a first SIGTERM or SIGINT; a second one ends the process at once.

    So does a SIGINT before anything has begun. After a SIGINT, the block ends with KeyboardInterrupt, however far it
    got.
    """
    is_by_hand = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal is_by_hand
        is_by_hand = is_by_hand or number == signal.SIGINT
        if interrupt.is_set or (is_by_hand and not has_begun()):
            signal.signal(number, signal.SIG_DFL)
            raise KeyboardInterrupt
        interrupt.stop()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except Stopped:
        if not is_by_hand:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if is_by_hand:
        raise KeyboardInterrupt


def print_ledgers(ledgers: Mapping[str, Ledger], *, as_json: bool = False, is_dry_run: bool = False) -> None:
    """Prints the ledger or, with several sinks, the ledger of each; as JSON, also their sums."""
    if is_quiet() and not as_json:
        return
    if len(ledgers) == 1:
        print_ledger(*ledgers.values(), as_json=as_json, is_dry_run=is_dry_run)
    elif as_json:
        told = {name or UNNAMED: ledger.as_dict() for name, ledger in ledgers.items()}
        together = sums(list(told.values())) | {"sinks": told}
        sys.stdout.buffer.write(orjson.dumps(together, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.flush()
    else:
        for name, ledger in ledgers.items():
            typer.echo(f"sink     {name or UNNAMED}")
            print_ledger(ledger, is_dry_run=is_dry_run)


def print_ledger(ledger: Ledger, *, as_json: bool = False, is_dry_run: bool = False) -> None:
    """Prints the outcome of all files and lines."""
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(ledger.as_dict(), option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.flush()
        return
    data = ledger.as_dict()
    files = data["files"]
    verb = "would be delivered" if is_dry_run else "delivered"
    skipped = _listed(files["skipped"])
    typer.echo(f"files    {files['seen']} seen, {files['read']} read, {files['unchanged']} unchanged{skipped}")
    typer.echo(
        f"lines    {data['lines']} read = {data['delivered']} {verb} + {sum(data['skipped'].values())} skipped"
        f"{_listed(data['skipped'], brackets=True)} + {data['quarantined']} quarantined"
    )
    typer.echo(
        f"{'to send' if is_dry_run else 'sent':8} {log.counted(data['batches'], 'batch', 'batches')}, "
        f"{data['bytes']} bytes"
        f"{_listed(data['redactions'], ', redacted: ')}"
    )
    typer.echo(f"lag      {data['lag']} bytes{' would remain' if is_dry_run else ''}")
    meanings = {reason.name: f"{reason.name}. {reason.meaning}" for reason in reasons.SKIPPED_FILES}
    for path, reason in data["not_read"].items():
        typer.echo(f"left     {log.printable(path)}: {meanings.get(reason, reason)}")


def _listed(counts: dict[str, int], before: str = ", skipped: ", *, brackets: bool = False) -> str:
    if not counts:
        return ""
    text = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f" ({text})" if brackets else before + text
