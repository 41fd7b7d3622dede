"""A check: what `collector doctor` found out about one thing, and what a person can do. Also questions about paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


def nearest(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def may(path: Path | str, mode: int) -> bool:
    """Whether this process may access a file in this mode, going by its effective user."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


class Check(NamedTuple):
    """One thing that was checked; level is ok, warn or fail."""

    name: str
    level: str
    finding: str
    advice: str = ""
