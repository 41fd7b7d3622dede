"""Watching a real directory with real events, and every way in which events can be missing."""

from __future__ import annotations

import contextlib
import errno
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers import Observer

from collector.agents.claude_code import ClaudeCode
from collector.service.hints import Waker
from collector.service.watch import Watcher, hearing_of_deaths
from collector.service.watch_limits import is_watch_limit_reached, network_file_system
from tests.scopes import FORM, scope
from tests.sink import PATIENCE


@pytest.fixture
def wake() -> Iterator[Waker]:
    wake = Waker()
    yield wake
    wake.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "claude"
    (path / "projects" / "-work").mkdir(parents=True)
    return path


class Watching:
    """A watcher on a root, and the observers it made."""

    def __init__(self, root: Path, wake: Waker, **options: Any) -> None:
        self.made: list[Any] = []
        make = options.pop("observer", Observer)

        def observer() -> Any:
            self.made.append(make())
            return self.made[-1]

        self.wake = wake
        self.watcher = Watcher(scope(root, form=options.pop("form", FORM)), wake, observer=observer, **options)

    def heard(self, is_enough: Callable[[set[str]], bool]) -> set[str]:
        """Collects hints until there are enough of them."""
        heard: set[str] = set()
        deadline = time.monotonic() + PATIENCE
        while not is_enough(heard):
            assert time.monotonic() < deadline, heard
            self.wake.wait(deadline - time.monotonic())
            heard |= self.wake.take().paths
        return heard


@pytest.fixture
def watching(root: Path, wake: Waker) -> Iterator[Watching]:
    watching = Watching(root, wake)
    watching.watcher.keep_up()
    assert (watching.watcher.mode, watching.watcher.reason) == ("events", "")
    yield watching
    watching.watcher.close()


def test_an_appended_line_is_a_hint(root: Path, watching: Watching) -> None:
    path = root / "projects" / "-work" / "s.jsonl"
    path.write_text("{}\n")
    assert str(path) in watching.heard(lambda heard: str(path) in heard)


def test_files_at_the_top_are_watched_too(root: Path, watching: Watching) -> None:
    path = root / "history.jsonl"
    path.write_text("{}\n")
    watching.heard(lambda heard: str(path) in heard)


def test_a_new_directory_and_its_files_are_hints(root: Path, watching: Watching) -> None:
    directory = root / "projects" / "-new" / "session" / "subagents"
    directory.mkdir(parents=True)
    path = directory / "agent-1.jsonl"
    path.write_text("{}\n")
    watching.heard(lambda heard: str(path) in heard or str(root / "projects" / "-new") in heard)


def test_watched_directories_further_down_are_watched(root: Path, wake: Waker) -> None:
    class Deep(ClaudeCode):
        watched = ("data/projects",)

    (root / "data" / "projects").mkdir(parents=True)
    watching = Watching(root, wake, form=Deep())
    watching.watcher.keep_up()
    path = root / "data" / "projects" / "s.jsonl"
    path.write_text("{}\n")
    assert watching.heard(lambda heard: str(path) in heard) == {str(path)}
    watching.watcher.close()


def test_a_move_hints_at_both_ends(root: Path, watching: Watching) -> None:
    path = root / "projects" / "-work" / "s.jsonl"
    path.write_text("{}\n")
    watching.heard(lambda heard: str(path) in heard)
    target = root / "projects" / "t.jsonl"
    path.rename(target)
    watching.heard(lambda heard: {str(path), str(target)} <= heard)


def test_reading_a_file_is_not_a_hint(root: Path, watching: Watching) -> None:
    first, second, last = (root / "projects" / "-work" / f"{name}.jsonl" for name in ("first", "second", "last"))
    for path in (first, second):  # all events of the first file come before those of the second
        path.write_text("{}\n")
        watching.heard(lambda heard, path=path: str(path) in heard)  # type: ignore[misc]
    first.read_text()
    (root / "projects" / "-work" / "notes.txt").write_text("not ours")
    last.write_text("{}\n")
    assert watching.heard(lambda heard: str(last) in heard) <= {str(second), str(last)}


def test_hints_carry_the_name_of_the_root_as_configured(tmp_path: Path, root: Path, wake: Waker) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    watching = Watching(link, wake)
    watching.watcher.keep_up()
    (root / "projects" / "-work" / "s.jsonl").write_text("{}\n")
    watching.heard(lambda heard: f"{link}/projects/-work/s.jsonl" in heard)
    watching.watcher.close()


def test_a_missing_root_is_watched_once_it_exists(tmp_path: Path, wake: Waker) -> None:
    root = tmp_path / "later"
    watching = Watching(root, wake)
    watching.watcher.keep_up()
    assert (watching.watcher.mode, watching.watcher.reason) == ("polling", "no root exists yet")
    (root / "projects").mkdir(parents=True)
    watching.watcher.keep_up()
    assert watching.watcher.mode == "events"
    (root / "projects" / "s.jsonl").write_text("{}\n")
    watching.heard(lambda heard: f"{root}/projects/s.jsonl" in heard)
    watching.watcher.close()


