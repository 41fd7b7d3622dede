"""What the service does when something goes wrong, step by step. Time passes only when the test clock moves."""

from __future__ import annotations

import errno
import itertools
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from collector.errors import CollectorError, ConfigurationError
from collector.flow.source import Entry, Position
from collector.service.notify import Notifier
from collector.settings import Settings
from tests.build import Home
from tests.scopes import asking
from tests.service.steps import Clock, Steps
from tests.sink import Answer, Sink, texts

LINGER = 0.5


def test_repeated_unexpected_errors_end_the_run_so_that_it_is_restarted(steps: Steps, clock: Clock) -> None:
    def surprise() -> None:
        raise LookupError("somebody's text")

    steps.home.session().prompt("x")
    asking(steps.service.flow, surprise)
    for _ in range(9):
        clock.forward(steps.until_idle())
    with pytest.raises(CollectorError, match=r"LookupError at test_trouble\.py") as caught:
        steps.until_idle()
    assert "somebody" not in str(caught.value)
    assert steps.service.describe()["problem"]["tries"] == 10


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux whose reading fails")
def test_held_files_that_cannot_be_read_for_a_while_do_not_end_the_run(home: Home, sink: Sink, clock: Clock) -> None:
    home.session().prompt("one")
    with Steps(home, sink, clock) as steps:
        steps.until_idle()
        index = steps.service.settings.state_path.with_name("state.held") / "index.json"
    index.parent.mkdir()
    index.symlink_to("/proc/self/mem")
    home.session().prompt("two")
    with Steps(home, sink, clock) as steps:
        steps.until_idle()
        problem = steps.service.describe()["problem"]
        assert (problem["kind"], "Cannot read what is held" in problem["reason"]) == ("state", True)
        assert texts(sink) == ["one"]
        index.unlink()
        clock.forward(60)
        steps.until_idle()
    assert texts(sink) == ["one", "two"]


def test_an_unexpected_error_in_one_source_does_not_stop_the_others(home: Home, sink: Sink, steps: Steps) -> None:
    good, bad = home.session(), home.session()
    good.prompt("good")
    bad.prompt("bad")
    key = f"~/.claude/projects/-work-app/{bad.path.name}"
    steps.state.entries[key] = Entry(
        Position(cast("int", 1.5), "", "")
    )  # an impossible offset, as only a bug of ours would write
    steps.until_idle()
    assert texts(sink) == ["good"]
    assert steps.service.describe()["problem"] is None


def test_a_single_unexpected_error_is_survived(sink: Sink, steps: Steps, clock: Clock) -> None:
    flow = steps.service.flow
    calls: list[int] = []

    def surprise_once() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise LookupError

    steps.home.session().prompt("after all")
    asking(flow, surprise_once)
    seconds = steps.until_idle()
    assert steps.service.describe()["last_error"] == "LookupError"
    clock.forward(seconds)
    steps.until_idle()
    assert texts(sink) == ["after all"]
    assert steps.service.describe()["last_error"] is None


