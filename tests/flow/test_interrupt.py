"""The interrupt: a request to stop lasts until it is cleared, and neither side ever waits for a lock."""

from __future__ import annotations

import threading

import pytest

from collector.flow.interrupt import Interrupt

PATIENCE = 30.0


def state(interrupt: Interrupt) -> tuple[bool, bool]:
    return interrupt.is_set, interrupt.is_urgent


def test_a_stop_can_become_urgent_and_be_cleared() -> None:
    interrupt = Interrupt()
    assert state(interrupt) == (False, False)
    interrupt.stop()
    assert state(interrupt) == (True, False)
    interrupt.stop_at_once()
    assert state(interrupt) == (True, True)
    interrupt.clear()
    assert state(interrupt) == (False, False)
    assert not interrupt.wait(0.0)


def test_a_waiting_thread_is_woken() -> None:
    interrupt = Interrupt()
    woken: list[bool] = []
    waiter = threading.Thread(target=lambda: woken.append(interrupt.wait(PATIENCE)))
    waiter.start()
    interrupt.stop()
    waiter.join(PATIENCE)
    assert woken == [True]


def test_clearing_takes_no_lock_that_a_signal_handler_could_wait_for() -> None:
    class Locking(threading.Event):
        def clear(self) -> None:
            pytest.fail("a signal that comes now would wait for this thread, in this thread")

    interrupt = Interrupt(Locking)
    interrupt.stop()
    interrupt.clear()
    assert not interrupt.is_set
