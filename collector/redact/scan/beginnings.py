"""What every match of a pattern begins with: a short pattern that is quickly searched for in a narrow zone.

A search for the whole pattern would read on as far as its longest match reaches, behind where one may still begin.
"""

from __future__ import annotations

import re
from re import _compiler, _parser  # type: ignore[attr-defined]  # there is no public way to take a pattern apart
from typing import NamedTuple

WIDEST = 90  # characters of a beginning


class Beginning(NamedTuple):
    """A compiled beginning, and how many characters it may take."""

    pattern: re.Pattern[bytes]
    widest: int


def beginning(pattern: str) -> Beginning | None:
    """The first parts of a pattern that take three characters, or at least two; None where they may take many."""
    parts = _parser.parse(pattern.encode("latin-1"), re.DOTALL)
    for least in (3, 2):
        counts = range(1, len(parts) + 1)
        count = next((count for count in counts if parts[:count].getwidth()[0] >= least), 0)
        widest = parts[:count].getwidth()[1]
        if count and widest <= WIDEST:
            return Beginning(_compiler.compile(parts[:count], re.DOTALL), widest)
    return None
