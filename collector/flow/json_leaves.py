"""The leaves of a JSON value of any shape, and how much text they contain."""

from __future__ import annotations

from typing import Any

SCALARS = frozenset({int, float, bool, type(None)})


def leaves(value: Any) -> list[Any]:
    """Every key and every scalar value, in order, at any depth."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is dict:
            for key, inner in reversed(part.items()):
                waiting += (inner, key)
        elif type(part) is list:
            waiting += reversed(part)
        else:
            found.append(part)
    return found


def size_of(value: Any) -> int:
    """The number of characters of text in a value of any shape, not counting keys."""
    if type(value) is str:
        return len(value)
    size = 0
    waiting = [value]
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind is str:
            size += len(part)
        elif kind is dict:
            waiting += part.values()
        elif kind is list:
            waiting += part
    return size
