"""Promises 1, 2, 3, 8 and 9 on a home with every source and every record type."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home, Session
from tests.sink import Sink

ONE_AT_A_TIME = {"COLLECTOR_SINK__WINDOW": "1"}


def lines_below(root: Path) -> int:
    """How many lines the readable sources of a root have, counted without the agent's code."""
    count = 0
    for path in [*root.glob("projects/**/*.jsonl"), root / "history.jsonl"]:
        lines = path.read_bytes().splitlines()
        is_stub = len(lines) == 1 and json.loads(lines[0]).get("message", {}).get("content") == "Warmup"
        count += 0 if is_stub else len(lines)
    for path in root.glob("projects/*/sessions-index.json"):
        count += len(json.loads(path.read_bytes())["entries"])
    return count + (root / "stats-cache.json").exists()


def test_the_ledger_balances_over_every_source_and_record_type(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    result = agent.scan()
    assert result.code == 0, result.stderr
    ledger = result.assert_balanced().ledger
    assert ledger["lines"] == lines_below(home.root)
    assert ledger["delivered"] == len(sink.ids())
    assert ledger["quarantined"] == 0
    assert ledger["lag"] == 0
    assert ledger["bytes"] == sum(len(request.raw) for request in sink.posts)
    assert ledger["files"]["skipped"] == {"empty": 1, "warmup": 1}
    files = ledger["files"]
    assert files["seen"] == files["read"] + files["unchanged"] + sum(files["skipped"].values())


def test_every_event_has_an_id_and_says_where_it_comes_from(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    agent.scan()
    for event in sink.events:
        assert event["schema"] == "collector.event/1"
        assert len(event["id"]) == 32
        assert event["kind"]
        assert event["source"]["path"].startswith("~/.claude/")
        assert event["time"]
        assert None not in event.values(), f"absent rather than null: {event}"


def test_priorities_arrive_in_order(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    agent.scan(COLLECTOR_BATCH__MAX_EVENTS="7", **ONE_AT_A_TIME)
    priorities = [event["priority"] for event in sink.events]
    assert priorities == sorted(priorities)
    assert set(priorities) == {0, 1, 2, 3}


def test_the_newest_session_comes_first(home: Home, sink: Sink, agent: Agent) -> None:
    names = ["oldest", "newest", "middle"]
    for name, age in zip(names, [10, 30, 20], strict=True):
        session = home.session(project=f"-work-{name}")
        session.prompt(name)
        session.dated(age)
    agent.scan(**ONE_AT_A_TIME)
    assert [event["text"] for event in sink.events] == ["newest", "middle", "oldest"]


def test_a_second_scan_sends_nothing(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    first = agent.scan().ledger
    requests = len(sink.posts)
    second = agent.scan()
    assert second.code == 0
    assert len(sink.posts) == requests
    assert second.ledger["lines"] == 0
    assert second.ledger["files"]["read"] == 0
    assert second.ledger["files"]["unchanged"] == first["files"]["read"]
    assert second.ledger["files"]["seen"] == first["files"]["seen"]


def test_one_appended_line_sends_one_event(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.with_everything()
    agent.scan()
    before = len(sink.ids())
    session.prompt("One more thing")
    result = agent.scan()
    assert result.ledger["delivered"] == 1
    assert [event["text"] for event in sink.events[before:]] == ["One more thing"]


def test_a_stub_and_an_empty_file_are_read_from_their_start_once_they_grow(
    home: Home, sink: Sink, agent: Agent
) -> None:
    session = home.session()
    stub = session.warmup()
    assert agent.scan().ledger["delivered"] == 0
    stub.reply("Awake")
    session.prompt("Awake too")
    assert agent.scan().ledger["delivered"] == 3
    assert {event.get("text") for event in sink.events} == {"Warmup", "Awake", "Awake too"}


def conversation(home: Home) -> Session:
    """A session whose records all have uuids."""
    session = home.session()
    session.prompt("Fix the login bug")
    session.tool_result(session.tool_call(), "total 0")
    session.rows({"type": "text", "text": "Done."}, {"type": "text", "text": "Really."}, tokens=40)
    return session


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda session: session.fork(), id="fork"),
        pytest.param(lambda session: session.copy(session.path.parent.with_name("-work-copy")), id="copy"),
        pytest.param(lambda session: session.rewrite(), id="rewrite"),
        pytest.param(lambda session: session.move(session.path.parent.with_name("-work-moved")), id="move"),
        pytest.param(lambda session: os.utime(session.path, (1, 1)), id="restored mtime"),
    ],
)
def test_no_change_to_a_file_creates_new_ids(
    home: Home, sink: Sink, agent: Agent, change: Callable[[Session], object]
) -> None:
    session = conversation(home)
    agent.scan()
    known = set(sink.ids())
    change(session)
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert set(sink.ids()) == known


@pytest.mark.parametrize("change", ["rewrite", "move"])
def test_a_file_that_is_only_replaced_or_moved_is_not_sent_again(
    home: Home, sink: Sink, agent: Agent, change: str
) -> None:
    session = conversation(home)
    agent.scan()
    sent = len(sink.ids())
    if change == "move":
        session.move(home.project("-work-moved"))
    else:
        session.rewrite()
    assert agent.scan().ledger["delivered"] == 0
    assert len(sink.ids()) == sent


def test_a_dry_run_sends_nothing_and_leaves_nothing(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    dry = agent.scan("--dry-run")
    assert dry.code == 0, dry.stderr
    said = agent.run("scan", "--dry-run", *agent.places()).stdout
    assert [line.split()[0] for line in said.splitlines()] == ["files", "lines", "to", "lag"]
    assert said.endswith("lag      0 bytes would remain\n")
    assert sink.requests == []
    assert not agent.state.exists()
    wet = agent.scan()
    assert dry.ledger["delivered"] == wet.ledger["delivered"]


def test_a_dry_run_counts_the_bytes_that_a_scan_into_the_store_sends(home: Home) -> None:
    home.with_everything()
    agent = Agent(home)
    dry, wet = agent.run("scan", "--dry-run", "--json"), agent.run("scan", "--json")
    assert dry.ledger["bytes"] == wet.ledger["bytes"] > 0


def test_nothing_is_written_below_the_root(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()

    def looks() -> dict[str, tuple[int, int, int]]:
        paths = [home.root, *home.root.rglob("*")]
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}

    before = looks()
    agent.scan()
    assert sink.ids()
    assert looks() == before


def test_the_agents_own_files_are_private(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.with_everything()
    session.raw(b"not json\n")
    agent.scan()
    assert agent.state in agent.kept()
    for path in agent.directory.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE(agent.directory.stat().st_mode) == 0o700


def test_a_line_that_cannot_be_parsed_costs_only_itself(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("before")
    session.raw(b'{"type":"user", oh no\n')
    session.prompt("after")
    result = agent.scan()
    assert result.code == 3
    assert result.assert_balanced().ledger["quarantined"] == 1
    assert [event["text"] for event in sink.events] == ["before", "after"]
    again = agent.scan()
    assert again.code == 0
    assert again.ledger["lines"] == 0


def test_a_spliced_line_gives_its_whole_record(home: Home, sink: Sink, agent: Agent) -> None:
    session = home.session()
    session.prompt("before")
    session.half(session.unwritten("user", message={"role": "user", "content": "torn away"}))
    session.prompt("after")
    result = agent.scan().assert_balanced()
    assert sorted(event["text"] for event in sink.events) == ["after", "before"]  # requests may overtake each other
    assert result.ledger["quarantined"] == 1
    assert result.ledger["lag"] == 0


def test_without_a_sink_everything_goes_to_the_embedded_store(home: Home) -> None:
    home.with_everything()
    agent = Agent(home)
    result = agent.scan()
    assert result.code == 0, result.stderr
    assert result.assert_balanced().ledger["delivered"] > 100
    assert agent.scan().ledger["lines"] == 0
