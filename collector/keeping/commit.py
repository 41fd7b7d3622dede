"""Commit: turns receipts into saved offsets. The only place that moves an offset, and it takes receipts only.

Order matters: the positions are taken over in memory, then what was set aside is on disk, then the state is saved. A
crash between any two of these sends or sets aside again, never loses (promise 1). Saves are coalesced, at most a window
of receipts apart, so what is repeated after a crash is at most what was in flight plus that window. While the disk is
full both wait in memory and the pass goes on; nothing is claimed that is not on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from collector.errors import StateError
from collector.flow.ledger import Ledger
from collector.flow.outcome import Quarantined
from collector.flow.receipt import Receipt
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import State
from collector.log import get_logger

log = get_logger()
SAVE_AFTER_SECONDS = 1.0
TRY_AGAIN_SECONDS = 10.0
MAX_WAITING_BYTES = 8_000_000


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
        self.dropped = 0  # entries that a full quarantine had to let go
        self._waiting: list[Quarantined] = []
        self._waiting_bytes = 0
        self._clock = clock
        self._unsaved = 0
        self._saved_at = clock()

    def go_on_from(self, before: Committer) -> None:
        """Takes over what waits for the disk: the state is the same one, and is not saved before that is written."""
        self._waiting, self._waiting_bytes = list(before._waiting), before._waiting_bytes
        self.problem, self.dropped = before.problem, before.dropped

    def commit(self, receipt: Receipt, ledger: Ledger) -> None:
        """One receipt: move the offsets, count, keep what must be set aside; save when it is time."""
        if self._waiting_bytes > MAX_WAITING_BYTES:  # memory is not for this: the pass ends here until there is room
            self._write_quarantine()
        if not self.is_dry_run:
            self._wait_for_disk([*receipt.batch.quarantined, *receipt.refused])
        ledger.lag -= self.state.move(receipt.batch.positions)
        ledger.take(receipt)
        self._unsaved += 1
        if self._unsaved >= self.window or self._clock() - self._saved_at >= SAVE_AFTER_SECONDS:
            self.save()

    def _wait_for_disk(self, things: list[Quarantined]) -> None:
        self._waiting += things
        self._waiting_bytes += sum(len(thing.payload) for thing in things)

    def _write_quarantine(self) -> None:
        """Writes what belongs into the quarantine; no state is saved before that."""
        gone = self.quarantine.add(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        if gone:
            self.dropped += gone
            log.error("quarantine full, oldest entries dropped", dropped=gone, path=str(self.quarantine.path))

    def save(self, *, is_whole: bool = False) -> None:
        """Saves the state now, if anything changed. A failure is said once, kept in `problem`, and tried again."""
        self._unsaved, self._saved_at = 0, self._clock()
        is_wanted = self.state.is_dirty or (is_whole and not self.state.is_whole_on_disk)
        if self.is_dry_run or not is_wanted:
            return
        try:
            self._write_quarantine()
            self.state.save(is_whole=is_whole)
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
        self.save(is_whole=True)
        if self.problem:
            raise StateError(self.problem)
