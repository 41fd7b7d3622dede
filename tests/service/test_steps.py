"""When the service does what: hints, rescans, waiting, saving, failures. Time passes only when the test clock moves."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from pathlib import Path

import pytest

from collector.service.notify import Notifier
from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Answer, Sink, only_with_token, texts

LINGER = 0.5
RESCAN = 60.0 * 1.1


def test_the_first_step_sends_everything_there_is(home: Home, sink: Sink, steps: Steps) -> None:
    home.session().prompt("one")
    home.session(project="-work-other").prompt("two")
    wait = steps.until_idle()
    assert sorted(texts(sink)) == ["one", "two"]
    assert 60 * 0.9 - 1 <= wait <= RESCAN


def test_discovery_feeds_the_watchdog_at_every_directory(home: Home, sink: Sink, clock: Clock) -> None:
    """A slow file system is not a hang. Here each look at the clock takes a minute, and the watchdog allows two."""
    for number in range(10):
        home.session(project=f"-work-{number}").prompt("x")
    minutes = itertools.count(0.0, 60.0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        address = f"@collector-test-slow-{os.getpid()}"
        manager.bind("\0" + address[1:])
        told: list[bytes] = []
        listener = threading.Thread(target=lambda: told.extend(iter(lambda: manager.recv(100), b"that is all")))
        listener.start()
        with Steps(home, sink, clock, notifier=Notifier(address, 120.0, lambda: next(minutes))) as steps:
            steps.service.step()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"that is all", "\0" + address[1:])
        listener.join(5)
        assert told[:10] == [b"WATCHDOG=1"] * 10
    assert len(sink.ids()) == 10


def test_a_hint_lingers_for_more_and_then_only_hinted_files_are_read(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    hinted, other = home.session(), home.session()
    hinted.prompt("first")
    steps.until_idle()
    hinted.prompt("second")
    other.prompt("unheard of")
    steps.hint(hinted.path)
    assert steps.until_idle() == pytest.approx(LINGER)
    clock.forward(LINGER)
    steps.until_idle()
    assert texts(sink) == ["first", "second"]


def test_a_rescan_finds_unhinted_changes_and_counts_them_as_missed(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt("first")
    steps.until_idle()
    session.prompt("second")
    clock.forward(RESCAN)
    steps.until_idle()
    assert texts(sink) == ["first", "second"]
    assert steps.service.describe()["watcher"]["missed_hints"] == 1


def test_a_hinted_change_is_not_counted_as_missed(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("first")
    steps.until_idle()
    session.prompt("second")
    clock.forward(RESCAN)
    steps.hint(session.path)
    steps.until_idle()
    assert steps.service.describe()["watcher"]["missed_hints"] == 0


def test_reading_hinted_files_forgets_no_other_source(home: Home, steps: Steps, clock: Clock) -> None:
    one, two = home.session(), home.session()
    one.prompt("one")
    two.prompt("two")
    steps.until_idle()
    one.prompt("more")
    steps.hint(one.path)
    clock.forward(LINGER)
    steps.until_idle()
    assert not any(entry.missing_since for entry in steps.state.entries.values())
    assert steps.service.describe()["priorities"]["P0"]["sources"] == 2


def test_reading_hinted_files_keeps_the_lag_of_other_sources(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    whole, half = home.session(), home.session()
    whole.prompt("whole")
    half.path.write_bytes(b'{"type": "user"')
    steps.until_idle()
    whole.prompt("more")
    steps.hint(whole.path)
    clock.forward(LINGER)
    steps.until_idle()
    report = steps.service.describe()
    assert report["lag"] == half.path.stat().st_size
    assert report["priorities"]["P0"] == {"sources": 2, "behind": 1, "lag": half.path.stat().st_size}


def test_a_moved_session_keeps_its_offset(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("first")
    steps.until_idle()
    target = home.project("-work-moved") / session.path.name
    target.parent.mkdir(parents=True)
    before, session.path = session.path, session.path.rename(target)
    session.prompt("second")
    steps.hint(before, target)
    clock.forward(LINGER)
    steps.until_idle()
    assert texts(sink) == ["first", "second"]


def test_a_hint_at_a_directory_covers_everything_below_it(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    steps.until_idle()
    session = home.session(project="-work-new")
    session.prompt("in a new project")
    session.subagent().prompt("and below it")
    steps.hint(session.path.parent)
    clock.forward(LINGER)
    steps.until_idle()
    assert texts(sink) == ["in a new project", "and below it"]


def test_a_hint_at_a_link_asks_for_a_full_scan(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("once")
    steps.until_idle()
    session.prompt("twice")
    link = session.path.with_name("link.jsonl")
    link.symlink_to(session.path)
    steps.hint(link)
    clock.forward(LINGER)
    steps.until_idle()
    assert "twice" in texts(sink)


def test_rare_commits_are_saved_at_once_and_frequent_ones_together(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("first")
    steps.until_idle()
    clock.forward(5)
    session.prompt("rare")
    steps.hint(session.path)
    clock.forward(LINGER)
    steps.until_idle()
    rare = session.path.stat().st_size
    assert steps.saved()[session.path.name] == rare
    session.prompt("soon after")
    steps.hint(session.path)
    clock.forward(LINGER)
    assert steps.until_idle() <= 1.0
    assert steps.saved()[session.path.name] == rare
    clock.forward(1.0)
    steps.until_idle()
    assert steps.saved()[session.path.name] == session.path.stat().st_size


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_a_jump_of_the_wall_clock_causes_a_full_scan(
    home: Home, sink: Sink, steps: Steps, clock: Clock, seconds: float
) -> None:
    steps.until_idle()
    home.session().prompt("written while nobody looked")
    clock.set(seconds)
    steps.until_idle()
    assert texts(sink) == ["written while nobody looked"]


def test_a_halted_sink_is_retried_ever_less_often_and_loses_nothing(
    home: Home, sink: Sink, steps: Steps, clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    sink.then = Answer(401)
    home.session().prompt("kept")
    waits = []
    for _ in range(8):
        waits.append(steps.until_idle())
        clock.forward(waits[-1])
    assert waits[0] <= 1.0 < 15.0 <= waits[-1] <= 30.0
    problem = steps.service.describe()["problem"]
    assert problem["kind"] == "halted"
    assert "sink.token_file" in problem["reason"]
    assert "".join(capfd.readouterr()).count("a person must act") == 1
    sink.then = Answer()
    clock.forward(30.0)
    steps.until_idle()
    assert texts(sink) == ["kept"]
    assert steps.service.describe()["problem"] is None


def test_a_halted_sink_is_retried_as_soon_as_the_token_changes(
    home: Home, sink: Sink, clock: Clock, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    sink.then = only_with_token("new")
    home.session().prompt("kept")
    given = {"sink": {"url": sink.url, "token_file": str(token)}}
    with Steps(home, sink, clock, given=given) as steps:
        clock.forward(steps.until_idle())
        token.write_text("new")
        assert steps.service.step() == 0.0
        assert steps.service.is_interrupted


def test_new_sources_are_found_while_the_sink_is_down(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    sink.then = Answer(503)
    home.session().prompt("old")
    clock.forward(steps.until_idle())
    home.session().prompt("new")
    assert steps.until_idle() <= 2.0
    report = steps.service.describe()
    assert report["problem"]["kind"] == "unavailable"
    assert report["priorities"]["P0"]["behind"] == 2


def test_a_sink_that_is_down_is_retried_ever_less_often_even_with_max_wait_zero(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    assert steps.service.settings.retry.max_wait == 0.0
    sink.then = Answer(503)
    home.session().prompt("one")
    for _ in range(8):
        clock.forward(steps.until_idle())
    assert steps.until_idle() >= 15.0


def test_hints_do_not_hurry_a_sink_that_is_down(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    sink.then = Answer(401)
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    asked = len(sink.posts)
    session.prompt("two")
    steps.hint(session.path)
    steps.until_idle()
    assert len(sink.posts) == asked
