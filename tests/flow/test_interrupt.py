"""The interrupt: what is asked for stays asked for until it is taken back, and nobody waits for anybody."""

from __future__ import annotations

import threading

import pytest

from collector.flow.interrupt import Interrupt

PATIENCE = 30.0


def state(interrupt: Interrupt) -> tuple[bool, bool]:
    return interrupt.is_set, interrupt.is_urgent


def test_a_stop_is_asked_for_then_urgent_then_taken_back() -> None:
    interrupt = Interrupt()
    assert state(interrupt) == (False, False)
    interrupt.stop()
    assert state(interrupt) == (True, False)
    interrupt.stop_at_once()
    assert state(interrupt) == (True, True)
    interrupt.clear()
    assert state(interrupt) == (False, False)
    assert not interrupt.wait(0.0)


def test_whoever_waits_is_woken() -> None:
    interrupt = Interrupt()
    woken: list[bool] = []
    waiter = threading.Thread(target=lambda: woken.append(interrupt.wait(PATIENCE)))
    waiter.start()
    interrupt.stop()
    waiter.join(PATIENCE)
    assert woken == [True]


def test_taking_it_back_takes_no_lock_that_a_signal_handler_would_wait_for() -> None:
    class Locking(threading.Event):
        def clear(self) -> None:
            pytest.fail("a signal that comes now would wait for this thread, in this thread")

    interrupt = Interrupt(Locking)
    interrupt.stop()
    interrupt.clear()
    assert not interrupt.is_set
