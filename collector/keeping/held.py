"""Held files: which unsent sources are kept from deletion, how they are read, and plans for more.

In: the directory of held files, what was found, and the state's entries. Out: values. Nothing changes here; rescue.py
carries out the plans. The index is written before the first link and after the last unlink. So a crash leaves either a
name in the index without a file, which is ignored, or an unfinished copy that the index does not name: a stray.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.errors import CollectorError, StateError
from collector.files import read_plain
from collector.flow.sink_identity import NO_SINK, SinkIdentity
from collector.flow.source import FINGERPRINT_BYTES, Entry, Position, Root, Source, SourceKind, Stamp, digest, stamp_of
from collector.reading.opened import opened
from collector.settings.options import SweptSettings

INDEX = "index.json"
DAMAGES = (NotADirectoryError, IsADirectoryError)  # not errors that may pass


class HeldFile(NamedTuple):
    """A held file. `original` is the source as it was found, `start` how far it was safe at that time. `sinks` have not
    received all of it yet; a file that names none was held before sinks were told apart."""

    number: int
    original: Source
    start: Position | None
    unsent: int
    sinks: tuple[str, ...] = ()

    def is_for(self, sink: SinkIdentity) -> bool:
        """Whether the file is held for this sink."""
        return not self.sinks or any(map(sink.is_named, self.sinks))

    def without(self, sink: SinkIdentity) -> HeldFile | None:
        """The file once this sink has received all of it; None if no other sink is waiting for it."""
        others = tuple(text for text in self.sinks if not sink.is_named(text))
        return self._replace(sinks=others) if others else None

    @property
    def name(self) -> str:
        """Its name in the directory of held files."""
        return f"{self.number}.jsonl"


class StandIns(NamedTuple):
    """How held files are read.

    `read_as` maps the number of each to its source: the original, or the held file. `sources` are the held files to
    read, because the original is gone or another file has its name. `starts` are positions that the state lacks.
    """

    sources: list[Source]
    starts: dict[str, Position]
    read_as: dict[int, Source]


class Plan(NamedTuple):
    """What to do, in this order: complete copies whose originals have grown, take hold of files, let go of others.

    The sinks of `changed` files differ from before: one was added, or one has received everything.
    """

    complete: tuple[tuple[HeldFile, Source], ...] = ()
    take: tuple[HeldFile, ...] = ()
    let_go: tuple[HeldFile, ...] = ()
    changed: tuple[HeldFile, ...] = ()
    left_out: int = 0


class Held(NamedTuple):
    """The contents of the directory, oldest first; `copies` are the numbers of files that could not be linked."""

    directory: Path
    name_companion: Callable[[Source], str]
    files: tuple[HeldFile, ...] = ()
    copies: frozenset[int] = frozenset()
    strays: frozenset[str] = frozenset()
    damage: str = ""

    def path_of(self, file: HeldFile) -> Path:
        """The path of a held file."""
        return self.directory / file.name

    def companion_of(self, file: HeldFile) -> str:
        """The name of a held file's companion here; empty if its kind has none."""
        return self.name_companion(file.original._replace(path=str(self.path_of(file))))

    def names_of(self, file: HeldFile) -> list[str]:
        """Everything that belongs to a held file."""
        return [name for name in (file.name, self.companion_of(file)) if name]

    def has(self, source: Source) -> bool:
        """Whether a source is a held file rather than a file below a root."""
        return source.root.path == str(self.directory)

    def as_source(self, file: HeldFile, like: Source) -> Source | None:
        """A held file as a source to read in place of `like`; None if the file is gone."""
        path = self.path_of(file)
        with contextlib.suppress(OSError):
            stamp = stamp_of(path.stat(follow_symlinks=False))
            return like._replace(root=like.root._replace(path=str(self.directory)), path=str(path), stamp=stamp)
        return None

    def stamps_now(self, read_as: Mapping[int, Source]) -> dict[int, Stamp]:
        """The current stamp of each held file or its original. A link keeps its stamp when the original is gone."""
        stamps = {}
        for file in self.files:
            with contextlib.suppress(OSError, KeyError):
                source, here = read_as[file.number], stamp_of(self.path_of(file).stat())
                stamps[file.number] = here if here.inode == source.stamp.inode else stamp_of(os.stat(source.path))
        return stamps

    def find_stand_ins(
        self,
        found: Sequence[Source],
        entries: Mapping[str, Entry],
        roots: Iterable[Root],
        is_wanted: Callable[[Source], bool],
    ) -> StandIns:
        """Compares held files with what was found, by inode and by bytes. The newest has the first claim to a name."""
        if not self.files:
            return StandIns([], {}, {})
        known_roots = {root.path: root for root in roots}
        by_key = {source.key: source for source in found}
        by_inode = {source.stamp.inode: source for source in found}
        sources: list[Source] = []
        starts: dict[str, Position] = {}
        read_as: dict[int, Source] = {}

        def known(key: str) -> Position | None:
            return starts.get(key) or (entries[key].position if key in entries else None)

        for file in reversed(self.files):
            root = known_roots.get(file.original.root.path)
            # Files of a root that is no longer configured, or of a project in doubt, are not read, but stay held.
            source = self.as_source(file, file.original._replace(root=root)) if root is not None else None
            if source is None or not is_wanted(source):
                continue
            original = _original_of(file, source, by_key, by_inode)
            if original is None:
                key, start = _key_and_start(file, source, known, by_key)
                if start is not None:
                    starts[key] = start._replace(stamp=None)  # without a stamp, so that the file is opened
                by_key[key] = source = source._replace(key=key)
                sources.append(source)
            read_as[file.number] = original or source
        return StandIns(sources, starts, read_as)

    def plan_to_hold(
        self,
        read_as: Mapping[int, Source],
        found: Sequence[Source],
        unsent: Mapping[str, int],
        entries: Mapping[str, Entry],
        settings: SweptSettings,
        sink: SinkIdentity = NO_SINK,
    ) -> Plan:
        """Holds files in the order in which they are swept, longest unmodified first, while there is room."""
        known, changed = set(), []
        here = (sink.text,) if sink.text else ()
        for file in self.files:  # a link stands for one inode, a copy for any file with its key
            inode = 0 if file.number in self.copies else file.original.stamp.inode
            key = read_as.get(file.number, file.original).key
            known.add((key, inode))
            if unsent.get(key) and here and not (file.sinks and file.is_for(sink)):
                changed.append(file._replace(sinks=(*file.sinks, *here)))
        wanted = [
            source
            for source in sorted(found, key=lambda source: source.stamp.mtime_ns)
            if unsent.get(source.key)
            # A document describes the present, not what happened: an old one holds nothing that a new one lacks.
            and not source.kind.is_document
            and known.isdisjoint({(source.key, 0), (source.key, source.stamp.inode)})
        ]
        room = settings.max_bytes - sum(file.unsent for file in self.files)
        number = max((file.number for file in self.files), default=0)
        take: list[HeldFile] = []
        for source in wanted:
            size = unsent[source.key]
            # If one does not fit, smaller ones after it may still find room.
            if len(self.files) + len(take) < settings.max_files and size <= room:
                entry = entries.get(source.key)
                number, room = number + 1, room - size
                start = entry.position if entry else None
                take.append(HeldFile(number, source, start, size, here))
        # Complete a copy only from an original that was found just now, not from a held file.
        there = {source.key for source in found}
        copies = [(file, read_as[file.number]) for file in self.files if file.number in self.copies & read_as.keys()]
        complete = [(file, source) for file, source in copies if source.key in there and not self.has(source)]
        return Plan(tuple(complete), tuple(take), changed=tuple(changed), left_out=len(wanted) - len(take))

    def plan_to_let_go(
        self,
        read_as: Mapping[int, Source],
        entries: Mapping[str, Entry],
        stamps: Mapping[int, Stamp],
        sink: SinkIdentity = NO_SINK,
    ) -> Plan:
        """Lets go of files that were sent to the end, from here or as the original, and have not changed since."""
        sent = {number: entries[each.key].position.stamp for number, each in read_as.items() if each.key in entries}
        still = {number for number, stamp in stamps.items() if sent.get(number) == stamp}
        sent_here = [file for file in self.files if file.number in still and file.is_for(sink)]
        left = [(file, file.without(sink)) for file in sent_here]
        gone = tuple(file for file, rest in left if rest is None)
        return Plan(let_go=gone, changed=tuple(rest for _, rest in left if rest is not None))


