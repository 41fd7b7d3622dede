"""Held: unsent transcripts are kept from Claude Code's sweep while the sink is failing (DESIGN section 9).

In: the sources that have unsent bytes when a pass is given up. Out: for the next pass, the sources whose original went
meanwhile, under the key they always had. A held file is a hard link: no copy, and of the original only its link count
and change time differ. Where linking is impossible it is a sparse copy: the unsent bytes at their places, and the bytes
a position is recognised by. The index is on disk before the first link, so after a crash every link is known.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.errors import CollectorError, SkipSource
from collector.files import created, fsync_directory, make_private_directory
from collector.flow.source import FINGERPRINT_BYTES, Position, Root, Source, SourceKind, Stamp, digest, stamp_of
from collector.keeping.state import State
from collector.log import get_logger
from collector.reading.opened import SourceFile, opened
from collector.settings.options import SweptSettings

log = get_logger()
COPY_BYTES = 1 << 20
INDEX = "index.json"


class HeldFile(NamedTuple):
    """A file that is held. `original` is the source as it was found, `start` how far it was safe then."""

    number: int
    original: Source
    start: Position | None
    unsent: int

    def path_in(self, directory: Path) -> Path:
        """Where it lies."""
        return directory / f"{self.number}.jsonl"


class Held:
    """The directory beside the state, and what is in it."""

    def __init__(
        self,
        directory: Path,
        settings: SweptSettings,
        *,
        companion_of: Callable[[Source], str] = lambda _: "",
        is_dry_run: bool = False,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        self.directory, self.settings = directory, settings
        self.companion_of = companion_of
        self.is_dry_run = is_dry_run
        self.left_out = 0
        self._alive = alive  # called while files are copied, which may take minutes
        self._files: list[HeldFile] | None = None
        self._read_as: dict[int, Source] = {}  # what each held file is read as in this pass: itself, or its original

    @property
    def files(self) -> list[HeldFile]:
        """What is held, the oldest first."""
        if self._files is None:
            self._files = self._load()
        return self._files

    def summary(self) -> dict[str, int]:
        """For the status: how many files and unsent bytes are held, and how many files had no room."""
        unsent = sum(file.unsent for file in self.files)
        return {"files": len(self.files), "bytes": unsent, "left_out": self.left_out}

    # Before a pass

    def sources(
        self, found: Sequence[Source], state: State, roots: Iterable[Root], is_wanted: Callable[[Source], bool]
    ) -> list[Source]:
        """What has to be read from here, because the original is gone or another file stands in its place."""
        self._read_as = {}
        if not self.files:
            return []
        known_roots = {root.path: root for root in roots}
        by_key = {source.key: source for source in found}
        by_inode = {source.stamp.inode: source for source in found}
        more = []
        for file in reversed(self.files):
            root = known_roots.get(file.original.root.path)
            source = self._as_source(file, root) if root is not None else None
            if source is None or not is_wanted(source):
                continue
            original = self._original(source, file, by_key, by_inode)
            if original is None:
                source = source._replace(key=_key(file, source, state, by_key))
                _start(file, source, state)
                by_key[source.key] = source
                more.append(source)
            self._read_as[file.number] = original or source
        return more

    def _as_source(self, file: HeldFile, root: Root) -> Source | None:
        path = file.path_in(self.directory)
        with contextlib.suppress(OSError):
            stamp = stamp_of(path.stat(follow_symlinks=False))
            here = Root(str(self.directory), root.label, root.agent)
            return file.original._replace(root=here, path=str(path), stamp=stamp)
        return None

    def _original(
        self, source: Source, file: HeldFile, by_key: dict[str, Source], by_inode: dict[int, Source]
    ) -> Source | None:
        """The file that holds all that is held, under whatever name; None when only the held one does."""
        linked = by_inode.get(source.stamp.inode)
        with contextlib.suppress(OSError):
            if linked is not None and os.path.samefile(linked.path, source.path):
                return linked
        candidates = by_key.get(file.original.key), by_inode.get(file.original.stamp.inode)
        return next((there for there in candidates if there is not None and _contains(there, source)), None)

    # After a pass

    def hold(self, unsent: dict[str, int], found: Iterable[Source], state: State) -> None:
        """Takes hold of these sources (key -> unsent bytes), those that are swept first before the others."""
        if self.is_dry_run or not self.settings.hold:
            return
        try:
            self._complete_copies(found)
            known = {self._known_as(file) for file in self.files}
            wanted = [source for source in found if unsent.get(source.key) and self._is_new(source, known)]
            self._take(sorted(wanted, key=lambda source: source.stamp.mtime_ns), unsent, state)
        except OSError as error:
            log.warning("unsent files cannot be held", path=str(self.directory), reason=error.strerror)

    def _known_as(self, file: HeldFile) -> tuple[str, int]:
        """A link goes with one inode; a copy goes on with whatever goes on where it ends."""
        source = self._read_as.get(file.number, file.original)
        with contextlib.suppress(OSError):
            if file.path_in(self.directory).stat().st_ino != file.original.stamp.inode:
                return source.key, 0
        return source.key, file.original.stamp.inode

    def _is_new(self, source: Source, known: set[tuple[str, int]]) -> bool:
        # What is read whole says what is, not what happened: an old one holds nothing that a new one lacks.
        is_candidate = not source.kind.is_document and source.root.path != str(self.directory)
        return is_candidate and (source.key, source.stamp.inode) not in known and (source.key, 0) not in known

    def _take(self, wanted: Sequence[Source], unsent: dict[str, int], state: State) -> None:
        room = self.settings.max_bytes - sum(file.unsent for file in self.files)
        number = max((file.number for file in self.files), default=0)
        taken: list[HeldFile] = []
        for source in wanted:
            size = unsent[source.key]
            if len(self.files) + len(taken) < self.settings.max_files and size <= room:
                entry = state.entries.get(source.key)
                number, room = number + 1, room - size
                taken.append(HeldFile(number, source, entry.position if entry else None, size))
        left_out, self.left_out = self.left_out, len(wanted) - len(taken)
        if self.left_out > left_out:
            log.warning("not all unsent files can be held", left_out=self.left_out, **self._limits())
        if taken:
            make_private_directory(self.directory)
            self._save([*self.files, *taken])
            self._files = [*self.files, *filter(self._link, taken)]
            fsync_directory(self.directory)
            log.info("unsent files held", files=len(self.files), bytes=self.summary()["bytes"])

    def _limits(self) -> dict[str, int]:
        return {"max_files": self.settings.max_files, "max_bytes": self.settings.max_bytes}

    def _link(self, file: HeldFile) -> bool:
        """Makes the link, else the copy; False when the source is gone or cannot be read."""
        path, source = file.path_in(self.directory), file.original
        self._link_meta(file)
        try:
            os.link(os.path.realpath(source.path), path, follow_symlinks=False)
            if stamp_of(path.stat(follow_symlinks=False)).inode == source.stamp.inode:
                return True
            path.unlink()  # another file by now
        except FileNotFoundError:
            return False
        except OSError:
            return self._copy(file)
        return False

    def _link_meta(self, file: HeldFile) -> None:
        """What its companion says of it: which subagent a transcript is of."""
        name = self.companion_of(file.original)
        here = self.companion_of(file.original._replace(path=str(file.path_in(self.directory))))
        if name:
            with contextlib.suppress(OSError, CollectorError), opened(file.original) as original:
                if said := original.companion(name):
                    with created(self.directory / here) as copy:
                        copy.write(json.dumps(said).encode())

    def _copy(self, file: HeldFile) -> bool:
        """A sparse copy that is not there before it is complete."""
        path = file.path_in(self.directory)
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
            os.replace(temporary, path)
        except (OSError, CollectorError) as error:
            log.debug("file not held", source=file.original.key, reason=str(error))
            temporary.unlink(missing_ok=True)
            return False
        return True

    def _pour(self, original: SourceFile, start: int, copy: Any) -> None:
        """Copies from an offset to the end, a piece at a time."""
        copy.seek(start)
        while piece := original.read(COPY_BYTES, start):
            copy.write(piece)
            start += len(piece)
            self._alive()

    def _complete_copies(self, found: Iterable[Source]) -> None:
        """What was appended to originals since they were copied. A link needs nothing."""
        there = {source.key: source for source in found}
        for file in self.files:
            original = self._read_as.get(file.number)
            path = file.path_in(self.directory)
            if original is None or there.get(original.key) != original or original.path == str(path):
                continue
            with contextlib.suppress(OSError, CollectorError), opened(original) as now:
                size = path.stat().st_size
                if now.stamp.inode != path.stat().st_ino and now.stamp.size > size:
                    with path.open("ab") as copy:
                        self._pour(now, size, copy)
                    os.utime(path, ns=(now.stamp.mtime_ns, now.stamp.mtime_ns))

    def release(self, state: State) -> None:
        """Lets go of what was sent to its end, here or as the original. Called when the offsets are on disk."""
        if self.is_dry_run or not self.files:
            return
        kept, gone = [], []
        for file in self.files:
            source = self._read_as.get(file.number)
            if source and self._is_sent(file, source, state):
                gone.append(file)
                if source.path == str(file.path_in(self.directory)) and state.lag_of(source):
                    log.warning("a held file ended in half a line", source=source.key, bytes=state.lag_of(source))
            else:
                kept.append(file._replace(unsent=state.lag_of(source)) if source else file)
        self._files = kept
        if gone:
            with contextlib.suppress(OSError):  # what stays is found at the next start, and let go of then
                self._remove(gone)
            log.info("held files let go", files=len(gone), still_held=len(kept))

    def _is_sent(self, file: HeldFile, source: Source, state: State) -> bool:
        """Whether it was read to its end and is right now as it was then; a link still tells when its original went."""
        entry = state.entries.get(source.key)
        with contextlib.suppress(OSError):
            held = stamp_of(file.path_in(self.directory).stat())
            now = held if held.inode == source.stamp.inode else stamp_of(os.stat(source.path))
            return entry is not None and entry.position.stamp == now
        return False

    def forget(self, keys: Sequence[str] | None = None) -> int:
        """Drops what is held of these sources, or all; returns how many files that were."""
        gone = [file for file in self.files if keys is None or file.original.key in keys]
        self._files = [file for file in self.files if file not in gone]
        self._remove(gone)
        return len(gone)

    def _remove(self, gone: Iterable[HeldFile]) -> None:
        for file in gone:
            file.path_in(self.directory).unlink(missing_ok=True)
            (self.directory / f"{file.number}.meta.json").unlink(missing_ok=True)
        if self.files:
            self._save(self.files)
        elif self.directory.is_dir():
            (self.directory / INDEX).unlink(missing_ok=True)
            self.directory.rmdir()

    # The index

    def _load(self) -> list[HeldFile]:
        try:
            files = [_decode(item) for item in json.loads((self.directory / INDEX).read_bytes())["files"]]
        except FileNotFoundError:
            files = []
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            return self._move_damaged(error)
        there = [file for file in files if file.path_in(self.directory).is_file()]
        if not self.is_dry_run and self.directory.is_dir():
            self._clean({f"{file.number}.{suffix}" for file in there for suffix in ("jsonl", "meta.json")})
        return there

    def _clean(self, names: set[str]) -> None:
        """Removes what a crash left behind: halves of copies, files that nobody knows, an index of nothing."""
        with contextlib.suppress(OSError):
            for path in list(self.directory.iterdir()):
                if path.name not in names and (path.name != INDEX or not names):
                    path.unlink()
            if not names:
                self.directory.rmdir()

    def _move_damaged(self, error: Exception) -> list[HeldFile]:
        aside = self.directory.with_name(f"{self.directory.name}.damaged-{time.time_ns() // 1_000_000}")
        if not self.is_dry_run:
            with contextlib.suppress(OSError):
                os.replace(self.directory, aside)
        log.error(
            "the index of held files is damaged, they were moved; what their originals still hold is sent from there",
            path=str(aside),
            reason=type(error).__name__,
        )
        return []

    def _save(self, files: Iterable[HeldFile]) -> None:
        # json, not orjson: the path of a source may hold bytes that are no text, as lone surrogates.
        data = json.dumps({"version": 1, "files": [_encode(file) for file in files]}).encode()
        temporary = self.directory / f"{INDEX}.new"
        with created(temporary) as index:
            index.write(data)
            index.flush()
            os.fsync(index.fileno())
        os.replace(temporary, self.directory / INDEX)
        fsync_directory(self.directory)


def unsent_of(source: Source, state: State) -> int:
    """The bytes that would be lost with a source. One that is as long as what was sent of it may be another by now."""
    lag, entry = state.lag_of(source), state.entries.get(source.key)
    if lag or entry is None or state.is_read(source) or _begins_as(source, entry.position):
        return lag
    return source.stamp.size


def _key(file: HeldFile, source: Source, state: State, taken: dict[str, Source]) -> str:
    """The original's key, unless another file goes by that name now: then one of its own, with the offset so far."""
    key = file.original.key
    own = f"{key} (held {file.original.stamp.inode})"
    if own in state.entries:
        return own
    if key not in taken:
        return key
    entry = state.entries.get(key)
    if entry is not None and _begins_as(source, entry.position):
        state.start_at(own, entry.position._replace(stamp=None))
    return own


