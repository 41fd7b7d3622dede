"""Batches that queue for the disk are committed together, and each gets its own answer."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from collector.store.body import Form, Refusal
from collector.store.database import StoreUnavailable
from collector.store.limits import ReceiverLimits
from collector.store.removing import Choice
from collector.store.report import summarize
from collector.store.rows import Row
from collector.store.worker import MAX_TOGETHER, Worker
from collector.store.writer import Writer
from collector.store.writing import Stored
from tests.service.process import wait_until
from tests.store.samples import Event, event, lines, row_of

PLAIN = Form(is_array=False, encoding="identity")
BAD = b"bad"


class SlowDisk(Writer):
    """A database that waits for `may_go_on` before it writes, and fails on one bad event."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, busy_seconds=0)
        self.together: list[int] = []
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def store_all(self, batches: Sequence[Iterable[Row]]) -> list[Stored]:
        self.together.append(len(batches))
        self.begun.set()
        assert self.may_go_on.wait(10)
        if any(BAD in row.body for rows in batches for row in rows):
            raise ZeroDivisionError
        return super().store_all(batches)


def body(*events: Event) -> bytes:
    return lines(events or [event()])


def test_waiting_batches_are_committed_together(database: Path) -> None:
    with closing(SlowDisk(database)) as disk, Worker(disk, ReceiverLimits()) as worker:
        first = worker.submit(body(), PLAIN)
        assert disk.begun.wait(10)
        waiting = [worker.submit(body(event(), event()), PLAIN) for _ in range(MAX_TOGETHER + 2)]
        disk.may_go_on.set()
        assert first.result(10).stored == (1, 0)
        assert {future.result(10).stored for future in waiting} == {Stored(2, 0)}
        assert disk.together == [1, MAX_TOGETHER, 2]


def test_repeats_across_batches_committed_together_are_recognized(database: Path) -> None:
    repeated = event()
    with closing(SlowDisk(database)) as disk, Worker(disk, ReceiverLimits()) as worker:
        futures = [worker.submit(body(repeated), PLAIN) for _ in range(4)]
        disk.may_go_on.set()
        assert [future.result(10).stored for future in futures] == [(1, 0), (0, 1), (0, 1), (0, 1)]


def test_an_unexpected_error_costs_only_the_batch_that_caused_it(database: Path) -> None:
    with closing(SlowDisk(database)) as disk, Worker(disk, ReceiverLimits()) as worker:
        good = worker.submit(body(), PLAIN)
        assert disk.begun.wait(10)
        bad = worker.submit(body(event(text=BAD.decode())), PLAIN)
        unreadable = worker.submit(b"garbage", PLAIN)
        late = worker.submit(body(), PLAIN)
        disk.may_go_on.set()
        assert good.result(10).stored == late.result(10).stored == (1, 0)
        with pytest.raises(ZeroDivisionError):
            bad.result(10)
        with pytest.raises(Refusal):
            unreadable.result(10)
    assert summarize(database)["events"] == 2


def test_every_batch_fails_when_the_database_cannot_be_written(database: Path) -> None:
    with (
        closing(SlowDisk(database)) as disk,
        closing(Writer(database)) as other,
        Worker(disk, ReceiverLimits()) as worker,
    ):
        futures = [worker.submit(body(), PLAIN) for _ in range(3)]
        with other._transaction():
            disk.may_go_on.set()
            for future in futures:
                with pytest.raises(StoreUnavailable):
                    future.result(10)
    assert summarize(database)["events"] == 0


def test_a_cancelled_batch_is_not_stored_and_harms_nobody(database: Path) -> None:
    with closing(SlowDisk(database)) as disk, Worker(disk, ReceiverLimits()) as worker:
        first = worker.submit(body(), PLAIN)
        assert disk.begun.wait(10)
        assert worker.submit(body(), PLAIN).cancel()
        assert not first.cancel()
        disk.may_go_on.set()
        assert worker.submit(body(), PLAIN).result(10).stored == (1, 0)
    assert summarize(database)["events"] == 2


def test_a_batch_that_would_wait_too_long_is_turned_away(database: Path) -> None:
    """Batches that fit into the next transaction are let in. From half the waiting time on, no more are, and nobody
    waits longer than the whole of it. Nothing that was turned away is stored."""
    now, limits = [0.0], ReceiverLimits(wait_seconds=20.0)
    with closing(SlowDisk(database)) as disk, Worker(disk, limits, clock=lambda: now[0]) as worker:
        first = worker.submit(body(), PLAIN)
        assert disk.begun.wait(10)
        early = [worker.submit(body(), PLAIN) for _ in range(MAX_TOGETHER - 1)]
        now[0] = 11.0
        in_time = worker.submit(body(), PLAIN)
        with pytest.raises(Refusal) as turned_away:
            worker.submit(body(), PLAIN)
        assert turned_away.value.headers["retry-after"] == "2"  # it is not known yet how long a body takes
        now[0] = 21.0
        disk.may_go_on.set()
        assert first.result(10).stored == in_time.result(10).stored == (1, 0)
        for future in early:
            with pytest.raises(Refusal) as late:
                future.result(10)
            assert late.value.status == turned_away.value.status == 503
        assert worker.submit(body(), PLAIN).result(10).stored == (1, 0)
        now[0] = 1000.0
        waits = [worker.come_back() for _ in range(40)]
    assert summarize(database)["events"] == 3
    pace = waits[0]  # 21 s for one body, then next to nothing for two
    assert waits[:20] == pytest.approx([pace * number for number in range(1, 21)])
    assert all(30 <= wait <= 60 for wait in waits[30:])


def test_submitted_batches_are_stored_before_the_worker_ends(database: Path) -> None:
    with closing(SlowDisk(database)) as disk:
        disk.may_go_on.set()
        with Worker(disk, ReceiverLimits()) as worker:
            futures = [worker.submit(body(), PLAIN) for _ in range(20)]
        assert all(future.done() for future in futures)
    assert summarize(database)["events"] == 20


@pytest.mark.parametrize("asked", ["by age", "by a person"])
def test_a_store_that_cannot_be_opened_for_a_while_ends_no_removal_for_good(database: Path, asked: str) -> None:
    now = [0.0]
    with (
        closing(Writer(database, busy_seconds=0)) as writer,
        Worker(writer, ReceiverLimits(), retention_days=30, clock=lambda: now[0]) as worker,
    ):
        assert worker.submit(body(), PLAIN).result(10).stored == (1, 0)
        aside = database.rename(database.with_name("aside.db"))
        database.mkdir()
        now[0] = 10_000.0
        by_person = asked == "by a person"
        refused: Future[Any] = worker.remove(Choice(session="s")) if by_person else worker.submit(body(), PLAIN)
        with pytest.raises(StoreUnavailable):
            refused.result(10)
        database.rmdir()
        aside.rename(database)
        assert worker.submit(body(), PLAIN).result(10).stored == (1, 0)


def test_what_is_past_its_retention_goes_though_nobody_sends(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store([row_of(event())])
    with closing(Writer(database)) as writer, Worker(writer, ReceiverLimits(), retention_days=30):
        wait_until(lambda: summarize(database)["events"] == 0)
