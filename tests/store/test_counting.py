"""The counting rules of docs/store.md: the advisor, unknown output, bookkeeping, forks, durations, prices."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from collector.store import queries
from collector.store.prices import micros
from collector.store.queries import Selection
from collector.store.report import asking, summarize
from collector.store.tool_use import tools
from collector.store.totals import CALLED
from collector.store.writer import Writer
from tests.store.sample_set import sample_events
from tests.store.samples import Event, calls, event, reply, row_of

ADVISED = [
    {"type": "message", "input_tokens": 11, "output_tokens": 51},
    {"type": "advisor_message", "model": "claude-opus-4-6", "input_tokens": 7000, "output_tokens": 900},
]


def asked(database: Path, statement: str, *sent: Event) -> list[dict[str, Any]]:
    """The rows this statement gives once these events are stored, in one batch and repeatedly in batches of one."""
    with closing(Writer(database)) as writer:
        writer.store(map(row_of, sent))
        for one in (*sent, *reversed(sent)):
            writer.store([row_of(one)])
    with asking(database) as connection:
        cursor = connection.execute(statement)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def test_the_advisor_counts_under_its_own_model_and_other_iterations_add_nothing(database: Path) -> None:
    usage = {
        "input_tokens": 11,
        "output_tokens": 51,
        "iterations": [*ADVISED, {"type": "compaction", "input_tokens": 9}],
    }
    rows = [reply("msg-1", 0, usage=usage, model="claude-sonnet-4-6"), reply("msg-1", 3, model="claude-sonnet-4-6")]
    found = asked(database, "SELECT model, input_tokens, output_tokens, message_id FROM messages ORDER BY model", *rows)
    assert [tuple(row.values()) for row in found] == [
        ("claude-opus-4-6", 7000, 900, "msg-1"),
        ("claude-sonnet-4-6", 11, 51, "msg-1"),
    ]
    report = summarize(database)
    assert {model: row["output_tokens"] for model, row in report["models"].items()} == {
        "claude-opus-4-6": 900,
        "claude-sonnet-4-6": 51,
    }
    assert (report["totals"]["input_tokens"], report["totals"]["output_tokens"]) == (7011, 951)


@pytest.mark.parametrize(("flagged", "unknown"), [((True, True), 1), ((True, False), 0), ((False, True), 0)])
def test_output_is_unknown_only_if_every_row_says_so(database: Path, flagged: tuple[bool, bool], unknown: int) -> None:
    rows = [
        reply("msg-1", output, **({"quality": ["output_tokens_unknown"]} if is_flagged else {}))
        for output, is_flagged in zip((1, 2), flagged, strict=True)
    ]
    found = asked(database, "SELECT quality FROM messages", *rows)
    assert found == [{"quality": "output_tokens_unknown" if unknown else None}]
    assert summarize(database)["totals"]["messages_with_unknown_output"] == unknown


def test_bookkeeping_keeps_the_newest_record_of_each_type_per_session(database: Path) -> None:
    modes = [
        event("mode", record_type="permission-mode", time=f"2026-03-01T10:0{minute}:00.000Z", session_id=session)
        for session in ("a", "b")
        for minute in (2, 1, 3)
    ]
    titles = [event("title", record_type=kind, text=kind, session_id="a") for kind in ("ai-title", "custom-title")]
    found = asked(database, "SELECT session_id, record_type, time, times_written FROM bookkeeping", *modes, *titles)
    assert sorted(
        (row["session_id"], row["record_type"], row["time"][11:16], row["times_written"]) for row in found
    ) == [
        ("a", "ai-title", "10:00", 1),
        ("a", "custom-title", "10:00", 1),
        ("a", "permission-mode", "10:03", 3),
        ("b", "permission-mode", "10:03", 3),
    ]


def test_a_title_given_by_a_person_wins_over_generated_ones(database: Path) -> None:
    sent = [
        event(origin="human", text="  Fix the\nlogin bug ", session_id="a"),
        event(origin="human", text="and more", session_id="a", time="2026-03-01T10:00:01.000Z"),
        event(origin="human", text="Only a prompt", session_id="b"),
        event("title", record_type="ai-title", text="Login", session_id="a"),
        event("title", record_type="custom-title", text="My title", session_id="a"),
        event("title", record_type="ai-title", text="Later", session_id="a", time="2026-03-02T10:00:00.000Z"),
        event("title", record_type="agent-name", text="helper", session_id="b"),
    ]
    found = asked(database, "SELECT session_id, title, prompts FROM sessions ORDER BY 1", *sent)
    assert [tuple(row.values()) for row in found] == [("a", "My title", 2), ("b", "Only a prompt", 1)]


def test_a_session_that_a_program_began_is_called_after_its_first_prompt(database: Path) -> None:
    sent = [
        event(origin="sdk", text="Review the change", session_id="ci"),
        event(origin="sdk", text="Now fix it", session_id="ci", time="2026-03-01T11:00:00.000Z"),
        event(kind="user_context", origin="task", text="Look around", session_id="ci"),
    ]
    [row] = asked(database, "SELECT title, prompts FROM sessions", *sent)
    assert tuple(row.values()) == ("Review the change", 0)


@pytest.mark.parametrize("fork", ["a", "z"])
@pytest.mark.parametrize("comes_first", ["parent", "fork"])
def test_the_prompts_that_a_fork_copies_stay_with_its_parent(database: Path, fork: str, comes_first: str) -> None:
    """`--fork-session` copies prompts and results with nothing but another session_id; only answers name the parent."""
    prompt = event(origin="human", text="Fix the login", session_id="parent")
    answer = reply("m1", 5, session_id="parent")
    copies = [
        prompt | {"session_id": fork},
        answer | {"session_id": fork, "attributes": {"request_session_id": "parent"}},
    ]
    own = event(origin="human", text="Another way", session_id=fork, time="2026-03-01T11:00:00.000Z")
    batches = {"parent": [prompt, answer], "fork": [*copies, own]}
    with closing(Writer(database)) as writer:
        for name in sorted(batches, key=comes_first.__ne__):
            writer.store(map(row_of, batches[name]))
    found = asked(database, "SELECT session_id, prompts, title FROM sessions ORDER BY time")
    assert [tuple(row.values()) for row in found] == [("parent", 1, "Fix the login"), (fork, 1, "Another way")]


def said(message: str, output: int, session: str, minute: int) -> Event:
    """A message with so many output tokens; 4,000 of them are $0.10."""
    usage = {"input_tokens": 0, "output_tokens": output}
    time = f"2026-03-01T10:{minute:02d}:00.000Z"
    return reply(message, 0, usage=usage, model="claude-opus-4-5", session_id=session, time=time)


def total(session: str, dollars: float, minute: int, started: int = 1) -> Event:
    """Claude Code's own running total, which began at `started`."""
    time = f"2026-03-01T10:{minute:02d}:00.000Z"
    attributes = {"total_cost_usd": dollars, "start_time": started}
    return event("session_cost", attributes=attributes, session_id=session, time=time)


