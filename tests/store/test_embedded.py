"""The embedded store answers like a receiver, starts and stops inside a program, and leaves nothing behind."""

from __future__ import annotations

import itertools
import json
import os
import threading
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.store import inside
from collector.store.database import StoreError
from collector.store.limits import ReceiverLimits
from collector.store.report import asking, summarize
from collector.store.writer import Writer
from collector.way_out import limits_of, policy_of
from tests.agent import Agent
from tests.build import Home
from tests.service.process import wait_until
from tests.store.samples import NDJSON, event, lines, serving

LIMITS = ReceiverLimits()
FIRST, SECOND = event(), event()
REQUESTS: dict[str, tuple[bytes, dict[str, str]]] = {
    "events": (lines([FIRST, SECOND]), {"Content-Type": NDJSON}),
    "a repeat": (lines([FIRST, SECOND]), {"Content-Type": NDJSON}),
    "one that cannot be stored": (lines([event(), event(kind="")]), {"Content-Type": NDJSON}),
    "nothing": (b"", {"Content-Type": NDJSON}),
    "an array": (json.dumps([event()]).encode(), {"Content-Type": "application/json"}),
    "no JSON": (b"nonsense\n", {"Content-Type": NDJSON}),
    "an unknown type": (b"", {"Content-Type": "text/csv"}),
    "an unknown encoding": (b"", {"Content-Type": NDJSON, "Content-Encoding": "br"}),
    "too large": (b" " * (LIMITS.body_bytes + 1), {"Content-Type": NDJSON}),
}


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def test_it_answers_every_request_exactly_as_a_receiver_does(tmp_path: Path) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with inside.opened(here) as store, httpx.Client(transport=store) as near, serving(there) as far:
        answers = {
            name: [
                client.post(url, content=data, headers=headers)
                for client, url in ((near, inside.URL), (far.http, far.url))
            ]
            for name, (data, headers) in REQUESTS.items()
        }
    for name, (one, other) in answers.items():
        assert (name, one.status_code, one.json()) == (name, other.status_code, other.json())
        assert dict(other.headers).items() >= dict(one.headers).items(), name
    assert {one.status_code for one, _ in answers.values()} == {200, 400, 413, 415}
    assert summarize(here)["events"] == summarize(there)["events"] == 4


def test_it_can_be_started_and_stopped_again_and_again(tmp_path: Path) -> None:
    threads, open_files = threading.active_count(), descriptors()
    for number in range(1, 6):
        with inside.opened(tmp_path / "events.db") as store, httpx.Client(transport=store) as client:
            client.post(inside.URL, content=lines([event()]), headers={"Content-Type": NDJSON})
        assert summarize(tmp_path / "events.db")["events"] == number
        assert client.is_closed
    assert threading.active_count() <= threads  # threads left by an earlier test may have ended meanwhile
    assert descriptors() <= open_files


def test_a_request_after_it_was_closed_is_turned_away_at_once(tmp_path: Path) -> None:
    with inside.opened(tmp_path / "events.db") as store:
        pass
    answer = httpx.Client(transport=store).post(inside.URL, content=lines([event()]), headers={"Content-Type": NDJSON})
    assert answer.status_code == 503
    assert summarize(tmp_path / "events.db")["events"] == 0


def test_a_sender_that_times_out_and_sends_again_stores_nothing_twice(tmp_path: Path) -> None:
    path, sent = tmp_path / "events.db", lines([event()])
    with inside.opened(path) as store, closing(Writer(path)) as other, httpx.Client(transport=store) as client:
        with other.changing(), pytest.raises(httpx.ReadTimeout):
            client.post(inside.URL, content=sent, headers={"Content-Type": NDJSON}, timeout=0.05)
        assert client.post(inside.URL, content=sent, headers={"Content-Type": NDJSON}).status_code == 200
    assert summarize(path)["events"] == 1


def test_it_gets_larger_batches_and_a_smaller_window_than_other_sinks() -> None:
    def ways_of(url: str | None) -> tuple[int, int, int]:
        given = {"sink": {"url": url, "window": 3}, "batch": {"max_events": 10, "max_bytes": 600_000}}
        chosen = settings.load(None, given, sinks=SINKS)
        limits = limits_of(chosen)
        return policy_of(chosen).window, limits.max_events, limits.max_bytes

    assert ways_of(None) == (1, 20, 1_200_000)
    assert ways_of("http://127.0.0.1:9/") == (3, 10, 600_000)


def test_kill_9_loses_nothing_before_a_saved_offset(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    session = home.session()
    for number in range(300):
        session.prompt(f"prompt {number}")
    starts = [0, *itertools.accumulate(map(len, session.lines))][:-1]
    agent = Agent(home, None, {"COLLECTOR_BATCH__MAX_EVENTS": "2"})
    database = home.path / ".local" / "share" / "collector" / "events.db"

    def stored() -> set[int]:
        try:
            with asking(database) as connection:
                return {place for (place,) in connection.execute("SELECT body ->> '$.source.offset' FROM bodies")}
        except StoreError:  # not there yet
            return set()

    with agent.start(command="scan") as run:
        wait_until(lambda: run.process.poll() is not None or len(stored()) >= 40)
        assert run.process.poll() is None
        run.kill()
    [offset] = agent.offsets().values()
    assert offset
    assert stored() >= {line for line in starts if line < offset}
    again = agent.scan().assert_balanced()
    assert stored() == set(starts)
    assert again.ledger["delivered"] < 300


def test_it_stops_when_the_program_around_it_fails(tmp_path: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(KeyError), inside.opened(tmp_path / "events.db"):
        raise KeyError
    assert threading.active_count() <= threads


def test_a_database_that_cannot_be_opened_is_reported_at_the_start(tmp_path: Path) -> None:
    threads = threading.active_count()
    with pytest.raises(StoreError), inside.opened(tmp_path):
        pytest.fail("it started")
    assert threading.active_count() <= threads
