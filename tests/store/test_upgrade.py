"""A database of an older version is upgraded when it is opened, keeps all its events, and counts like a new one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from collector.store import database as databases
from collector.store import prices
from collector.store.database import APPLICATION_ID, VERSION, open_to_read
from collector.store.report import asking, summarize
from collector.store.writer import Writer
from tests.store.sample_set import sample_events
from tests.store.samples import Event, event, lines, row_of, serving
from tests.store.test_any_order import derived

VERSION_1 = (Path(__file__).parent / "versions" / "001.sql").read_text()
RECEIVED = ("2026-03-05T10:00:00.123Z", "2026-03-05T10:00:01.500Z")


def of_version_1(database: Path, events: Iterable[Event]) -> None:
    """A database as version 1 left it: the columns that the upgrade reads, and the bodies as text."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(VERSION_1)
        connection.execute("CREATE VIEW messages AS SELECT * FROM events")
        for number, event in enumerate(events, 1):
            connection.execute(
                "INSERT INTO events (number, id, kind, received_at, bytes) VALUES (?, ?, ?, ?, 1)",
                (number, event["id"], event["kind"], RECEIVED[number > 100]),
            )
            connection.execute("INSERT INTO bodies VALUES (?, ?)", (number, json.dumps(event)))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize("opened_to", ["read", "write"])
def test_a_database_of_version_1_is_upgraded_and_keeps_everything(tmp_path: Path, opened_to: str) -> None:
    events = list({event["id"]: event for event in sample_events()}.values())
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    of_version_1(old, events)
    with closing(Writer(new)) as writer:
        writer.store(map(row_of, events))
    if opened_to == "write":
        Writer(old).close()
    assert summarize(old) == summarize(new)
    with asking(old) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
        bodies = connection.execute("SELECT body FROM bodies ORDER BY number").fetchall()
        received = connection.execute("SELECT DISTINCT received_at FROM events ORDER BY number").fetchall()
    assert [json.loads(body) for (body,) in bodies] == events
    assert [moment for (moment,) in received] == list(RECEIVED)


def test_a_database_of_version_3_gets_the_columns_of_version_4(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    states = [event("session_cost", attributes={"total_cost_usd": 1, "start_time": start}) for start in (7, "no", 9)]
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, [*sample_events(), event(origin="sdk", text="Hello", session_id="ci"), *states]))
        expected = derived(writer.connection)
    with closing(sqlite3.connect(database)) as connection, connection:
        for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            connection.execute(f"DROP VIEW {view}")
        connection.execute("ALTER TABLE event_rows DROP COLUMN started")
        connection.execute("UPDATE event_rows SET title = NULL WHERE origin = 'sdk'")
        connection.execute("PRAGMA user_version = 3")
    with asking(database) as connection:
        known = connection.execute("SELECT started FROM event_rows ORDER BY number DESC LIMIT 3").fetchall()
        assert [started for (started,) in known] == [9, None, 7]
        [title] = connection.execute("SELECT title FROM sessions WHERE session_id = 'ci'").fetchone()
        assert title == "Hello"
        assert connection.execute("SELECT count(*) FROM session_costs").fetchone()[0] > 5
        assert derived(connection) == expected


def test_a_failed_upgrade_leaves_version_1_intact(tmp_path: Path) -> None:
    database = tmp_path / "old.db"
    of_version_1(database, list(sample_events())[:5])
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE events SET received_at = 'never' WHERE number = 5")  # no version wrote such a time
    before = database.read_bytes()
    with pytest.raises(ValueError, match="never"):
        open_to_read(database)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 1
        assert connection.execute("SELECT count(*) FROM bodies").fetchone()[0] == 5
    assert len(before) > 0


