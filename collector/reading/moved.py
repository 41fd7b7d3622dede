"""Recognises files that moved: under a new name, what was read of them before need not be read again.

In: sources that nobody knows under their names, and the entries of files that are gone. Out: which of these is which of
those. A file is recognised by its bytes, never by its name or inode alone; they only say where comparing is worthwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from collector.errors import SkipSource, SourceError
from collector.flow.source import Entry, Position, Source
from collector.reading.opened import opened


def find_moved(strangers: Sequence[Source], gone: Iterable[str], entries: Mapping[str, Entry]) -> dict[str, str]:
    """For every file that moved, the key it had and the key it has now.

    `gone` are the keys of files that are no longer there. A stranger is opened only where one of them could be it, and
    has not moved where it goes on from an entry of its own.
    """
    missing = Missing(
        {key: entry.position for key in gone if (entry := entries.get(key)) and entry.position.offset}
        if strangers
        else {}
    )
    moved = {}
    for source in strangers if missing else ():
        own = entries.get(source.key)
        before = missing.key_of(source, own.position if own else None)
        if before is not None:
            moved[before] = source.key
            del missing[before]
    return moved


class Missing(dict[str, Position]):
    """The positions of files that are gone, by name and by inode: made once, as there may be many strangers."""

    def __init__(self, positions: Mapping[str, Position]) -> None:
        super().__init__(positions)
        self._by_name: dict[str, list[str]] = {}
        self._by_inode: dict[int, list[str]] = {}
        for key, position in positions.items():
            self._by_name.setdefault(key.rpartition("/")[2], []).append(key)
            if position.stamp:
                self._by_inode.setdefault(position.stamp.inode, []).append(key)

    def key_of(self, source: Source, own: Position | None) -> str | None:
        """The key under which a file that moved here was known; None where it goes on from its own position."""
        candidates = self._candidates(source)
        if not candidates:
            return None
        try:
            with opened(source) as file:
                if own is not None and own.offset and file.begins_as(own):
                    return None
                return next((key for key in candidates if file.begins_as(self[key])), None)
        except (SkipSource, SourceError):
            return None

    def _candidates(self, source: Source) -> list[str]:
        """Which of them this source may have been: those of its name first, then those of its inode."""
        keys = [
            *self._by_name.get(source.key.rpartition("/")[2], ()),
            *self._by_inode.get(source.stamp.inode, ()),
        ]
        return [key for key in dict.fromkeys(keys) if key in self and 0 < self[key].offset <= source.stamp.size]