def look_into(directory: Path, name_companion: Callable[[Source], str] = lambda _: "") -> Held:
    """Reads what is held. Changes nothing, even if it finds damage."""
    held = Held(directory, name_companion)
    try:
        names = set(os.listdir(directory))
        items = json.loads(read_plain(directory / INDEX))["files"] if INDEX in names else ()
        files = tuple(file for file in map(_decode, items) if file.name in names)
        inodes = {file.number: held.path_of(file).stat().st_ino for file in files}
    except FileNotFoundError:
        return held
    except (*DAMAGES, ValueError, KeyError, TypeError, AttributeError) as error:
        return held._replace(damage=type(error).__name__)
    except OSError as error:  # no permission, a failing disk, no descriptors left: moved aside, the files would be lost
        raise StateError(
            f"Cannot read what is held in {directory}: {error.strerror}. It may be all that is left of some "
            "transcripts, so nothing is sent until it can be read. Make it readable to this user, check the disk, or "
            "move that directory aside."
        ) from None
    copies = frozenset(file.number for file in files if inodes[file.number] != file.original.stamp.inode)
    known = {INDEX, *(name for file in files for name in held.names_of(file))}
    return Held(directory, name_companion, files, copies, frozenset(names - known))


def _original_of(
    file: HeldFile, source: Source, by_key: Mapping[str, Source], by_inode: Mapping[int, Source]
) -> Source | None:
    """The file that still has everything the held one has, under any name; None if only the held one has it."""
    # A link is recognised by its inode; samefile, because two file systems may use the same number.
    linked = by_inode.get(source.stamp.inode)
    with contextlib.suppress(OSError):
        if linked is not None and os.path.samefile(linked.path, source.path):
            return linked
    end = end_of(source)
    candidates = by_key.get(file.original.key), by_inode.get(file.original.stamp.inode)
    return next((each for each in candidates if each is not None and end is not None and begins_as(each, end)), None)


