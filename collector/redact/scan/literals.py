"""Which literals a pattern cannot match without: they let the Python engine rule out most rules with a plain search."""

from __future__ import annotations

import re
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any


def needles(pattern: str) -> frozenset[str]:
    """Literals, in their own case, of which every match contains at least one; empty if there are none."""
    return _of_sequence(_parser.parse(pattern, re.DOTALL))


def _of_sequence(sequence: Any) -> frozenset[str]:
    best: frozenset[str] = frozenset()
    run = ""
    for operation, argument in [*sequence, (None, None)]:
        if operation is _constants.LITERAL and argument < 128:
            run += chr(argument)
            continue
        best = max(best, frozenset({run} if run else ()), _of_item(operation, argument), key=_worth)
        run = ""
    return best


def _of_item(operation: Any, argument: Any) -> frozenset[str]:
    if operation is _constants.SUBPATTERN:
        return _of_sequence(argument[-1])
    if operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and argument[0] > 0:
        return _of_sequence(argument[2])
    if operation is _constants.BRANCH:
        branches = [_of_sequence(branch) for branch in argument[1]]
        return frozenset().union(*branches) if all(branches) else frozenset()
    return frozenset()


def _worth(literals: frozenset[str]) -> int:
    return min(map(len, literals), default=0)
