"""The load on a receiver: thousands of agents' batches over real HTTP, on one machine, in two acts.

    python -m tests.bench.fleet                               # the embedded store's receiver
    python -m tests.bench.fleet --sink clickhouse --url http://127.0.0.1:8123 --pid 4711

Steady: every agent has its own connection and sends its batches at times drawn over `--seconds`. After an outage: all
agents have an hour's events, and each comes back at a time drawn as `delivery.waiting` draws it after a long outage;
whatever is not accepted is tried again by the same rule. The sink itself renders the batches, which contain real events
of a generated backlog, with the agent's own ids. The same machine sends and receives, so the sender's share of the CPU
is printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from collector.delivery.compression import COMPRESSIONS
from collector.delivery.sink import Accepted, Answer, Request, Retry, Sink
from collector.delivery.sinks.registry import SINKS
from collector.delivery.waiting import backoff
from collector.flow.outcome import Sealed
from collector.settings.options import RetrySettings
from tests.bench.measure import SCRATCH, environment, made_backlog
from tests.sink import Sink as Recorder

HEADER_END = b"\r\n\r\n"
HEAD = (
    "| act | requests taken | events | took | events/s | wait p50 / p99 | turned away + dropped | refused "
    "| receiver's CPU per event | sender's CPU |"
)


@dataclass
class Figures:
    """The outcome of one act."""

    taken: int = 0
    events: int = 0
    turned_away: int = 0
    dropped: int = 0
    refused: int = 0
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    def row(self, name: str, cpu: float, own: float) -> str:
        """One line of the table."""
        quick, slow = statistics.median(self.waits), statistics.quantiles(self.waits, n=100)[98]
        return (
            f"| {name} | {self.taken:,} | {self.events:,} | {self.seconds:.0f} s | {self.events / self.seconds:,.0f} | "
            f"{1e3 * quick:.0f} / {1e3 * slow:.0f} ms | {self.turned_away:,} + {self.dropped:,} | {self.refused:,} | "
            f"{1e6 * cpu / max(1, self.events):.0f} us | {own:.0f} s |"
        )


def real_events(megabytes: int) -> list[bytes]:
    """Events as the agent sends them, from a generated backlog."""
    home = SCRATCH / "fleet-home"
    with Recorder() as sink:
        flags = ["--root", str(made_backlog(megabytes)), "--state", str(home / "state.json"), "--sink-url", sink.url]
        (home / "state.json").unlink(missing_ok=True)
        command = [sys.executable, "-m", "collector", "scan", *flags]
        subprocess.run(command, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return [line for request in sink.requests for line in request.body.splitlines() if line]


def of_agent(events: Sequence[bytes], agent: int, batch: int) -> list[Sealed]:
    """The same events as this agent would send them: with ids, messages and calls that no other agent has."""
    mine = f"{agent:05d}-{batch:03d}"
    made = []
    for body in events:
        start = body.index(b'"id":"') + 6
        new = blake2b(mine.encode() + body[start : start + 32], digest_size=16).hexdigest()
        changed = body[:start] + new.encode() + body[start + 32 :]
        for name in (b'"message_id":"msg_', b'"call_id":"toolu_'):
            changed = changed.replace(name, name + mine.encode())
        made.append(Sealed(new, changed, {}))
    return made


def on_the_wire(request: Request, url: str, extra: dict[str, str]) -> bytes:
    """A whole HTTP request."""
    parts = urlsplit(url)
    body = COMPRESSIONS["gzip"](request.body)
    target = (parts.path.rstrip("/") + request.path) or "/"
    target += f"?{urlencode(request.query)}" if request.query else ""
    headers = {"Host": parts.netloc, **request.headers, **extra, "Content-Encoding": "gzip"}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": str(len(body))}.items())
    return f"{request.method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body


async def exchanged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wire: bytes) -> Answer:
    """Sends one request and reads its answer."""
    writer.write(wire)
    head = (await reader.readuntil(HEADER_END)).decode("latin-1").lower()
    status = int(head.split(" ", 2)[1])
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    elif headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = b""
    return Answer(status, headers, body)


class Agent:
    """One agent's connection, and what the agent does when it is turned away."""

    def __init__(self, url: str, sink: Sink, figures: Figures, retry: RetrySettings, chance: random.Random) -> None:
        self._parts, self._sink, self._figures, self._retry, self._chance = urlsplit(url), sink, figures, retry, chance
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, wires: Sequence[bytes], events: int) -> None:
        """Sends a batch until it is accepted. The wait counts from the first try."""
        began, failures = time.monotonic(), 0
        while True:
            after = None
            try:
                verdicts = [self._sink.classify(await self._answer(wire)) for wire in wires]
            except (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError):
                self.close()
                self._figures.dropped += 1
            else:
                if all(isinstance(verdict, Accepted) for verdict in verdicts):
                    break
                retries = [verdict for verdict in verdicts if isinstance(verdict, Retry)]
                if not retries:
                    self._figures.refused += 1
                    return
                after = retries[0].after
                self._figures.turned_away += 1
            failures += 1
            await asyncio.sleep(backoff(failures, self._retry, after, uniform=self._chance.uniform))
        self._figures.waits.append(time.monotonic() - began)
        self._figures.taken += 1
        self._figures.events += events

    async def _answer(self, wire: bytes) -> Answer:
        async with asyncio.timeout(30):
            if self._streams is not None and (self._streams[0].at_eof() or self._streams[0].exception()):
                self.close()  # the receiver has closed it, which every client notices before it writes
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._parts.hostname, self._parts.port)
            return await exchanged(*self._streams, wire)

    def close(self) -> None:
        """Closes the connection."""
        if self._streams:
            self._streams[1].close()
        self._streams = None