@pytest.mark.parametrize(
    "mark", [{"forked_from": {"sessionId": "root", "messageUuid": "u"}}, {"request_session_id": "root"}]
)
def test_a_forks_total_does_not_include_its_parents(database: Path, mark: dict[str, Any]) -> None:
    original = said("m1", 4000, "root", 1)  # $0.10
    copy = original | {"session_id": "fork", "attributes": mark}
    found = asked(
        database,
        "SELECT * FROM session_costs ORDER BY session_id",
        original,
        total("root", 0.15, 2),  # five cents of it by /compact
        copy,
        said("m2", 8000, "fork", 3),  # $0.20
        total("fork", 0.35, 4),  # 0.15 + 0.20
        said("m3", 4000, "root", 5),  # $0.10, in the parent, after the fork
        total("root", 0.25, 6),
    )
    shown = {
        row["session_id"]: [micros(row[name] or 0) for name in ("computed", "reported", "inherited", "uncounted")]
        for row in found
    }
    assert shown == {"root": [200_000, 250_000, 0, 50_000], "fork": [200_000, 350_000, 150_000, 0]}
    assert micros(sum(row["cost_exact"] for row in found)) == 450_000
    assert [row["parent_session_id"] for row in found] == ["root", None]


def test_a_fork_of_a_fork_inherits_from_the_nearer_one(database: Path) -> None:
    root, near = said("m1", 4000, "a-root", 1), said("m2", 4000, "fork", 3)  # $0.10 each
    found = asked(
        database,
        "SELECT * FROM session_costs ORDER BY session_id",
        root,
        total("a-root", 0.10, 2),
        root | {"session_id": "fork", "attributes": {"request_session_id": "a-root"}},
        near,
        total("fork", 0.25, 4),  # five cents of it by /compact
        said("m3", 8000, "a-root", 5),
        total("a-root", 0.30, 6),
        root | {"session_id": "z-fork-of-it", "attributes": {"request_session_id": "a-root"}},
        near | {"session_id": "z-fork-of-it", "attributes": {"request_session_id": "fork"}},
        said("m4", 4000, "z-fork-of-it", 7),
        total("z-fork-of-it", 0.35, 8),
    )
    shown = {row["session_id"]: [row["parent_session_id"], micros(row["inherited"])] for row in found}
    assert shown == {"a-root": [None, 0], "fork": ["a-root", 100_000], "z-fork-of-it": ["fork", 250_000]}
    assert micros(sum(row["cost_exact"] for row in found)) == 550_000


