"""A file that will never be repaired is quarantined and reported once, and does not make every scan exit with 3."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink

KEY = "AKIA" + "Q7RSTUVWXY2ZABCD"  # has the shape of a key, but is nobody's


def test_a_damaged_index_is_quarantined_once_and_read_again_when_it_changes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session()
    session.prompt("all is well")
    index = home.index(session)
    data = index.read_bytes()
    damaged = data[:-20] + b" " + KEY.encode()
    with Sink() as sink:
        agent = Inside(home, sink)
        quarantine = agent.state.with_name("state.quarantine.jsonl")

        def scan(content: bytes | None = None, age: int = 3600) -> tuple[int, int, dict[str, int]]:
            if content is not None:
                index.write_bytes(content)
                written = index.stat().st_mtime - age
                os.utime(index, (written, written))
            result = agent.scan().assert_balanced()
            return result.code, result.ledger["quarantined"], result.ledger["files"]["skipped"]

        def status() -> list[str]:
            return [
                line for line in agent.run("status", *agent.places()).stdout.splitlines() if line.startswith("damaged")
            ]

        assert scan(damaged, age=-30) == (3, 0, {"incomplete": 1})  # as on a file server whose clock is ahead
        assert scan(damaged, age=0) == (3, 0, {"incomplete": 1})  # it may be half written
        assert scan() == (3, 0, {"incomplete": 1})
        assert status() == []
        assert scan(damaged) == (3, 1, {})
        assert scan() == (0, 0, {})
        [said] = status()
        assert "sessions-index.json is not valid JSON" in said
        entries = [json.loads(line) for line in quarantine.read_text().splitlines()]
        assert [entry["reason"] for entry in entries] == ["damaged file"]
        assert KEY not in json.dumps(entries)
        assert scan(damaged + b"}") == (3, 1, {})  # different damage is another entry
        assert scan(data) == (0, 0, {})
        assert status() == []
        assert any(event["kind"] == "session_index" for event in sink.events)


def test_a_file_that_an_earlier_version_skipped_as_incomplete_is_read_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session()
    session.prompt("all is well")
    index = home.index(session)
    with Sink() as sink:
        agent = Inside(home, sink)
        index.write_bytes(b'{"entries": [')
        os.utime(index, (1_700_000_000, 1_700_000_000))
        agent.scan()
        state = json.loads(agent.state.read_bytes())
        [entry] = [entry for key, entry in state["claude_code"]["files"].items() if key.endswith("index.json")]
        entry |= {"offset": 0, "head": "", "tail": "", "skip": "incomplete"}
        agent.state.write_text(json.dumps(state))
        assert agent.scan().ledger["quarantined"] == 1
        assert agent.scan().code == 0


NESTED = (
    '{"type":"user","uuid":"U","message":{"role":"user","content":"x"},"news":%s}',
    '{"type":"user","uuid":"U","message":{"role":"user","content":%s}}',
    '{"type":"user","uuid":"U","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%s}]}}',
    '{"type":"assistant","uuid":"U","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":%s}]}}',
    '{"type":"user","uuid":"U","toolUseResult":%s,"message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}',
    '{"type":"assistant","uuid":"U","message":{"content":"x","usage":{"cache_creation":%s,"iterations":[%s]}}}',
    '{"type":"attachment","uuid":"U","attachment":{"type":"file","content":%s}}',
    '{"type":"file-history-snapshot","messageId":"U","snapshot":{"trackedFileBackups":%s}}',
    '{"type":"system","subtype":"api_error","uuid":"U","error":%s}',
    '{"type":"mode","count":"U","news":%s}',
    '{"type":%s,"uuid":"U"}',
)


def test_deeply_nested_lines_are_delivered_and_redacted_wherever_they_nest(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = home.session().path
    path.parent.mkdir(parents=True, exist_ok=True)
    depths = (40, 101, 255, 1000, 1024, 3000)
    nests = [("[" * n, "]" * n) for n in depths] + [('{"k":' * n, "}" * n) for n in depths]
    lines = [
        line.replace('"U"', f'"{number}-{at}"').replace("%s", f'{opening}"leaf {KEY}"{closing}')
        for at, line in enumerate(NESTED)
        for number, (opening, closing) in enumerate(nests)
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    with Sink() as sink:
        result = Inside(home, sink).scan().assert_balanced()
        assert (result.code, result.ledger["delivered"]) == (0, len(lines)), result.stderr
        assert [event for event in sink.events if "leaf [REDACTED:" not in json.dumps(event)] == []
        assert KEY not in json.dumps(sink.events)
