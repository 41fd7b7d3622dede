"""A long run under random faults: writers keep appending, the sink and the files misbehave, the agent is killed.

    python -m tests.faults.soak --minutes 30        # `make soak` runs it too; SOAK_MINUTES changes its length

Kills happen only in the first third, so that one process lives through the rest and its memory can be judged. At the
end everything calms down, and each record must have arrived under one id or be quarantined.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.agent import Agent, Running
from tests.build import Home
from tests.faults.writers import POISON, Writer
from tests.model.world import marks
from tests.sink import Answer, Request, Sink, drip

ENVIRONMENT = {
    "COLLECTOR_SINK__TIMEOUT": "1",
    "COLLECTOR_SINK__CONNECT_TIMEOUT": "1",
    "COLLECTOR_RETRY__MAX_INTERVAL": "0.5",
    "COLLECTOR_RUN__RESCAN_INTERVAL": "5",
    "COLLECTOR_HEARTBEAT__INTERVAL": "0",
    "COLLECTOR_BATCH__MAX_EVENTS": "50",
}
LIMIT = 30_000
MOODS: dict[str, Answer] = {
    "well": Answer(),
    "down": Answer(503),
    "busy": Answer(429, {"Retry-After": "1"}),
    "broken": Answer(500),
    "locked": Answer(401),
    "elsewhere": Answer(404),
    "moved": Answer(307, {"Location": "http://127.0.0.1:9/"}),
    "closes": Answer(ending="closed"),
    "cut short": Answer(ending="cut", is_stored=False),
    "garbage": Answer(200, body=b"<html>\xff"),
    "stores and says nothing": Answer(503, is_stored=True),
    "dribbles": drip(),
    "small": Answer(413),
    "picky": Answer(400),
    "rejects": Answer(200),
}


@dataclass
class Found:
    """What the sink has stored."""

    ids: dict[str, set[str]] = field(default_factory=dict)  # mark -> the ids it arrived under
    stored: int = 0
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class MoodySink(Sink):
    """A sink whose mood changes. It remembers only marks and ids, so that hours of running fit into memory."""

    def __init__(self) -> None:
        super().__init__(then=self.judge)
        self.found = Found()
        self.mood = "well"

    def judge(self, request: Request) -> Answer:
        """Answers according to the mood, and counts what that answer stores."""
        answer, events = MOODS[self.mood], request.events
        poisoned = [event["id"] for event in events if f"{POISON}>>" in event.get("text", "")]
        refused: set[str] = set()
        if (self.mood == "small" and len(request.body) <= LIMIT) or (self.mood == "picky" and not poisoned):
            answer = Answer()
        elif self.mood == "rejects":
            refused = set(poisoned)
            named = ",".join(f'{{"id":"{each}","reason":"poison"}}' for each in poisoned)
            answer = Answer(200, body=f'{{"accepted":0,"rejected":[{named}]}}'.encode())
        with self.found.lock:
            self.found.requests += 1
            for event in events if answer.stores() else ():
                if event["id"] not in refused:
                    self.found.stored += 1
                    for mark in marks(event.get("text", "")):
                        self.found.ids.setdefault(mark, set()).add(event["id"])
        self.requests.clear()
        self.answers.clear()
        return answer


@dataclass
class Figures:
    """What a soak found."""

    minutes: float
    written: int = 0
    lost: list[str] = field(default_factory=list)
    with_two_ids: list[str] = field(default_factory=list)
    repeated: int = 0
    quarantined: int = 0
    innocent: int = 0
    requests: int = 0
    kills: int = 0
    moods: int = 0
    file_faults: dict[str, int] = field(default_factory=dict)
    rss: list[tuple[float, float]] = field(
        default_factory=list
    )  # (seconds, MB) of the last process, which lives longest

    @property
    def growth(self) -> float:
        """Memory growth in MB an hour, over the last half of the last process's life."""
        half = self.rss[len(self.rss) // 2 :]
        return statistics.linear_regression(*zip(*half, strict=True)).slope * 3600 if len(half) > 2 else 0.0

    def lines(self) -> list[str]:
        """The figures as text for people."""
        memory = [megabytes for _, megabytes in self.rss]
        faults = ", ".join(f"{count} x {name}" for name, count in sorted(self.file_faults.items()))
        happened = f"{self.kills} kills, {self.moods} changes of the sink's mood"
        result = f"lost {len(self.lost)}, under two ids {len(self.with_two_ids)}, repeated {self.repeated}"
        tenths = [memory[len(memory) * part // 10 : len(memory) * (part + 1) // 10] for part in range(10)]
        medians = " ".join(f"{statistics.median(part):.0f}" for part in tenths if part)
        growth = f"{self.growth:+.1f} MB an hour over the last half of {self.rss[-1][0] / 60:.0f} minutes"
        return [
            f"{self.minutes:.1f} minutes, {self.written} records, {self.requests} requests, {happened}",
            f"file faults: {faults}",
            f"{result}, quarantined {self.quarantined}, of them not poison {self.innocent}",
            f"memory: {memory[0]:.0f} MB at first, {max(memory):.0f} at most, {memory[-1]:.0f} at last, {growth}",
            f"memory, medians of tenths: {medians} MB",
        ]


def soak(minutes: float, directory: Path, seed: int) -> Figures:
    """Runs for this many minutes and returns what was found."""
    chance, figures = random.Random(seed), Figures(minutes)
    home = Home(directory)
    with MoodySink() as sink:
        agent = Agent(home, sink, ENVIRONMENT)
        writers = [Writer(home, number, seed) for number in range(4)]
        agent.is_warm = False  # its memory is watched
        running = agent.start()
        started = born = time.monotonic()
        try:
            for writer in writers:
                writer.start()
            while (elapsed := time.monotonic() - started) < minutes * 60:
                _change(sink, chance)
                figures.moods += 1
                until = time.monotonic() + chance.uniform(0.5, 6)
                while time.monotonic() < until:
                    time.sleep(0.5)
                    assert running.process.poll() is None, running.stderr[-3000:]
                    figures.rss.append((time.monotonic() - born, resident(running.process.pid)))
                if elapsed < minutes * 20 and chance.random() < 0.15:
                    running.stop(signal.SIGKILL)
                    running, born = agent.start(), time.monotonic()
                    figures.kills, figures.rss = figures.kills + 1, []
        finally:
            for writer in writers:
                writer.stop()
            sink.mood = "well"
        _settle(sink, agent, writers, figures, running)
    return figures


def _change(sink: MoodySink, chance: random.Random) -> None:
    sink.mood = "well" if chance.random() < 0.4 else chance.choice(list(MOODS))
    if chance.random() < 0.1:
        sink.down()
        time.sleep(chance.uniform(0, 2))
        sink.up()


def _settle(sink: MoodySink, agent: Agent, writers: list[Writer], figures: Figures, running: Running) -> None:
    """Waits until everything has arrived, then counts."""
    written = {mark for writer in writers for mark in writer.written}
    deadline = time.monotonic() + 120
    with running:
        while time.monotonic() < deadline and _missing(sink, agent, written):
            time.sleep(0.5)
    figures.lost = sorted(_missing(sink, agent, written))
    found = sink.found
    figures.written, figures.requests = len(written), found.requests
    figures.with_two_ids = [mark for mark, ids in found.ids.items() if len(ids) > 1]
    figures.repeated = found.stored - sum(map(len, found.ids.values()))
    aside = written & kept_aside(agent)
    figures.quarantined, figures.innocent = len(aside), sum(not mark.endswith(POISON) for mark in aside)
    for writer in writers:
        for name, count in writer.faults.items():
            figures.file_faults[name] = figures.file_faults.get(name, 0) + count


def _missing(sink: MoodySink, agent: Agent, written: set[str]) -> set[str]:
    with sink.found.lock:
        missing = written - sink.found.ids.keys()
    return missing - kept_aside(agent) if missing else missing


def kept_aside(agent: Agent) -> set[str]:
    """The marks in the quarantine."""
    paths = agent.directory.glob("*quarantine*")
    return {mark for path in paths for mark in marks(path.read_text(errors="replace"))}


def resident(pid: int) -> float:
    """The resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("SOAK_MINUTES", "30")))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="collector-soak-") as directory:
        figures = soak(given.minutes, Path(directory), given.seed)
    print(f"seed {given.seed}", *figures.lines(), sep="\n")
    if figures.lost or figures.with_two_ids:
        raise SystemExit(f"lost: {figures.lost[:20]}; under two ids: {figures.with_two_ids[:20]}")


if __name__ == "__main__":
    main()
