"""Whatever bytes the files contain, no exception leaves the pass, the ledger balances, nothing is sent twice, and
secrets stay home. `make test` runs the same examples every time, `make soak` FUZZ_EXAMPLES new ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.transcripts import SECRET, homes
from tests.model.actions import MEMORY
from tests.model.world import World, files_in
from tests.redactors import every_rule

EXAMPLES = 300
MANY = int(os.environ.get("FUZZ_EXAMPLES", "30000"))


def check(files: dict[str, bytes]) -> None:
    directory = Path(tempfile.mkdtemp(prefix="fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        world = World(directory, every_rule())
        for name, data in files.items():
            path = world.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        ledger = world.run()
        assert ledger is not None
        counts = ledger.as_dict()
        assert counts["lines"] == counts["delivered"] + sum(counts["skipped"].values()) + counts["quarantined"]
        assert counts["files"]["seen"] == counts["files"]["read"] + sum(counts["files"]["skipped"].values())
        assert counts["delivered"] == len(world.sink.posted)
        assert counts["quarantined"] == 0 or world.quarantine.entries()
        bodies = list(world.sink.bodies)
        again = world.run()
        assert again is not None
        assert again.as_dict()["lines"] == 0
        assert world.sink.bodies == bodies
        kept = files_in(world.state_path.parent)
        assert not [name for name, data in kept.items() if SECRET.encode() in data]
        assert not [body for body in bodies if SECRET.encode() in body]
    finally:
        shutil.rmtree(directory)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(homes)
def test_nothing_in_a_file_breaks_a_pass_or_carries_a_secret_out(files: dict[str, bytes]) -> None:
    check(files)


@pytest.mark.slow
@settings(max_examples=MANY, derandomize=False, deadline=None, suppress_health_check=list(HealthCheck))
@given(homes)
def test_nothing_in_a_file_breaks_a_pass_or_carries_a_secret_out_in_the_long_run(files: dict[str, bytes]) -> None:
    check(files)
