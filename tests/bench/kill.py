"""kill -9 three times under a slow sink: what is lost, what is sent twice, and what remains after deduplication."""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from itertools import pairwise

from tests.agent import Agent
from tests.bench.measure import SCRATCH, made_backlog, row
from tests.build import Home
from tests.sink import Answer, Request, Sink


def slow(closing: threading.Event, seconds: float) -> Answer:
    """An answer that takes this many seconds."""
    closing.wait(seconds)
    return Answer()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.kill", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0.1, help="how long the sink takes for an answer")
    given = parser.parse_args()
    root = made_backlog(given.megabytes)
    directory = SCRATCH / "kill"
    shutil.rmtree(directory, ignore_errors=True)

    def agent(sink: Sink, name: str) -> Agent:
        agent = Agent(Home(directory / name), sink)
        agent.home.root = root
        agent.patience = 600
        return agent

    with Sink() as sink:
        result = agent(sink, "undisturbed").scan()
        assert result.code in {0, 3}, result.stderr
        expected = set(sink.ids())
        batches = len(sink.posts)

    closing = threading.Event()
    with Sink(then=lambda request: slow(closing, given.seconds)) as sink:
        killed = agent(sink, "killed")
        kills = [0.0]
        for _ in range(3):
            with killed.start(command="scan") as running:
                already = len(sink.posts)
                sink.wait_for(lambda: len(sink.posts) >= already + max(2, batches // 5), timeout=120)  # noqa: B023
                running.kill()
                kills.append(time.monotonic())
        closing.set()
        sink.clear_script()
        result = killed.scan()
        assert result.code in {0, 3}, result.stderr
        found = sink.ids()
        repeated = [repeats_after(sink.posts, since, moment) for since, moment in pairwise(kills)]
    unique = set(found)
    sent = [place for request in sink.posts for place in places(request)]
    share = 100 * (len(sent) - len(set(sent))) / len(set(sent))
    figures = (
        f"**{len(expected - unique)} lost; {share:.1f} % repeated ({repeated} requests after the three kills; "
        f"a window is 4); {len(unique - expected)} too many after dedup**"
    )
    row("kill -9 three times under a slow sink", "0 lost; <= two windows repeated per kill; 0 after dedup", figures)


def places(request: Request) -> set[tuple[str, int]]:
    """Where the events of a request were read. Ids would also count forks, which repeat ids without any kill."""
    return {(event["source"]["path"], event["source"]["offset"]) for event in request.events}


def repeats_after(requests: list[Request], since: float, moment: float) -> int:
    """How many requests between two kills contain lines that were sent again after the second."""
    again = {place for request in requests if request.arrived >= moment for place in places(request)}
    return sum(since <= request.arrived < moment and not again.isdisjoint(places(request)) for request in requests)


if __name__ == "__main__":
    main()
