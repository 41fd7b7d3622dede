"""The soak as a test; SOAK_MINUTES says how long (30), and its figures are printed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.faults.soak import soak

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
MOST_GROWTH = 20.0  # MB an hour: the sources multiply all the while


@pytest.mark.slow
def test_random_faults_for_half_an_hour_lose_nothing_and_leave_memory_flat(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    figures = soak(MINUTES, tmp_path, seed)
    print(f"seed {seed}", *figures.lines(), sep="\n")
    assert figures.lost == []
    assert figures.with_two_ids == []
    assert figures.innocent == 0
    if MINUTES >= 30:  # a slope over a few minutes is noise
        assert figures.growth < MOST_GROWTH
