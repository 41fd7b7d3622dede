"""Reads JSON that is not quite valid: a reason may quote lines of an event, or half a character, and something may add
a line of its own to an answer on its way. Rejections must not go unnoticed for that.

In: bytes. Out: their first value, with U+FFFD for half a surrogate pair, which is not valid text, and null for a number
that is none or too large. Raises ValueError if there is none, and CutShort if it is an object that ends in the middle.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import orjson

CUT_SHORT = "its answer ends in the middle, so it is unknown what it accepted"


class CutShort(ValueError):
    """The rest is missing, as if the connection had been lost."""


def _finite(kind: type[int | float]) -> Callable[[str], float | None]:
    return lambda written: kind(written) if math.isfinite(float(written)) else None


_decoder = json.JSONDecoder(
    parse_float=_finite(float),
    parse_int=_finite(int),
    parse_constant=lambda _: None,  # NaN is no JSON
    strict=False,
)


def in_utf_8(body: bytes) -> bytes:
    """JSON in UTF-16 or UTF-32, as some servers write it, in UTF-8. Anything else unchanged."""
    encoding = json.detect_encoding(body[:4])
    if encoding.startswith("utf-8"):
        return body
    text = body.decode(encoding, "replace")
    return text.encode() if text.startswith(("{", "[")) else body


def read(body: bytes) -> Any:
    """The first JSON value in these bytes."""
    try:
        return orjson.loads(body)
    except ValueError:
        text = body.decode("utf-8-sig", "replace").strip()
    try:
        value, _ = _decoder.raw_decode(text)
        plain = json.dumps(value, ensure_ascii=False)
        return orjson.loads(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except json.JSONDecodeError as error:
        if text[:1] == "{" and (text[-1] != "}" or error.pos >= len(text)):
            raise CutShort(CUT_SHORT) from None
        raise
    except RecursionError:
        raise ValueError("nested too deeply") from None
