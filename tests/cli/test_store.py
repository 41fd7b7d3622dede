"""`collector report`, `store` and `forget` on the sample set, run as a person would, but in this process, for speed."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from collector import cli
from collector.store.database import VERSION
from collector.store.report import summarize
from collector.store.writer import Writer
from tests.store.sample_set import PROMPTS, sample_events
from tests.store.samples import Event, calls, event, reply, row_of
from tests.store.test_upgrade import of_version_1

EVENTS = list({each["id"]: each for each in sample_events()}.values())


class Told:
    """Runs a command; keeps its exit code and output."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> None:
        self.code = cli.run([str(argument) for argument in arguments])
        self.out, self.err = capsys.readouterr()


def fill(database: Path, *events: Event) -> Path:
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, events))
    return database


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The database of a store with the sample set."""
    return fill(tmp_path / "events.db", *EVENTS)


@pytest.mark.parametrize("command", [["report"], ["store", "info"], ["forget", "--before", "2020-01-01", "--yes"]])
def test_the_store_needs_no_working_sink(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("COLLECTOR_SINK__URL", "https://telemetry.example/v1/events")
    monkeypatch.setenv("COLLECTOR_SINK__CA_FILE", "/gone/ca.pem")
    done = Told(capsys, *command, "--database", store)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("by", ["day", "week", "month", "model", "project", "host", "user", "agent"])
def test_a_report_by_any_dimension_adds_up_to_the_total(
    store: Path, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    whole = summarize(store)["totals"]
    rows = json.loads(Told(capsys, "report", "--by", by, "--json", "--database", store).out)["rows"]
    assert len(rows) > (by == "week") - (by == "month")
    for figure in ("messages", "input_tokens", "output_tokens", "unknown_output"):
        assert sum(row[figure] for row in rows) == whole[figure]
    assert abs(sum(row["cost_micros"] for row in rows) - whole["cost_micros"]) <= len(rows)  # each is rounded
    table = list(csv.DictReader(io.StringIO(Told(capsys, "report", "--by", by, "--csv", "--database", store).out)))
    assert [row[by] for row in table] == [row[by] for row in rows]
    shown = Told(capsys, "report", "--by", by, "--cost", "--database", store)
    assert (shown.code, shown.err) == (0, "")
    assert all(str(row[by]) in shown.out for row in rows)
    assert "█" in shown.out


def test_filters_and_periods_select_their_part_of_the_total(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def output(*arguments: str) -> int:
        told = Told(capsys, "report", "--json", "--database", store, *arguments)
        return int(json.loads(told.out)["totals"]["output_tokens"])

    whole = output()
    for name, values in {
        "--user": ("ada", "grace"),
        "--host": ("engine-1", "laptop-7"),
        "--project": ("-work-shop", "-work-engine"),
        "--agent": ("main", "Explore"),
    }.items():
        parts = [output(name, value) for value in values]
        assert sum(parts) == whole
        assert all(parts)
    assert output("--until", "2026-03-01") + output("--since", "2026-03-02") == whole
    assert output("--user", "nobody; DROP TABLE contexts") == 0


def test_sessions_are_listed_with_titles(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, "report", "--by", "session", "--cost", "--limit", "3", "--database", store)
    assert len(re.findall(r"^2026-03-\d\d \d\d:\d\d  ", told.out, re.MULTILINE)) == 3
    assert "More sessions not shown; --limit 0 shows all." in told.out
    rows = json.loads(Told(capsys, "report", "--by", "session", "--json", "--database", store).out)["rows"]
    assert len(rows) == 10
    assert {row["title"] for row in rows} <= set(PROMPTS)
    assert "whole session" not in told.out
    told = Told(capsys, "report", "--by", "session", "--since", "2026-03-02", "--database", store)
    assert "its figures are for the whole session." in told.out
    assert all(row["tool_calls"] == 7 and row["tool_failures"] in {1, 2} and row["cost_micros"] for row in rows)


def test_sessions_are_sorted_by_the_time_that_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of the whole session, of which only a part may lie in the chosen period."""
    times = {
        "s-resumed": ("2026-03-01T10:00:00.000Z", "2026-03-09T10:00:00.000Z"),
        "s-other": ("2026-03-02T10:00:00.000Z",),
    }
    store = fill(tmp_path / "two.db", *(event(session_id=name, time=time) for name in times for time in times[name]))
    asked = ("report", "--by", "session", "--until", "2026-03-02", "--json", "--database", store)
    rows = json.loads(Told(capsys, *asked).out)["rows"]
    assert [row["session_id"] for row in rows] == ["s-resumed", "s-other"]


