"""A pattern taken apart once for all that is asked of it: parsing a long one takes 2 ms, as long as compiling it.

What every match begins with is a short pattern that is quick to search for in a narrow zone. Searching for the whole
pattern would read past the last place where a match may begin, as far as the longest match reaches.
"""

from __future__ import annotations

import re
from re import _compiler, _parser  # type: ignore[attr-defined]  # there is no public way to take a pattern apart
from typing import Any, NamedTuple

WIDEST = 90  # characters a beginning may take


class Beginning(NamedTuple):
    """A compiled beginning, and how many characters it may take."""

    pattern: re.Pattern[bytes]
    widest: int


def parsed(pattern: str) -> Any:
    """The parts of a pattern, which `re` takes in place of the pattern."""
    return _parser.parse(pattern.encode("latin-1"), re.DOTALL)


def compiled(parts: Any) -> re.Pattern[bytes]:
    """What `re` makes of the parts."""
    made: re.Pattern[bytes] = _compiler.compile(parts, re.DOTALL)
    return made


def beginning(parts: Any) -> Beginning | None:
    """The first parts of a pattern that take at least three characters, or else two; None if they may take too many."""
    for least in (3, 2):
        counts = range(1, len(parts) + 1)
        count = next((count for count in counts if parts[:count].getwidth()[0] >= least), 0)
        widest = parts[:count].getwidth()[1]
        if count and widest <= WIDEST:
            return Beginning(compiled(parts[:count]), widest)
    return None
