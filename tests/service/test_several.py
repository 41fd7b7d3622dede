"""Several sinks in one process: how their services share one notifier, and how their failures become one."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback

import pytest

from collector.errors import SinkUnavailable, StateLocked, Stopped
from collector.service.notify import Notifier
from collector.service.several import SinksFailed, side_by_side, voices
from tests.service.steps import Clock
from tests.sink import PATIENCE


class Heard(Notifier):
    """Records the messages it would send."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("nowhere", 30.0, clock.monotonic)
        self.messages: list[str] = []

    def _send(self, message: str) -> None:
        self.messages.append(message.partition("\n")[0])


def test_the_manager_is_told_only_what_is_true_of_all_services() -> None:
    clock = Clock()
    manager = Heard(clock)
    voice = voices(manager, 30.0, ["a", "b"], clock.monotonic)
    voice["a"].ready()
    assert manager.messages == []
    voice["b"].ready()
    voice["b"].reloading()
    voice["a"].reloading()
    voice["a"].ready()
    assert manager.messages == ["READY=1", "RELOADING=1"]
    voice["b"].ready()
    voice["a"].status("nothing waiting")
    voice["b"].status("lag 3 MB")
    assert manager.messages[2:] == ["READY=1", "STATUS=a: nothing waiting", "STATUS=a: nothing waiting; b: lag 3 MB"]


def test_one_hanging_service_stops_feeding_the_watchdog() -> None:
    clock = Clock()
    manager = Heard(clock)
    voice = voices(manager, 30.0, ["a", "b"], clock.monotonic)
    for fed in (2, 3, 3, 3):
        clock.forward(10)
        voice["a"].alive()
        if fed == 2:
            voice["b"].alive()
    assert manager.messages == ["WATCHDOG=1"] * 3  # and no fourth one: by then `b` has been silent for 30 seconds


def test_a_single_service_uses_the_notifier_directly() -> None:
    manager = Heard(Clock())
    assert voices(manager, 30.0, [""]) == {"": manager}


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([Stopped("s"), SinkUnavailable("u")], 75),
        ([SinkUnavailable("u"), StateLocked("l"), Stopped("s")], StateLocked.exit_code),
        ([Stopped("s")], 3),
    ],
)
def test_every_job_finishes_and_the_worst_failure_decides_the_exit_code(errors: list[Exception], code: int) -> None:
    done = threading.Event()

    def fails(error: Exception) -> None:
        raise error

    jobs = {f"sink {number}": lambda error=error: fails(error) for number, error in enumerate(errors)}
    with pytest.raises(SinksFailed) as caught:
        side_by_side({**jobs, "fine": done.set})
    assert done.is_set()
    assert caught.value.exit_code == code
    assert str(caught.value).splitlines() == [f"sink {number}: {error}" for number, error in enumerate(errors)]


def test_a_signal_that_did_not_interrupt_the_waiting_thread_is_heard() -> None:
    is_heard, main = threading.Event(), threading.main_thread().ident
    answers: list[bool] = []

    def job() -> None:
        seen = 0
        while seen < 1000:  # until it surely waits for this thread
            assert main is not None
            seen += "join" in {frame.name for frame in traceback.extract_stack(sys._current_frames()[main])[-2:]}
            time.sleep(0)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        answers.append(is_heard.wait(PATIENCE))

    before = signal.signal(signal.SIGUSR1, lambda *_: is_heard.set())
    try:
        side_by_side({"one": job})
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert answers == [True]


def test_an_unexpected_error_is_raised_unchanged() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side({"a": lambda: 1 / 0, "b": lambda: None})  # type: ignore[dict-item]
