"""The entries of a state in memory. Each is kept as its bytes in the file, and decoded only on demand.

In: entries, or members of the state file. Out: entries, or pieces of the next file. Most sources do not change from one
pass to the next, and the bytes alone can tell that. As objects, 100,000 entries take 70 MB and give the garbage
collector seven times as many objects to visit.
Invariant: everything in here can be decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from itertools import islice
from typing import Any

import orjson

from collector.flow.source import Entry, Position, Stamp

WRITTEN_AT_ONCE = 100


class Entries(MutableMapping[str, Entry]):
    """Entries by key."""

    __slots__ = ("_encoded",)

    def __init__(self) -> None:
        self._encoded: dict[str, bytes] = {}  # without the brackets

    def __getitem__(self, key: str) -> Entry:
        return _decoded(self.as_written(key))

    def __setitem__(self, key: str, entry: Entry) -> None:
        self._encoded[key] = _encoded(_as_written(entry))

    def __delitem__(self, key: str) -> None:
        del self._encoded[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def __contains__(self, key: object) -> bool:
        return key in self._encoded

    def get(self, key: str) -> Entry | None:  # type: ignore[override]  # the inherited one raises and catches an error
        """The entry, if there is one."""
        return self[key] if key in self._encoded else None

    def is_at_rest(self, key: str, stamp: Stamp) -> bool:
        """Whether a source has not changed since all of it was safe: then there is nothing to read, send or remember.

        False if telling takes a closer look: the notes that a source is skipped or missing come after the stamp.
        """
        encoded = self._encoded.get(key)
        return (
            encoded is not None
            and encoded.endswith(b',"size":%d,"mtime_ns":%d,"inode":%d' % stamp)
            and encoded.startswith(b'"offset":%d,' % stamp[0])
        )

    def take(self, members: dict[str, Any]) -> None:
        """Takes over members of a state file, all or none. Raises if one is not an entry.

        Each is removed from `members`, because keeping both would take twice the memory.
        """
        for value in members.values():
            _decoded(value)
            if not isinstance(value["offset"], int) or value["offset"] < 0:
                raise ValueError("an offset is not a number of bytes")
        for key in list(members):
            self._encoded[key] = _encoded(members.pop(key))

    def written(self, keys: Iterable[str] | None = None) -> Iterator[bytes]:
        """The entries as members of a JSON object, some at a time; all of them, or only those of `keys`."""
        encoded = self._encoded
        todo = iter(encoded if keys is None else keys)
        between = b""
        while piece := [orjson.dumps(key) + b":{" + encoded[key] for key in islice(todo, WRITTEN_AT_ONCE)]:
            yield between + b"},".join(piece) + b"}"
            between = b","

    def as_written(self, key: str) -> dict[str, Any]:
        """An entry as the file has it."""
        value: dict[str, Any] = orjson.loads(b"{%s}" % self._encoded[key])
        return value

    def clear(self) -> None:
        """Forgets all entries."""
        self._encoded.clear()

    def repack(self) -> None:
        """Makes all entries anew, side by side in memory."""
        pieces = list(self.written())
        self.clear()
        for piece in pieces:
            self.take(orjson.loads(b"{" + piece.removeprefix(b",") + b"}"))


def _encoded(value: dict[str, Any]) -> bytes:
    """The members of an object. Slicing copies them: the bytes that orjson returns keep a larger buffer alive."""
    return orjson.dumps(value)[1:-1]


def _as_written(entry: Entry) -> dict[str, Any]:
    offset, head, tail, stamp, anchor = entry.position
    encoded: dict[str, Any] = {"offset": offset, "head": head, "tail": tail}
    if anchor:
        encoded["anchor"] = anchor
    if stamp is not None:
        encoded["mtime"] = stamp.mtime_ns // 1_000_000
        # In this order, and after the offset: `is_at_rest` compares the first and the last bytes.
        encoded["size"], encoded["mtime_ns"], encoded["inode"] = stamp
    if entry.skip:
        encoded["skip"] = entry.skip
    if entry.missing_since:
        encoded["missing_since"] = entry.missing_since
    return encoded


def _decoded(value: dict[str, Any]) -> Entry:
    """Decodes an entry. One with only {offset, mtime}, as written by hand, has no digests to verify it by."""
    stamp = None
    if "mtime_ns" in value:
        stamp = Stamp(int(value["size"]), int(value["mtime_ns"]), int(value["inode"]))
    digests = str(value.get("head", "")), str(value.get("tail", ""))
    position = Position(value["offset"], *digests, stamp, str(value.get("anchor", "")))
    return Entry(position, str(value.get("skip", "")), int(value.get("missing_since", 0)))
