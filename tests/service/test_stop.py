"""A stop while the sink does not answer: the first one waits, the second one does not."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading

from tests.agent import Agent
from tests.build import Home
from tests.service.process import serving, wait_until
from tests.sink import Answer, Sink


def test_a_second_stop_does_not_wait_for_the_sink(agent: Agent, home: Home, sink: Sink) -> None:
    home.session().prompt("one")
    sink.then = Answer(held=threading.Event())
    with agent.start(COLLECTOR_RUN__SHUTDOWN_TIMEOUT="600") as running:
        sink.wait_for(lambda: sink.posts)
        for _ in range(100):  # signals sent at the same moment merge into one
            running.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.process.wait(0.2)
                break
        assert running.process.poll() in (0, -signal.SIGTERM)  # the last signal may arrive after the handlers are gone
    assert '"event": "stopped"' in running.stderr
    assert not agent.state.exists()


def test_a_reload_clears_its_interrupt(home: Home, sink: Sink) -> None:
    with serving(home, sink) as service:
        wait_until(lambda: service.passes.seen.at)
        service.reload()
        wait_until(lambda: not service.interrupt.is_set and not service.is_interrupted)
        home.session().prompt("after it")
        service.wake.doubt()
        sink.wait_for(lambda: sink.ids())