def test_a_report_during_an_upgrade_says_what_it_meets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends no batch that could be tried again."""
    database, connect = tmp_path / "old.db", databases._connect
    of_version_1(database, [event()])
    monkeypatch.setattr(databases, "_connect", lambda uri, *_: connect(uri, 0))
    with closing(sqlite3.connect(database, isolation_level=None)) as upgrading:
        upgrading.execute("BEGIN IMMEDIATE")
        with pytest.raises(databases.StoreError, match="for too long") as raised, asking(database):
            pass
    assert "batch" not in str(raised.value)


def test_views_and_prices_of_an_older_release_are_replaced(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, list(sample_events())[:50]))
    expected = summarize(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DROP VIEW messages")
        connection.execute("UPDATE prices SET input = 7 * input")
        connection.execute("UPDATE settings SET value = 'old'")
    assert summarize(database, prices=prices.load()) == expected
    with asking(database) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone()[0] > 0


LACKED = {
    "places": ["DROP TABLE usage_days", "DROP TABLE places", "ALTER TABLE contexts DROP COLUMN agent"],
    "an index": ["DROP INDEX event_rows_with_redactions"],
    "models by day": [f"DROP TRIGGER model_{when}" for when in ("come", "change", "go")] + ["DROP TABLE model_days"],
    "sessions and calls by day": [
        *(f"DROP TRIGGER session_{each}" for each in ("active", "becomes_active", "goes", "used", "used_no_more")),
        *("DROP TABLE session_days", "DROP TABLE call_days"),
    ],
}


@pytest.mark.parametrize("lacked", LACKED)
@pytest.mark.parametrize("version", [2, VERSION])
def test_a_database_from_between_two_releases_is_rebuilt(tmp_path: Path, lacked: str, version: int) -> None:
    """A development checkout may leave one: it has a version's number but lacks a table that was added later. Version 2
    had neither sessions nor calls by day."""
    database = tmp_path / "events.db"
    events = [*sample_events(), event("session_index", session_id="only mentioned"), event(session_id=None)]
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, events[:200]))
        writer.store(map(row_of, events[200:]))
        expected = derived(writer.connection)
    assert len(expected["session_days"]) > 5
    assert len(expected["call_days"]) > 5
    before = stored(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            connection.execute(f"DROP VIEW {view}")
        for command in (f"DROP TRIGGER {each}" for each in ("usage_come", "usage_change", "usage_go")):
            if lacked == "places":
                connection.execute(command)
        for command in LACKED[lacked]:
            connection.execute(command)
        connection.execute("INSERT INTO removals VALUES (1, '2026-03-05', 'asked', '{}', 1, 1, 1)")
        connection.execute("INSERT INTO settings VALUES ('last_number', '9000')")
        connection.execute(f"PRAGMA user_version = {version}")
    with asking(database) as connection:
        assert derived(connection) == expected
        assert connection.execute("SELECT reason FROM removals").fetchall() == [("asked",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert stored(database) == before
    with closing(Writer(database)) as writer:
        assert writer.store(map(row_of, events)).accepted == 0
        assert writer.store([row_of(event(session_id="new"))]).accepted == 1
        assert writer.connection.execute("SELECT max(number) FROM event_rows").fetchone()[0] == 9001


def test_bodies_packed_with_a_dictionary_of_plain_text_are_unpacked(tmp_path: Path) -> None:
    """The first stores of version 2 kept the text of some events as their dictionary."""
    database, events = tmp_path / "events.db", list(sample_events())[:50]
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, events))
    before = stored(database)
    text = json.dumps(events[0]).encode()
    packer = zstandard.ZstdCompressor(
        dict_data=zstandard.ZstdCompressionDict(text, dict_type=zstandard.DICT_TYPE_RAWCONTENT), write_dict_id=False
    )
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE dictionaries SET content = ?", (text,))
        packed = [(b"\1" + packer.compress(body.encode()), number) for number, _, body in before]
        connection.executemany("UPDATE packed_bodies SET body = ? WHERE number = ?", packed)
        connection.execute("PRAGMA user_version = 2")
        connection.execute("DROP TABLE model_days")
    assert stored(database) == before


def stored(database: Path) -> list[tuple[int, str, str]]:
    """The events of a store, with their numbers and the times they were received."""
    with asking(database) as connection:
        return connection.execute(
            "SELECT number, received_at, body FROM events JOIN bodies USING (number) ORDER BY number"
        ).fetchall()


def test_a_receiver_that_still_runs_leaves_a_store_alone_that_a_newer_one_has_upgraded(tmp_path: Path) -> None:
    with serving(tmp_path / "events.db") as client:
        client.send(event())
        with closing(sqlite3.connect(tmp_path / "events.db")) as connection:
            connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        for _ in range(2):
            assert client.post(lines([event()])).status_code == 503
        with closing(sqlite3.connect(tmp_path / "events.db")) as connection:
            assert connection.execute("SELECT count(*) FROM event_rows").fetchone() == (1,)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        assert client.send(event())["accepted"] == 1