@pytest.mark.parametrize("compacting", [0.05, 0.30])
def test_a_branch_counts_from_zero_even_if_it_costs_more_than_its_parent(database: Path, compacting: float) -> None:
    original = said("m1", 8000, "root", 1)  # $0.20
    mark = {"forked_from": {"sessionId": "root", "messageUuid": "u"}}
    found = asked(
        database,
        "SELECT * FROM session_costs WHERE session_id = 'branch'",
        original,
        total("root", 0.20, 2),
        original | {"session_id": "branch", "attributes": mark},
        said("m2", 4000, "branch", 3),  # $0.10
        total("branch", 0.10 + compacting, 4, started=2),
    )
    [row] = found
    shown = [micros(row[name]) for name in ("computed", "reported", "inherited", "uncounted")]
    assert shown == [100_000, 100_000 + micros(round(compacting * 10**11)), 0, micros(round(compacting * 10**11))]


def test_a_duration_is_the_recorded_one_or_else_the_time_to_the_result(database: Path) -> None:
    def answered(call_id: str, second: float, **tool: Any) -> Event:
        blocks = [{"type": "tool_result", "call_id": call_id, "ok": call_id != "c2"}]
        time = f"2026-03-01T10:00:{second:06.3f}Z"
        return event("tool_result", blocks=blocks, time=time, tool={"call_id": call_id, **tool})

    sent = [
        calls(("c1", "Bash"), ("c2", "Read"), ("c3", "Edit"), ("c4", "Write")),
        answered("c1", 7.5, duration_ms=1234.4),
        answered("c2", 2.125),
        answered("c2", 9),  # a copy, written later
        answered("c3", 1) | {"time": "2026-03-01T09:00:00.000Z"},  # a clock that ran backwards
    ]
    found = asked(database, "SELECT name, ok, duration_ms, duration_from FROM tool_calls ORDER BY call_id", *sent)
    assert [tuple(row.values()) for row in found] == [
        ("Bash", 1, 1234, "reported"),
        ("Read", 0, 2125, "computed"),
        ("Edit", 1, None, None),
        ("Write", None, None, None),
    ]
    with asking(database) as connection:
        by_name = {row["name"]: row for row in tools(connection)}
    assert (by_name["Read"]["failed"], by_name["Read"]["p95_ms"], by_name["Read"]["computed"]) == (1, 2125, 1)