def _start(file: HeldFile, source: Source, state: State) -> None:
    """A copy has nothing before its start, so it is read from there when the state does not say better."""
    start = file.start
    if start is None or not start.offset or source.stamp.inode == file.original.stamp.inode:
        return
    entry = state.entries.get(source.key)
    is_safe = entry is not None and entry.position.offset >= start.offset and _begins_as(source, entry.position)
    if not is_safe and _begins_as(source, start):
        state.start_at(source.key, start._replace(stamp=None))


def _begins_as(source: Source, position: Position) -> bool:
    try:
        with opened(source) as file:
            return file.begins_as(position)
    except (SkipSource, CollectorError):
        return False


def _contains(there: Source, held: Source) -> bool:
    """Whether this file goes on where the held one ends."""
    try:
        with opened(held) as file:
            size = file.stamp.size
            head, tail = file.read_fully(min(FINGERPRINT_BYTES, size), 0), file.before(size)
    except (SkipSource, CollectorError):
        return False
    return _begins_as(there, Position(size, digest(head), digest(tail)))


def _encode(file: HeldFile) -> dict[str, Any]:
    root, path, key, kind, project, session_id, agent_id, stamp = file.original
    return {
        "number": file.number,
        "source": [list(root), path, key, kind.name, kind.priority, project, session_id, agent_id, list(stamp)],
        "start": list(file.start[:3]) if file.start else None,
        "unsent": file.unsent,
    }


def _decode(item: dict[str, Any]) -> HeldFile:
    (place, label, *agent), path, key, kind, priority, project, session_id, agent_id, stamp = item["source"]
    root = Root(place, label, *(agent or [""]))  # what earlier versions wrote has none; the known root's is used
    source = Source(root, path, key, SourceKind(kind, priority), project, session_id, agent_id, Stamp(*stamp))
    start = item["start"]
    return HeldFile(int(item["number"]), source, Position(*start) if start else None, int(item["unsent"]))
