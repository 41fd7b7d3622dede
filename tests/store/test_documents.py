"""docs/receiver.md and docs/store.md describe what the program really does."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import typer.main

from collector.cli import app
from collector.store.limits import ReceiverLimits
from collector.store.report import asking, summarize
from collector.store.writer import Writer
from tests.store.sample_set import SAMPLE
from tests.store.samples import Client, calls, event, reply, row_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "receiver.md").read_text()
SHARED = {"--config", "--help", "-h", "--quiet", "-q", "--verbose", "-v"}  # between all commands
STORE_PAGE = (DOCS / "store.md").read_text()


def fill(database: Path) -> None:
    rows = [
        event(origin="human", text="Fix the login bug"),
        reply("msg-1", 3, time="2026-03-02T00:00:00.000Z"),
        reply("msg-1", 70, time="2026-03-03T00:00:00.000Z", project="-work-b"),
        reply("msg-2", 5, project="-work-a"),
        reply(None, 9, model="claude-haiku-4-5"),
        reply(None, 9000, kind="session_cost"),
        reply("msg-3", 0, model="<synthetic>"),
        calls(("toolu_1", "Bash")),
    ]
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, rows))


def test_every_statement_of_the_page_runs(database: Path) -> None:
    fill(database)
    statements = [each for block in re.findall(r"```sql\n(.*?)```", STORE_PAGE, re.DOTALL) for each in block.split(";")]
    with asking(database) as connection:
        for statement in filter(str.strip, statements):
            connection.execute(statement).fetchall()


def test_every_key_of_the_report_is_on_the_page(database: Path) -> None:
    fill(database)
    summary = summarize(database)
    named = {*summary, *summary["totals"], *summary["projects"][0], *summary["tools"][0]}
    assert {name for name in named if f"`{name}`" not in STORE_PAGE} == set()


def test_every_table_and_view_is_on_the_page(database: Path) -> None:
    fill(database)
    with closing(sqlite3.connect(database)) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        }
    section = STORE_PAGE.partition("## The database")[2].partition("\n## ")[0]
    rows = "".join(re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE))
    assert names - {"sqlite_stat1"} == set(re.findall(r"`(\w+)`", rows))


def test_another_client_can_read_every_view_that_is_not_marked(database: Path) -> None:
    fill(database)
    unreadable = set()
    with closing(sqlite3.connect(database)) as connection:
        for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            try:
                connection.execute(f"SELECT * FROM {view}").fetchall()
            except sqlite3.OperationalError:
                unreadable.add(view)
    assert unreadable == set(re.findall(r"^\| `(\w+)` \* \|", STORE_PAGE, re.MULTILINE))


def test_the_page_says_how_many_sample_events_there_are() -> None:
    events = {orjson.loads(line)["id"] for line in SAMPLE.read_bytes().splitlines()}
    assert f"| {len(events)} events of two made-up people" in STORE_PAGE


def test_every_option_is_on_the_page() -> None:
    command = typer.main.get_command(app)
    options = {
        option
        for name in ("receive", "report")
        for parameter in command.commands[name].params  # type: ignore[attr-defined]
        for option in parameter.opts
    }
    assert {option for option in options if option not in PAGE + STORE_PAGE} - SHARED == set()


def test_the_receivers_limits_are_on_the_page(client: Client) -> None:
    limits = ReceiverLimits()
    assert f"{limits.body_bytes >> 20} MiB a body, {limits.waiting_bytes >> 20} MiB" in PAGE
    assert f"too many events ({limits.events:,})" in PAGE
    assert limits.document_bytes * 4 == limits.body_bytes
    assert f"{limits.seconds:.0f} s for a body" in PAGE
    assert f"{limits.connections} connections" in PAGE
    assert f"{limits.head_seconds:.0f} s for headers" in PAGE
