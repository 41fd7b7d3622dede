"""Where a session has been, as far as its files have been read; if in doubt, it may have been anywhere."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from collector.reading.wandering import MANY_SESSIONS, Wanderings
from tests.build import Home, Session
from tests.scopes import FORM, root_of


class Looking:
    """A home, and what is known of its sessions."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory)
        self._known = Wanderings(FORM, lambda directory: directory != "/work/secret")

    def session(self, *directories: str) -> Session:
        session = self.home.session()
        for session.cwd in directories:
            session.prompt("hello")
        return session

    def has_strayed(self, session: Session) -> bool:
        return self._known.has_strayed(root_of(self.home.root), session.session_id)


@pytest.fixture
def looking(tmp_path: Path) -> Looking:
    return Looking(tmp_path)


def test_a_session_that_strays_later_is_looked_at_again(looking: Looking) -> None:
    session = looking.session("/work/app", "/work/app")
    assert not looking.has_strayed(session)
    session.cwd = "/work/secret"
    session.prompt("hello")
    assert looking.has_strayed(session)
    session.cwd = "/work/app"
    session.prompt("hello")
    assert looking.has_strayed(session)


def test_a_session_has_strayed_if_any_copy_of_it_has(looking: Looking) -> None:
    session = looking.session("/work/app")
    for name in ("-a", "-z"):
        copy = session.path.parent.with_name(name) / session.path.name
        copy.parent.mkdir()
        copy.write_bytes(session.path.read_bytes())
    assert not looking.has_strayed(session)
    copy.write_bytes(copy.read_bytes().replace(b"/work/app", b"/work/secret"))
    assert looking.has_strayed(session)


def test_an_unreadable_session_may_have_been_anywhere(looking: Looking, monkeypatch: pytest.MonkeyPatch) -> None:
    session = looking.session("/work/app")

    def failing(descriptor: int, size: int, offset: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", failing)
        assert looking.has_strayed(session)
    assert not looking.has_strayed(session)


def test_answers_stay_the_same_for_more_sessions_than_are_remembered(looking: Looking) -> None:
    sessions = [
        looking.session("/work/secret" if number % 100 == 0 else "/work/app") for number in range(MANY_SESSIONS)
    ]
    sessions += [looking.session("/work/app"), looking.session("/work/secret")]
    for _ in range(2):
        assert [looking.has_strayed(each) for each in sessions] == [
            *(number % 100 == 0 for number in range(MANY_SESSIONS)),
            False,
            True,
        ]
