"""A check: what `collector doctor` found out about one thing, and what a person can do about it."""

from __future__ import annotations

from typing import NamedTuple


class Check(NamedTuple):
    """One thing that was checked; level is ok, warn or fail."""

    name: str
    level: str
    finding: str
    advice: str = ""
