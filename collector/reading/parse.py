"""Lenient JSON: the bytes of one line in, a value out that every later stage can handle, or a ValueError.

What orjson accepts is taken as it is. The rest is repaired: a byte order mark is removed, invalid UTF-8 and lone
surrogates become U+FFFD, NaN and Infinity become strings, numbers too large for a double keep their digits as a string
(integers beyond 64 bits become floats, as in orjson). Anything nested deeper than MAX_DEPTH is folded into a string of
its JSON, so no later stage recurses too deeply, and orjson's limit of 254 levels when writing is never reached.
"""

from __future__ import annotations

import json
import math
import re
from gc import get_referents, is_tracked
from typing import Any

import orjson

MAX_DEPTH = 100
LARGE = 1 << 20
ROOM_FOR_A_BYTE = 4  # for orjson's buffer and the objects it creates
MAX_VALUES = 250_000  # in one line; each may take a hundred times its bytes: `{}` is two bytes, and becomes a dict
MAX_TOKENS = 500_000  # strings and brackets examined in one search: 0.2 s on a maliciously crafted line
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_SEPARATOR = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[,\[{]', re.DOTALL)
# A surrogate escape that is not itself escaped; group 2 is a valid pair.
_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*+)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def load(raw: bytes) -> Any:
    """The JSON value in `raw`; raises ValueError if there is none."""
    make_sure_of_room(len(raw))
    if has_too_many_values(raw):
        raise ValueError("too many values")
    try:
        value = orjson.loads(raw)
    except ValueError:
        return _load_repaired(raw)
    if isinstance(value, dict | list) and is_deep(value):
        return orjson.loads(_folded(raw))
    return value


def make_sure_of_room(size: int) -> None:
    """Raises MemoryError if there is no room for a line of this size; orjson would report it as invalid, or crash."""
    if size > LARGE:
        bytearray(ROOM_FOR_A_BYTE * size)  # never touched, so it costs address space but no time


def has_too_many_values(data: bytes | bytearray, start: int = 0, stop: int | None = None) -> bool:
    """Whether data[start:stop] holds more values than are worth the memory. JSON inside strings does not count: if a
    quick count says there may be too many, only separators outside strings are counted."""
    stop = len(data) if stop is None else stop
    if stop - start < 2 * MAX_VALUES or sum(data.count(sign, start, stop) for sign in (b",", b"[", b"{")) < MAX_VALUES:
        return False
    separators = 0
    for tokens, match in enumerate(_SEPARATOR.finditer(data, start, stop)):
        separators += data[match.start()] != ord('"')
        if separators > MAX_VALUES or tokens > 3 * MAX_VALUES:
            return True
    return False


def is_deep(value: dict[str, Any] | list[Any]) -> bool:
    """Whether containers nest deeper than MAX_DEPTH.

    The garbage collector knows which containers a container refers to: walking them costs 0.8 us for a record of 3 kB.
    Counting brackets in its bytes costs 2.2 us (`bytes.count` is a plain loop), a walk in Python 1.5 us.
    """
    level = [*filter(is_tracked, value.values() if type(value) is dict else value)]
    levels = 1
    while level:
        levels += 1
        if levels > MAX_DEPTH:
            return True
        level = [*filter(is_tracked, get_referents(*level))]
    return False


def _load_repaired(raw: bytes) -> Any:
    text = _without_lone_surrogates(_valid(raw).removeprefix(BYTE_ORDER_MARK))
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH:
        text = _folded(text)
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:
        return _DECODER.decode(text.decode())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _valid(raw: bytes) -> bytes:
    """`raw` as valid UTF-8, copied only if it needs repair: a line may have 100 MB."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode()
    return raw


def _without_lone_surrogates(text: bytes) -> bytes:
    if b"\\u" not in text:
        return text
    repaired, done = bytearray(), 0
    for count, match in enumerate(_SURROGATE.finditer(text)):
        if count > MAX_TOKENS:
            raise ValueError("too much to repair")
        if not match[2]:
            repaired += text[done : match.end(1)] + b"\\ufffd"
            done = match.end()
    return bytes(repaired + text[done:]) if done else text


def _folded(text: bytes) -> bytes:
    """`text` with every container deeper than MAX_DEPTH replaced by a string of its JSON."""
    parts: list[bytes] = []
    done = start = depth = 0
    for count, match in enumerate(_TOKEN.finditer(text)):
        token = text[match.start()]
        if token in b"{[":
            depth += 1
            if depth == MAX_DEPTH + 1:
                start = match.start()
        elif token in b"}]":
            depth -= 1
            if depth == MAX_DEPTH:
                parts += (text[done:start], orjson.dumps(text[start : match.end()].decode("utf-8", "replace")))
                done = match.end()
        if count > MAX_TOKENS:
            raise ValueError("nested too deeply")
    return b"".join([*parts, text[done:]])


def _integer(digits: str) -> Any:
    """An int if it fits into 64 bits, which is all that orjson can write; otherwise the result of `_number`."""
    if len(digits) <= 20 and -(2**63) <= int(digits) < 2**64:
        return int(digits)
    return _number(digits)


def _number(digits: str) -> Any:
    """A float, or the digits themselves if a double cannot hold them."""
    number = float(digits)
    return number if math.isfinite(number) else digits


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_number, parse_constant=str, strict=False)
