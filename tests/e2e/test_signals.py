"""A scan that is asked to stop ends at once, loses nothing, and does not claim that everything was acknowledged."""

from __future__ import annotations

import signal

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import Answer, Sink

ENDS_WITH = {signal.SIGTERM: 3, signal.SIGINT: 130}
LONG_WAITS = {
    "COLLECTOR_RETRY__INITIAL_INTERVAL": "600",
    "COLLECTOR_RETRY__MAX_INTERVAL": "600",
    "COLLECTOR_SINK__TIMEOUT": "600",
}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("answer", [Answer(503), Answer(ending="silence")], ids=["waiting to try again", "in flight"])
def test_a_scan_stops_when_asked_and_the_next_one_sends_the_rest(
    home: Home, sink: Sink, how: signal.Signals, answer: Answer
) -> None:
    session = home.session()
    for number in range(5):
        session.prompt(f"prompt {number}")
    sink.then = answer
    agent = Agent(home, sink, LONG_WAITS | {"COLLECTOR_RUN__SHUTDOWN_TIMEOUT": "0.5"})
    with agent.start("--max-wait", "600", command="scan") as running:
        sink.wait_for(lambda: sink.posts)
        code = running.stop(how)
        assert "Traceback" not in running.stderr
    sink.then = Answer()
    assert agent.scan().code == 0
    assert [event["text"] for event in sink.events] == [f"prompt {number}" for number in range(5)]
    assert code == ENDS_WITH[how]