Batch = tuple[list[bytes], int]


async def act(batches: Mapping[int, list[Batch]], span: float, given: Sent) -> Figures:
    """Has every agent send its batches, each no earlier than a time drawn from `span` seconds."""
    figures, began = Figures(), time.monotonic()

    async def live(number: int) -> None:
        chance = random.Random(number)
        agent = Agent(given.url, given.sink, figures, RetrySettings(), chance)
        mine = batches[number]
        try:
            for at, (wires, events) in zip(sorted(chance.uniform(0, span) for _ in mine), mine, strict=True):
                await asyncio.sleep(max(0.0, began + at - time.monotonic()))
                await agent.send(wires, events)
                if not given.keeps_connections:
                    agent.close()
        finally:
            agent.close()

    async with asyncio.TaskGroup() as group:
        for number in batches:
            group.create_task(live(number))
    figures.seconds = time.monotonic() - began
    return figures


@dataclass(frozen=True)
class Sent:
    """Where agents send to, how, and what."""

    url: str
    sink: Sink
    headers: dict[str, str]
    events: list[bytes]
    keeps_connections: bool

    def batch(self, agent: int, number: int, size: int) -> Batch:
        """One batch of one agent, ready to send."""
        start = (agent * 31 + number * size) % max(1, len(self.events) - size)
        sealed = of_agent(self.events[start : start + size], agent, number)
        key = blake2b(b"".join(event.id.encode() for event in sealed), digest_size=16).hexdigest()
        return [on_the_wire(self.sink.render(sealed, key), self.url, self.headers)], len(sealed)


@contextmanager
def receiver() -> Iterator[tuple[str, int]]:
    """Runs `collector receive` on a fresh database; yields its URL and its process id."""
    home = SCRATCH / "fleet-receiver"
    for path in home.glob("events.db*"):
        path.unlink()
    command = [sys.executable, "-m", "collector", "receive", "--port", "0", "--database", str(home / "events.db")]
    with subprocess.Popen(command, env=environment(home), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[2], process.pid
        finally:
            process.terminate()


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far, as Linux reports them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def own_cpu() -> float:
    """CPU seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=4, help="of each agent, in the steady act")
    parser.add_argument("--events", type=int, default=25, help="in a steady batch")
    parser.add_argument("--hour", type=int, default=500, help="events that an hour's outage leaves to each agent")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the steady act")
    parser.add_argument("--sink", default="http")
    parser.add_argument("--url", help="a receiver that runs already; default: collector receive, on a fresh database")
    parser.add_argument("--pid", type=int, help="its process, to count its CPU")
    parser.add_argument("--header", action="append", default=[], help="NAME=VALUE")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE, of the sink")
    parser.add_argument("--closing", action="store_true", help="close the connection after each batch")
    chosen = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kind = SINKS[chosen.sink]
    headers = dict(each.split("=", 1) for each in chosen.header)
    events = real_events(8)
    print(HEAD)

    def run(url: str, pid: int | None) -> None:
        given = Sent(
            url,
            kind.make(kind.options(**dict(each.split("=", 1) for each in chosen.option))),
            headers,
            events,
            not chosen.closing,
        )
        steady = {
            agent: [given.batch(agent, number, chosen.events) for number in range(chosen.batches)]
            for agent in range(chosen.agents)
        }
        knock = {agent: [given.batch(agent, 99, chosen.hour)] for agent in range(chosen.agents)}
        longest = RetrySettings().max_interval
        for name, made, span in (("steady", steady, chosen.seconds), ("after an outage", knock, longest)):
            before, own = cpu_of(pid) if pid else 0.0, own_cpu()
            figures = asyncio.run(act(made, span, given))
            print(figures.row(name, (cpu_of(pid) if pid else 0.0) - before, own_cpu() - own), flush=True)

    if chosen.url:
        run(chosen.url, chosen.pid)
    else:
        with receiver() as (url, pid):
            run(url, pid)


if __name__ == "__main__":
    main()
