"""The soak as a test; SOAK_MINUTES sets its length (default 30), and its figures are printed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.faults.soak import soak

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
MOST_GROWTH = 20.0  # MB an hour, because the number of sources keeps growing


@pytest.mark.slow
def test_half_an_hour_of_random_faults_loses_nothing_and_memory_stays_flat(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    figures = soak(MINUTES, tmp_path, seed)
    print(f"seed {seed}", *figures.lines(), sep="\n")
    assert figures.lost == []
    assert figures.with_two_ids == []
    assert figures.innocent == 0
    if MINUTES >= 30:  # a slope over a few minutes is noise
        assert figures.growth < MOST_GROWTH
