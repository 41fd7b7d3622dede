"""Deadlines: work that overruns its deadline is interrupted; work that finishes in time is not."""

from __future__ import annotations

import threading

import pytest

from collector.delivery.deadlines import Deadlines

SOON, LATE, LONG = 0.05, 60.0, 10.0  # seconds


def watching() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "deadlines"}


def test_a_short_deadline_fires_while_a_longer_one_is_pending() -> None:
    deadlines, slow = Deadlines(), threading.Event()
    with deadlines.within(LATE, slow.set):
        for _ in range(2):  # after the first round, the thread sleeps until the late deadline
            quick = threading.Event()
            with deadlines.within(SOON, quick.set):
                assert quick.wait(LONG)
    assert not slow.is_set()


def test_work_that_ends_in_time_is_never_interrupted() -> None:
    deadlines, early, late = Deadlines(), threading.Event(), threading.Event()
    with deadlines.within(SOON, early.set):
        pass
    with deadlines.within(2 * SOON, late.set):
        assert late.wait(LONG)
    assert not early.is_set()


def test_one_thread_watches_all_deadlines() -> None:
    deadlines, known = Deadlines(), watching()
    with deadlines.within(LATE, lambda: None), deadlines.within(LATE, lambda: None):
        assert len(watching() - known) == 1


def test_the_thread_ends_with_the_last_deadline_and_a_new_one_starts_on_demand() -> None:
    deadlines, threads = Deadlines(), list[threading.Thread]()
    for _ in range(2):
        over = threading.Event()

        def break_off(over: threading.Event = over) -> None:
            threads.append(threading.current_thread())
            over.set()

        with deadlines.within(SOON, break_off):
            assert over.wait(LONG)
        threads[-1].join(LONG)
        assert not threads[-1].is_alive()
    assert len(set(threads)) == 2


def test_a_deadline_whose_thread_cannot_start_is_dropped_and_the_next_one_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    deadlines, never, over = Deadlines(), threading.Event(), threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError), deadlines.within(0.0, never.set):
            pass
    with deadlines.within(SOON, over.set):
        assert over.wait(1.0)
    assert not never.is_set()
