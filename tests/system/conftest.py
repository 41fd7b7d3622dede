"""Deselects the system test unless it is asked for, because it needs root, a package index and two minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m system`, nothing in this directory is run or counted as skipped."""
    if "system" in str(config.getoption("-m")):
        return
    ours = [item for item in items if HERE in item.path.parents]
    if ours:
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in ours]
