"""An anchor: what the records before an offset contribute to later ones that say too little about themselves.

A record without a uuid is told apart from identical ones by the nearest earlier record that has one, and by how many
records came since. A record without a time takes that of an earlier record. Both must be known wherever reading begins,
so an anchor travels with every line, as its offset does, and is kept with the position.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from collector.flow.source import digest

MAX_UUID = 128
NO_MARK = "-"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
_written = re.compile(rf"(\d{{1,15}}) ([0-9a-f]{{16}}|{NO_MARK}) ({TIME})?")
_time = re.compile(TIME)


class Anchor(NamedTuple):
    """`uuid` is that of the nearest record that has one, and `since` counts the records after it; before the first
    such record, `since` counts from the head of the file. `time` is the newest time so far, as it was written.

    In an anchor loaded from the state, `mark` is the digest of the uuid: no text of a record enters the state
    (promise 5).
    """

    uuid: str = ""
    since: int = 0
    time: str = ""
    mark: str = ""


HEAD = Anchor()


def has_uuid(record: Mapping[str, Any]) -> bool:
    """Whether a record, or the event it became, has a usable uuid."""
    uuid = record.get("uuid")
    return type(uuid) is str and 0 < len(uuid) <= MAX_UUID


def mark_of(anchor: Anchor) -> str:
    """The digest of the uuid; empty before the first record that has one."""
    return anchor.mark or (digest(anchor.uuid.encode("utf-8", "surrogatepass")) if anchor.uuid else "")


def kept(anchor: Anchor) -> str:
    """The anchor as text, to be kept with a position."""
    time = anchor.time if _time.fullmatch(anchor.time) else ""
    return f"{anchor.since} {mark_of(anchor) or NO_MARK} {time}"


def from_kept(text: str) -> Anchor | None:
    """Parses a kept anchor; None if there is none, as in positions that earlier versions wrote."""
    match = _written.fullmatch(text)
    if match is None:
        return None
    since, mark, time = match.groups()
    return Anchor("", int(since), time or "", "" if mark == NO_MARK else mark)