def test_the_model_filter_says_which_figures_it_does_not_filter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = fill(
        tmp_path / "two.db",
        reply("m1", 1, session_id="s-opus", model="claude-opus-4-5"),
        reply("m2", 2, session_id="s-haiku", model="claude-haiku-4-5"),
    )
    asked = ("report", "--model", "claude-haiku-4-5", "--database", database)
    told = Told(capsys, *asked, "--by", "session").out
    assert ("s-haiku" in told, "s-opus" in told) == (True, False), "what has no title is called by its id"
    for more in ((), ("--by", "tool")):
        assert "--model filters tokens only; tools, sessions," in Told(capsys, *asked, *more).out
    assert Told(capsys, *asked, "--json", "--csv").code == 2


def test_tools_are_shown_with_failures_and_durations(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(Told(capsys, "report", "--by", "tool", "--json", "--database", store).out)["rows"]
    bash = rows[0]
    assert (bash["name"], bash["calls"], bash["failed"], bash["computed"]) == ("Bash", 20, 10, 20)
    assert 80 < bash["p50_ms"] <= bash["p95_ms"] < 20_000


def test_a_report_says_what_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = fill(
        tmp_path / "many.db",
        *[reply(f"m{number}", 10**9 + number, project=f"-work-{number:02d}") for number in range(20)],
        reply("m-odd", 1, model="llama-9", quality=["output_tokens_unknown"]),
    )
    told = Told(capsys, "report", "--cost", "--database", database).out
    assert "6 more projects not shown" in told
    assert "The cost leaves out 1 message from models without a price (llama-9)" in told
    assert "1 message lacks its final output count" in told
    assert "Costs are at API list prices, not what you were billed" in told
    told = Told(capsys, "report", "--by", "project", "--limit", "5", "--database", database).out
    assert "16 more projects not shown; --limit 0 shows all." in told


def test_a_narrow_terminal_drops_columns_and_splits_no_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from collector.cli.report import TOKENS
    from collector.cli.tables import Column, shown

    name = "a-model-with-a-name-that-is-long-enough"
    page = io.StringIO()
    row = {"model": name, **{column.key: 123_456_789 for column in TOKENS}}
    notes = shown(Console(file=page, width=80), (Column("model", "model", 0, "text"), *TOKENS), [row])
    assert name in page.getvalue()
    assert notes == ["Not shown, too narrow a terminal: cache read, input, messages."]
    assert page.getvalue().count("123,456,789") == 2
    assert max(map(len, page.getvalue().splitlines())) <= 80


def test_a_report_fits_a_narrow_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich believe in a terminal
    database = fill(tmp_path / "one.db", reply("m1", 7, model="claude-opus-4-5"))
    for by in ((), ("--by", "model"), ("--by", "session")):
        lines = Told(capsys, "report", *by, "--database", database).out.splitlines()
        table = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines[: lines.index("")]]
        assert len(table) > 1
        assert max(map(len, table)) <= 40, table


@pytest.mark.parametrize("width", [40, 80])
def test_sessions_keep_their_titles_on_a_usual_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    prompt = event(text="Find out why the nightly import of all the orders is slow", origin="human")
    database = fill(tmp_path / "one.db", prompt, reply("m1", 7))
    lines = Told(capsys, "report", "--by", "session", "--cost", "--database", database).out.splitlines()
    assert "Find out why the " in lines[1]
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in lines[:2]) <= width


def test_a_project_can_be_named_by_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    database = fill(tmp_path / "one.db", event(project="-work-shop"), event(project="-work"))
    monkeypatch.chdir(tmp_path)
    for project in ("-work-shop", "/work/shop", os.path.relpath("/work/shop")):
        asked = ("--project", project, "--database", database)
        exported = Told(capsys, "store", "export", *asked).out.splitlines()
        assert [json.loads(line)["project"] for line in exported] == ["-work-shop"]
        assert json.loads(Told(capsys, "report", "--json", *asked).out)["events"] == 1


def test_a_persons_own_prices_apply_while_configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = fill(tmp_path / "events.db", reply("m1", 1000, model="house-model"))
    (tmp_path / "prices.toml").write_text(
        '[[price]]\nmodel = "house-model"\ninput = 1\noutput = 2\ncache_read = 0.5\n'
        "cache_write_5m = 1\ncache_write_1h = 1\n"
    )
    config = tmp_path / "collector.toml"
    for prices, expected in (("", 0), (f'prices = "{tmp_path}/prices.toml"', 2065), ("", 0)):
        config.write_text(f"[store]\n{prices}\n")
        told = Told(capsys, "report", "--json", "--database", database, "--config", config)
        assert json.loads(told.out)["totals"]["cost_micros"] == expected
    (tmp_path / "prices.toml").write_text('[[price]]\nmodel = "house-model"\ninput = "much"\n')
    config.write_text(f'[store]\nprices = "{tmp_path}/prices.toml"\n')
    told = Told(capsys, "report", "--database", database, "--config", config)
    assert told.code == 78
    assert "house-model: input must be a price in dollars" in told.err


