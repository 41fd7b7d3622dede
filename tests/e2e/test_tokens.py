"""Promise 4: the totals of `collector report` are what was used, however often and wherever the rows appear."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home, Record, Session
from tests.transcript import usage

TEXT = {"type": "text", "text": "Hello"}
SMALL_BATCHES = {"COLLECTOR_BATCH__MAX_EVENTS": "2"}


def reported(home: Home, **environment: str) -> dict[str, int]:
    """The totals of the report after one scan into the embedded store."""
    agent = Agent(home)
    result = agent.scan(**environment)
    assert result.code == 0, result.stderr
    report = agent.run("report", "--json")
    assert report.code == 0, report.stderr
    return dict(json.loads(report.stdout)["totals"])


def rows_of_one_message(session: Session) -> None:
    session.rows(TEXT, TEXT, TEXT, tokens=90)


def rows_far_apart(session: Session) -> None:
    session.reply(tokens=30, message_id="msg_01far")
    for number in range(20):
        session.prompt(f"in between {number}")
    session.reply(tokens=90, message_id="msg_01far")


def the_largest_row_comes_first(session: Session) -> None:
    session.reply(tokens=90, message_id="msg_01first")
    session.reply(tokens=30, message_id="msg_01first")


def rows_without_request_ids(session: Session) -> None:
    session.rows(TEXT, TEXT, tokens=90)
    session.clear()
    for tokens in (40, 90):
        session.reply(tokens=tokens, message_id="msg_01none", requestId="")


def a_fork_and_a_copy(session: Session) -> None:
    session.rows(TEXT, TEXT, tokens=90)
    session.fork()
    session.copy(session.path.parent.with_name("-work-copy"))


def a_copy_that_was_cut_short(session: Session) -> None:
    session.rows(TEXT, TEXT, TEXT, tokens=90)
    short = session.copy(session.path.parent.with_name("-work-copy"))
    short.truncate(len(short.lines[0]))


def only_a_progress_record(session: Session) -> None:
    session.common("progress", data=progress(session), toolUseID="toolu_01x", parentToolUseID="toolu_01y")


def a_progress_record_and_the_subagent(session: Session) -> None:
    agent = session.subagent("a1b2c3d", "flat")
    row = agent.reply(tokens=90, message_id="msg_01agent")
    row["message"]["usage"]["output_tokens"] = 4
    data = {"type": "agent_progress", "message": row, "agentId": "a1b2c3d", "prompt": ""}
    session.common("progress", data=data, toolUseID="toolu_01x", parentToolUseID="toolu_01y")


def with_a_synthetic_answer(session: Session) -> None:
    session.reply(tokens=90)
    nothing = usage(0, given=0, cache_read=0, cache_creation=0)
    session.reply("API Error", usage=nothing, model="<synthetic>", isApiErrorMessage=True)


def progress(session: Session) -> Record:
    """A subagent's answer as the progress records of versions 2.1.12 to 2.1.72 contain it."""
    message = {"model": "claude-haiku-4-5", "id": "msg_01agent", "type": "message", "role": "assistant"}
    row = {
        "type": "assistant",
        "message": {**message, "content": [TEXT], "usage": usage(90)},
        "uuid": session.pen.uuid(),
    }
    return {"type": "agent_progress", "message": row, "agentId": "a1b2c3d", "prompt": "Explore"}


@pytest.mark.parametrize(
    "write",
    [
        rows_of_one_message,
        rows_far_apart,
        the_largest_row_comes_first,
        rows_without_request_ids,
        a_fork_and_a_copy,
        a_copy_that_was_cut_short,
        only_a_progress_record,
        a_progress_record_and_the_subagent,
        with_a_synthetic_answer,
    ],
    ids=lambda write: write.__name__,
)
def test_the_report_counts_each_message_once(home: Home, write: Callable[[Session], None]) -> None:
    write(home.session())
    totals = reported(home, **SMALL_BATCHES)
    assert totals["output_tokens"] == 90
    assert totals["input_tokens"] == usage(0)["input_tokens"]
    assert totals["cache_read_tokens"] == usage(0)["cache_read_input_tokens"]
    assert totals["cache_creation_tokens"] == usage(0)["cache_creation_input_tokens"]


def test_iterations_repeat_the_usage_and_are_not_added(home: Home, tmp_path: Path) -> None:
    counted = usage(90)
    home.session().reply(usage={**counted, "iterations": [counted]})
    assert reported(home)["output_tokens"] == 90


def test_every_response_of_a_paused_and_resumed_message_is_added(home: Home) -> None:
    """The first row was written before the pause; the last row has only the usage after it."""
    session = home.session()
    session.reply(tokens=500, message_id="msg_01paused")
    last = session.unwritten("assistant", message=session.reply(tokens=90, message_id="msg_01paused")["message"])
    paused = {"limit": "max_thinking", "usage": usage(500), "finishedBlocks": 1, "requestId": "req_01"}
    last["message"]["pausedResponses"] = [paused]
    session.record(last)
    totals = reported(home, **SMALL_BATCHES)
    assert totals["output_tokens"] == 590
    assert totals["input_tokens"] == 2 * usage(0)["input_tokens"]
    assert totals["cache_read_tokens"] == 2 * usage(0)["cache_read_input_tokens"]
    assert totals["cache_creation_tokens"] == 2 * usage(0)["cache_creation_input_tokens"]


def test_a_conversation_stays_with_the_main_agent_when_another_is_given_a_copy(home: Home) -> None:
    """An agent that Claude Code starts on the side, for a summary, has the whole conversation in its own file."""
    session = home.session()
    written = [session.prompt("Why?"), session.reply(tokens=90)]
    aside = session.subagent("acompact-0123456789abcdef", meta={"agentType": "summarizer"})
    aside.records({**record, "isSidechain": True, "agentId": aside.agent_id} for record in written)
    aside.reply("A summary", tokens=5)
    reported(home, **SMALL_BATCHES)
    found = json.loads(Agent(home).run("report", "--by", "agent", "--json").stdout)["rows"]
    assert {row["agent"]: row["output_tokens"] for row in found} == {"main": 90, "summarizer": 5}
