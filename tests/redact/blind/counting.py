"""Counts by class what a redactor did to a half, without keeping which texts it got wrong.

Found: the value is no longer in the text. Touched: a harmless line that was changed. True: a find that overlaps a
planted secret.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from collector.redact import Redactor
from tests.redact.blind.drawing import Item

Key = tuple[str, str]  # kind and class


@dataclass
class Counted:
    """How many secrets, harmless lines, strings to keep and finds there were, and how many went right or wrong."""

    secrets: int = 0
    found: int = 0
    lines: int = 0
    touched: int = 0
    keep: int = 0
    kept: int = 0
    finds: int = 0
    true: int = 0

    def add(self, other: Counted) -> None:
        """Adds the other counts to these."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def count(items: Iterable[Item], redactor: Redactor) -> dict[Key, Counted]:
    """Counts what happened to single texts; sequences are ignored."""
    counted: defaultdict[Key, Counted] = defaultdict(Counted)
    for item in items:
        if "text" in item:
            counted[item["kind"], item["class"]].add(_count_text(item, redactor))
    return dict(counted)


def _count_text(item: Item, redactor: Redactor) -> Counted:
    text, secrets, keep = item["text"], item["secrets"], item.get("keep", [])
    redacted, findings = redactor.value(text)
    row = Counted(secrets=len(secrets), keep=len(keep), finds=len(findings))
    row.found = sum(secret not in redacted for secret in secrets)
    row.kept = sum(kept in redacted for kept in keep)
    if item["kind"] == "harmless":
        before, after = text.split("\n"), redacted.split("\n")
        missing = [""] * max(0, len(before) - len(after))
        row.lines = len(before)
        row.touched = sum(a != b for a, b in zip(before, after + missing, strict=False))
    places = [match.span() for secret in secrets for match in re.finditer(re.escape(secret), text)]
    row.true = sum(any(at < find.end and find.start < end for at, end in places) for find in findings)
    return row


def total(counted: dict[Key, Counted]) -> Counted:
    """All classes together."""
    whole = Counted()
    for row in counted.values():
        whole.add(row)
    return whole