def test_info_describes_the_store(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(Told(capsys, "store", "info", "--json", "--database", store).out)
    assert (found["events"], found["sessions"], found["version"]) == (len(EVENTS), 10, VERSION)
    assert 0 < found["bytes_of_bodies"] < found["bytes_sent"] / 2
    told = Told(capsys, "store", "info", "--database", store)
    assert f"{len(EVENTS)} in 10 sessions" in told.out
    assert "kept      forever" in told.out


def test_compacting_frees_the_space_left_by_an_upgrade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "old.db"
    of_version_1(database, EVENTS)
    expected = summarize(database)  # reading upgrades it
    before = database.stat().st_size
    told = Told(capsys, "store", "compact", "--database", database)
    assert told.code == 0
    assert database.stat().st_size < before * 0.8
    assert summarize(database) == expected


def test_compacting_removes_events_past_retention(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "collector.toml").write_text("[store]\nretention_days = 30\n")
    told = Told(capsys, "store", "compact", "--database", store, "--config", tmp_path / "collector.toml")
    assert f"Removed {len(EVENTS)} events older than 30 days." in told.out
    assert summarize(store)["events"] == 0


def test_an_export_has_the_events_as_they_were_sent(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = Told(capsys, "store", "export", "--database", store)
    assert [json.loads(line) for line in told.out.splitlines()] == EVENTS
    told = Told(capsys, "store", "export", tmp_path / "some.ndjson", "--since", "2026-03-02", "--database", store)
    some = [json.loads(line) for line in (tmp_path / "some.ndjson").read_text().splitlines()]
    assert some == [each for each in EVENTS if each["time"] >= "2026-03-02"]
    assert told.err == f"Exported {len(some)} events.\n"
    assert (tmp_path / "some.ndjson").stat().st_mode & 0o777 == 0o600
    told = Told(capsys, "store", "export", tmp_path, "--database", store)
    assert (told.code, "Is a directory" in told.err) == (1, True)


@pytest.mark.engines
def test_an_export_can_be_parquet(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    told = Told(capsys, "store", "export", tmp_path / "it's.parquet", "--parquet", "--database", store)
    assert told.err == f"Exported {len(EVENTS)} events.\n"
    assert (tmp_path / "it's.parquet").stat().st_mode & 0o777 == 0o600
    path = str(tmp_path / "it's.parquet").replace("'", "''")
    rows = duckdb.sql(f"SELECT id, event, output_tokens FROM '{path}'").fetchall()
    assert [json.loads(body) for _, body, _ in rows] == EVENTS
    assert sum(tokens or 0 for _, _, tokens in rows) == sum(
        each.get("usage", {}).get("output_tokens", 0) for each in EVENTS
    )


def test_sql_can_only_read(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(
        capsys, "store", "sql", "SELECT count(*) AS n, max(length(body)) > 9 AS b FROM bodies", "--database", store
    )
    assert json.loads(told.out) == {"n": len(EVENTS), "b": 1}
    before = store.read_bytes()
    for statement in (
        "DELETE FROM event_rows",
        "PRAGMA user_version = 7",
        "ATTACH 'x.db' AS x",
        "SELECT 1; DROP TABLE contexts",
        "SELECT load_extension('x')",
        "WITH x AS (SELECT 1) DELETE FROM contexts",
        "VACUUM",
        "nonsense",
        "",
    ):
        told = Told(capsys, "store", "sql", statement, "--database", store)
        assert (told.code != 0 and "Traceback" not in told.err) or told.out == ""
    assert store.read_bytes() == before
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    told = Told(capsys, "store", "sql", endless, "--seconds", "0.1", "--database", store)
    assert "took longer than 0.1 s and was stopped" in told.err


def test_sql_works_where_only_the_launcher_knows_the_modules(store: Path) -> None:
    """As in a system package."""
    start = f"import sys; sys.path[:] = {sys.path}; from collector.__main__ import main; sys.exit(main())"
    python = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
    command = [python, "-I", "-c", start, "store", "sql", "SELECT 1 AS one", "--database", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ('{"one": 1}\n', "")


def test_a_statement_is_stopped_within_a_function_too(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SQLite looks at the clock only between its steps, and this is one."""
    long = "SELECT printf('%.*c', 2147483647, 'x')"
    told = Told(capsys, "store", "sql", long, "--seconds", "0.1", "--database", store)
    assert (told.code, told.out) == (1, "")
    assert "took longer than 0.1 s and was stopped" in told.err


def test_a_statement_that_would_take_all_memory_is_stopped(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    sorted_ = f"{endless} SELECT printf('%9000000d', i) AS text FROM n ORDER BY text"
    told = Told(capsys, "store", "sql", sorted_, "--seconds", "60", "--database", store)
    assert "took more than 512 MB of memory and was stopped" in told.err
    assert json.loads(Told(capsys, "store", "sql", "SELECT 1 AS one", "--database", store).out) == {"one": 1}


def test_a_statement_cannot_unpack_more_than_a_value_may_hold(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A few kilobytes unpack to gigabytes, outside the memory that SQLite counts."""
    packed = zstandard.ZstdCompressor().compress(bytes(64 << 20))
    told = Told(capsys, "store", "sql", f"SELECT length(unpacked(x'01{packed.hex()}'))", "--database", store)
    assert "function raised exception" in told.err


def test_forgetting_asks_removes_and_leaves_a_note(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = EVENTS[0]["session_id"]
    count = sum(each["session_id"] == session for each in EVENTS)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    told = Told(capsys, "forget", "--session", session, "--database", store)
    assert (told.code, f"would remove {count} events" in told.err) == (1, True)
    told = Told(capsys, "forget", "--session", session, "--yes", "--json", "--database", store)
    assert json.loads(told.out) == {"events": count, "sessions": 1, "held": 0, "quarantined": 0}
    assert summarize(store)["events"] == len(EVENTS) - count
    assert Told(capsys, "forget", "--database", store).code == 2
    told = Told(capsys, "store", "sql", "SELECT selection, events FROM removals", "--database", store)
    assert json.loads(told.out) == {"selection": "session", "events": count}


def test_nothing_of_a_forgotten_project_is_left_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ids of calls are as good as random, so they share pages, which SQLite splits and copies."""
    store, chance, made = tmp_path / "events.db", random.Random(3), list[Event]()
    for _ in range(2000):
        name = "kept" if chance.randrange(20) else "zanzibar"
        call = (f"{chance.getrandbits(128):032x}-{name}", "Bash")
        made.append(calls(call, project=name, session_id=f"{name}{chance.randrange(50)}"))
    for start in range(0, len(made), 100):
        fill(store, *made[start : start + 100])
    kept = sum(each["project"] == "kept" for each in made)
    assert b"zanzibar" in store.read_bytes()
    assert Told(capsys, "forget", "--project", "zanzibar", "--yes", "--database", store).code == 0
    assert b"zanzibar" not in b"".join(path.read_bytes() for path in tmp_path.glob("events.db*"))
    assert summarize(store)["events"] == kept


def test_forget_drops_quarantined_entries_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scratch_home: Path
) -> None:
    config = tmp_path / "collector.toml"
    config.write_text(f'[store]\ndatabase = "{tmp_path}/events.db"\n[state]\npath = "{tmp_path}/state.json"\n')
    fill(tmp_path / "events.db", event(session_id="s-1", project="-work-shop"))
    entry: dict[str, Any] = {"id": "1" * 32, "time": "2026-03-01T10:00:00Z", "reason": "refused", "offset": 7}
    entry |= {"source": "~/.claude/projects/-work-shop/s-1.jsonl", "payload": '{"session_id": "s-1"}'}
    other = entry | {"id": "2" * 32, "source": "~/.claude/projects/-work-other/s-2.jsonl", "payload": "{}"}
    below = entry | {"id": "3" * 32, "source": "~/.claude/history.jsonl", "payload": '{"cwd": "/work/shop/till"}'}
    cut = {"source": "~/.claude/projects/-work-shop-till-2/s-4.jsonl", "payload": '{"cwd":"/work/shop/till/2","type":"'}
    torn = entry | {"id": "4" * 32} | cut
    quarantine = tmp_path / "state.quarantine.jsonl"
    quarantine.write_text("".join(f"{json.dumps(each)}\n" for each in (entry, other, below, torn)))
    told = Told(capsys, "forget", "--project", "/work/shop/till", "--yes", "--json", "--config", config)
    assert json.loads(told.out)["quarantined"] == 2
    (tmp_path / "events.db").unlink()  # as on machines that send everything to another sink
    told = Told(capsys, "forget", "--project", "/work/shop", "--yes", "--json", "--config", config)
    assert json.loads(told.out)["quarantined"] == 1
    assert [json.loads(line)["id"] for line in quarantine.read_text().splitlines()] == ["2" * 32]