def test_with_a_full_disk_delivery_goes_on_and_the_problem_is_reported(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    directory = Path(steps.given["state"]["path"]).parent
    aside = directory.rename(directory.with_name("aside"))
    directory.write_text("in the way, as a full disk would be")
    clock.forward(5)
    for text in ("two", "three"):
        session.prompt(text)
        steps.hint(session.path)
        clock.forward(LINGER)
        steps.until_idle()
    assert texts(sink) == ["one", "two", "three"]
    assert steps.service.describe()["problem"]["kind"] == "state"
    directory.unlink()
    aside.rename(directory)
    clock.forward(10)
    steps.until_idle()
    assert steps.service.describe()["problem"] is None
    assert steps.saved()[session.path.name] == session.path.stat().st_size


def test_repacking_the_state_changes_no_entry(home: Home, steps: Steps) -> None:
    home.with_everything()
    steps.until_idle()
    assert any(entry.skip for entry in steps.state.entries.values())
    before = dict(steps.state.entries)
    steps.state.repack()
    assert steps.state.entries == before


def test_offsets_acknowledged_before_the_sink_went_down_are_saved_meanwhile(
    home: Home, sink: Sink, clock: Clock
) -> None:
    """Otherwise a crash would send it again, and the main loop would spin until the next try."""
    slow = {"initial_interval": 30.0, "max_interval": 30.0, "max_wait": 0.0}
    with Steps(home, sink, clock, given={"batch": {"linger": LINGER, "max_events": 1}, "retry": slow}) as steps:
        session = home.session()
        session.prompt("before")
        steps.until_idle()
        session.prompt("taken")
        offset = session.path.stat().st_size
        session.prompt("not taken")
        sink.then = lambda request: Answer(200 if request.events[0]["text"] == "taken" else 401)
        steps.hint(session.path)
        clock.forward(LINGER)
        clock.forward(steps.until_idle())
        assert steps.service.describe()["problem"]["kind"] == "halted"
        assert steps.until_idle() > 5.0
        assert steps.saved()[session.path.name] == offset


def test_a_stop_while_a_bad_configuration_is_read_is_not_lost(home: Home, sink: Sink, clock: Clock) -> None:
    with Steps(home, sink, clock) as steps, ExitStack() as parts:
        service = steps.service

        def stopped_meanwhile() -> Settings:
            service.stop()
            raise ConfigurationError("bad")

        service._reread = stopped_meanwhile
        service.reload()
        service._do_reload(parts)
        assert service.interrupt.is_set


def test_constantly_changing_links_do_not_cause_constant_full_scans(
    home: Home, sink: Sink, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a full scan shows where a link leads. Here a full scan takes a second of CPU time."""
    seconds = itertools.count(0.0, 1.0)
    monkeypatch.setattr("time.thread_time", lambda: next(seconds))
    with Steps(home, sink, clock) as steps:
        session = home.session()
        session.prompt("once")
        steps.until_idle()
        link = session.path.with_name("link.jsonl")
        link.symlink_to(session.path)
        session.prompt("twice")
        steps.hint(link)
        clock.forward(LINGER)
        assert 10.0 < steps.until_idle() <= 50.0
        assert "twice" not in texts(sink)
        clock.forward(50.0)
        steps.until_idle()
        assert "twice" in texts(sink)


def test_events_that_overflowed_are_not_counted_as_missed_hints(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("first")
    steps.until_idle()
    session.prompt("second")
    clock.forward(10.0)
    steps.service.wake.doubt()
    clock.forward(LINGER)
    steps.until_idle()
    assert steps.service.describe()["watcher"]["missed_hints"] == 0


def test_a_full_disk_is_reported_at_once_with_its_start(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    steps.service._progress()
    directory = Path(steps.given["state"]["path"]).parent
    directory.rename(directory.with_name("aside"))
    directory.write_text("in the way, as a full disk would be")
    session.prompt("two")
    steps.hint(session.path)
    clock.forward(LINGER)
    clock.forward(steps.until_idle())
    steps.until_idle()
    assert steps.service._news != steps.service._told
    since = steps.service.describe()["problem"]["since"]
    clock.forward(5.0)
    assert steps.service.describe()["problem"]["since"] == since


def test_a_long_copy_of_a_held_file_feeds_the_watchdog(
    home: Home, sink: Sink, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state may be on another mount, with a slow disk and no hard links from here."""

    def across_mounts(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr("os.link", across_mounts)
    session = home.session()
    for _ in range(5):
        session.prompt("x" * 1_000_000)
    sink.then = Answer(401)
    looks = itertools.count(0.0)
    with Steps(home, sink, clock, notifier=Notifier(None, 120.0, lambda: next(looks))) as steps:
        before = next(looks)
        held = steps.service.flow.held
        steps.service.step()
        assert held.summary()["files"] == 1
        asked = next(looks) - before
        held.forget()
        monkeypatch.undo()
        clock.forward(30.0)
        before = next(looks)
        steps.service.step()
        assert asked >= next(looks) - before + 4
