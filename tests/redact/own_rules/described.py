"""Rules as a configuration describes them, and what trying them costs."""

from __future__ import annotations

import os
from typing import NamedTuple


class UserRule(NamedTuple):
    """One row of `redaction.rules`."""

    id: str
    pattern: str
    keywords: list[str] = []  # noqa: RUF012


def cpu_seconds() -> float:
    """What this process and those it started have used up."""
    return sum(os.times()[:4])
