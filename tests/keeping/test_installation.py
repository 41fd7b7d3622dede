"""An installation file that cannot be read at the moment is neither called damaged nor replaced."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest
import structlog

from collector.errors import StateError
from collector.keeping.installation import load_installation

NOBODY = 65534


def test_an_installation_file_this_user_may_not_read_is_reported_and_kept(tmp_path: Path) -> None:
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
        "the installation file may not be read by this user, so ids and markers differ"
    ]
    assert load_installation(path, may_write=True) == made


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux whose reading fails")
def test_a_failing_disk_does_not_cause_a_new_installation(tmp_path: Path) -> None:
    path = tmp_path / "installation.json"
    path.symlink_to("/proc/self/mem")
    for may_write in (True, False):
        with pytest.raises(StateError, match="Input/output error"):
            load_installation(path, may_write=may_write)
    assert path.is_symlink()


@pytest.mark.parametrize("damage", [b"", b'{"id": "a", "key": "ab', b'{"id": "a", "key": "none"}', b"[]"])
def test_a_damaged_installation_file_is_set_aside_and_reported(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "installation.json"
    path.write_bytes(damage)
    with structlog.testing.capture_logs() as said:
        load_installation(path, may_write=False)
        assert path.read_bytes() == damage
        made = load_installation(path, may_write=True)
    assert load_installation(path, may_write=True) == made
    (aside,) = tmp_path.glob("installation.json.damaged-*")
    assert aside.read_bytes() == damage
    assert [each.get("moved_to", "") for each in said] == ["", aside.name]


@pytest.mark.parametrize("has_links", [True, False])
def test_an_installation_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool) -> None:
    path, first = tmp_path / "installation.json", tmp_path / "first.json"
    link, made = os.link, load_installation(first, may_write=True)

    def another_agent_is_faster(source: Path, target: Path) -> None:
        first.replace(target)
        link(source, target)

    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", another_agent_is_faster if has_links else refuse)
    found = load_installation(path, may_write=True)
    assert (found == made) is has_links
    assert load_installation(path, may_write=False) == found
    assert path in tmp_path.iterdir()
    assert not list(tmp_path.glob("*.new-*"))
