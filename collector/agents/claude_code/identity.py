"""The id of an event: derived from what the record says, never from where it is (promise 3).

A uuid alone decides. Without one, identical records may be two things that happened, such as a mode that was changed
twice. They are told apart by the nearest record before them that has a uuid, and by how many records came since.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from collector.agents.claude_code.places import HISTORY, RUNS
from collector.agents.claude_code.times import moment
from collector.flow.anchor import MAX_UUID, Anchor, mark_of
from collector.flow.source import Source

_of_uuid = blake2b(b"uuid\0", digest_size=16)  # copying and updating it takes 0.25 us, a new hash 0.43


class FileName(NamedTuple):
    """Identifies a file regardless of where it is."""

    session_id: str
    run: str
    agent_id: str


def identity(record: dict[str, Any], anchor: Anchor, file: FileName | None) -> str:
    """32 hex digits, from the record's uuid, or else from its content and its anchor. In a file without a FileName,
    such as the prompt history, from its content alone."""
    uuid = record.get("uuid")
    if type(uuid) is str and 0 < len(uuid) <= MAX_UUID:
        named = _of_uuid.copy()
        named.update(uuid.encode("utf-8", "surrogatepass"))
        return named.hexdigest()
    if file is None:
        return blake2b(b"record\0" + canonical(record), digest_size=16).hexdigest()
    mark = mark_of(anchor)
    place = b"after\0" + mark.encode() if mark else in_file(record, file)
    return blake2b(b"\0".join((place, b"%d" % anchor.since, canonical(record))), digest_size=16).hexdigest()


def in_file(record: dict[str, Any], file: FileName) -> bytes:
    """Bytes that identify the file of a record. The record's own session has precedence over the file's, because a copy
    of a file may have any name."""
    session = record.get("sessionId")
    session = session if type(session) is str and session else file.session_id
    return "\0".join(("in", session, file.run, file.agent_id)).encode("utf-8", "surrogatepass")


def names_file(source: Source) -> FileName | None:
    """The session, workflow run and agent of a file. None if ids do not need them: each line of the prompt history has
    a time of its own, and the entries of documents differ in content."""
    if source.kind.is_document or source.kind == HISTORY:
        return None
    *_, group, run, _name = ("", "", *source.key.split("/"))
    return FileName(source.session_id, run if group == RUNS else "", source.agent_id)


def anchor_after(before: Anchor, record: dict[str, Any]) -> Anchor:
    """The anchor for what follows a record. This is hot (0.3 us), so it builds tuples directly and barely checks a time
    in the usual format."""
    time = record.get("timestamp")
    if type(time) is not str or len(time) != 24 or time[23] != "Z":
        time = odd_time(record) or before[2]
    uuid = record.get("uuid")
    if type(uuid) is str and 0 < len(uuid) <= MAX_UUID:
        return tuple.__new__(Anchor, (uuid, 0, time, ""))
    return tuple.__new__(Anchor, (before[0], before[1] + 1, time, before[3]))


def odd_time(record: dict[str, Any]) -> str:
    """A time in another spelling, or inside a file snapshot."""
    snapshot = record.get("snapshot")
    return moment(record.get("timestamp")) or moment(snapshot.get("timestamp") if type(snapshot) is dict else None)


def canonical(record: dict[str, Any]) -> bytes:
    """The same bytes for the same content, whatever the order of the keys."""
    try:
        return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        return _written(record)


def _written(value: Any) -> bytes:
    """Serializes what nests deeper than orjson can write. It does not recurse: how deep it could go would depend on the
    caller, so the same record could get different ids in `run` and in `scan`."""
    parts: list[bytes] = []
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is bytes:  # punctuation, or a key
            parts.append(part)
        elif type(part) is dict:
            waiting.append(b"}")
            for key in sorted(part, reverse=True):
                waiting += (part[key], json.dumps(key).encode())
            parts.append(b"{")
        elif type(part) is list:
            waiting += (b"]", *reversed(part))
            parts.append(b"[")
        else:
            parts.append(json.dumps(part).encode())
    return b",".join(parts)
