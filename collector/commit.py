"""Commit: turns receipts into saved offsets. The only place that moves an offset, and it takes receipts only.

Order matters: first the quarantine is on disk, then the positions are taken over, then the state is saved. A crash
between any two of these sends or sets aside again, never loses (promise 1). Saves are coalesced, at most a window of
receipts apart, so what is repeated after a crash is at most what was in flight plus that window.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from collector.errors import StateError
from collector.flow import Receipt
from collector.ledger import Ledger
from collector.log import get_logger
from collector.quarantine import Quarantine
from collector.state import State

log = get_logger()
SAVE_AFTER_SECONDS = 1.0
TRY_AGAIN_SECONDS = 10.0


class Committer:
    """Applies receipts, in the order in which their lines were read."""

    def __init__(
        self,
        state: State,
        quarantine: Quarantine,
        window: int,
        *,
        is_dry_run: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state
        self.quarantine = quarantine
        self.window = window
        self.is_dry_run = is_dry_run
        self.problem = ""
        self._clock = clock
        self._unsaved = 0
        self._saved_at = clock()

    def commit(self, receipt: Receipt, ledger: Ledger) -> None:
        """One receipt: set aside what must be, move the offsets, count; save when it is time."""
        self._keep(receipt)
        ledger.lag -= self.state.move(receipt.batch.positions)
        ledger.take(receipt)
        self._unsaved += 1
        if self._unsaved >= self.window or self._clock() - self._saved_at >= SAVE_AFTER_SECONDS:
            self.save()

    def _keep(self, receipt: Receipt) -> None:
        if self.is_dry_run:
            return
        gone = self.quarantine.add([*receipt.batch.set_aside, *receipt.refused])
        if gone:
            log.error("quarantine full, oldest entries dropped", dropped=gone, path=str(self.quarantine.path))

    def save(self) -> None:
        """Saves the state now, if anything changed. A failure is said once, kept in `problem`, and tried again."""
        self._unsaved, self._saved_at = 0, self._clock()
        if self.is_dry_run or not self.state.is_dirty:
            return
        try:
            self.state.save()
        except StateError as error:
            if not self.problem:
                log.error("state not saved", reason=str(error))
            self.problem = str(error)
        else:
            if self.problem:
                log.info("state saved again", path=str(self.state.path))
            self.problem = ""

    @property
    def due_in(self) -> float | None:
        """Seconds until what was committed should be saved; None when it is."""
        if not self.state.is_dirty:
            return None
        wait = TRY_AGAIN_SECONDS if self.problem else SAVE_AFTER_SECONDS
        return max(0.0, self._saved_at + wait - self._clock())

    def finish(self) -> None:
        """The last save of a pass; raises when what was acknowledged is still not on disk."""
        self.save()
        if self.problem:
            raise StateError(self.problem)
