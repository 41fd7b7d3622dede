"""The totals are the same in whatever order, however often and in whatever batches events arrive (promise 4).

The store is compared with itself (totals against totals recomputed from its rows, one order against another) and with
a direct computation in Python that uses no SQL.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from collector.store import queries, totals
from collector.store.prices import micros
from collector.store.report import asking
from collector.store.rows import rank
from collector.store.writer import Writer
from tests.store.samples import Event, rebuild, row_of

MODELS = ("claude-opus-4-5", "claude-sonnet-4-6", "claude-haiku-5-5", "someone-elses-model")
KINDS = ("assistant_response", "tool_call", "tool_result", "user_prompt", "session_cost")
BY_DAY = ("usage_days", "model_days", "activity_days", "session_days", "call_days")
DERIVED = ("usage_totals", "activity_totals", "kind_totals", "call_totals", *BY_DAY)
NUMBERS = {"context", "place"}  # assigned in the order of arrival
CONTEXT_OF = dict.fromkeys(("kind_totals", *BY_DAY), "NULL")
# Dollars per million tokens, independent of prices.toml: input, output, cache read, write for 5 minutes, for an hour.
DOLLARS = {
    "claude-opus-4-5": (5, 25, 0.5, 6.25, 10),
    "claude-sonnet-4-6": (3, 15, 0.3, 3.75, 6),
    "claude-haiku-5-5": (0.1, 0.5, 0.01, 0.125, 0.2),
}
LONG = {
    "claude-haiku-5-5": (100_000, (0.5, 2.5, 0.05, 0.625, 1)),
    "claude-sonnet-4-6": (200_000, (6, 22.5, 0.6, 7.5, 12)),  # until 2026-03-13
}
# Shrinking takes minutes because every example opens databases, and failing examples are short anyway.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
counts = st.sampled_from((0, 1, 7, 130_000))


@st.composite
def usages(draw: st.DrawFn) -> dict[str, Any]:
    """The usage of a row: every figure may differ, because promise 4 must also hold for rows nobody has seen yet."""
    five, hour = draw(counts), draw(counts)
    usage: dict[str, Any] = {"input_tokens": draw(counts), "output_tokens": draw(st.integers(0, 3))}
    usage |= {"cache_read_tokens": draw(counts), "cache_creation_tokens": five + hour}
    if draw(st.booleans()):
        usage |= {"cache_creation_5m_tokens": five, "cache_creation_1h_tokens": hour}
    if draw(st.booleans()):
        usage["iterations"] = [{"type": "message", **{name: usage[name] for name in list(usage)[:4]}}]
        if draw(st.booleans()):
            advice = {"type": "advisor_message", "model": draw(st.sampled_from(MODELS)), "input_tokens": draw(counts)}
            usage["iterations"].append({**advice, "output_tokens": 5})
    if draw(st.booleans()):
        usage |= {"inference_geo": draw(st.sampled_from(("us", "global"))), "service_tier": "batch"}
    return usage


@st.composite
def events(draw: st.DrawFn) -> Event:
    """An event that may share its id, message, calls, session and time with others."""
    event: Event = {
        "id": f"{draw(st.integers(1, 12)):032x}",
        "schema": "collector.event/1",
        "kind": draw(st.sampled_from(KINDS)),
        "session_id": draw(st.sampled_from(("a", "b"))),
        "origin": "human",
        "model": draw(st.sampled_from(MODELS)),
    }
    if draw(st.booleans()):
        event["time"] = f"2026-03-01T1{draw(st.integers(0, 2))}:00:0{draw(st.integers(0, 2))}.000Z"
    if draw(st.booleans()):
        event |= {"usage": draw(usages()), "message_id": draw(st.sampled_from(("m1", "m2")))}
    if draw(st.booleans()):
        event["quality"] = ["output_tokens_unknown"]
    if draw(st.integers(0, 3)) == 0:
        event["attributes"] = {"forked_from": {"sessionId": "parent"}}
    blocks = [
        {
            "type": draw(st.sampled_from(KINDS[1:3])),
            "call_id": call,
            "name": "Bash",
            "ok": call == "c1",
        }
        for call in draw(st.lists(st.sampled_from(("c1", "c2")), max_size=2))
    ]
    return event | ({"blocks": blocks} if blocks else {})


def written(path: Path, batches: list[list[Event]]) -> dict[str, list[Any]]:
    """Stores these batches and returns the totals, which must equal those recomputed from the rows."""
    with closing(Writer(path)) as writer:
        for batch in batches:
            writer.store([row_of(event) for event in batch])
        kept = derived(writer._connection)
        with writer.changing() as connection:
            rebuild(connection)
        assert derived(writer._connection) == kept
    return kept


def derived(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """All totals, with the content of each context instead of its number."""
    found: dict[str, list[Any]] = {"forks": sorted(connection.execute("SELECT * FROM forks"))}
    for table in DERIVED:
        cursor = connection.execute(
            f"SELECT t.*, c.session_id, c.copied_from FROM {table} t LEFT JOIN contexts c ON c.number = "
            + CONTEXT_OF.get(table, "t.context")
        )
        names = [column[0] for column in cursor.description]
        told = [[value for name, value in zip(names, row, strict=True) if name not in NUMBERS] for row in cursor]
        found[table] = sorted(map(repr, told))
    return found


def computed(sent: list[Event]) -> tuple[Counter[str], int, int]:
    """Output tokens by model, the exact cost, and the messages with unknown output, straight from the events."""
    rows: dict[str, tuple[Any, Event]] = {}
    for event in sent:
        row = row_of(event)
        ranked = rank(row.facts, row.context)
        if event["id"] not in rows or ranked > rows[event["id"]][0]:
            rows[event["id"]] = (ranked, event)
    messages: dict[str, list[Event]] = {}
    for _, event in rows.values():
        if event.get("usage") and event["kind"] != "session_cost":
            messages.setdefault(event["message_id"], []).append(event)
    output, cost, unknown = Counter[str](), 0.0, 0
    for members in messages.values():
        unknown += all("quality" in event for event in members)
        best = max(
            members,
            key=lambda event: (
                event["usage"]["output_tokens"],
                any(part["type"] == "advisor_message" for part in event["usage"].get("iterations", ())),
                "cache_creation_5m_tokens" in event["usage"],
                event["id"],
            ),
        )
        calls = [best["usage"] | {"model": best["model"]}]
        calls += [part for part in best["usage"].get("iterations", ()) if part["type"] == "advisor_message"]
        for call in calls:
            output[call["model"]] += call["output_tokens"]
            cost += dollars(call, best["usage"])
    return output, round(cost * 10**11), unknown


def dollars(call: dict[str, Any], usage: dict[str, Any]) -> float:
    """The cost of one call in floating point, which is exact enough to compare in micro-dollars."""
    given, read = call.get("input_tokens", 0), call.get("cache_read_tokens", 0)
    write, hour = call.get("cache_creation_tokens", 0), call.get("cache_creation_1h_tokens", 0)
    prices: tuple[float, ...] = DOLLARS.get(call["model"], (0,) * 5)
    limit, long = LONG.get(call["model"], (0, prices))
    if given + read + write > limit:
        prices = long
    figures = (given, call["output_tokens"], read, write - hour, hour)
    whole: float = sum(count * price for count, price in zip(figures, prices, strict=True)) / 1e6
    return whole * (0.5 if usage.get("service_tier") else 1) * (1.1 if usage.get("inference_geo") == "us" else 1)


@settings(max_examples=25, deadline=None, phases=NO_SHRINKING, suppress_health_check=[HealthCheck.too_slow])
@given(sent=st.lists(events(), min_size=1, max_size=14), chance=st.randoms(use_true_random=False))
def test_totals_do_not_depend_on_order_repetition_or_batches(sent: list[Event], chance: Any) -> None:
    again = [*sent, *chance.sample(sent, len(sent) // 2)]
    chance.shuffle(again)
    cuts = sorted(chance.randrange(len(again) + 1) for _ in range(3))
    batches = [again[start:end] for start, end in zip([0, *cuts], [*cuts, len(again)], strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "shuffled.db")
        assert written(Path(folder, "plain.db"), [sent]) == written(database, batches)
        output, cost, unknown = computed(sent)
        with asking(database) as connection:
            by_model = {row["model"]: row for row in queries.usage_by(connection, ("model",))}
            assert {model: row["output_tokens"] for model, row in by_model.items()} == dict(output)
            whole = queries.totals(connection)
            assert queries.added_up(queries.usage_by(connection, ("day", "model"), is_exact=True)) == whole
            view = connection.execute("SELECT sum(cost_exact), sum(output_tokens) FROM messages").fetchone()
        assert abs(whole["cost_micros"] - micros(cost)) <= 1  # the other computation is in floating point
        assert whole["unknown_output"] == unknown
        assert (micros(view[0] or 0), view[1] or 0) == (whole["cost_micros"], sum(output.values()))


def test_no_statement_of_a_batch_scans_a_whole_table(tmp_path: Path) -> None:
    """Otherwise a batch would cost more, the more the store holds."""
    statements = [
        *(totals.ADD_USAGE, totals.SUBTRACT_USAGE, totals.DROP_EMPTY, totals.FORGET_CALLS, totals.ADD_CALLS),
        *(totals.ADD_CALLS_OF_DAYS, totals.SUBTRACT_CALLS_OF_DAYS, totals.DROP_EMPTY_DAYS),
        *(totals.ADD_ACTIVITY, totals.ADD_KINDS, totals.SUBTRACT_KINDS, totals.FORGET_ACTIVITY, totals.REDO_ACTIVITY),
    ]
    with closing(Writer(tmp_path / "events.db")) as writer:
        plans = [
            step
            for statement in statements
            for *_, step in writer.connection.execute(
                f"EXPLAIN QUERY PLAN {statement}", {"touched": "[]", "first": 1}
            ).fetchall()
        ]
    tables = ("event_rows", "tool_rows", "contexts", *DERIVED)
    assert [step for step in plans if step.startswith(tuple(f"SCAN {table}" for table in tables))] == []
    assert any(step.startswith("SEARCH event_rows") for step in plans)
