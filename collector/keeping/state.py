"""The state: one JSON file that says how far each source is safe.

In: what the committer changes. Out: the entries at start. Written whole (temporary file, fsync, rename, fsync of the
directory), mode 0600, the previous generation kept beside it, so after a crash at any point one of the two is whole. A
large state (100,000 sources: 24 MB, 0.13 CPU s a save, as against 0.04 for what a window of batches costs) is written
whole from time to time only; in between, each save appends what changed to the journal.
Crash window: what was committed in memory since the last save is sent again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from collector.errors import StateError
from collector.files import created, fsync_directory, make_private_directory
from collector.flow.source import Entry, Position, Source, Stamp
from collector.keeping.journal import Digest, Journal, JournalUnusable

VERSION = 1
NO_STATE = "it does not have the shape of a state"
REPACK_AT_MOST = 20_000
ENCODED_AT_ONCE = 100
JOURNAL_FROM_BYTES = 1 << 20


class State:
    """The entries in memory, and the file they are saved to.

    `agent` is the one whose section all entries are in but those with another owner: with 100,000 sources of one agent,
    who owns each would take 10 MB to remember.
    """

    def __init__(self, path: Path, agent: str, journal_from: int = JOURNAL_FROM_BYTES) -> None:
        self.path = path
        self.agent = agent
        self.previous = path.with_name(path.name + ".previous")
        self.entries: dict[str, Entry] = {}
        self.owners: dict[str, str] = {}
        self.notes: list[str] = []
        self.is_dirty = False
        self._changed: set[str] = set()
        self._is_reset = False
        self._journal = Journal(path, journal_from)

    def load(self, *, may_repair: bool = True) -> State:
        """Reads the file, else the previous generation, else starts over; `notes` says which and why."""
        for path in (self.path, self.previous):
            try:
                data = _read(path)
                self._take_over(_sections(data))
                self._replay(data)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StateError(
                    f"Cannot read the state {path}: {error.strerror}. Nothing was sent. "
                    "Make the file readable to this user, or name another with --state."
                ) from None
            except _NewerVersion as error:
                raise StateError(
                    f"The state {path} was written by a newer collector (state version {error}). Nothing was sent. "
                    "Upgrade this one, or name another file with --state."
                ) from None
            except ValueError as error:
                if may_repair:
                    self._move_damaged(path, str(error))
                else:
                    self.notes.append(f"The state {path} is damaged ({error}).")
            else:
                return self
        return self

    def _take_over(self, sections: dict[str, dict[str, Any]]) -> None:
        """The entries of each agent; those of one that nobody knows here any more stay in their section."""
        if not sections:
            raise ValueError(NO_STATE)
        owners = {key: agent for agent, files in sections.items() if agent != self.agent for key in files}
        entries: dict[str, Entry] = {}
        try:
            for files in sections.values():
                entries |= _entries_of(files)
        except (KeyError, TypeError, AttributeError):
            raise ValueError(NO_STATE) from None
        self.entries, self.owners = entries, owners

    def _replay(self, base: bytes) -> None:
        """Takes over what was saved after the file was written whole."""
        with contextlib.suppress(ValueError, TypeError, KeyError):  # damaged from there on
            for changes in self._journal.read(base):
                decoded = {key: _decode_entry(value) for key, value in changes.items() if value is not None}
                self.owners |= {key: str(changes[key]["agent"]) for key in decoded if "agent" in changes[key]}
                self.entries.update(decoded)
                for key in changes.keys() - decoded.keys():
                    self.entries.pop(key, None)

    def _move_damaged(self, path: Path, reason: str) -> None:
        aside = path.with_name(f"{path.name}.damaged-{time.time_ns() // 1_000_000}")
        # Before anything is saved under its name. A crash after this finds the older generation, or starts over.
        with contextlib.suppress(OSError):
            os.replace(path, aside)
        self.notes.append(
            f"The state {path} is damaged ({reason}). It was moved to {aside.name}; "
            "what it remembered is read again, and the event ids make the repeats harmless."
        )

    # What changes an entry. Nobody but the committer calls these; a law in the tests sees to it.

    def set_owner(self, key: str, agent: str) -> None:
        """Whose file a source is; said before its first offset."""
        if agent != self.agent:
            self.owners[key] = agent

    def advance_offsets(self, positions: Mapping[str, Position]) -> int:
        """Takes over what an acknowledgement made safe; returns by how many bytes the offsets moved."""
        moved = 0
        for key, position in positions.items():
            before = self.entries.get(key)
            moved += position.offset - (before.position.offset if before else 0)
            self._put(key, Entry(position))
        return moved

    def set_offset(self, key: str, position: Position) -> None:
        """A source whose beginning is known to be safe, or not to be had any more, is read from here on."""
        self._put(key, Entry(position))

    def mark_skipped(self, key: str, stamp: Stamp, reason: str) -> None:
        """Remembers that a source is left alone for as long as its stamp stays the same."""
        entry = Entry(Position(0, "", "", stamp), skip=reason)
        if self.entries.get(key) != entry:
            self._put(key, entry)

    def rename_entry(self, old: str, new: str) -> None:
        """A source moved: its entry goes with it."""
        self._put(new, self.entries.pop(old)._replace(missing_since=0))
        self._changed.add(old)

    def mark_missing(self, key: str, since: int) -> None:
        """Remembers since when a source has been out of sight; not worth a save of its own, it goes with the next."""
        self.entries[key] = self.entries[key]._replace(missing_since=since)
        self._changed.add(key)

    def drop_entries(self, keys: Iterable[str]) -> None:
        """Forgets sources that are gone for good."""
        for key in keys:
            del self.entries[key]
            self.owners.pop(key, None)
            self._changed.add(key)
            self.is_dirty = True

    def reset_entries(self, keys: Iterable[str]) -> list[str]:
        """Forgets sources so that they are read again from the start: the older generation must not bring them back."""
        dropped = [key for key in keys if self.entries.pop(key, None) is not None]
        self.is_dirty = self.is_dirty or bool(dropped)
        self._is_reset = self._is_reset or bool(dropped)
        return dropped

    def _put(self, key: str, entry: Entry) -> None:
        self.entries[key] = entry
        self._changed.add(key)
        self.is_dirty = True

    # What only looks

    def lag_of(self, source: Source) -> int:
        """The bytes of a source that are not committed yet."""
        entry = self.entries.get(source.key)
        if entry is None:
            return source.stamp.size
        if entry.skip and entry.position.stamp == source.stamp:
            return 0
        offset = entry.position.offset
        return source.stamp.size - offset if offset <= source.stamp.size else source.stamp.size

    def stamp_of(self, key: str) -> Stamp | None:
        """What a source was like when it was last read to its end."""
        entry = self.entries.get(key)
        return entry.position.stamp if entry else None

    def is_read(self, source: Source) -> bool:
        """Whether the source is as it was when it was last read to its end, so that nobody has to open it."""
        entry = self.entries.get(source.key)
        return entry is not None and entry.position.stamp == source.stamp

    # Memory and disk

    def repack(self) -> None:
        """Makes all entries anew. Those that came one by one in a large pass lie between what that pass has left, and
        keep the system from getting it back: 2 MB with 5,000 sources. With many more it would cost more than give."""
        if len(self.entries) > REPACK_AT_MOST:
            return
        pieces = list(_slices(self.entries.items()))
        with contextlib.suppress(ValueError):
            for piece in pieces:  # nothing is let go of before it is known that it comes back
                _entries_of(orjson.loads(piece))
            self.entries.clear()
            for piece in pieces:
                self.entries.update(_entries_of(orjson.loads(piece)))

    def save(self, *, is_whole: bool = False) -> None:
        """Writes the file, or a line of the journal; on failure what was there stays and the entries stay dirty."""
        try:
            if is_whole or self._is_reset or not self._append():
                self._write_whole(self._document())
        except OSError as error:
            raise StateError(
                f"Cannot write the state {self.path}: {error.strerror}. What was acknowledged since the last save is "
                "kept in memory and saved later; a restart would send it once more. Make room or check the mount."
            ) from None
        self.is_dirty = False
        self._changed.clear()

    @property
    def is_whole_on_disk(self) -> bool:
        """Whether the state file by itself says all that was saved."""
        return self._journal.is_empty

    def _append(self) -> bool:
        """Adds what changed to the journal; False where only a whole file will do."""
        entries = self.entries
        changes = {key: _encode_entry(entries[key]) if key in entries else None for key in self._changed}
        for key, owner in self.owners.items() if self.owners else ():
            if changed := changes.get(key):
                changed["agent"] = owner
        try:
            self._journal.append(changes)
        except JournalUnusable:
            return False
        return True

    def _document(self) -> Iterator[bytes]:
        """The state file, a piece at a time."""
        yield b'{"version":%d' % VERSION
        for agent in (self.agent, *sorted(set(self.owners.values()))):
            yield b',"%s":{"files":{' % agent.encode()
            between = b""
            for piece in _slices(self._owned_by(agent)):
                yield between + piece[1:-1]
                between = b","
            yield b"}}"
        yield b"}\n"

    def _owned_by(self, agent: str) -> Iterable[tuple[str, Entry]]:
        owners, entries = self.owners, self.entries
        if not owners:
            return entries.items()
        return ((key, entry) for key, entry in entries.items() if owners.get(key, self.agent) == agent)

    def _write_whole(self, pieces: Iterable[bytes]) -> None:
        make_private_directory(self.path.parent)
        # A crash before the rename below leaves the state as it was, and half a new one beside it that nobody reads.
        temporary = self.path.with_name(self.path.name + ".new")
        written = Digest()
        with created(temporary) as file:
            for piece in pieces:
                file.write(piece)
                written.take(piece)
            file.flush()
            # Before it gets its name: else a power cut could leave the name without the bytes.
            os.fsync(file.fileno())
        if self._is_reset:
            # The older generation still knows what is to be forgotten, so it goes first. A crash after this leaves the
            # state as it was before the reset, without a generation to fall back to.
            self.previous.unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                keep_previous(self.path, self.previous)
        # From here on the new state counts. A crash before this sends again what was acknowledged since the last save.
        os.replace(temporary, self.path)
        self._is_reset = False
        fsync_directory(self.path.parent)
        # Last: until the rename the journal belongs to what is on disk. One that a crash leaves behind names another
        # state than the new one, so it is not applied.
        self._journal.begin(written)


class _NewerVersion(Exception):
    """The file's version is beyond ours."""


