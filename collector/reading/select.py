"""Select: which of the sources found have to be opened, and what became of the remembered ones that were not.

In: what was found, what is remembered, where held files begin. Out: a Selection; nothing is changed here. A source is
never taken for gone because its directory could not be listed, or because a glance did not look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from collector.flow import reasons
from collector.flow.selection import Selection
from collector.flow.source import Entry, Position, Source
from collector.reading.discover import Findings
from collector.reading.moved import find_moved

FORGET_AFTER_SECONDS = 24 * 3600
FindMoved = Callable[[Sequence[Source], Iterable[str], Mapping[str, Entry]], dict[str, str]]


def select(
    found: Findings,
    entries: Mapping[str, Entry],
    starts: Mapping[str, Position],
    now: float,
    find_moved: FindMoved = find_moved,
) -> Selection:
    """Goes by stamps alone. Only `find_moved` opens files, and only those whose names are unknown."""
    if starts:
        entries = {**entries, **{key: Entry(position) for key, position in starts.items()}}
    skipped, unchanged = dict(found.skipped), sum(found.at_rest.values())
    read, strangers = [], []
    for source in found.files:
        entry = entries.get(source.key)
        before = entry.position.stamp if entry is not None else None
        if entry is not None and before == source.stamp:
            # Earlier versions remembered other reasons as well; such a file is now looked at again.
            if entry.skip in reasons.UNTIL_CHANGED:
                skipped[entry.skip] = skipped.get(entry.skip, 0) + 1
                continue
            if not entry.skip:
                unchanged += 1
                continue
        read.append(source)
        if before is None or before.inode != source.stamp.inode:
            strangers.append(source)
    seen = {source.key for source in found.files} | found.refused
    is_complete = not found.is_partial and not found.errors
    absent = tuple(f"{key}/" for key in found.absent)
    unmet = [key for key in entries if (found.unmet is None or key in found.unmet) and not key.startswith(absent)]
    gone = [key for key in unmet if key not in seen] if is_complete else found.gone
    moved = find_moved(strangers, gone, entries)
    remembered = ((key, entries[key]) for key in (unmet if is_complete else ()))
    missing_since, forgotten = _out_of_sight(remembered, seen, moved, now)
    return Selection(read, unchanged, skipped, dict(starts), moved, missing_since, forgotten)


def _out_of_sight(
    remembered: Iterable[tuple[str, Entry]], seen: set[str], moved: Mapping[str, str], now: float
) -> tuple[dict[str, int], list[str]]:
    """Since when files have been missing, and which to forget after a day. One that returns sooner is continued."""
    missing_since, forgotten = {}, []
    for key, entry in remembered:
        if key in seen:
            if entry.missing_since:
                missing_since[key] = 0
        elif key in moved:
            continue
        elif not entry.missing_since or now < entry.missing_since:  # the clock may have been set back
            missing_since[key] = int(now)
        elif now - entry.missing_since > FORGET_AFTER_SECONDS:
            forgotten.append(key)
    return missing_since, forgotten
