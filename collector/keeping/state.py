"""The state: one JSON file that says how far each source is safe at the sink that the file names.

In: the committer's changes. Out: the entries, at start. The offsets of other sinks are parked in the same file. It is
written whole (temporary file, fsync, rename, fsync of the directory), mode 0600, with the previous generation kept
beside it: after a crash at any point, one of the two is whole. A state of more than 64 kB (some 300 sources) is written
whole only now and then; in between, each save appends the changes to the journal. Written whole each time, 2,600
sources cost 4 ms a save, 80 times in a pass over 400 MB, and 100,000 sources 130 ms.
Crash window: anything committed in memory since the last save is sent again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from collector.errors import StateError
from collector.files import created, fsync_directory, keep_previous, make_private_directory
from collector.flow.sink_identity import SinkIdentity
from collector.flow.source import Entry, Position, Source, Stamp
from collector.keeping.document import VERSION, Members, NewerVersion, Pieces, opened, parsed, sections_of
from collector.keeping.entries import Entries
from collector.keeping.journal import Digest, Journal, JournalUnusable
from collector.keeping.lock import HeldLock
from collector.keeping.parked import SINK, Parked, divided, introduced, joined, kept_beside, taken_out, text_of, written
from collector.log import timestamp, to_the_millisecond

NO_STATE = "it does not have the shape of a state"
REPACK_AT_MOST = 20_000
JOURNAL_FROM_BYTES = 1 << 16
EVERYTHING = "*"  # not the key of any source


class State:
    """The entries in memory, and the file they are saved to.

    `agent` owns every entry that `owners` does not name, because nearly all have the same owner: noting it for each of
    100,000 sources would take 10 MB. `sink` is the sink that these offsets belong to; without one, it is the sink that
    the file names. `about` is what the file says about the sink. `lock` is the one held on the file.
    """

    def __init__(
        self,
        path: Path,
        agent: str,
        journal_from: int = JOURNAL_FROM_BYTES,
        sink: SinkIdentity | None = None,
        lock: HeldLock | None = None,
    ) -> None:
        self.path = path
        self.agent = agent
        self.sink = sink
        self.about: dict[str, Any] = introduced(sink) if sink else {}
        self.parked: list[Parked] = []
        self.is_new_sink = sink is not None
        self.previous = path.with_name(path.name + ".previous")
        self.entries = Entries()
        self.owners: dict[str, str] = {}
        self.notes: list[str] = []
        self.is_dirty = False
        self.was_deleted = False  # with its lock, so that whoever said no found nobody to tell; a reload clears this
        self.lock = lock
        self._changed: set[str] = set()
        self._is_reset = False
        self._journal = Journal(path, journal_from)

    def load(self, *, may_repair: bool = True) -> State:
        """Reads the file or, failing that, the previous generation, or starts over; `notes` says what was wrong."""
        for path in (self.path, self.previous):
            try:
                with opened(path) as file:
                    about, parked = taken_out(self._take_over(file))
                    self._replay(file)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StateError(
                    f"Cannot read the state {error.filename or path}: {error.strerror}. Nothing was sent. "
                    "Make the file readable to this user, or name another with --state."
                ) from None
            except NewerVersion as error:
                raise StateError(
                    f"The state {path} was written by a newer collector (state version {error}). Nothing was sent. "
                    "Upgrade this one, or name another file with --state."
                ) from None
            except ValueError as error:
                if may_repair:
                    self._move_damaged(path, str(error))
                else:
                    self.notes.append(f"The state {path} is damaged ({error}).")
                self.is_new_sink = False  # it is unknown what was sent to it, which is not the same as nothing
            else:
                self._put_in_force(about, parked)
                break
        if self.is_new_sink and self.sink is not None:
            self._take_up(kept_beside(self.path, self.sink))
        return self

    def _put_in_force(self, about: dict[str, Any], parked: list[Parked]) -> None:
        """Puts the entries of `sink` in force and parks those of any other. In memory: the next save writes the file.

        A crash before that save leaves the file as it was, and the next start does the same again.
        """
        if self.sink is None:
            self.about, self.parked = about, parked
            return
        if not self.sink.is_named(text_of(about)):
            parked.append(Parked(about, b"{%s}" % b"".join(self._sections())[1:]))
            about, self.entries, self.owners = {}, Entries(), {}
        self.about = about
        own, self.parked = divided(self.sink, parked)
        self._take_up(own)

    def _take_up(self, own: list[Parked]) -> None:
        """Continues where this sink was, under any of its addresses."""
        assert self.sink is not None  # noqa: S101 - for mypy
        for each in own:
            self._join(each.files())
        about, self.about = self.about, joined(self.sink, [self.about, *(each.about for each in own)])
        # A sink that was sent nothing is not remembered, so one that has never answered stays new. A sink is known once
        # something was left out of it, or a person asked for something to be sent to it again.
        self.is_new_sink = not own and not self.entries and self.about.keys().isdisjoint({"left_out", "wanted"})
        self.is_dirty = not self.is_new_sink and (bool(own) or self.about != about)

    def _join(self, sections: dict[str, Any]) -> None:
        """Merges entries from a former address of this sink: of two offsets, the further one counts.

        If the bytes before it have changed, the file is read from the start, like any rewritten file.
        """
        for agent, files in sections_of(sections).items():
            theirs = Entries()
            theirs.take(files)
            for key, entry in theirs.items():
                mine = self.entries.get(key)
                if mine is None or mine.position.offset < entry.position.offset:
                    self.entries[key] = entry
                    self.set_owner(key, agent)

    def _take_over(self, file: IO[bytes]) -> dict[str, Any]:
        """Takes over the entries of each agent; returns the rest of the document. Those of an agent that is no longer
        known keep their section."""
        pieces = Pieces(file)
        try:
            self._gather(pieces)
        except ValueError:  # laid out by somebody else, or damaged: parsing the whole file tells which
            file.seek(0)
            document = parsed(file.read())
            self._gather(sections_of(document).items())
            return document
        return pieces.rest

    def _gather(self, sections: Iterable[tuple[str, Members]]) -> None:
        entries, owners, agents = Entries(), dict[str, str](), set[str]()
        try:
            for agent, members in sections:
                agents.add(agent)
                if agent != self.agent:
                    owners |= dict.fromkeys(members, agent)
                entries.take(members)
        except (KeyError, TypeError, AttributeError):
            raise ValueError(NO_STATE) from None
        if not agents:
            raise ValueError(NO_STATE)
        self.entries, self.owners = entries, owners

    def _replay(self, file: IO[bytes]) -> None:
        """Applies the changes that were saved to the journal after the file was written whole."""
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):  # damaged from here on
            for changes in self._journal.read(file):
                gone = [key for key, value in changes.items() if value is None]
                members = {key: value for key, value in changes.items() if value is not None}
                owners = {key: str(value.pop("agent")) for key, value in members.items() if "agent" in value}
                self.entries.take(members)
                self.owners |= owners
                for key in gone:
                    self.entries.pop(key, None)

    def _move_damaged(self, path: Path, reason: str) -> None:
        aside = path.with_name(f"{path.name}.damaged-{time.time_ns() // 1_000_000}")
        # Before anything is saved under its name. After a crash here, the previous generation is loaded, or none.
        with contextlib.suppress(OSError):
            os.replace(path, aside)
        self.notes.append(
            f"The state {path} is damaged ({reason}). It was moved to {aside.name}; "
            "what only it recorded is read again; event ids make the repeats harmless."
        )

    # What changes an entry. Only the committer may call these (tests/test_rooms.py enforces it).

    def set_owner(self, key: str, agent: str) -> None:
        """Notes which agent a source belongs to, before its first offset."""
        if agent != self.agent:
            self.owners[key] = agent

    def advance_offsets(self, positions: Mapping[str, Position]) -> int:
        """Moves the offsets that an acknowledgement made safe. Returns by how many bytes in total."""
        moved = 0
        for key, position in positions.items():
            before = self.entries.get(key)
            moved += position.offset - (before.position.offset if before else 0)
            self._put(key, Entry(position))
        return moved

    def set_offset(self, key: str, position: Position) -> None:
        """Sets where a source is read from: anything before that is known to be safe, or is lost."""
        self._put(key, Entry(position))

    def mark_skipped(self, key: str, stamp: Stamp, reason: str) -> None:
        """Notes that a source is to be skipped while its stamp stays the same."""
        entry = Entry(Position(0, "", "", stamp), skip=reason)
        if self.entries.get(key) != entry:
            self._put(key, entry)

    def note_wanted(self, keys: Iterable[str]) -> None:
        """Remembers that a person wants all of these sources sent."""
        asked = self.about.get("wanted")
        self.about["wanted"] = (asked if isinstance(asked, dict) else {}) | dict.fromkeys(
            keys, to_the_millisecond(time.time())
        )

    def note_left_out(self, history: dict[str, Any]) -> None:
        """Notes how much is never sent to this sink because a person asked for that."""
        self.about["left_out"] = history
        self.about.pop("wanted", None)
        self.is_new_sink, self.is_dirty = False, True

    def note_resent(self, name: str, through: int) -> None:
        """Notes how far a store was sent to this sink."""
        self.about["resent"] = {**self.about.get("resent", {}), name: through}
        self.is_dirty = True

    def rename_entry(self, old: str, new: str) -> None:
        """Moves the entry of a source that has moved."""
        self._put(new, self.entries.pop(old)._replace(missing_since=0))
        self._changed.add(old)

    def mark_missing(self, key: str, since: int) -> None:
        """Notes since when a source has been out of sight. Not worth a save of its own: the next one includes it."""
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
        """Forgets sources, so that they are read from the start. The previous generation must not bring them back."""
        dropped = [key for key in keys if self.entries.pop(key, None) is not None]
        self.is_dirty = self.is_dirty or bool(dropped)
        self._is_reset = self._is_reset or bool(dropped)
        return dropped

    def _put(self, key: str, entry: Entry) -> None:
        self.entries[key] = entry
        self._changed.add(key)
        self.is_dirty = True

    # What only reads

    def left_out_at(self, key: str = "") -> str:
        """Up to when a person wanted nothing sent to this sink, or nothing of a source; empty where nobody did."""
        history = self.about.get("left_out")
        if not isinstance(history, dict) or self.wanted_at(key):
            return ""
        at, now = str(history.get("at", "")), timestamp()
        return at if at <= now else ""  # a clock that was wrong then would keep back all that is written until then

    @property
    def has_left_out_all(self) -> bool:
        """Whether nothing had been sent to this sink when a person asked to leave everything out."""
        history = self.about.get("left_out")
        return isinstance(history, dict) and history.get("is_all") is True

    def wanted_at(self, key: str) -> str:
        """When a person last asked for a source, even for what had been left out until then; empty if nobody did."""
        asked = self.about.get("wanted")
        return max(str(asked.get(each, "")) for each in (key, EVERYTHING)) if isinstance(asked, dict) else ""

    def lag_of(self, source: Source) -> int:
        """The bytes of a source that are not yet committed."""
        if self.entries.is_at_rest(source.key, source.stamp):
            return 0
        entry = self.entries.get(source.key)
        if entry is None:
            return source.stamp.size
        if entry.skip and entry.position.stamp == source.stamp:
            return 0
        offset = entry.position.offset
        return source.stamp.size - offset if offset <= source.stamp.size else source.stamp.size

    def is_read(self, source: Source) -> bool:
        """Whether a source is unchanged since it was last read to its end, so that it need not be opened."""
        entry = self.entries.get(source.key)
        return entry is not None and entry.position.stamp == source.stamp

    # Memory and disk

    def repack(self) -> None:
        """Makes all entries anew. A large pass leaves them scattered through memory that nothing else uses any more, so
        it cannot be returned: 2 MB with 5,000 sources. With many more, repacking would cost more than it gains."""
        if len(self.entries) <= REPACK_AT_MOST:
            self.entries.repack()

    def save(self, *, is_whole: bool = False) -> None:
        """Writes the file or a line of the journal. On failure, the disk is unchanged and the entries stay dirty."""
        self.keep_lock()
        try:
            if is_whole or self._is_reset or not self._append():
                self._write_whole(self._document())
        except OSError as error:
            raise StateError(
                f"Cannot write the state {self.path}: {error.strerror}. What was acknowledged since the last save is "
                "kept in memory and saved later; a restart would send it again. Free some space, or check the mount."
            ) from None
        self.is_dirty = False
        self._changed.clear()

    def keep_lock(self) -> None:
        """Raises StateReplaced if the files there now belong to another agent or another home. A deleted lock file is
        created again, and then so must be the state."""
        if self.lock is not None and self.lock.keep():
            self.is_dirty = self.was_deleted = True

    @property
    def is_whole_on_disk(self) -> bool:
        """Whether the state file alone, without a journal, holds everything that was saved."""
        return self._journal.is_empty

    def _append(self) -> bool:
        """Adds the changes to the journal; False if the file must be written whole."""
        entries = self.entries
        changes = {key: entries.as_written(key) if key in entries else None for key in self._changed}
        for key, owner in self.owners.items() if self.owners else ():
            if changed := changes.get(key):
                changed["agent"] = owner
        try:
            self._journal.append(changes)
        except JournalUnusable:
            return False
        return True

    def _document(self) -> Iterator[bytes]:
        """The state file, piece by piece."""
        yield b'{"version":%d' % VERSION
        if self.about:
            yield b',"%s":%s' % (SINK.encode(), orjson.dumps(self.about))
        yield from self._sections()
        yield from written(self.parked)
        yield b"}\n"

    def _sections(self) -> Iterator[bytes]:
        """The entries, agent by agent."""
        for agent in (self.agent, *sorted(set(self.owners.values()))):
            yield b',"%s":{"files":{' % agent.encode()
            yield from self.entries.written(self._keys_of(agent))
            yield b"}}"

    def _keys_of(self, agent: str) -> Iterable[str] | None:
        """Which entries are an agent's; None if all are."""
        owners = self.owners
        return (key for key in self.entries if owners.get(key, self.agent) == agent) if owners else None

    def _write_whole(self, pieces: Iterable[bytes]) -> None:
        make_private_directory(self.path.parent)
        # A crash before the rename below leaves the old state, with half a new one beside it that is never read.
        temporary = self.path.with_name(self.path.name + ".new")
        written = Digest()
        with created(temporary) as file:
            for piece in pieces:
                file.write(piece)
                written.take(piece)
            file.flush()
            # Before the rename, because otherwise a power cut could leave the name without the bytes.
            os.fsync(file.fileno())
        if self._is_reset:
            # The previous generation still knows what a reset must forget, so remove it first. A crash after this
            # leaves the state from before the reset, with no generation to fall back on.
            self.previous.unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                keep_previous(self.path, self.previous)
        # From here on the new state counts. A crash before this sends again what was acknowledged since the last save.
        os.replace(temporary, self.path)
        self._is_reset = False
        fsync_directory(self.path.parent)
        # Last, because until the rename the journal belongs to the state on disk. If a crash leaves the journal behind,
        # it names a state other than the new one and is not applied.
        self._journal.begin(written)
