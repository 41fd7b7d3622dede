"""The SQL that the repository ships: the questions give the same figures in every supported engine.

`make test` runs them on the embedded store; `make test-engines` also asks DuckDB, PostgreSQL and ClickHouse, where
installed, and compares. The data is the sample set, loaded in parts, with repeats, and in a different order.
"""

from __future__ import annotations

import getpass
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from collector.delivery.sinks.clickhouse import ClickHouseSink
from collector.flow.outcome import Sealed
from collector.store import prices, queries
from collector.store.prices import micros
from collector.store.report import asking
from collector.store.writer import Writer
from tests.engines import ask_chdb as chdb
from tests.flow.event_schema import json_schema
from tests.store.sample_set import SAMPLE, sample_events
from tests.store.samples import Event, event, lines, reply, row_of
from tests.store.shipped_sql import CONFIG, FILES, shipped

jsonschema = pytest.importorskip("jsonschema")
QUESTION = re.compile(r"^-- (\w+): .*\n((?:.+\n)+?.*;)", re.MULTILINE)
Answers = dict[str, list[tuple[Any, ...]]]
# Hard to load: control characters, halves of surrogate pairs, whole pairs, backslashes that look like escapes.
HARD = (
    r'"text":"nul \u0000, half \ud800 and \udc00, whole \ud83d\ude00, told \\u0000 \\\u0000 \\ud800, \u001f\u001e \t"',
    "nul \ufffd, half \ufffd and \ufffd, whole \U0001f600, told \\u0000 \\\ufffd \\ud800, \x1f\x1e \t",
)


def questions() -> dict[str, str]:
    """The questions by name, about the work and about the fleet."""
    return dict(QUESTION.findall((CONFIG / "questions.sql").read_text() + (CONFIG / "fleet.sql").read_text()))


def asked() -> dict[str, str]:
    """What is compared: the questions, and the sessions."""
    columns = "session_id, time, last_time, project, host_id, user_name, events, prompts, lines_added, lines_removed"
    return questions() | {"sessions": f"SELECT {columns} FROM sessions"}


