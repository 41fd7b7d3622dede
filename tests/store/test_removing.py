"""Removed events leave every figure and the file, and the rest adds up as if they had never come."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path

import httpx
import pytest

from collector.store import queries
from collector.store.database import StoreUnavailable
from collector.store.limits import ReceiverLimits
from collector.store.removing import Choice, remove, remove_old
from collector.store.report import asking, summarize
from collector.store.worker import Worker
from collector.store.writer import Writer
from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.faults.test_swept_process import can_mount
from tests.store.sample_set import sample_events
from tests.store.samples import Client, Event, event, rebuild, row_of, serving
from tests.store.test_any_order import derived
from tests.store.test_worker import PLAIN, body

SECRET = "zanzibar"


def stored(database: Path, events: list[Event]) -> Writer:
    writer = Writer(database)
    for start in range(0, len(events), 40):
        writer.store([row_of(each) for each in events[start : start + 40]])
    return writer


@pytest.mark.parametrize("kind", ["session", "project", "before"])
def test_what_remains_adds_up_as_if_the_rest_had_never_come(tmp_path: Path, kind: str) -> None:
    events = list({each["id"]: each for each in sample_events()}.values())
    random.Random(3).shuffle(events)
    session = events[0]["session_id"]
    choices: dict[str, tuple[Choice, Callable[[Event], bool]]] = {
        "session": (Choice(session=session), lambda each: each["session_id"] == session),
        "project": (Choice(project="/work/shop"), lambda each: each["project"] == "-work-shop"),
        "before": (Choice(before="2026-03-02"), lambda each: each["time"] < "2026-03-02"),
    }
    choice, goes = choices[kind]
    for each in events:
        if each["project"] == "-work-shop":
            each["cwd"] = "/work/shop/inner" if len(each) % 2 else "/work/shop"
    with closing(stored(tmp_path / "some.db", events)) as writer:
        removed = remove(writer, choice, "asked for")
        assert removed.events == sum(map(goes, events)) > 0
        assert remove(writer, choice, "asked for").events == 0
        kept = derived(writer._connection)
        with writer.changing() as connection:
            rebuild(connection)
        assert derived(writer._connection) == kept
    with closing(stored(tmp_path / "none.db", [each for each in events if not goes(each)])) as other:
        assert derived(other._connection) == kept
    assert summarize(tmp_path / "some.db") == summarize(tmp_path / "none.db")
    with asking(tmp_path / "some.db") as connection:
        (noted,) = queries.removals(connection)
    assert (noted["selection"], noted["events"], noted["reason"]) == (kind, removed.events, "asked for")
    assert session not in str(noted)


def test_removed_bytes_are_gone_from_the_file(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    events = [
        event(origin="human", text=f"{SECRET} {number}", session_id=SECRET, cwd=f"/{SECRET}", message_id=f"m{number}")
        for number in range(50)
    ]
    with closing(stored(database, [*events, event(session_id="kept")])) as writer:
        assert SECRET.encode() in b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))
        remove(writer, Choice(session=SECRET), "asked for")
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))
    assert summarize(database)["events"] == 1


def test_a_reader_that_keeps_the_old_bytes_is_told_of(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with closing(Writer(database, busy_seconds=0.01)) as writer, closing(sqlite3.connect(database)) as reader:
        writer.store([row_of(event(session_id=SECRET))])
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchall()
        remove(writer, Choice(session=SECRET), "asked for")
        with pytest.raises(StoreUnavailable, match="is reading the store"):
            writer.rewrite()
        reader.execute("ROLLBACK")
        writer.rewrite()
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))


def test_a_checkpoint_of_another_process_is_waited_for(tmp_path: Path) -> None:
    """An agent whose batch waited for the rewrite finds a long log behind it, and folds it in. SQLite does not wait."""
    database = tmp_path / "events.db"
    lock = "file = open(sys.argv[1], 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)"  # WAL_CKPT_LOCK
    with closing(Writer(database)) as writer:
        writer.store([row_of(event(session_id=SECRET))])
        remove(writer, Choice(session=SECRET), "asked for")
        code = f"import fcntl, sys; {lock}; print(flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", code, f"{database}-shm"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            other.stdout.readline()
            threading.Timer(0.3, other.stdin.close).start()
            writer.rewrite()
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))


def test_numbers_are_not_reused_and_another_writer_notices_a_removal(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with closing(Writer(database)) as agent, closing(Writer(database)) as person:
        agent.store([row_of(event(session_id="a")), row_of(event(session_id="a"))])
        remove(person, Choice(session="a"), "asked for")
        agent.store([row_of(event(session_id="a"))])  # the session went on
    with asking(database) as connection:
        assert connection.execute("SELECT number, session_id FROM events").fetchall() == [(3, "a")]


def test_an_empty_choice_removes_nothing(tmp_path: Path) -> None:
    with closing(stored(tmp_path / "events.db", [event()])) as writer:
        assert remove(writer, Choice(), "asked for").events == 0


def test_only_events_older_than_the_limit_are_removed(tmp_path: Path) -> None:
    events = [event(time=f"2026-03-0{day}T00:00:00.000Z") for day in (1, 2, 3, 4)]
    with closing(stored(tmp_path / "events.db", events)) as writer:
        assert remove_old(writer, 2, today=date(2026, 3, 5)) == 2
    assert summarize(tmp_path / "events.db")["kinds"] == {"user_prompt": 2}


def test_the_receiver_removes_old_events_at_most_once_an_hour(tmp_path: Path) -> None:
    now = [0.0]
    database = tmp_path / "events.db"
    with (
        closing(Writer(database)) as writer,
        Worker(writer, ReceiverLimits(), 30, clock=lambda: now[0]) as worker,
    ):
        worker.submit(body(event()), PLAIN).result(10)  # from March: removed at once
        worker.submit(body(event(time="2999-01-01T00:00:00.000Z")), PLAIN).result(10)
        worker.remove(Choice(session="none")).result(10)
        worker.submit(body(event()), PLAIN).result(10)
    assert summarize(database)["events"] == 2


def test_a_session_is_removed_over_http(client: Client) -> None:
    client.send(event(session_id="a"), event(session_id="a"), event(session_id="b"))
    place = httpx.URL(client.url).join("/v1/sessions/a")
    assert httpx.delete(place).status_code == 401
    assert client.http.delete(place, headers={"Origin": "https://example.com"}).status_code == 403
    assert client.http.delete(place).json() == {"removed": 2}
    assert client.http.delete(place).json() == {"removed": 0}
    assert client.report()["events"] == 1


def test_a_removal_from_a_locked_database_asks_to_come_back(client: Client) -> None:
    client.send(event(session_id="a"))
    with serving(client.database, busy_seconds=0) as other, closing(sqlite3.connect(client.database)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        answer = other.http.delete(httpx.URL(other.url).join("/v1/sessions/a"))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        lock.execute("ROLLBACK")
    assert client.report()["events"] == 1


IN_A_MOUNT = 'mount -t tmpfs -o size=64k tmpfs "$SQLITE_TMPDIR" && exec "$@"'


def test_a_full_directory_for_temporary_files_is_named_and_not_the_stores_disk(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount in a namespace of its own")
    chance, small = random.Random(5), tmp_path / "small"
    small.mkdir()
    events = [event(text=chance.randbytes(20_000).hex(), session_id="kept") for _ in range(800)]
    agent = Agent(Home(tmp_path / "home"), None, {"SQLITE_TMPDIR": str(small)})
    database = tmp_path / "events.db"
    stored(database, [*events, event(session_id=SECRET)]).close()
    for words, code in ((["forget", "--session", SECRET, "--yes"], 3), (["store", "compact"], 1)):
        command = [*COLLECTOR, *words, "--database", str(database)]
        mounted = ["unshare", "-m", "sh", "-c", IN_A_MOUNT, "sh", *command]
        done = subprocess.run(mounted, env=agent.environment, capture_output=True, check=False, text=True)
        assert (done.returncode, "set SQLITE_TMPDIR" in done.stderr, "is full" in done.stderr) == (code, True, False)
    assert agent.run("store", "compact", "--database", str(database), env={"SQLITE_TMPDIR": str(tmp_path)}).code == 0
