"""`collector run`: the service, in the foreground; systemd or launchd runs it in the background."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from collector import log, settings
from collector.cli.options import Config, FromNow, Roots, SinkType, SinkUrl, StatePath, flags
from collector.cli.scan import disclose
from collector.delivery.sinks.registry import SINKS
from collector.errors import SinkRemoved
from collector.flow.sink_identity import UNNAMED

if TYPE_CHECKING:
    from collector.service.loop import Service
    from collector.service.several import Several


def run(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
    from_now: FromNow = False,
) -> None:
    """Send everything new and keep watching for more, until stopped.

    Runs in the foreground; `collector service install` runs it in the background.

    SIGTERM and SIGINT stop it, and so does closing its terminal; SIGHUP reloads the configuration,
    SIGUSR1 logs the status. Exit codes: 0 stopped, 73 another agent holds the state, 74 state not
    writable, 78 bad configuration, 2 usage.

    Example: collector run --sink-url https://telemetry.example/v1/events
    """

    def read() -> settings.Settings:
        return settings.load(config, flags(root, sink_url, sink_type, state), sinks=SINKS)

    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    may_outlive = not _has_terminal() or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # nohup ignores it
    for number in (signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    chosen = read()
    log.configure(chosen.log.level, chosen.log.format)
    from collector.keeping.lock import note_elsewhere  # imported here, so `--help` does not load the agent
    from collector.service.footprint import hold_little_memory
    from collector.service.loop import Service
    from collector.service.notify import Notifier
    from collector.service.several import Several, voices

    for each in chosen.each():
        disclose(each)
    hold_little_memory()
    note_elsewhere(chosen.state_path, settings.state_file(None))
    notifier = Notifier(settings.notify_socket(), settings.watchdog_seconds())
    every = chosen.each()
    names = [each.sink_name for each in every]

    def read_one(name: str) -> settings.Settings:
        now = read()
        found = {each.sink_name for each in now.each()}
        if name not in found:
            raise SinkRemoved(f"sinks: {name or UNNAMED} was removed or renamed. Restart the agent.")
        for added in found.difference(names):
            log.get_logger().warning("sink added, restart the agent to use it", added=added or UNNAMED)
        return now.one(name)

    voice = voices(notifier, settings.watchdog_seconds(), names)
    services = {
        name: Service(each, partial(read_one, name), notifier=voice[name], from_now=from_now)
        for name, each in zip(names, every, strict=True)
    }
    service = services[names[0]] if len(services) == 1 else Several(services)
    with answering_signals(service, services[names[0]].wake.bell, may_outlive_terminal=may_outlive):
        service.run()


def _leave(*_: object) -> None:
    """Handles a stop before anything has begun. Not by an exception, which modules may lose while they load."""
    os._exit(0)


def _has_terminal() -> bool:
    """Whether this session has a terminal, wherever the output goes; none once that was closed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY))
    except OSError as error:  # others, such as too many open files, do not say that it was closed
        return error.errno not in (errno.ENXIO, errno.EIO)
    return True


@contextmanager
def answering_signals(service: Service | Several, bell: int, *, may_outlive_terminal: bool) -> Iterator[None]:
    """Lets signals set a flag and wake the main loop, which acts on it; the handlers do nothing else."""

    def hang_up() -> None:
        # Whoever closes the window in which it runs does not expect it to go on unseen.
        service.reload() if may_outlive_terminal or _has_terminal() else service.stop()

    asked = {
        signal.SIGTERM: service.stop,
        signal.SIGINT: service.stop,
        signal.SIGHUP: hang_up,
        signal.SIGUSR1: service.report,
    }

    def on_signal(number: int, _frame: FrameType | None) -> None:
        asked[signal.Signals(number)]()

    before = {number: signal.signal(number, on_signal) for number in asked}
    before_bell = signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before_bell)
        for number, handler in before.items():
            signal.signal(number, handler)
