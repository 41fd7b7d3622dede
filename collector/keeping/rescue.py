"""Rescue: takes hold of unsent transcripts while the sink is failing, and lets go of them once they are sent.

In: what was found and the state's entries, from which held.py makes plans. Out: a hard link beside the state for each
transcript that would be lost, which changes nothing about the original but its link count and change time. Where
linking is impossible, a sparse copy: the unsent bytes at their offsets, and the bytes that identify a position.
Invariant: a file enters the index before it exists here, and is removed from here before it leaves the index, so a
crash never leaves a whole file that the index does not name.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from collector.errors import CollectorError, StateError
from collector.files import created, fsync_directory, make_private_directory, replacing
from collector.flow.sink_identity import NO_SINK, SinkIdentity
from collector.flow.source import FINGERPRINT_BYTES, Entry, Root, Source
from collector.keeping.held import INDEX, Held, HeldFile, Plan, StandIns, begins_as, end_of, index_of, look_into
from collector.keeping.state import State
from collector.log import get_logger, in_words
from collector.reading.opened import SourceFile, opened
from collector.settings.options import SweptSettings

log = get_logger()
COPY_BYTES = 1 << 20
NO_ROOM = 20_000_000  # copies leave this much free: on a full disk, what is acknowledged could not be recorded


class HeldFiles:
    """The directory beside the state. `alive` is called while files are being copied, which may take minutes."""

    def __init__(
        self,
        directory: Path,
        settings: SweptSettings,
        *,
        sink: SinkIdentity = NO_SINK,
        name_companion: Callable[[Source], str] = lambda _: "",
        is_dry_run: bool = False,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        self.directory = directory
        self.sink = sink
        self.name_companion = name_companion
        self.settings = settings
        self.is_dry_run = is_dry_run
        self.left_out = 0
        self._obstacle = ""  # why something could not be held, other than the limits
        self._alive = alive
        self._held: Held | None = None
        self._read_as: dict[int, Source] = {}
        self._compared: frozenset[int] = frozenset()

    @property
    def held(self) -> Held:
        """What is held. Read from the disk on first use, which most commands never reach."""
        if self._held is None:
            self._held = look_into(self.directory, self.name_companion)
        return self._held

    def summary(self) -> dict[str, int]:
        """For the status: how many files and unsent bytes are held, and how many files did not fit. If what is held
        cannot be read, passes fail and say so."""
        try:
            files = self.held.files
        except StateError:
            files = ()
        return {"files": len(files), "bytes": sum(file.unsent for file in files), "left_out": self.left_out}

    def take_stock(
        self,
        found: Sequence[Source],
        entries: Mapping[str, Entry],
        roots: Iterable[Root],
        is_wanted: Callable[[Source], bool],
    ) -> StandIns:
        """What the pass after a full walk must read from here. Remembered until the next call."""
        stand_ins = self.held.find_stand_ins(found, entries, roots, is_wanted)
        self._read_as = stand_ins.read_as
        self._compared = frozenset(file.number for file in self.held.files)
        return stand_ins

    @property
    def has_news(self) -> bool:
        """Whether anything has been held since stock was taken."""
        return any(file.number not in self._compared for file in self.held.files)

    def stand_in_for(self, source: Source) -> Source | None:
        """What to read in place of a source that was held and then deleted during this very pass."""
        for file in reversed(self.held.files):
            original = self._read_as.get(file.number)
            if original is not None and original.key == source.key:
                return self.held.as_source(file, source)
        return None

    def hold(self, found: Sequence[Source], state: State) -> None:
        """Takes hold of sources with unsent bytes, because the sink is failing. If that fails, it is only logged."""
        if self.is_dry_run or not self.settings.hold:
            return
        unsent = {source.key: size for source in found if (size := unsent_of(source, state))}
        plan = self.held.plan_to_hold(self._read_as, found, unsent, state.entries, self.settings, self.sink)
        held, self._obstacle = len(self.held.files), ""
        try:
            self.carry_out(plan)
        except OSError as error:
            self._obstacle = str(error.strerror)
        taken = len(self.held.files) - held
        left_out = plan.left_out + len(plan.take) - taken
        if left_out > self.left_out:  # a glance sees only some files, so this only grows
            self.left_out = left_out
            limits = {"max_files": self.settings.max_files, "max_bytes": self.settings.max_bytes}
            why = limits | ({"reason": self._obstacle} if self._obstacle else {})
            log.warning("not all unsent files can be held", left_out=left_out, path=str(self.directory), **why)
        if taken:
            told = self.summary()
            log.info("unsent files held", files=told["files"], bytes=told["bytes"])

    def let_go(self, state: State) -> None:
        """Lets go of files that were sent to the end. Call this only once the offsets are on disk."""
        if self.is_dry_run:
            return
        self.left_out = 0
        stamps = self.held.stamps_now(self._read_as)
        plan = self.held.plan_to_let_go(self._read_as, state.entries, stamps, self.sink)
        for file in plan.let_go:
            source = self._read_as[file.number]
            if self.held.has(source) and state.lag_of(source):
                log.warning("a held file ended in half a line", source=source.key, bytes=state.lag_of(source))
        with contextlib.suppress(OSError):  # files that could not be removed are found and let go of at the next start
            self.carry_out(plan)
        # Only the bytes still unsent count for files that remain, so that the bounds leave room for others.
        left = {number: state.lag_of(source) for number, source in self._read_as.items()}
        files = tuple(
            file._replace(unsent=left.get(file.number, file.unsent)) if file.is_for(self.sink) else file
            for file in self.held.files
        )
        self._held = self.held._replace(files=files)
        if plan.let_go:
            log.info("held files let go", files=len(plan.let_go), still_held=len(files))

    def drop_refused(self, is_refused: Callable[[Source], bool]) -> int:
        """Drops held files that a person has excluded since: whole transcripts, perhaps the last copies of deleted
        ones. Returns how many files were dropped."""
        held = self.held
        asked = [(file, held.as_source(file, file.original)) for file in held.files if file.number not in self._read_as]
        gone = tuple(file for file, source in asked if source is not None and is_refused(source))
        if not gone or self.is_dry_run:
            return 0
        try:
            # A crash in here leaves some of them, and the next pass drops those.
            self.carry_out(Plan(let_go=gone))
        except OSError as error:
            log.warning("held files of excluded projects not dropped", reason=error.strerror, path=str(self.directory))
            return 0
        log.info("held files of excluded projects dropped", files=len(gone))
        return len(gone)

    def forget(self, keys: Sequence[str] | None = None) -> int:
        """Drops what is held of these sources, or everything. Returns how many files were dropped."""
        gone = tuple(file for file in self.held.files if keys is None or file.original.key in keys)
        self.carry_out(Plan(let_go=gone))
        return len(gone)

    def carry_out(self, plan: Plan) -> None:
        """Cleans up after a crash, then carries out the plan. All writing happens in here."""
        if self.is_dry_run:
            return
        self._clean()
        for file, original in plan.complete:
            self._complete(file, original)
        if plan.changed:
            self._rename_sinks(plan.changed)
        if plan.take:
            self._take(plan.take)
        if plan.let_go:
            self._remove(plan.let_go)
        if not self.held.files and self.directory.is_dir():
            with contextlib.suppress(OSError):  # it contains another file; the next plan tries again
                # The index first: a directory without one holds nothing. A crash in between leaves it empty.
                (self.directory / INDEX).unlink(missing_ok=True)
                self.directory.rmdir()

    def _clean(self) -> None:
        held = self.held
        if held.damage:
            self._move_damaged(held.damage)
        for name in held.strays:  # nothing refers to them, so a crash in here does no harm
            with contextlib.suppress(OSError):
                (self.directory / name).unlink()
        self._held = held._replace(strays=frozenset(), damage="")

    def _move_damaged(self, damage: str) -> None:
        aside = self.directory.with_name(f"{self.directory.name}.damaged-{time.time_ns() // 1_000_000}")
        # Before a new index is written, because that would make strays of files that a person may still identify.
        os.replace(self.directory, aside)
        log.error(
            "index of held files damaged, files moved aside; originals that still exist are sent as usual",
            path=str(aside),
            reason=damage,
        )

    def _rename_sinks(self, changed: Sequence[HeldFile]) -> None:
        """Notes for which sinks files are held. After a crash before this, some are still held for a sink that has
        received them: nothing of them is sent again, and the next call lets go of them."""
        now = {file.number: file for file in changed}
        files = tuple(now.get(file.number, file) for file in self.held.files)
        self._write_index(files)
        self._held = self.held._replace(files=files)

    def _take(self, wanted: Sequence[HeldFile]) -> None:
        make_private_directory(self.directory)
        # The index comes before the files. A crash in between leaves names without files, which are ignored; in the
        # other order, it would leave files that the index does not name, and they would be removed as strays.
        self._write_index([*self.held.files, *wanted])
        is_copy = {file: self._get_hold(file) for file in wanted}
        taken = [file for file in wanted if is_copy[file] is not None]
        # The names must survive a power cut, because by then the originals may be gone.
        fsync_directory(self.directory)
        copies = self.held.copies | {file.number for file in taken if is_copy[file]}
        self._held = self.held._replace(files=(*self.held.files, *taken), copies=copies)
        self._read_as |= {file.number: file.original for file in taken}

    def _get_hold(self, file: HeldFile) -> bool | None:
        """Makes a link (False) or, failing that, a copy (True); None if the source is gone or cannot be read."""
        self._copy_companion(file)
        path, source = self.held.path_of(file), file.original
        try:
            os.link(os.path.realpath(source.path), path, follow_symlinks=False)
            if path.stat(follow_symlinks=False).st_ino == source.stamp.inode:
                return False
            path.unlink()  # another file has that name now
        except FileNotFoundError:
            return None
        except OSError:
            return True if self._copy(file) else None
        return None

    def _copy_companion(self, file: HeldFile) -> None:
        """Copies the companion's contents, such as which subagent a transcript belongs to."""
        if name := self.name_companion(file.original):
            with contextlib.suppress(OSError, CollectorError), opened(file.original) as original:
                if said := original.companion(name):
                    with created(self.directory / self.held.companion_of(file)) as copy:
                        copy.write(json.dumps(said).encode())
                        copy.flush()
                        os.fsync(copy.fileno())  # this, too, may soon be the only copy

    def _copy(self, file: HeldFile) -> bool:
        """Makes a sparse copy; returns whether that worked."""
        path = self.held.path_of(file)
        temporary = path.with_suffix(".new")
        try:
            with opened(file.original) as original:
                fits = file.start is not None and original.begins_as(file.start)
                start = file.start.offset if file.start is not None and fits else 0
                with created(temporary) as copy:
                    copy.write(original.read_fully(min(FINGERPRINT_BYTES, start), 0))
                    copy.seek(max(0, start - FINGERPRINT_BYTES))
                    copy.write(original.before(start))
                    self._pour(original, start, copy)
                mtime = original.stamp.mtime_ns
            os.utime(temporary, ns=(mtime, mtime))
            # The copy gets its name only once it is complete: a crash before this leaves a stray, and the original.
            os.replace(temporary, path)
        except (OSError, CollectorError) as error:
            self._obstacle = str(error)
            log.debug("file not held", source=file.original.key, reason=self._obstacle)
            temporary.unlink(missing_ok=True)
            return False
        return True

    def _complete(self, file: HeldFile, original: Source) -> None:
        """Appends to a copy whatever its original has gained since. A link needs nothing."""
        copied = self.held.as_source(file, original)
        end = end_of(copied) if copied is not None else None
        with contextlib.suppress(OSError, CollectorError), opened(original) as now:
            if copied is not None and end is not None and now.stamp.size > end.offset and now.begins_as(end):
                # A crash in the middle leaves a copy that ends early; the next failing pass completes it.
                with open(copied.path, "ab") as copy:
                    self._pour(now, end.offset, copy)
                os.utime(copied.path, ns=(now.stamp.mtime_ns, now.stamp.mtime_ns))

    def _pour(self, original: SourceFile, start: int, copy: IO[bytes]) -> None:
        """Copies from an offset to the end, in pieces, and syncs: this may soon be the only copy."""
        if shutil.disk_usage(self.directory).free < NO_ROOM + original.stamp.size - start:
            raise OSError(f"copies leave {in_words(NO_ROOM)} of the disk free")
        while piece := original.read(COPY_BYTES, start):
            copy.write(piece)
            start += len(piece)
            self._alive()
        copy.flush()
        os.fsync(copy.fileno())

    def _remove(self, gone: Sequence[HeldFile]) -> None:
        numbers = {file.number for file in gone}
        files = tuple(file for file in self.held.files if file.number not in numbers)
        self._held = self.held._replace(files=files, copies=self.held.copies - numbers)
        # The files go before the index. A crash in between leaves names without files, which are ignored; in the other
        # order, it would leave files that the index does not name.
        for file in gone:
            for name in self.held.names_of(file):
                (self.directory / name).unlink(missing_ok=True)
        if files:
            self._write_index(files)

    def _write_index(self, files: Iterable[HeldFile]) -> None:
        # A crash before the end of this block leaves the old index. It still names every file: those being taken do not
        # exist yet, and those just removed are ignored.
        with replacing(self.directory / INDEX) as index:
            index.write(index_of(files))


def unsent_of(source: Source, state: State) -> int:
    """The bytes that would be lost with a source. If it has no lag, it may still be another file of the same size."""
    lag, entry = state.lag_of(source), state.entries.get(source.key)
    if lag or entry is None or state.is_read(source) or begins_as(source, entry.position):
        return lag
    return source.stamp.size
