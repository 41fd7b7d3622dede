"""Acknowledged events are on the disk, and a database that cannot be used is explained and left untouched."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from collector.store.database import VERSION, StoreError, StoreUnavailable, open_to_read
from collector.store.report import summarize
from collector.store.rows import Row
from collector.store.writer import Writer
from tests.store.samples import Client, event, lines, row_of

POSIX_LIMITS = pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")


def rows(count: int) -> list[Row]:
    return [row_of(event()) for _ in range(count)]


@contextmanager
def process(database: Path) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """`collector receive` as a separate process, and a client for it."""
    command = [sys.executable, "-m", "collector", "receive", "--port", "0", "--database", str(database)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            client = Client(running.stderr.readline().split()[2], None, database)
            with client.http:
                yield running, client
        finally:
            running.kill()


def test_an_acknowledged_batch_survives_kill_nine(database: Path) -> None:
    for round_number in range(1, 4):
        with process(database) as (running, client):
            assert client.send(*[event(text="x" * 1000) for _ in range(200)])["accepted"] == 200
            os.kill(running.pid, signal.SIGKILL)
            running.wait()
        assert summarize(database)["events"] == 200 * round_number


def test_every_commit_is_synced_to_the_disk(database: Path) -> None:
    with closing(Writer(database)) as writer:
        settings = [
            writer._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        ]
    assert settings == ["wal", 2]


@POSIX_LIMITS
def test_a_full_disk_makes_senders_wait_and_loses_nothing_acknowledged(database: Path) -> None:
    import resource

    with process(database) as (running, client):
        client.send(event())
        free = resource.prlimit(running.pid, resource.RLIMIT_FSIZE)
        largest = max(path.stat().st_size for path in database.parent.iterdir())
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (largest + 400_000, free[1]))
        accepted, statuses = 1, set[int]()
        batches = [[event(text=secrets.token_hex(4000)) for _ in range(20)] for _ in range(10)]
        for batch in batches:
            response = client.post(lines(batch))
            statuses.add(response.status_code)
            accepted += response.json().get("accepted", 0)
        assert statuses == {200, 503}
        assert summarize(database)["events"] == accepted
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, free)
        for batch in batches:
            client.send(*batch)
    assert summarize(database)["events"] == 201


@POSIX_LIMITS
def test_a_report_on_a_full_disk_says_what_is_wrong(database: Path) -> None:
    import resource

    with closing(Writer(database)) as writer:
        writer.store([row_of(event())])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))  # no file can grow, as on a full disk
    try:
        with pytest.raises(StoreError, match="its disk is full, or failing"):
            summarize(database)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_batch_is_stored_whole_or_not_at_all(database: Path) -> None:
    with closing(Writer(database, busy_seconds=0)) as writer:
        writer.store(rows(1))
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            # where the second event of the batch belongs
            other.execute("INSERT INTO packed_bodies VALUES (3, 'in the way')")
            with pytest.raises(StoreUnavailable):
                writer.store(rows(2))
            other.execute("DELETE FROM packed_bodies WHERE number = 3")
        assert writer.store(rows(2)) == (2, 0)
    assert summarize(database)["events"] == 3


def test_a_database_deleted_while_in_use_is_created_again(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store(rows(2))
        for path in database.parent.iterdir():
            path.unlink()
        writer.store(rows(1))
    assert summarize(database)["events"] == 1


def test_a_database_moved_aside_while_in_use_keeps_its_events(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store(rows(2))
        database.parent.rename(database.parent.with_name("aside"))
        writer.store(rows(1))
    assert summarize(database)["events"] == 1
    assert summarize(database.parent.with_name("aside") / database.name)["events"] == 2


def test_the_store_is_unavailable_until_its_directory_can_be_created_again(database: Path) -> None:
    with closing(Writer(database)) as writer:
        shutil.rmtree(database.parent)
        database.parent.write_text("in the way")
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="Cannot open the store"):
                writer.store(rows(1))
        database.parent.unlink()
        assert writer.store(rows(1)) == (1, 0)


def test_the_store_continues_with_a_database_that_is_moved_back(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store(rows(2))
        aside = database.parent.rename(database.parent.with_name("aside"))
        database.parent.write_text("in the way")
        with pytest.raises(StoreUnavailable, match="Cannot open the store"):
            writer.store(rows(3))
        database.parent.unlink()
        aside.rename(database.parent)
        assert writer.store(rows(3)) == (3, 0)
    assert summarize(database)["events"] == 5


def test_only_the_owner_can_access_the_store(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store(rows(1))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.parent.iterdir()}
        assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700


def damage(database: Path) -> None:
    database.write_bytes(b"this is no database at all " * 1000)


def damage_dictionaries(database: Path) -> None:
    """Overwrites the page that packed bodies cannot be read without."""
    with closing(Writer(database)):
        pass
    with closing(sqlite3.connect(database)) as connection:
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'dictionaries'").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)


def newer(database: Path) -> None:
    with closing(Writer(database)):
        pass
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def foreign(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")


@pytest.mark.parametrize(
    ("spoil", "told", "advice"),
    [
        (damage, "is damaged", "move it aside"),
        (damage_dictionaries, "is damaged", "move it aside"),
        (newer, f"has schema version {VERSION + 1}", "Install a newer collector"),
        (foreign, "another program's database", "Name another place"),
    ],
)
def test_an_unusable_database_is_explained_and_left_untouched(
    database: Path, spoil: object, told: str, advice: str
) -> None:
    database.parent.mkdir()
    assert callable(spoil)
    spoil(database)
    before = database.read_bytes()
    for use in (Writer, open_to_read):
        with pytest.raises(StoreError, match=told) as error:
            use(database)
        assert advice in str(error.value)
        assert str(database) in str(error.value)
    assert database.read_bytes() == before


def test_a_directory_in_place_of_the_database_is_reported_as_such(database: Path) -> None:
    database.mkdir(parents=True)
    for use, said in ((Writer, "Is a directory"), (open_to_read, "is a directory. Name the store's file")):
        with pytest.raises(StoreError, match=said):
            use(database)


def test_damage_found_while_running_is_explained_and_nothing_is_acknowledged(database: Path) -> None:
    with closing(Writer(database)) as writer:
        writer.store(rows(300))
    content = bytearray(database.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    database.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged.*move it aside"), closing(Writer(database)) as writer:
        writer.store(rows(1))
    with pytest.raises(StoreError, match="damaged"):
        summarize(database)


def test_a_store_that_does_not_exist_yet_is_explained(database: Path) -> None:
    with pytest.raises(StoreError, match=r"no store at .* yet.*collector scan"):
        summarize(database)
    assert not database.exists()


@pytest.mark.parametrize("place", ["file/events.db", "directory"])
def test_a_place_that_cannot_hold_a_database_is_explained(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "directory").mkdir()
    with pytest.raises(StoreError, match=r"Cannot open the store .*--database"):
        Writer(tmp_path / place)


def test_an_empty_database_becomes_a_store(database: Path) -> None:
    database.parent.mkdir()
    database.touch()
    assert summarize(database)["events"] == 0


def test_two_processes_may_open_a_new_store_at_once(database: Path) -> None:
    with closing(Writer(database)) as first, closing(Writer(database)) as second:
        first.store(rows(1))
        second.store(rows(1))
        first.store(rows(1))
    assert summarize(database)["events"] == 3


def test_paths_with_odd_characters_work(tmp_path: Path) -> None:
    database = tmp_path / "a b?c#d%41" / "évents.db"
    with closing(Writer(database)) as writer:
        writer.store(rows(1))
    assert summarize(database)["events"] == 1
