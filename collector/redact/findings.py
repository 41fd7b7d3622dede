"""What was found: a finding says where in the original value it is, a mark says what to replace in one string."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from collector.redact.marker import marker_length

Place = tuple[tuple[Any, ...], bool]


class Finding(NamedTuple):
    """One secret: the rule, where it stands (characters of the string at `path`, or of its key), and what it was."""

    rule: str
    path: tuple[Any, ...]
    start: int
    end: int
    value: str
    in_key: bool = False
    is_copy: bool = False
    round: int = 0


class Mark(NamedTuple):
    """A span of one string that a marker replaces. For a copy, `value` is the value it is a copy of, in plain form."""

    start: int
    end: int
    rule: str
    value: str = ""
    is_copy: bool = False


def merged(marks: list[Mark]) -> list[Mark]:
    """Marks in order, overlapping ones joined under the rule of the longest, or of the first among equals."""
    found: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if found and mark.start < found[-1].end:
            last = found[-1]
            rule = mark.rule if mark.end - mark.start > last.end - last.start else last.rule
            found[-1] = Mark(last.start, max(last.end, mark.end), rule)
        else:
            found.append(mark)
    return found


def in_original(findings: list[Finding]) -> list[Finding]:
    """Moves findings back to where they stood originally: later rounds find things in a text that already has
    markers."""
    if all(finding.round == 0 for finding in findings):
        return findings
    placed: list[Finding] = []
    edits: dict[Place, list[Finding]] = {}
    for _, found in groupby(findings, key=lambda finding: finding.round):  # findings come round by round
        shifts = {place: _Shifts(known) for place, known in edits.items()}
        for finding in found:
            place = (finding.path, finding.in_key)
            shift = shifts.get(place)
            start, end = (shift.undone(at) if shift else at for at in (finding.start, finding.end))
            placed.append(finding._replace(start=start, end=end))
            edits.setdefault(place, []).append(placed[-1])
    return placed


class _Shifts:
    """How far the markers of earlier rounds have shifted what follows them."""

    def __init__(self, edits: list[Finding]) -> None:
        edits = sorted(edits, key=lambda edit: edit.start)
        grown = (marker_length(edit.rule) - (edit.end - edit.start) for edit in edits)
        self._shifts = list(accumulate(grown, initial=0))
        self._starts = [edit.start + shift for edit, shift in zip(edits, self._shifts, strict=False)]

    def undone(self, place: int) -> int:
        return place - self._shifts[bisect_left(self._starts, place)]
