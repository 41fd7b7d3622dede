"""`collector run`: the service, in the foreground; systemd or launchd puts it into the background."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from collector import log, settings
from collector.cli.scan import Config, Roots, SinkType, SinkUrl, StatePath, flags
from collector.delivery.sinks import SINKS

if TYPE_CHECKING:
    from collector.service.loop import Service


def run(
    config: Config = None,
    root: Roots = None,
    sink_url: SinkUrl = None,
    sink_type: SinkType = None,
    state: StatePath = None,
) -> None:
    """Sends everything new, and then whatever is written, until it is stopped.

    SIGTERM and SIGINT end it, SIGHUP reads the configuration again, SIGUSR1 logs the status. Exit codes: 0 stopped,
    78 bad configuration, 2 usage, 1 other.
    """

    def read() -> settings.Settings:
        return settings.load(config, flags(root, sink_url, sink_type, state), sinks=SINKS)

    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    for number in (signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    chosen = read()
    log.configure(chosen.log.level, chosen.log.format)
    from collector.service.loop import Service
    from collector.service.notify import Notifier  # here: `--help` need not pay for the whole agent

    service = Service(chosen, read, notifier=Notifier(settings.notify_socket(), settings.watchdog_seconds()))
    with answering_signals(service):
        service.run()


def _leave(*_: object) -> None:
    """A stop before anything was begun."""
    sys.exit(0)


@contextmanager
def answering_signals(service: Service) -> Iterator[None]:
    """Signals set a flag and ring; what they ask for is done by the main loop, never inside a handler."""
    asked = {
        signal.SIGTERM: service.stop,
        signal.SIGINT: service.stop,
        signal.SIGHUP: service.reload,
        signal.SIGUSR1: service.report,
    }

    def on_signal(number: int, _frame: FrameType | None) -> None:
        asked[signal.Signals(number)]()

    before = {number: signal.signal(number, on_signal) for number in asked}
    bell = signal.set_wakeup_fd(service.wake.bell, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(bell)
        for number, handler in before.items():
            signal.signal(number, handler)
