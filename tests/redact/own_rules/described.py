"""Rules as a configuration describes them, and a measure of what trying them costs."""

from __future__ import annotations

import os
from typing import NamedTuple


class UserRule(NamedTuple):
    """One row of `redaction.rules`."""

    id: str
    pattern: str
    keywords: list[str] = []  # noqa: RUF012


def cpu_seconds() -> float:
    """The CPU time used so far by this process and those it started."""
    return sum(os.times()[:4])
