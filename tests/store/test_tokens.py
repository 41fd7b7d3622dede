"""Tokens add up (promise 4): the row with the most output counts once per message, wherever and whenever it came."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from collector.store.report import asking, summarize
from collector.store.writer import Writer
from tests.store.samples import Client, calls, event, reply, row_of


def test_the_row_with_the_most_output_counts_for_its_message(client: Client) -> None:
    client.send(reply("msg-1", 3), reply("msg-1", 250), reply("msg-1", 80))
    totals = client.report()["totals"]
    assert (totals["messages"], totals["input_tokens"], totals["output_tokens"]) == (1, 10, 250)
    assert (totals["cache_read_tokens"], totals["cache_creation_tokens"]) == (100, 5)


def test_rows_of_one_message_in_different_batches_count_once(client: Client) -> None:
    client.send(reply("msg-1", 3))
    for number in range(5):
        client.send(reply(f"other-{number}", 1))
    client.send(reply("msg-1", 250))
    assert client.output() == 255


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    times = ("2026-03-02", "2026-03-01", "2026-03-03")
    rows = [
        reply("msg-1", output, time=f"{day}T00:00:00Z", project=day)
        for output, day in zip((30, 70, 70), times, strict=True)
    ]
    reports = []
    for number, order in enumerate(itertools.permutations(rows)):
        database = tmp_path / f"{number}.db"
        with closing(Writer(database)) as writer:
            for row in order:
                writer.store([row_of(row)])
        reports.append(summarize(database))
    assert reports[1:] == reports[:-1]
    assert reports[0]["tokens"][0]["day"] == "2026-03-01"


def test_a_repeat_with_more_output_replaces_the_event_and_one_with_less_does_not(client: Client) -> None:
    row = reply("msg-1", 40)
    assert client.send(row) == {"accepted": 1, "duplicate": 0, "rejected": []}
    grown = row | {"usage": row["usage"] | {"output_tokens": 90}, "text": "grown"}
    assert client.send(grown) == {"accepted": 0, "duplicate": 1, "rejected": []}
    assert client.send(row)["duplicate"] == 1
    assert client.output() == 90
    with asking(client.database) as connection:
        bodies = connection.execute("SELECT json_extract(body, '$.text') FROM bodies").fetchall()
    assert bodies == [("grown",)]


def test_repeats_within_one_batch_are_merged_the_same_way(client: Client) -> None:
    row = reply("msg-1", 40)
    grown = row | {"usage": row["usage"] | {"output_tokens": 90}}
    assert client.send(row, grown, row) == {"accepted": 1, "duplicate": 2, "rejected": []}
    assert client.output() == 90


def test_a_message_copied_into_another_session_counts_once_for_the_earliest(client: Client) -> None:
    client.send(reply("msg-1", 50, session_id="copy", project="-b", time="2026-03-05T00:00:00Z"))
    client.send(reply("msg-1", 50, session_id="first", project="-a", time="2026-03-02T00:00:00Z"))
    report = client.report()
    assert [(row["day"], row["output_tokens"]) for row in report["tokens"]] == [("2026-03-02", 50)]
    assert [(row["project"], row["output_tokens"]) for row in report["projects"]] == [("-a", 50)]


def test_the_row_with_the_most_output_may_be_in_the_copy(client: Client) -> None:
    client.send(reply("msg-1", 50, project="-a", time="2026-03-02T00:00:00Z"))
    client.send(reply("msg-1", 70, project="-b", time="2026-03-05T00:00:00Z"))
    (row,) = client.report()["projects"]
    assert (row["project"], row["output_tokens"]) == ("-a", 70)


def test_a_forks_copy_gives_way_to_the_original_whichever_comes_first(client: Client) -> None:
    original = reply("msg-1", 50, session_id="original")
    fork = original | {
        "session_id": "fork",
        "attributes": {"forked_from": {"sessionId": "original", "messageUuid": "u"}},
    }
    client.send(fork)
    client.send(original)
    client.send(fork)
    with closing(sqlite3.connect(client.database)) as connection:
        assert connection.execute("SELECT session_id FROM messages").fetchall() == [("original",)]


def test_a_missing_request_id_changes_nothing(client: Client) -> None:
    client.send(reply("msg-1", 50, request_id="req-1"), reply("msg-1", 60))
    assert client.output() == 60


def test_rows_without_a_message_id_each_count_separately(client: Client) -> None:
    row = reply(None, 20)
    client.send(row, reply(None, 30))
    client.send(row)
    assert client.output() == 50


def test_progress_counts_when_it_is_the_only_copy(client: Client) -> None:
    client.send(reply("msg-1", 50, kind="progress"), reply("msg-2", 8, kind="progress"), reply("msg-2", 9))
    totals = client.report()["totals"]
    assert (totals["messages"], totals["output_tokens"]) == (2, 59)


@pytest.mark.parametrize("kind", ["session_cost", "session", "session_index", "stats"])
def test_running_totals_are_never_added(client: Client, kind: str) -> None:
    client.send(reply(None, 5000, kind=kind), reply("msg-1", 50))
    assert client.output() == 50


def test_synthetic_messages_are_not_counted(client: Client) -> None:
    client.send(reply("msg-1", 0, model="<synthetic>"), reply("msg-2", 5))
    assert [row["model"] for row in client.report()["tokens"]] == ["claude-opus-4-5"]


def test_every_usage_figure_is_summed(client: Client) -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_tokens": 3,
        "cache_creation_tokens": 9,
        "cache_creation_5m_tokens": 4,
        "cache_creation_1h_tokens": 5,
        "thinking_tokens": 6,
        "web_search_requests": 7,
    }
    client.send(reply("msg-1", 0, usage=usage), reply("msg-2", 0, usage=usage))
    totals = client.report()["totals"]
    assert {name: totals[name] for name in usage} == {name: 2 * value for name, value in usage.items()}


def test_at_equal_output_the_row_with_the_fuller_usage_counts(client: Client) -> None:
    short = {"output_tokens": 7}
    full = {"input_tokens": 3, "output_tokens": 7, "cache_creation_5m_tokens": 2}
    client.send(reply("msg-1", 0, usage=full), reply("msg-1", 0, usage=short), reply("msg-2", 0, usage=short))
    client.send(reply("msg-2", 0, usage=full))
    totals = client.report()["totals"]
    assert (totals["input_tokens"], totals["cache_creation_5m_tokens"]) == (6, 4)


@pytest.mark.parametrize("value", [-1, 1.5, "7", True, None, [1], 2**70])
def test_a_figure_that_is_not_a_count_is_left_out(client: Client, value: object) -> None:
    client.send(reply("msg-1", 0, usage={"input_tokens": value, "output_tokens": 4}))
    totals = client.report()["totals"]
    assert (totals["input_tokens"], totals["output_tokens"]) == (0, 4)


def test_messages_with_unknown_output_are_counted(client: Client) -> None:
    client.send(reply("msg-1", 1, quality=["output_tokens_unknown"]), reply("msg-2", 5))
    assert client.report()["totals"]["messages_with_unknown_output"] == 1


def test_a_tool_call_repeated_in_many_rows_counts_once(client: Client) -> None:
    client.send(calls(("toolu_1", "Bash"), ("toolu_2", "Read")), calls(("toolu_3", "Bash")))
    client.send(calls(("toolu_1", "Bash"), kind="progress"))
    assert client.report()["tools"] == [{"name": "Bash", "calls": 2}, {"name": "Read", "calls": 1}]


def test_tool_calls_without_an_id_each_count_separately(client: Client) -> None:
    blocks = [{"type": "tool_call", "name": "Bash"}, {"type": "tool_call", "name": "Bash"}, {"type": "thinking"}]
    client.send(event("tool_call", blocks=blocks))
    assert client.report()["tools"] == [{"name": "Bash", "calls": 2}]


def test_only_what_a_human_typed_counts_as_a_prompt(client: Client) -> None:
    client.send(event(origin="human"), event(origin="meta"), event(origin="task"), event("prompt_history"))
    assert client.report()["prompts"] == 1


def test_only_sessions_with_a_transcript_are_counted(client: Client) -> None:
    client.send(event(session_id="a"), event(session_id="a"), event(session_id="b"))
    client.send(event("prompt_history", session_id="c"), event("session_index", session_id="d"))
    assert client.report()["sessions"] == 2


def test_a_period_includes_its_first_day(client: Client) -> None:
    for day in ("01", "02", "03"):
        time = f"2026-03-{day}T23:59:59.999Z"
        client.send(reply(f"msg-{day}", 10, time=time, session_id=day), calls((f"toolu_{day}", "Bash"), time=time))
    report = client.report(since="2026-03-02")
    assert report["totals"]["output_tokens"] == 20
    assert report["tools"] == [{"name": "Bash", "calls": 2}]
    assert report["events"] == 4


def test_counts_that_cannot_be_true_keep_nothing_else_out(client: Client) -> None:
    """Each fits into a column, but a thousand of them added up do not."""
    client.send(*[reply(f"made up {number}", 2**53 - 1) for number in range(1100)], reply("real", 5))
    assert client.output() == 5
