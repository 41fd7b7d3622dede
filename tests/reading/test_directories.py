"""The directories a source names are read once, and again only when the source has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.reading.discover import discover
from collector.reading.scope import Scope
from tests.build import Home
from tests.scopes import scope


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[int, int]]]:
    """Returns the offset and size of every read since the last call."""
    seen: list[tuple[int, int]] = []
    pread = os.pread

    def noting(descriptor: int, size: int, offset: int) -> bytes:
        data = pread(descriptor, size, offset)
        seen.append((offset, len(data)))
        return data

    monkeypatch.setattr(os, "pread", noting)

    def since() -> list[tuple[int, int]]:
        found = seen.copy()
        seen.clear()
        return found

    return since


def in_doubt(home: Home, *exclude: str) -> Scope:
    return scope(home.root, home=str(home.path), exclude=exclude)


def test_unchanged_sources_are_not_opened_again_whatever_was_decided(
    tmp_path: Path, reads: Callable[[], list[tuple[int, int]]]
) -> None:
    home = Home(tmp_path)
    for directory in ("/work/secret", "/work/secret-not"):
        session = home.session(project=directory.replace("/", "-"))
        session.cwd = directory
        session.prompt("hello")
        session.journal()
    home.session(project="-work-secret").record({"type": "mode", "mode": "silent"})
    what = in_doubt(home, "/work/secret")
    before = discover(what)
    assert reads()
    assert (discover(what).files, discover(what).skipped) == (before.files, before.skipped)
    assert reads() == []


def test_a_source_with_no_directory_yet_is_read_on_from_where_the_last_look_ended(
    tmp_path: Path, reads: Callable[[], list[tuple[int, int]]]
) -> None:
    home = Home(tmp_path)
    session = home.session(project="-work-my-app")
    session.records({"type": "mode", "mode": "x" * 2_000} for _ in range(100))
    what, size = in_doubt(home, "/work/my.app"), session.size
    assert discover(what).files == []
    reads()
    session.cwd = "/work/my-app"
    session.prompt("hello")
    assert len(discover(what).files) == 1
    assert sum(length for offset, length in reads() if offset < size) <= 4 * 1024  # fingerprints


def test_a_replaced_file_is_decided_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    taken, secret = home.session(project="-work-my-app"), home.session(project="-work-my-app")
    for session, directory in ((taken, "/work/my-app"), (secret, "/work/my.app")):
        session.cwd = directory
        session.prompt("hello")
    what = in_doubt(home, "/work/my.app")
    assert [Path(source.path) for source in discover(what).files] == [taken.path]
    shutil.copyfile(secret.path, taken.path)  # in place, so the inode stays
    os.utime(taken.path, (1, 1))
    assert discover(what).files == []
    taken.rewrite()
    assert discover(what).files == []


def test_nothing_is_remembered_about_files_that_are_gone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    what = in_doubt(home, "/work/app")
    for _ in range(3):
        session = home.session()
        session.prompt("hello")
        discover(what)
        session.rewrite()
        discover(what)
        session.delete()
    (projects,) = what.filters.values()
    assert [len(each) for each in projects._first.values()] == [1]