def keep_previous(path: Path, previous: Path) -> None:
    """Makes `previous` another name of `path`; a copy where the file system has no hard links."""
    path.stat()
    # A crash between these two leaves one generation, the current one.
    previous.unlink(missing_ok=True)
    try:
        os.link(path, previous)
    except OSError:
        # Until the new state gets its name there is none of this name: a crash in between loads the older generation,
        # which at that moment is the last one that was saved.
        os.replace(path, previous)


def _read(path: Path) -> bytes:
    """A device or a pipe is left alone: it would be read for ever, or moved as damaged."""
    if path.exists() and not path.is_file():
        raise StateError(f"The state {path} is not a file. Nothing was sent. Name a file with --state.")
    return path.read_bytes()


def _slices(entries: Iterable[tuple[str, Entry]]) -> Iterator[bytes]:
    """A few entries at a time, as JSON objects: as dictionaries all of them take four times as much memory."""
    todo = iter(entries)
    while piece := {key: _encode_entry(entry) for key, entry in islice(todo, ENCODED_AT_ONCE)}:
        yield orjson.dumps(piece)


def _encode_entry(entry: Entry) -> dict[str, Any]:
    offset, head, tail, stamp = entry.position
    encoded: dict[str, Any] = {"offset": offset, "head": head, "tail": tail}
    if stamp is not None:
        encoded["mtime"] = stamp.mtime_ns // 1_000_000
        encoded["size"], encoded["mtime_ns"], encoded["inode"] = stamp
    if entry.skip:
        encoded["skip"] = entry.skip
    if entry.missing_since:
        encoded["missing_since"] = entry.missing_since
    return encoded


def _sections(data: bytes) -> dict[str, dict[str, Any]]:
    """The files of each agent as a state says them; raises ValueError when it is not one."""
    document = orjson.loads(data)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    version = document.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise _NewerVersion(version)
    found = {agent: section.get("files") for agent, section in document.items() if isinstance(section, dict)}
    return {agent: files for agent, files in found.items() if isinstance(files, dict)}


def _entries_of(files: dict[str, Any]) -> dict[str, Entry]:
    """The entries; takes each out of `files`, because both at once would leave twice the memory in pieces."""
    return {key: _decode_entry(files.pop(key)) for key in list(files.keys())}


def _decode_entry(value: dict[str, Any]) -> Entry:
    """An entry; one written by hand in the seeds' shape ({offset, mtime}) has no digests and is verified by nothing."""
    offset = value["offset"]
    if not isinstance(offset, int) or offset < 0:
        raise ValueError("an offset is not a number of bytes")
    stamp = None
    if "mtime_ns" in value:
        stamp = Stamp(int(value["size"]), int(value["mtime_ns"]), int(value["inode"]))
    position = Position(offset, str(value.get("head", "")), str(value.get("tail", "")), stamp)
    return Entry(position, str(value.get("skip", "")), int(value.get("missing_since", 0)))