def _key_and_start(
    file: HeldFile, source: Source, known: Callable[[str], Position | None], taken: Mapping[str, Source]
) -> tuple[str, Position | None]:
    """The original's key or, if another file has that name now, a key of its own; and a start the state lacks."""
    key, start = file.original.key, None
    own = f"{key} (held {file.original.stamp.inode})"
    so_far = known(key)
    if known(own) is not None:
        key, so_far = own, known(own)
    elif key in taken:
        key = own
        start = so_far = so_far if so_far is not None and begins_as(source, so_far) else None
    first = file.start
    if first is not None and first.offset and source.stamp.inode != file.original.stamp.inode:
        # A copy holds nothing before its start, so it is read from there, unless a later known position fits it.
        is_known = so_far is not None and so_far.offset >= first.offset and begins_as(source, so_far)
        if not is_known and begins_as(source, first):
            start = first
    return key, start


def begins_as(source: Source, position: Position) -> bool:
    """Whether this file is the one that was read up to this position."""
    try:
        with opened(source) as file:
            return file.begins_as(position)
    except CollectorError:
        return False


def end_of(source: Source) -> Position | None:
    """The position at the end of a file; None if it cannot be read."""
    try:
        with opened(source) as file:
            size = file.stamp.size
            head, tail = file.read_fully(min(FINGERPRINT_BYTES, size), 0), file.before(size)
    except CollectorError:
        return None
    return Position(size, digest(head), digest(tail))


def index_of(files: Iterable[HeldFile]) -> bytes:
    """The index file's contents. Uses json, not orjson: in a path, bytes that are not UTF-8 become lone surrogates."""
    return json.dumps({"version": 1, "files": [_encode(file) for file in files]}).encode()


def _encode(file: HeldFile) -> dict[str, Any]:
    (place, label, agent), path, key, kind, project, session_id, agent_id, stamp = file.original
    item = {
        "number": file.number,
        "agent": agent,
        "source": [[place, label], path, key, kind.name, kind.priority, project, session_id, agent_id, list(stamp)],
        "start": list(file.start[:3]) if file.start else None,
        "unsent": file.unsent,
        "sinks": list(file.sinks),
    }
    # Beside `start`, because earlier versions read everything in that as a position.
    return {**item, "anchor": file.start.anchor} if file.start and file.start.anchor else item


def _decode(item: dict[str, Any]) -> HeldFile:
    (place, label, *_), path, key, kind, priority, project, session_id, agent_id, stamp = item["source"]
    root = Root(place, label, item.get("agent", ""))  # earlier versions wrote no agent: the known root supplies it
    source = Source(root, path, key, SourceKind(kind, priority), project, session_id, agent_id, Stamp(*stamp))
    start = Position(*item["start"][:3])._replace(anchor=str(item.get("anchor", ""))) if item["start"] else None
    return HeldFile(int(item["number"]), source, start, int(item["unsent"]), tuple(map(str, item.get("sinks", ()))))
