"""Makes an event fit: serializes it and, if it is too long, cuts the largest strings first.

In: an event, and its maximum size. Out: JSON that always fits. A cut falls on a character boundary and never inside a
redaction marker. What remains says how long it was (`…[cut: 123456 bytes]`), and `truncated` notes the original size of
each field (promise 6). If cutting strings is not enough, whole fields are dropped, the largest first and the event's
identity last.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

SHORTEST_CUT = 256  # no string is cut to less than this
MOST_NOTES = 50
GIANT = 2  # times the maximum size of the whole event
NUL_IN_JSON = b"\\u0000"
_ROUNDS = 8
_OPENING = "[REDACTED:"
_LONGEST_MARKER = 100
_big = 1 << 63
_surrogate = re.compile("[\ud800-\udfff]")

# Dropped last, `id` last of all: without these, nobody could tell what the rest belongs to.
IDENTITY = ("id", "schema", "kind", "time", "session_id", "message_id", "usage", "model", "source")


def fit(event: dict[str, Any], max_bytes: int) -> bytes:
    """The event as JSON of at most `max_bytes` bytes, without any character that stores refuse."""
    try:  # this runs for every event, so go by the length of its line, in the cheapest way
        may_hold_a_giant = event["source"]["length"] > GIANT * max_bytes
    except (KeyError, TypeError):
        may_hold_a_giant = False
    if may_hold_a_giant:
        _cut_giants(event, max_bytes)
    body = dump(event)
    # Search from the end: `in` takes 0.35 us per kilobyte, `rfind` two thirds of that.
    if body.rfind(NUL_IN_JSON) >= 0 and _replace_nul(event):
        body = dump(event)
    if len(body) <= max_bytes:
        return body
    for _ in range(_ROUNDS):
        if not _cut_strings(event, len(body) - max_bytes):
            break
        body = dump(event)
        if len(body) <= max_bytes:
            return body
    return _drop_fields(event, max_bytes)


def _replace_nul(event: dict[str, Any]) -> int:
    """Replaces every U+0000 with U+FFFD, in keys too, and notes how many there were. PostgreSQL, Redshift and anything
    that reads C strings refuse that character, or cut the text there; every other character is accepted everywhere."""
    count = 0
    nodes: list[Any] = [event]
    for node in nodes:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            if isinstance(value, dict | list):
                nodes.append(value)
            elif isinstance(value, str) and "\0" in value:
                count += value.count("\0")
                node[key] = value.replace("\0", "\ufffd")
        if isinstance(node, dict) and any("\0" in key for key in node):
            items = list(node.items())
            node.clear()
            for key, value in items:
                count += key.count("\0")
                name = key.replace("\0", "\ufffd")
                while name in node:
                    name += "'"
                node[name] = value
    if count:
        event["replaced"] = {"nul": count}
    return count


def dump(event: Any) -> bytes:
    """Any event as JSON, even what JSON or orjson cannot express: lone surrogates, huge integers, deep nesting."""
    try:
        # Slicing copies, because orjson does not shrink its buffer: 3 kB of JSON occupy 32 kB (measured, orjson 3.13).
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)[:-1]
    except (TypeError, ValueError, RecursionError):
        return orjson.dumps(_dumpable(event, 200))


def _dumpable(value: Any, depth: int) -> Any:
    """A copy that orjson accepts: surrogates become U+FFFD, integers beyond 64 bits and deep nesting become text."""
    if isinstance(value, str):
        return _surrogate.sub("\ufffd", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -_big <= value < 2 * _big else str(value)
    if depth == 0 and isinstance(value, dict | list):
        return "[nested too deep]"
    if isinstance(value, dict):
        return {_surrogate.sub("\ufffd", str(key)): _dumpable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_dumpable(item, depth - 1) for item in value]
    return value


def _strings(event: dict[str, Any]) -> list[tuple[int, str, Any, Any]]:
    """Every string value: its size in bytes, its path, and the container and key that hold it."""
    found: list[tuple[int, str, Any, Any]] = []
    nodes: list[tuple[Any, str]] = [(event, "")]
    for node, path in nodes:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            name = f"{path}.{key}" if path else str(key)
            if isinstance(value, str):
                found.append((len(dump(value)) - 2, name, node, key))
            elif isinstance(value, dict | list):
                nodes.append((value, name))
    return found


def _cut_giants(event: dict[str, Any], max_bytes: int) -> None:
    """Cuts strings over GIANT times the maximum event size before orjson sees them: it reserves eight times the size of
    a string before writing it, and crashes the process if that fails (orjson 3.13)."""
    nodes: list[tuple[Any, str]] = [(event, "")]
    for node, path in nodes:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            name = f"{path}.{key}" if path else str(key)
            if isinstance(value, dict | list):
                nodes.append((value, name))
            elif isinstance(value, str) and len(value) > GIANT * max_bytes and name not in IDENTITY:
                node[key] = value[: GIANT * max_bytes]
                _note(event, name, len(value.encode("utf-8", "replace")))


def _cut_strings(event: dict[str, Any], excess: int) -> bool:
    """Cuts the largest strings down to one common size, to save `excess` bytes; False if none is left to cut."""
    strings = [found for found in _strings(event) if found[0] > SHORTEST_CUT and found[1] not in IDENTITY]
    if not strings:
        return False
    strings.sort(key=lambda found: -found[0])
    keep = _common_size([size for size, *_ in strings], excess + 120 * min(len(strings), 10))
    for size, path, node, key in strings:
        if size <= keep:
            break
        text = node[key]
        if not isinstance(text, str):  # replaced by a note just now: a record may contain anything under `truncated`
            continue
        original = len(text.encode("utf-8", "replace"))
        node[key] = shortened(text, keep, max(original, _noted(event.get("truncated"), path)))
        _note(event, path, original)
    return True


def _common_size(sizes: list[int], excess: int) -> int:
    """The size to which the largest strings (`sizes` is sorted) must come down to save `excess` bytes."""
    saved = 0
    for count, size in enumerate(sizes, 1):
        smaller = sizes[count] if count < len(sizes) else SHORTEST_CUT
        if saved + count * (size - smaller) >= excess:
            return max(SHORTEST_CUT, size - -(-(excess - saved) // count))
        saved += count * (size - smaller)
    return SHORTEST_CUT


def shortened(text: str, size: int, original: int = 0) -> str:
    """The beginning of a text: at most `size` bytes as JSON, including the note, and never ending inside a marker."""
    original = original or len(text.encode("utf-8", "replace"))
    note = f"\u2026[cut: {original} bytes]"
    room = max(0, size - len(note.encode()))
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if len(dump(text[:middle])) - 2 <= room:
            low = middle
        else:
            high = middle - 1
    return text[: _before_marker(text, low)] + note


def _before_marker(text: str, end: int) -> int:
    opening = text.rfind(_OPENING, max(0, end - _LONGEST_MARKER), end + len(_OPENING))
    if opening < 0 or opening >= end:
        return end
    closing = text.find("]", opening)
    return opening if closing < 0 or closing >= end else end


def _noted(notes: Any, path: str) -> int:
    """The size noted for a path. `notes` may have any shape: a record may contain anything under that name."""
    size = notes.get(path) if isinstance(notes, dict) else None
    return size if isinstance(size, int) else 0


def _note(event: dict[str, Any], path: str, size: int) -> None:
    notes = event.setdefault("truncated", {})
    if not isinstance(notes, dict):
        notes = event["truncated"] = {}
    path = path if len(path) <= 120 else path[:117] + "..."
    if len(notes) < MOST_NOTES or path in notes:
        notes[path] = max(size, _noted(notes, path))
    else:
        notes["..."] = _noted(notes, "...") + size


def _drop_fields(event: dict[str, Any], max_bytes: int) -> bytes:
    """Removes whole fields, the largest first and the identity last, until the event fits."""
    known = event.pop("truncated", None)
    notes: dict[str, int] = known if isinstance(known, dict) and len(known) <= MOST_NOTES else {}
    sizes = {key: len(dump(value)) for key, value in event.items()}
    order = sorted((key for key in sizes if key not in IDENTITY), key=lambda key: -sizes[key])
    order += [key for key in reversed(IDENTITY) if key in sizes and key != "id"]
    event["truncated"] = notes
    body = dump(event)
    for key in order:
        if len(body) <= max_bytes:
            return body
        del event[key]
        for path in [path for path in notes if path.startswith(f"{key}.")]:
            del notes[path]
        notes[key[:120]] = max(sizes[key], _noted(notes, key[:120]))
        body = dump(event)
    if len(body) <= max_bytes:
        return body
    del event["truncated"]
    body = dump({"id": event["id"]}) if "id" in event else b"{}"
    return body if len(body) <= max_bytes else b"{}"
