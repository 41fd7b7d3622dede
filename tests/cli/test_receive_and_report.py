"""`collector receive` and `collector report`, run as a person would."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from collector.store.writer import Writer
from tests.agent import Agent
from tests.build import Home
from tests.sink import PATIENCE
from tests.store.samples import Client, Event, calls, event, lines, reply, row_of
from tests.tls import Authority

COLLECTOR = (sys.executable, "-m", "collector")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs one command to its end."""
    command = [*COLLECTOR, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


@contextmanager
def receiving(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs `collector receive`, and gives the process and its address."""
    command = [*COLLECTOR, "receive", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            assert told.startswith("Receiving on "), told + process.stderr.read()
            yield process, told.split()[2]
        finally:
            process.kill()


def fill(database: Path, *events: Event) -> None:
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, events))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_receive_stops_cleanly_when_told_to(database: Path, number: signal.Signals) -> None:
    with receiving("--database", database) as (process, url):
        client = Client(url, None, database)
        with client.http:
            assert client.send(event())["accepted"] == 1
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "Stopped.\n")
    assert not database.with_name("events.db-wal").exists()


def test_receive_requires_the_token_it_was_given(database: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a long secret\n")
    with receiving("--database", database, "--token-file", tmp_path / "token", "--host", "0.0.0.0") as (process, url):
        assert process.stderr is not None
        assert "travel in the clear" in process.stderr.readline()  # without a certificate
        url = url.replace("0.0.0.0", "127.0.0.1")
        headers = {"Content-Type": "application/x-ndjson"}
        assert httpx.post(url, content=lines([event()]), headers=headers).status_code == 401
        headers["Authorization"] = "Bearer a long secret"
        assert httpx.post(url, content=lines([event()]), headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_receive_refuses_to_listen_on_the_network_without_a_token(database: Path, host: str) -> None:
    ended = run("receive", "--host", host, "--database", database)
    assert ended.returncode == 78
    assert "--token-file" in ended.stderr
    assert not database.exists()


def test_receive_says_when_its_port_is_taken(database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("receive", "--port", str(port), "--database", database)
    assert ended.returncode == 1
    assert f"127.0.0.1:{port} is in use" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("receive", "--host", "192.0.2.7", "--token-file", "TOKEN"), 1, "Cannot listen on 192.0.2.7"),
        (("receive", "--host", "no-such-host.invalid"), 78, "--host no-such-host.invalid"),
        (("receive", "--token-file", "missing"), 78, "cannot read missing"),
        (("receive", "--certificate", "TOKEN"), 78, "--certificate"),
        (("receive", "--key", "TOKEN"), 78, "--key needs --certificate"),
        (("receive", "--port", "99999"), 2, "--port"),
        (("receive", "--web-name", "fleet.example"), 2, "only makes sense with --web"),
        (("receive", "--database", "TOKEN"), 1, "is damaged"),
        (("report", "--database", "TOKEN"), 1, "is damaged"),
        (("report", "--database", "missing.db"), 1, "no store at missing.db yet"),
        (("report", "--since", "yesterday"), 2, "yesterday"),
        (("report", "--since", "2026-01-01", "--days", "3"), 2, "cannot be used together"),
    ],
)
def test_bad_input_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("TOKEN").write_text("secret of more than sixteen characters, and no database at all" * 2)
    ended = run(*arguments)
    assert (ended.returncode, told in ended.stderr, ended.stdout) == (code, True, ""), ended.stderr
    assert "Traceback" not in ended.stderr


def test_receive_serves_https_with_a_certificate(database: Path, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    trust = ssl.create_default_context(cafile=authority.certificate)
    certificate, key = authority.issue("127.0.0.1")
    with receiving("--database", database, "--certificate", certificate, "--key", key) as (_, url):
        assert url.startswith("https://")
        assert httpx.get(httpx.URL(url).join("/health"), verify=trust).status_code == 200


def test_the_report_as_json_has_its_documented_shape(database: Path) -> None:
    fill(
        database,
        event(origin="human", project="-work-app"),
        reply("msg-1", 250, project="-work-app"),
        calls(("toolu_1", "Bash"), session_id="session-2"),
    )
    ended = run("report", "--database", database, "--json")
    figures = {
        "input_tokens": 10,
        "output_tokens": 250,
        "cache_read_tokens": 100,
        "cache_creation_tokens": 5,
        "cache_creation_5m_tokens": 0,
        "cache_creation_1h_tokens": 0,
        "thinking_tokens": 0,
        "web_search_requests": 0,
        "web_fetch_requests": 0,
        "messages": 1,
        "unknown_output": 0,
        "cost_micros": 6381,  # 10 * 5 + 250 * 25 + 100 * 0.5 + 5 * 6.25
        "cost_reported_micros": 0,
        "messages_without_price": 0,
    }
    assert json.loads(ended.stdout) == {
        "since": None,
        "until": None,
        "tokens": [{"day": "2026-03-01", "model": "claude-opus-4-5", **figures}],
        "totals": {**figures, "messages_with_unknown_output": 0},
        "models": {"claude-opus-4-5": {"model": "claude-opus-4-5", **figures}},
        "projects": [{"project": "-work-app", "sessions": 1, **figures}],
        "sessions": 2,
        "prompts": 1,
        "lines_added": 0,
        "lines_removed": 0,
        "tools": [{"name": "Bash", "calls": 1}],
        "events": 3,
        "kinds": {"assistant_response": 1, "tool_call": 1, "user_prompt": 1},
    }
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_report_is_readable(database: Path) -> None:
    rows = [reply(f"msg-{n}", 1_000_000, project=f"-work-{n % 2}", quality=["output_tokens_unknown"]) for n in range(3)]
    fill(database, *rows, *[calls((f"toolu_{n}", f"Tool{n}")) for n in range(20)])
    shown = run("report", "--database", database).stdout
    for expected in (
        "2026-03-01",
        "3,000,000",
        "-work-1",
        "Tool3",
        "5 more",
        "1 session",
        "lack their final output count",
    ):
        assert expected in shown


def test_a_terminal_that_has_no_bars_gets_none(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(database, reply("m1", 9))
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert "\\u2588" not in run("report", "--database", database, "--by", "model").stdout


def test_the_report_shows_no_amount_for_a_cost_that_is_not_known(database: Path) -> None:
    fill(database, reply("m1", 9), reply("m2", 9, model="ours"))
    for by, costs in (("model", ["$0.0004", "unknown"]), ("day", ["$0.0004+"])):
        shown = run("report", "--database", database, "--by", by, "--cost").stdout
        assert [line.split()[-2 if "█" in line else -1] for line in shown.splitlines()[1 : 1 + len(costs)]] == costs
    assert "total" in (shown := run("report", "--database", database, "--cost").stdout)
    assert next(line for line in shown.splitlines() if line.startswith("total")).endswith("$0.0004+")


def test_the_overview_shows_the_newest_days_and_totals_all_of_them(database: Path) -> None:
    fill(
        database, *[reply(f"msg-{n}", 100, time=f"2026-{3 + n // 28:02}-{1 + n % 28:02}T08:00:00Z") for n in range(40)]
    )
    shown = run("report", "--database", database).stdout
    assert ("2026-03-10" in shown, "2026-03-11" in shown) == (False, True)
    assert "10 earlier rows not shown, but in the total; --limit 0 shows all." in shown
    assert "4,000" in shown
    assert "2026-03-01" in run("report", "--database", database, "--limit", "0").stdout


def test_heartbeats_and_canaries_are_in_no_total(database: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    agent = Agent(home, environment={"COLLECTOR_HEARTBEAT__INTERVAL": "300"})
    with receiving("--database", database) as (_, url):
        assert agent.scan("--sink-url", url).code == 0
        assert agent.run("doctor", "--sink-url", url, "--state", str(agent.state)).code == 0
    report = json.loads(run("report", "--json", "--database", database).stdout)
    assert report["kinds"] == {"canary": 2, "heartbeat": 1, "user_prompt": 1}
    assert report["events"] == 1
    info = json.loads(run("store", "info", "--json", "--database", database).stdout)
    assert (info["events"], info["first_time"]) == (1, info["last_time"])


@pytest.mark.parametrize("filtered", [("--since", "2027-01-01"), ("--project", "another")])
def test_a_report_on_nothing_says_whether_the_store_is_empty(database: Path, filtered: tuple[str, str]) -> None:
    fill(database)
    assert run("report", "--database", database).stdout == "The store has no events yet.\n"
    fill(database, reply("msg-1", 7))
    assert run("report", "--database", database, *filtered).stdout == "The store has nothing that matches.\n"


@pytest.mark.parametrize("command", [("report",), ("store", "info"), ("web",)])
def test_a_pipe_in_place_of_the_store_does_not_block(database: Path, command: tuple[str, ...]) -> None:
    database.parent.mkdir(parents=True)
    os.mkfifo(database)
    result = run(*command, "--database", database)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"The store {database} is a pipe" in result.stderr


def test_the_last_days_end_today(database: Path) -> None:
    fill(database, reply("msg-1", 7, time="2999-01-01T00:00:00Z"), reply("msg-2", 9, time="2001-01-01T00:00:00Z"))
    shown = json.loads(run("report", "--database", database, "--days", "2", "--json").stdout)
    assert shown["totals"]["output_tokens"] == 7


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_control_character_from_a_transcript_reaches_the_terminal(database: Path, form: tuple[str, ...]) -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\x7f[bold]x"
    fill(database, reply("msg-1", 1, model=nasty, project=nasty), calls(("t", nasty)), reply("msg-2", 1))
    shown = run("report", "--database", database, *form).stdout
    assert [character for character in shown if not character.isprintable() and character != "\n"] == []
    assert "[bold]x" in shown


def test_the_report_does_not_modify_the_store(database: Path) -> None:
    fill(database, event())
    before = database.stat().st_mtime_ns
    assert run("report", "--database", database).returncode == 0
    assert database.stat().st_mtime_ns == before


def test_the_shipped_views_work_in_plain_sqlite(database: Path) -> None:
    fill(database, reply("msg-1", 3), reply("msg-1", 7), calls(("toolu_1", "Bash")))
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT sum(output_tokens) FROM messages").fetchall() == [(7,)]
        assert connection.execute("SELECT call_id, name FROM tool_calls").fetchall() == [("toolu_1", "Bash")]
        assert connection.execute("SELECT session_id, events FROM sessions").fetchall() == [("session-1", 3)]


def test_the_store_is_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = tmp_path / "elsewhere.db"
    fill(database, event())
    monkeypatch.setenv("COLLECTOR_STORE__DATABASE", os.fspath(database))
    assert json.loads(run("report", "--json").stdout)["events"] == 1
