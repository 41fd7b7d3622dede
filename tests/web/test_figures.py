"""The Tools, Cache, When, Trust and SQL pages: they show the store's figures, and change nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.agent import Agent
from tests.build import Home
from tests.store.samples import Event, event, reply
from tests.web.pages import Browser, stored
from tests.web.test_commands import started


def called(number: int, name: str, seconds: int, *, ok: bool = True, given: Any = None) -> list[Event]:
    """A call, and its result this many seconds later."""
    call = {"type": "tool_call", "call_id": f"c{number}", "name": name, "input": given or {}}
    result = {"type": "tool_result", "call_id": f"c{number}", "ok": ok, "text": "x"}
    return [
        event("tool_call", blocks=[call], time="2026-03-02T10:00:00.000Z"),
        event("tool_result", blocks=[result], time=f"2026-03-02T10:00:{seconds:02}.000Z"),
    ]


def heartbeat(host: str, time: str, **attributes: Any) -> Event:
    """A heartbeat from this host."""
    said = {"version": "0.1.0", "lines": 10, "delivered": 7, "skipped": {"empty": 2}, "quarantined": 1, **attributes}
    return event("heartbeat", time=time, host={"id": host, "name": host}, session_id=None, attributes=said)


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    calls = [pair for number in range(20) for pair in called(number, "Bash", number + 1, ok=number != 3)]
    calls += called(30, "mcp__github__get", 5) + called(31, "Skill", 6, given={"skill": "release-notes"})
    calls += called(32, "Task", 7, given={"subagent_type": "Explore"})
    beats = [
        heartbeat("ada", "2026-03-01T09:00:00.000Z", lines=99),
        heartbeat("ada", "2026-03-02T09:00:00.000Z"),
        heartbeat("bob", "2026-03-02T09:00:00.000Z", delivered=6, lag=2048, withheld=3),
    ]
    more = [
        event("user_prompt", text="x", origin="human", time="2026-03-02T10:00:00.000Z", redactions={"github-token": 2}),
        event("user_prompt", text="x", origin="human", time="2026-03-02T10:30:00.000Z", redactions={"withheld": 4}),
        reply("m1", 5, time="2026-03-02T23:00:00.000Z", quality=["output_tokens_unknown"])
        | {"client": {"name": "claude_code", "version": "2.1.30"}},
        event("unknown", time="2026-03-02T10:00:00.000Z"),
    ]
    return Browser(stored(tmp_path / "events.db", [*calls, *beats, *more]), retention_days=90).signed_in()


def test_the_tools_page_shows_calls_failures_and_durations(browser: Browser) -> None:
    words = browser.words("/tools?days=all")
    assert "calls 23 failed 1 4.3% " in words
    assert "Bash 20 1 5.0% 10.0 s 19.0 s 3 min 30 s" in words
    for title, name, took in (("MCP servers", "github", "5.0 s"), ("Skills", "release-notes", "6.0 s")):
        assert f"{title} Name share Calls Failed Median 95% within Total {name} 1 {took} {took} {took}" in words
    assert "Explore 1 7.0 s" in words
    assert "No tools were called" in browser.words("/tools?host=ada")


def test_the_cache_page_shows_the_savings(browser: Browser) -> None:
    """100 tokens read and 5 written for Opus 4.5: 100 * (5 - 0.5) - 5 * (6.25 - 5) micro-dollars."""
    words = browser.words("/cache?days=all")
    assert "saved $0.0004" in words
    assert "prompt tokens from cache 87%" in words


def test_the_when_page_shows_hours_of_the_week_in_local_time_or_utc(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Monday 10:00: 2 " in browser.words("/when?days=all&zone=utc")
    for zone, prompts, output in (("Tokyo", "Monday 19:00", "Tuesday 08:00"), ("Kolkata", "Monday 15:30", "04:30")):
        monkeypatch.setenv("TZ", f"Asia/{zone}")
        time.tzset()
        try:
            assert f"{prompts}: 2 " in browser.words("/when?days=all")
            assert f"{output}: 5 " in browser.words("/when?days=all&measure=output")
        finally:
            monkeypatch.delenv("TZ")
            time.tzset()
    points = browser.get("/when?days=all").text.partition('data-points="')[2].partition('"')[0]
    times, sessions, agents = json.loads(points)
    assert (max(sessions), max(agents)) == (1, 1)
    assert len(times) == len(sessions) == len(agents)


def test_the_trust_page_says_whether_each_ledger_balances(browser: Browser) -> None:
    words = browser.words("/trust?days=all")
    assert "secrets removed 2 texts withheld 4 events of unknown kind 1 messages with unknown output 1 of 1" in words
    table = words[words.index("agents that send here") :]
    ada, bob = table.partition("ada ")[2], table.partition("bob ")[2]
    assert "10 7 2 1 balances" in ada[:120]
    assert "10 6 2 1 does not balance 2.0 kB 3" in bob[:140]
    assert " 99 " not in words
    assert "github-token 2 1" in words
    assert "2.1.30 2026-03-02 23:00 1 1 1 1" in words
    assert "removed from this store 90 days after they happened" in words


def statement(text: str) -> str:
    """The query string for this statement."""
    return (
        f"?q={text.replace('%', '%25').replace('+', '%2B').replace(' ', '+').replace(';', '%3B').replace('#', '%23')}"
    )


def test_sql_results_come_as_a_page_as_csv_and_as_json(browser: Browser) -> None:
    asked = statement("SELECT name, count(*) AS calls, NULL, '=1+1' FROM tool_calls WHERE name < 'C' GROUP BY 1")
    assert "1 row name calls NULL '=1+1' Bash 20 null =1+1" in browser.words(f"/sql{asked}")
    made = browser.get(f"/sql.csv{asked}")
    assert made.text.splitlines()[1] == "Bash,20,,'=1+1"
    assert "attachment" in made.headers["content-disposition"]
    assert browser.get(f"/sql.json{asked}").json() == [{"name": "Bash", "calls": 20, "NULL": None, "'=1+1'": "=1+1"}]


@pytest.mark.parametrize(
    "text",
    [
        *("DELETE FROM event_rows", "DROP TABLE event_rows", "UPDATE event_rows SET kind = 'x'", "VACUUM", "SELEC 1"),
        *("PRAGMA query_only = OFF", "ATTACH 'x.db' AS x", "SELECT 1; DELETE FROM event_rows", "BEGIN", "REINDEX"),
        *(
            "SELECT load_extension('x')",
            "SELECT randomblob(9)",
            "CREATE TEMP TABLE x (y)",
            "SELECT writefile('x', 'y')",
        ),
    ],
)
def test_sql_changes_nothing(browser: Browser, tmp_path: Path, text: str) -> None:
    def state() -> Any:
        with closing(sqlite3.connect(tmp_path / "events.db")) as connection:
            return connection.execute("SELECT count(*), min(kind), max(kind) FROM event_rows").fetchall()

    before, files = state(), sorted(os.listdir(tmp_path))
    assert "SQLite says" in browser.words(f"/sql{statement(text)}")
    browser.get(f"/sql.csv{statement(text)}", 400)
    assert (state(), sorted(os.listdir(tmp_path))) == (before, files)


def test_an_sql_result_is_bounded(browser: Browser) -> None:
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%2000d', i) FROM n"
    page = browser.get(f"/sql{statement(counting)}").text
    assert "there are more" in page
    assert len(page.encode()) < 300_000


def test_trust_and_doctor_say_when_transcripts_will_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They read cleanupPeriodDays from the root's settings.json, and count sessions that only the store still has."""
    home = Home(tmp_path)
    gone, there = home.session(), home.session()
    for session in (gone, there):
        session.prompt("Hello")
        os.utime(session.path, (1_772_366_400, 1_772_366_400))  # 2026-03-01T12:00:00Z
    agent = Agent(home)
    # A machine without an id of its own, such as a container, is identified by the directory of the state file.
    monkeypatch.setenv("COLLECTOR_STATE__PATH", str(agent.state))
    assert agent.scan().code == 0
    gone.delete()
    (home.root / "settings.json").write_text('{"cleanupPeriodDays": 99999, "env": {"KEY": "only-in-settings"}}')
    told = agent.run("doctor", "--root", str(home.root), "--state", str(agent.state)).stdout
    assert "deletes transcripts after 99,999 days" in told
    (home.root / "settings.json").write_text('{"cleanupPeriodDays": 10, "env": {"KEY": "only-in-settings"}}')
    told = agent.run("doctor", "--root", str(home.root), "--state", str(agent.state)).stdout
    assert "deletes transcripts after 10 days (cleanupPeriodDays in " in told
    assert "the oldest will be deleted on 2026-03-11" in " ".join(told.split())
    assert "1 session whose transcript is gone is still in the store, forever" in " ".join(told.split())
    assert "only-in-settings" not in told
    with started("web", "--no-open") as (_, address), httpx.Client(follow_redirects=True) as client:
        client.get(address)
        page = client.get(f"{address.partition('?')[0]}trust").text
    assert "after 10 days (cleanupPeriodDays in ~/.claude/settings.json)" in page
    assert "1 session whose transcript is gone" in page
    assert "only-in-settings" not in page


def test_trust_says_that_nothing_is_sent_during_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path)
    home.session().prompt("Hello")
    agent = Agent(home)
    monkeypatch.setenv("COLLECTOR_STATE__PATH", str(agent.state))
    assert agent.scan().code == 0
    assert agent.run("pause", "--state", str(agent.state)).code == 0
    with started("web", "--no-open") as (_, address), httpx.Client(follow_redirects=True) as client:
        client.get(address)
        page = client.get(f"{address.partition('?')[0]}trust").text
    assert "nothing is sent: paused since" in page
