"""Free values: JSON of any shape, made fit to send. Large binary data becomes its size and hash; depth is bounded.

Also counts what is left out. Sizes are in characters, because counting bytes would mean encoding what is dropped.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any

import orjson

from collector.flow.json_leaves import SCALARS, leaves, size_of

MAX_DEPTH = 32
LEAST_BINARY = 1024
BINARY = re.compile(r"(?:data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,)?(?P<data>[A-Za-z0-9+/_-]+={0,2})")
WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Words with at most one number, and no run of capitals longer than an abbreviation.
OWN_KEY = re.compile(r"(?!.*[A-Z]{5})[A-Za-z_-]*\d{0,4}[A-Za-z_-]*")
MEDIA_KEYS = frozenset({"media_type", "mediaType", "mimeType"})
KEY_BEGINS = "-----BEGIN"
MAX_NAMES = 4096
SHORTEST_DRAWN = 12  # characters; shorter keys are not taken for random ones

names: dict[str, str] = {}


def name_of(key: str) -> str:
    """A key of Claude Code's in our spelling: toolUseID becomes tool_use_id. Any other key is left alone: it may be
    somebody's secret, and redaction, which comes later, would not recognise it in another spelling."""
    name = names.get(key)
    if name is None:
        if len(key) > 64:
            return key
        name = WORD_STARTS.sub("_", key).replace("-", "_").lower()
        if not OWN_KEY.fullmatch(key) or (len(key) >= SHORTEST_DRAWN and not _is_of_words(name)):
            name = key
        if len(names) < MAX_NAMES:
            names[key] = name
    return name


def _is_of_words(name: str) -> bool:
    """Whether the parts of a name are as long as words and abbreviations; those of a random string are shorter."""
    lengths = [len(part) for part in name.split("_") if part]
    return bool(lengths) and min(lengths) >= 2 and max(lengths) <= 16 and sum(lengths) >= 3 * len(lengths)


def plain(value: Any, depth: int = 0) -> Any:
    """The value with large binary data replaced by a description, and anything nested too deep by one string."""
    kind = type(value)
    if kind is str:
        return value if len(value) < LEAST_BINARY and value[:5] != "data:" else binary_or_text(value)
    if kind in SCALARS:
        return value
    if depth >= MAX_DEPTH:
        return one_string(value)
    if kind is dict:
        key = binary_key(value) if "base64" in value or "data" in value or "image_data" in value else ""
        if key:
            found = binary(value[key])
            if found is not None:
                return {name: plain(part, depth + 1) for name, part in value.items() if name != key} | found
        return {key: plain(part, depth + 1) for key, part in value.items()}
    if kind is list:
        return together([plain(part, depth + 1) for part in value])
    return str(value)


def together(parts: list[Any]) -> Any:
    """A list unchanged, unless it is lines of text with a private key among them: those are joined, or redaction would
    not see where the key ends."""
    if not any(type(part) is str and KEY_BEGINS in part for part in parts):
        return parts
    if not all(type(part) is str for part in parts):
        return parts
    return "\n".join(part.removesuffix("\n") for part in parts)


def binary_key(value: dict[str, Any]) -> str:
    """The key under which an object declares base64, of any length; empty if it declares none."""
    if type(value.get("base64")) is str and value["base64"]:  # empty if the image or document itself was left out
        return "base64"
    for key in ("data", "image_data"):
        if type(value.get(key)) is str and (value.get("type") == "base64" or not MEDIA_KEYS.isdisjoint(value)):
            return key
    return ""


def binary_or_text(text: str) -> Any:
    """A long string unchanged, or a description of it if it is base64."""
    if " " in text[:256] or "\n" in text[:256]:
        return text
    match = BINARY.fullmatch(text)
    if match is None:
        return text
    data = match["data"]
    is_varied = bool(match["type"]) or (
        data != data.lower() and data != data.upper() and any(digit in data for digit in "0123456789")
    )
    if not is_varied:
        return text
    found = binary(data)
    if found is None:
        return text
    return {"media_type": match["type"], **found} if match["type"] else found


def binary(data: str) -> dict[str, Any] | None:
    """Size and hash of base64 data; None if it is not base64."""
    try:
        content = base64.b64decode(data, b"-_" if "-" in data or "_" in data else None, validate=True)
    except (binascii.Error, ValueError):
        return None
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def one_string(value: Any) -> str:
    """A value as one string of JSON, or its leaves if it nests too deep even for that."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "\n".join(str(leaf) for leaf in leaves(value))


def omit(event: dict[str, Any], name: str, value: Any) -> None:
    """Notes that a value was left out of the event, and how much text it contained."""
    size = len(value) if type(value) is str else size_of(value)
    if size:
        omitted = event.get("omitted")
        if omitted is None:
            event["omitted"] = {name: size}
        else:
            omitted[name] = omitted.get(name, 0) + size


def put_attributes(event: dict[str, Any], rest: dict[str, Any]) -> None:
    """Puts what is left of a record under `attributes`: no nulls, nothing empty, no text already in the event."""
    attributes = event.get("attributes") or {}
    text = event.get("text")
    for key, value in rest.items():
        kind = type(value)
        if kind is str:
            if not value:
                continue
            if value == text:
                omit(event, name_of(key), value)
                continue
        elif value is None or ((kind is dict or kind is list) and not value):
            continue
        name = name_of(key)
        while name in attributes:
            name += "_"
        attributes[name] = value if kind in SCALARS else plain(value)
    if attributes:
        event["attributes"] = attributes