def sent() -> list[Event]:
    """The sample set, and events it lacks: usage at many prices or none, reported costs, heartbeats, unmarked forks."""
    usage = {"input_tokens": 70_001, "output_tokens": 333, "cache_read_tokens": 30_000, "cache_creation_tokens": 99}
    usage |= {"cache_creation_5m_tokens": 0, "cache_creation_1h_tokens": 99, "web_search_requests": 3}
    rows = []
    for number, (name, _) in enumerate(prices.load().names[:: len(prices.load().names) // 40]):
        asked = {"speed": "fast"} if number % 3 else {"inference_geo": "us", "service_tier": "batch"}
        rows.append(
            reply(f"price-{number}", 0, model=name, usage=usage | asked, time=f"2026-0{1 + number % 9}-02T00:00:00Z")
        )
    sampled = [{"type": "message", **{key: value // 3 for key, value in usage.items()}} for _ in range(3)]
    whole = {key: 3 * (value // 3) for key, value in usage.items()}
    rows.append(reply("sampled", 0, model="claude-haiku-5-5", usage=whole | {"iterations": sampled}))
    for number, cost in enumerate([0.012345678, 0, 3, 1e-7, -1, 1e99, "free", {"in": 1}, True]):
        rows.append(reply(f"told-{number}", 0, attributes={"cost_usd": cost}))
    rows.append(event("unknown", record_type="new-thing", user="ada"))
    rows += heard(time.time())
    copied = {"record_type": "user", "user": "ada", "project": "-work-forks", "time": "2026-03-03T00:00:00Z"}
    for n in range(18):  # the way forks used to be written, without a mark
        session = f"{n:08x}-a" if n % 2 else "ffffffff-a"
        rows.append(event(id=f"9{n // 2:031d}", session_id=session, **copied))
    for number in range(4):  # conversations of which an agent on the side has a copy
        main = [reply(f"main-{number}", 5, user="eve"), event(origin="human", text="Why?", user="eve")]
        aside = {"agent_id": "acompact-1", "agent_type": "summarizer"}
        copies = [row | aside | ({"kind": "user_context", "origin": "task"} if "origin" in row else {}) for row in main]
        rows += [*main, *copies] if number % 2 else [*copies, *main]
    return [*sample_events(), *rows, *[event("mode", record_type="mode", user="ada") for _ in range(3)]]


def forked() -> list[Event]:
    """Sessions that were forked with `--fork-session`, and the fork again: only the answers name the parent."""
    rows: list[Event] = []
    for name in ("00000000", "fffffffe"):
        began, fork, again = (f"{name}-{part}" for part in "bca")
        prompt, other, more = (event(origin="human", text="Why?", user="eve", session_id=began) for _ in range(3))
        edit = event("tool_result", tool={"lines_added": 3}, session_id=began, user="eve")
        first, second = (reply(f"{name}-{number}", 5, session_id=began, user="eve") for number in range(2))
        rows += [prompt, edit, first, other | {"session_id": fork}, second | {"session_id": fork}]
        for copy in (fork, again):
            rows += [prompt | {"session_id": copy}, edit | {"session_id": copy}]
            rows.append(first | {"session_id": copy, "attributes": {"request_session_id": began}})
        rows += [other | {"session_id": again}, more | {"session_id": again}]
        rows.append(second | {"session_id": again, "attributes": {"request_session_id": fork}})
    return rows


# Machine, seconds since its last heartbeat, and what that heartbeat says.
FLEET: list[tuple[str, int, dict[str, Any]]] = [
    ("well", 30, {"version": "0.2.0"}),
    ("gone", 3_000, {"lag": 10}),
    ("off", 90_000, {"is_last": True, "lag": 10}),
    ("slow", 20, {"lag": 5_000, "interval": 60, "problem": "unavailable", "last_error": "HTTP 503"}),
    ("strict", 40, {"quarantine": 3, "withheld": 2, "held": 1, "capture_level": "metadata", "configuration": "c2"}),
    ("seldom", 3_000, {"interval": 3_600, "is_last": False}),
]


def heard(now: float) -> list[Event]:
    """Heartbeats of a small fleet, two from each machine, and a canary, which must not count as one."""
    usual = {"version": "0.1.0", "command": "run", "lag": 0, "quarantine": 0, "withheld": 0, "held": 0}
    usual |= {
        "capture_level": "content",
        "configuration": "c1",
        "uptime_seconds": 60,
        "writers": {"claude_code": ["2"]},
    }
    made = []
    for host, age, says in FLEET:
        for before, attributes in ((600, {**usual, "lag": says.get("lag", 7)}), (0, {**usual, **says})):
            moment = datetime.fromtimestamp(int(now) - age - before, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            sender = {"installation_id": f"i-{host}", "host": {"id": f"h-{host}", "name": host}, "user": "ada"}
            made.append(event("heartbeat", time=moment, attributes=attributes, **sender))
    return [*made, event("canary", host={"id": "h-tried", "name": "tried"}, attributes={"lag": 99}, user="ada")]


def ask_the_store(folder: Path, events: list[Event]) -> Answers:
    with closing(Writer(folder / "events.db", own_prices=None)) as writer:
        writer.store(map(row_of, events))
    with asking(folder / "events.db") as connection:
        answers = {name: connection.execute(text).fetchall() for name, text in asked().items()}
        view = connection.execute("SELECT sum(cost_exact) FROM messages").fetchone()[0]
        assert micros(view or 0) == queries.totals(connection)["cost_micros"]
    return answers


def test_every_question_has_an_answer(tmp_path: Path) -> None:
    answers = ask_the_store(tmp_path, sent())
    assert len(answers) == 20
    assert all(answers.values())
    assert sum(row[2] for row in answers["cost_per_user_and_day"] if row[2]) > 10**6


def test_the_fleet_questions_find_silent_slow_and_quarantining_machines(tmp_path: Path) -> None:
    answers = ask_the_store(tmp_path, heard(time.time()))
    names = {question: [row[0] for row in rows] for question, rows in answers.items()}
    assert names["silent"] == ["gone"]
    assert names["lagging"] == ["slow", "gone"]
    assert names["quarantining"] == ["strict"]
    assert names["problems"] == ["slow"]
    assert [row[:3] for row in answers["versions"]] == [
        ("0.2.0", "running", 1),
        ("0.1.0", "running", 3),
        ("0.1.0", "silent", 1),
        ("0.1.0", "stopped", 1),
    ]
    assert [row[:3] for row in answers["configurations"]] == [("c1", "content", 4), ("c2", "metadata", 1)]
    assert names["claude_code_versions"] == names["events_per_day"] == []


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_files_are_up_to_date_with_their_parts(name: str) -> None:
    assert (CONFIG / name).read_text() == shipped(name), "run `python -m tests.store.shipped_sql`"


def test_the_sample_set_matches_the_event_schema() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    for line in SAMPLE.read_text().splitlines()[::10]:
        validator.validate(json.loads(line))


def unordered(answers: Answers) -> dict[str, list[str]]:
    """The answers without their order, because databases sort nulls and capitals differently."""
    return {name: sorted(map(repr, rows)) for name, rows in answers.items()}


def loaded_lines(events: list[Event]) -> list[str]:
    """The events as shuffled lines, some of them twice, after one line that is hard to load."""
    lines = [json.dumps(each) for each in events]
    random.Random(5).shuffle(lines)
    hard = json.dumps(event("mode", user="hard", time=None, session_id=None))[:-1] + "," + HARD[0] + "}"
    return [hard, *lines, *lines[::7]]


@pytest.mark.engines
@pytest.mark.parametrize("engine", ["duckdb", "postgresql", "clickhouse"])
def test_every_engine_gives_the_same_answers(tmp_path: Path, engine: str) -> None:
    events = sent() + (forked() if engine != "clickhouse" else [])  # which cannot tell them apart; see docs/store.md
    ask = {"duckdb": ask_duckdb, "postgresql": ask_postgresql, "clickhouse": ask_clickhouse}[engine]
    answers, text = ask(tmp_path, loaded_lines(events))
    assert unordered(answers) == unordered(ask_the_store(tmp_path, events))
    expected = HARD[1]
    assert text == (
        expected if engine == "postgresql" else expected.replace("nul \ufffd", "nul \0").replace("\\\ufffd", "\\\0")
    )


def ask_duckdb(folder: Path, lines: list[str]) -> tuple[Answers, str]:
    duckdb = pytest.importorskip("duckdb")
    (file := folder / "lines.ndjson").write_text("\n".join(lines) + "\n")
    (load,) = re.findall(r"^--     (COPY incoming .*?;)$", (CONFIG / "duckdb.sql").read_text(), re.MULTILINE)
    with duckdb.connect() as connection:
        for name in ("duckdb.sql", "prices.sql"):
            connection.execute((CONFIG / name).read_text())
        for _ in range(2):
            connection.execute(load.replace("events.ndjson", str(file)))
            connection.execute((CONFIG / "duckdb-load.sql").read_text())
        answers = {name: connection.execute(text).fetchall() for name, text in asked().items()}
        text = connection.execute("SELECT event->>'text' FROM events WHERE user_name = 'hard'").fetchone()[0]
    return answers, text


def ask_clickhouse(folder: Path, lines: list[str]) -> tuple[Answers, str]:
    sealed = [Sealed(json.loads(line)["id"], line.encode(), {}) for line in lines]
    request = ClickHouseSink().render(sealed, "")
    rows = [json.loads(row) for row in request.body.splitlines()]
    shares = (rows[:100], rows, rows[50:])
    loads = [chdb.loading(share, folder / f"{number}.ndjson") for number, share in enumerate(shares)]
    told = asked()
    text = "SELECT JSONExtractString(event, 'text') FROM events WHERE user_name = 'hard'"
    found = chdb.ask_chdb(folder, *chdb.schema(), *loads, *map(chdb.asked, told.values()), text)[-len(told) - 1 :]
    return {name: [tuple(row) for row in rows] for name, rows in zip(told, found[:-1], strict=True)}, found[-1][0][0]


def ask_postgresql(folder: Path, lines: list[str]) -> tuple[Answers, str]:
    (folder / "lines.ndjson").write_text("\n".join(lines) + "\n")
    with postgresql() as server:
        for _ in range(2):
            server.load(folder / "lines.ndjson")
        answers = {name: server.rows(text) for name, text in asked().items()}
        ((text,),) = server.rows("SELECT event->>'text' FROM events WHERE user_name = 'hard';")
    return answers, text


@pytest.mark.engines
def test_postgresql_does_work_in_proportion_to_the_events(tmp_path: Path) -> None:
    """Loading parsed each line once per column, and the views compared every message with every other."""
    advice = [{"type": "advisor_message", "model": "claude-opus-4-5", "output_tokens": 7}]
    events = [
        reply(
            f"m-{number}",
            output,
            usage={"input_tokens": 10, "output_tokens": output} | ({} if number % 20 else {"iterations": advice}),
        )
        for number in range(500)
        for output in (3, 9)
    ]
    (tmp_path / "lines.ndjson").write_bytes(lines(events))
    with postgresql() as server:
        server.psql("-c", "CREATE SEQUENCE parsed", "-c", COUNTING)
        server.load(tmp_path / "lines.ndjson")
        ((parsed,),) = server.rows("SELECT last_value FROM parsed")
        server.psql("-c", "ANALYZE")
        statement = "SELECT count(cost_exact) FROM messages"
        assert server.rows(statement) == [(525,)]
        (plan,) = json.loads(server.psql("-A", "-t", "-c", f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}"))
    assert parsed <= 2 * len(events)
    assert handled(plan["Plan"]) <= 300 * len(events)  # the hundred prices of a model are compared, too


COUNTING = """
CREATE OR REPLACE FUNCTION mended(line text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
'BEGIN PERFORM nextval(''parsed''); RETURN line; END'
"""


def handled(plan: dict[str, Any]) -> int:
    """How many rows a query passed on or compared, in all its steps."""
    rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    return int(plan["Actual Loops"] * rows) + sum(map(handled, plan.get("Plans", ())))


@contextmanager
def postgresql() -> Iterator[Server]:
    """A PostgreSQL with the shipped tables, views and prices."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("initdb") or "").parent]
    if not (programs[-1] / "initdb").exists():
        pytest.skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="collector-pg-", dir="/tmp") as directory:
        server = Server(programs[-1], Path(directory))
        try:
            server.start()
            for name in ("postgresql.sql", "prices.sql"):
                server.psql("-f", str(CONFIG / name))
            yield server
        finally:
            server.stop()


class Server:
    """A private PostgreSQL in a scratch folder, reached by a socket there; run as another user if this one is root."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.account = "postgres" if os.getuid() == 0 else getpass.getuser()
        if os.getuid() == 0:
            shutil.chown(folder, self.account)

    def start(self) -> None:
        data = self.folder / "data"
        self._run("initdb", "-D", str(data), "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", str(data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")

    def psql(self, *arguments: str) -> str:
        command = [
            str(self.programs / "psql"),
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            str(self.folder),
            "-U",
            "owner",
        ]
        ended = subprocess.run([*command, "-d", "postgres", *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def load(self, file: Path) -> None:
        """Loads events as the shipped file says."""
        (load,) = re.findall(r'-c "(\\copy .*)"$', (CONFIG / "postgresql.sql").read_text(), re.MULTILINE)
        self.psql("-c", load.replace("events.ndjson", str(file)))
        self.psql("-c", "select load_events()")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, with JSON types."""
        asked = f"SELECT coalesce(json_agg(to_json(answer)), '[]') FROM ({statement.rstrip().rstrip(';')}) AS answer"
        return [tuple(row.values()) for row in json.loads(self.psql("-A", "-t", "-c", asked))]

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", self.account, "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, timeout=60)