def test_a_projects_directory_created_later_asks_for_a_full_scan(tmp_path: Path, wake: Waker) -> None:
    root = tmp_path / "claude"
    root.mkdir()
    watching = Watching(root, wake)
    watching.watcher.keep_up()
    (root / "projects").mkdir()
    wake.wait(PATIENCE)
    assert wake.take().is_everything
    watching.watcher.close()


def test_a_working_observer_is_kept(watching: Watching) -> None:
    watching.watcher.keep_up()
    watching.watcher.keep_up()
    assert len(watching.made) == 1


# Failures


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE])
def test_at_a_system_limit_it_falls_back_to_polling_and_tries_again_later(root: Path, wake: Waker, code: int) -> None:
    failures = [OSError(code, "inotify limit reached")]

    class Limited(Observer):  # type: ignore[misc, valid-type]
        def start(self) -> None:
            if failures:
                raise failures.pop()
            super().start()

    watching = Watching(root, wake, observer=Limited)
    watching.watcher.keep_up()
    assert (watching.watcher.mode, watching.watcher.reason) == (
        "polling",
        "inotify limit reached; only rescans find new lines",
    )
    watching.watcher.keep_up()
    assert (watching.watcher.mode, watching.watcher.reason) == ("events", "")
    watching.watcher.close()


def test_directories_beyond_the_limit_are_reported(root: Path, wake: Waker) -> None:
    now, is_limited = [0.0], [True]
    watching = Watching(root, wake, is_limited=lambda _: is_limited[0], clock=lambda: now[0])
    watching.watcher.keep_up()
    assert watching.watcher.mode == "events"
    assert "limit reached" in watching.watcher.reason
    is_limited[0] = False
    watching.watcher.keep_up()
    assert len(watching.made) == 1
    now[0] = 601.0
    watching.watcher.keep_up()
    assert watching.watcher.reason == ""
    watching.watcher.close()


def test_a_watcher_that_died_is_started_again(root: Path, watching: Watching) -> None:
    for emitter in watching.made[0].emitters:
        emitter.stop()
        emitter.join()
    watching.watcher.keep_up()
    assert (watching.watcher.restarts, watching.watcher.mode) == (1, "events")
    path = root / "projects" / "-work" / "s.jsonl"
    path.write_text("{}\n")
    watching.heard(lambda heard: str(path) in heard)


def test_a_replaced_root_is_watched_again(root: Path, watching: Watching) -> None:
    root.rename(root.with_name("gone"))
    (root / "projects").mkdir(parents=True)
    watching.watcher.keep_up()
    path = root / "projects" / "s.jsonl"
    path.write_text("{}\n")
    watching.heard(lambda heard: str(path) in heard)


def test_lost_events_ask_for_a_full_scan(watching: Watching, wake: Waker) -> None:
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    assert wake.take().is_everything


def test_lost_events_ask_the_service_of_every_sink_for_a_full_scan(watching: Watching, wake: Waker, root: Path) -> None:
    other = Waker()
    watching_too = Watching(root, other)
    watching_too.watcher.keep_up()
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert (wake.take().is_everything, other.take().is_everything) == (True, True)
    watching_too.watcher.close()
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert (wake.take().is_everything, other.take().is_everything) == (True, False)
    other.close()


def test_a_service_hears_of_deaths_until_it_ends_itself(wake: Waker) -> None:
    def die() -> None:
        thread = threading.Thread(target=[].pop)
        thread.start()
        thread.join()

    first, before = Waker(), threading.excepthook
    with contextlib.ExitStack() as running:
        with hearing_of_deaths(first):
            running.enter_context(hearing_of_deaths(wake))
        die()
        assert (first.take().is_everything, wake.take().is_everything) == (False, True)
    assert threading.excepthook is before
    first.close()


def test_watching_can_be_turned_off(root: Path, wake: Waker) -> None:
    watching = Watching(root, wake, is_wanted=False)
    watching.watcher.keep_up()
    assert (watching.watcher.mode, watching.made) == ("polling", [])


# The operating system


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ada/.claude", "nfs4"),
        ("/home", None),
        ("/home/ada 2/.claude", "cifs"),
        ("/somewhere", None),
    ],
)
def test_network_file_systems_are_recognized(tmp_path: Path, path: str, expected: str | None) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/vda / ext4 rw 0 0\nserver:/home /home/ada nfs4 rw 0 0\n//s/x /home/ada\\0402 cifs rw 0 0\nodd\n"
    )
    assert network_file_system(path, mounts) == expected


def test_with_unreadable_mounts_no_network_file_system_is_reported(tmp_path: Path) -> None:
    assert network_file_system("/", tmp_path / "none") is None


def test_the_watch_limit_is_not_reached_here(tmp_path: Path) -> None:
    assert not is_watch_limit_reached(str(tmp_path))
