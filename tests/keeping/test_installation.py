"""The installation file: one that this user may not read is neither called damaged nor replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import structlog

from collector.keeping.installation import load_installation

NOBODY = 65534


def test_one_that_this_user_may_not_read_is_called_that_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "closed" / "installation.json"
    made = load_installation(path, may_write=True)
    path.parent.chmod(0)
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)  # root reads everything
    try:
        with pytest.raises(PermissionError):
            load_installation(path, may_write=True)
        with structlog.testing.capture_logs() as said:
            assert load_installation(path, may_write=False).id != made.id
    finally:
        os.seteuid(was)
        path.parent.chmod(0o700)
    assert [each["event"] for each in said] == [
        "the installation file may not be read by this user, so ids and marks differ"
    ]
    assert load_installation(path, may_write=True) == made
