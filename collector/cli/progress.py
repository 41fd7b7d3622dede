"""Shows a person at a terminal what a command is doing, how far it has got, and what it is waiting for.

In: the calls to the observer of a flow. Out: one line on stderr that disappears when the work is done. Invariant:
anywhere but on a terminal, or with --quiet, nothing is shown and no module for it is loaded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from collector.cli.verbosity import is_quiet
from collector.flow.interrupt import Interrupt
from collector.flow.ledger import Ledger
from collector.flow.observer import Observer
from collector.log import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBar(Observer):
    """Shows one line for the length of a `with` block."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        self.has_begun = False  # whether sources are being read, so that there is something to finish
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not is_quiet():
            from rich import progress  # imported here, because the service should not spend 5 MB on it
            from rich.console import Console

            columns = (
                progress.BarColumn(),
                progress.DownloadColumn(),
                progress.TransferSpeedColumn(),
                progress.TimeRemainingColumn(),
                progress.TextColumn("{task.description}"),
            )
            self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("looking for new data", total=None)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def preparing(self) -> None:
        """The redaction rules are being compiled."""
        self._say("preparing rules, once")

    def alive(self) -> None:
        """A source is being read."""
        if not self.has_begun:
            self.has_begun = True
            self._say("reading")

    def waiting(self) -> None:
        """The sink has not answered yet."""
        if self._interrupt.is_set:
            self._say("finishing what is in flight; Ctrl-C again to quit now")

    def failing(self, tries: int, seconds_left: float) -> None:
        """The sink has failed `tries` times in a row, and will be given up on in `seconds_left`."""
        if not self._interrupt.is_set:
            self._say(f"waiting for the sink: try {tries + 1}, {max(0, round(seconds_left))} s left")

    def receipt(self, ledger: Ledger) -> None:
        """Something was acknowledged."""
        self.has_begun = True
        if self._bar is not None and self._task is not None:
            done, said = ledger.lag_at_start - ledger.lag, counted(ledger.batches, "batch", "batches")
            self._bar.update(self._task, total=ledger.lag_at_start, completed=done, description=said)

    def _say(self, what: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)
