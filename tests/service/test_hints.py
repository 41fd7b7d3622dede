"""The waker: collects hints, and wakes the thread that waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from collector.service.hints import MAX_PATHS, Waker
from tests.sink import PATIENCE


@pytest.fixture
def wake() -> Iterator[Waker]:
    wake = Waker()
    yield wake
    wake.close()


def test_each_hint_is_taken_only_once(wake: Waker) -> None:
    wake.hint("/a")
    wake.hint("/b")
    wake.hint("/a")
    assert wake.take() == (frozenset({"/a", "/b"}), False)
    assert wake.take() == (frozenset(), False)
    assert wake.since is None


def test_the_linger_time_counts_from_the_first_hint() -> None:
    now = [10.0]
    wake = Waker(lambda: now[0])
    wake.hint("/a")
    now[0] = 20.0
    wake.hint("/b")
    assert wake.since == 10.0
    wake.close()


def test_too_many_hints_ask_for_a_full_scan(wake: Waker) -> None:
    for number in range(MAX_PATHS + 1):
        wake.hint(f"/{number}")
    hints = wake.take()
    assert hints.is_everything
    assert len(hints.paths) == MAX_PATHS


def test_a_ring_before_the_wait_still_ends_it(wake: Waker) -> None:
    wake.ring()
    started = time.monotonic()
    wake.wait(PATIENCE)
    assert time.monotonic() - started < PATIENCE


def test_a_ring_from_another_thread_ends_the_wait(wake: Waker) -> None:
    threading.Thread(target=wake.ring).start()
    started = time.monotonic()
    wake.wait(PATIENCE)
    assert time.monotonic() - started < PATIENCE


def test_any_number_of_rings_never_blocks(wake: Waker) -> None:
    for _ in range(100_000):
        wake.ring()
    wake.wait(PATIENCE)
