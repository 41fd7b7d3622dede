"""Commit: the only place that moves an offset.

In: a selection before anything is read, receipts while it is being sent, a person's `reset`. Out: the state on disk.

Order matters. Positions move in memory first, then the quarantine is written, then the state is saved: a crash between
any two of these sends or quarantines something again, but loses nothing (promise 1). Saves are coalesced, at most a
window of receipts apart, so a crash repeats at most what was in flight plus that window. While the disk is full, both
wait in memory and the pass continues; no offset in the state on disk is past anything that is not on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence

from collector.errors import StateError
from collector.flow.ledger import Ledger
from collector.flow.outcome import Quarantined
from collector.flow.receipt import Receipt
from collector.flow.selection import Selection
from collector.flow.source import Position, Source
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import EVERYTHING, State
from collector.log import get_logger, timestamp

log = get_logger()
SAVE_AFTER_SECONDS = 1.0
TRY_AGAIN_SECONDS = 10.0
MAX_WAITING_BYTES = 8_000_000


class Committer:
    """Applies receipts in the order in which their lines were read. In a dry run, nothing reaches the disk."""

    def __init__(
        self,
        state: State,
        quarantine: Quarantine,
        window: int,
        *,
        is_dry_run: bool = False,
        clock: Callable[[], float] = time.monotonic,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
    ) -> None:
        self.state = state
        self.quarantine = quarantine
        self.window = window
        self.is_dry_run = is_dry_run
        self.max_waiting_bytes = max_waiting_bytes
        self.problem = ""
        self.dropped = 0  # entries that a full quarantine had to drop
        self._waiting: list[Quarantined] = []
        self._waiting_bytes = 0
        self._clock = clock
        self._unsaved = 0
        self._saved_at = clock()

    def go_on_from(self, before: Committer) -> None:
        """Takes over everything waiting to be written, because the state must not be saved before that is on disk."""
        self._waiting, self._waiting_bytes = list(before._waiting), before._waiting_bytes
        self.problem, self.dropped = before.problem, before.dropped

    # What moves offsets

    def apply(self, selection: Selection) -> None:
        """Applies what the look at the files found: the only change before anything is read.

        It stays in memory and is not worth a save: after a crash, the next look finds the same.
        """
        for source in selection.read:
            self.state.set_owner(source.key, source.root.agent)
        for key, position in selection.starts.items():
            self.state.set_offset(key, position)
        for old, new in selection.moved.items():
            self.state.rename_entry(old, new)
        for key, since in selection.missing_since.items():
            self.state.mark_missing(key, since)
        self.state.drop_entries(selection.forgotten)

    def leave_out(self, ends: Sequence[tuple[Source, Position]], unsent: int, in_sight: Container[str]) -> None:
        """Counts everything that exists now as sent, because a person asked for that; raises if that cannot be saved.
        Sources out of sight are forgotten: if one comes back, the times of its lines decide what is sent.

        This is one write of the whole file: after a crash before it, nothing is left out, and the next start tries
        again.
        """
        # For a sink that was never sent anything, everything is left out; any other may have been sent some of it.
        is_all = self.state.is_new_sink and not self.state.entries
        self.state.drop_entries([key for key in self.state.entries if key not in in_sight])
        for source, position in ends:
            self.state.set_owner(source.key, source.root.agent)
            self.state.set_offset(source.key, position)
        history = {"sources": len(ends), "bytes": unsent, "at": timestamp()}
        self.state.note_left_out(history | ({"is_all": True} if is_all else {}))
        self.finish()

    def note_resent(self, name: str, through: int) -> None:
        """Notes how far a store was sent to this sink, and saves that along with everything quarantined on the way."""
        self.state.note_resent(name, through)
        self.save(is_whole=True)

    def leave_alone(self, source: Source, reason: str) -> None:
        """Skips a source until it changes. Its offset stays 0, so nothing in it is passed over."""
        self.state.mark_skipped(source.key, source.stamp, reason)

    def commit(self, receipt: Receipt, ledger: Ledger) -> None:
        """Applies a receipt: moves the offsets, counts, keeps what is quarantined, and saves when it is time."""
        if self._waiting_bytes > self.max_waiting_bytes:  # too much to keep in memory: write it, or end the pass
            self._write_quarantine()
        if not self.is_dry_run:
            self._wait_for_disk([*receipt.batch.quarantined, *receipt.refused])
        # In memory only: `save` decides what reaches the disk, and in which order.
        ledger.lag -= self.state.advance_offsets(receipt.batch.positions)
        ledger.take(receipt)
        self._unsaved += 1
        if self._unsaved >= self.window or self._clock() - self._saved_at >= SAVE_AFTER_SECONDS:
            self.save()

    def reset(self, keys: Iterable[str]) -> list[str]:
        """Forgets how far these sources were sent, and saves that. Returns those that were known."""
        known = self.state.reset_entries(keys)
        # A person who wants a source sent again also wants the parts that were left out.
        if known:
            self.state.note_wanted(known if self.state.entries else [EVERYTHING])
        if known and not self.state.entries:
            self.state.about.pop("left_out", None)
        if known and not self.is_dry_run:
            self.state.save()
        return known

    # What brings them to disk

    def _wait_for_disk(self, things: list[Quarantined]) -> None:
        self._waiting += things
        self._waiting_bytes += sum(len(thing.payload) for thing in things)

    def _write_quarantine(self) -> None:
        gone = self.quarantine.add(self._waiting)
        # Only now, so that anything `add` could not write keeps waiting. A crash before this quarantines the same
        # things again; the quarantine recognises them by their place and shows them once.
        self._waiting, self._waiting_bytes = [], 0
        if gone:
            self.dropped += gone
            log.error("quarantine full, oldest entries dropped", dropped=gone, path=str(self.quarantine.path))

    def save(self, *, is_whole: bool = False) -> None:
        """Saves the state now, if anything changed. A failure is logged once, kept in `problem`, and retried."""
        self._unsaved, self._saved_at = 0, self._clock()
        is_wanted = self.state.is_dirty or (is_whole and not self.state.is_whole_on_disk)
        if self.is_dry_run or not is_wanted:
            return
        try:
            self.state.keep_lock()
            # In this order, so that no offset on disk is past anything that is not on disk. After a crash in between,
            # the line is read and quarantined again; in the other order, it would be lost.
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
        """Seconds until the commits should be saved; None if they already are."""
        if not self.state.is_dirty:
            return None
        wait = TRY_AGAIN_SECONDS if self.problem else SAVE_AFTER_SECONDS
        return max(0.0, self._saved_at + wait - self._clock())

    def finish(self) -> None:
        """Saves at the end of a pass. Raises if anything acknowledged is still not on disk."""
        self.save(is_whole=True)
        if self.problem:
            raise StateError(self.problem)