@pytest.mark.parametrize("chosen", [Selection(), Selection(since="2026-03-02"), Selection(project="-work-shop")])
def test_totals_by_day_agree_with_the_hours_and_single_calls(tmp_path: Path, chosen: Selection) -> None:
    asked(tmp_path / "events.db", "SELECT 1", *{each["id"]: each for each in sample_events()}.values())
    with asking(tmp_path / "events.db") as connection:
        sessions = [row["session_id"] for row in queries.sessions(connection, chosen, limit=-1)]
        used = queries.usage_by(connection, ("session",), chosen)
        by_project = queries.sessions_with_usage(connection, "project", chosen)
        assert queries.activity(connection, chosen)["sessions"] == len(sessions) > 1
        assert sum(by_project.values()) >= len(used) > 1
        by_name = {
            row["name"]: tuple(row[name] or 0 for name in (*CALLED, "p95_ms")) for row in tools(connection, chosen)
        }
        assert by_name == one_by_one(connection, chosen)


def one_by_one(connection: sqlite3.Connection, chosen: Selection) -> dict[str, tuple[int, ...]]:
    """The figures of each tool, computed in SQL from the single calls."""
    text = """
SELECT name, count(*), count(ok), coalesce(sum(ok = 0), 0), coalesce(sum(duration_ms), 0), count(duration_ms),
    coalesce(sum(duration_from = 'computed'), 0), coalesce(min(duration_ms) FILTER (WHERE place * 100 >= timed * 95), 0)
FROM (
    SELECT *, count(duration_ms) OVER (PARTITION BY name) AS timed,
        row_number() OVER (PARTITION BY name ORDER BY duration_ms IS NULL, duration_ms) AS place
    FROM tool_calls WHERE day >= :since AND (:project IS NULL OR project = :project)
) GROUP BY name
"""
    return {name: tuple(figures) for name, *figures in connection.execute(text, chosen.parameters)}


def test_calls_are_told_apart_by_server_skill_and_agent(database: Path) -> None:
    given = [("mcp__issues__search", {}), ("Skill", {"skill": "review"}), ("Agent", {"subagent_type": "Explore"})]
    blocks = [
        {"type": "tool_call", "call_id": str(number), "name": name, "input": value}
        for number, (name, value) in enumerate(given)
    ]
    found = asked(database, "SELECT target FROM tool_calls ORDER BY call_id", event("tool_call", blocks=blocks))
    assert [row["target"] for row in found] == ["issues", "review", "Explore"]


def test_cache_savings_are_the_cheaper_reads_minus_the_dearer_writes(database: Path) -> None:
    usage = {"input_tokens": 0, "output_tokens": 9, "cache_read_tokens": 1000, "cache_creation_tokens": 100}
    asked(database, "SELECT 1", reply("msg-1", 0, usage=usage | {"cache_creation_1h_tokens": 40}))
    with asking(database) as connection:
        (row,) = queries.cache_by(connection, ("model",))
    assert row["cache_read_tokens"] == 1000
    assert row["saved_micros"] == 4500 - 75 - 200  # Opus 4.5: 1000 * (5 - 0.5) - 60 * (6.25 - 5) - 40 * (10 - 5)


def test_redactions_are_counted_by_rule(database: Path) -> None:
    sent = [event(redactions={"jwt": 2, "aws-access-key-id": 1}), event(redactions={"jwt": 1}), event()]
    asked(database, "SELECT 1", *sent)
    with asking(database) as connection:
        found = queries.redactions(connection)
        assert queries.redactions(connection, queries.Selection(since="2026-03-02")) == []
    assert [tuple(row.values()) for row in found] == [("jwt", 3, 2), ("aws-access-key-id", 1, 1)]
