"""A transcript is untrusted text: it cannot forge a log line, move a cursor, or have a file opened or a URL fetched."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agent import Agent, Result
from tests.build import Home
from tests.faults.test_files_changes import run
from tests.model.world import World
from tests.sink import Sink, rejecting

FORGED = '\n{"event": "all is well", "level": "info"}\r\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2028\x7f'


def assert_tame(result: Result, *, is_log: bool = True) -> None:
    """Checks that every line of the log is one JSON object written by the agent, and that nothing moves a cursor."""
    for output in (result.stdout, result.stderr):
        assert all(letter == "\n" or letter.isprintable() for letter in output), repr(output)
    if is_log:
        for line in result.stderr.splitlines():
            assert json.loads(line)["event"] != "all is well"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which every name and every text tries to forge a line."""
    home = Home(tmp_path)
    session = home.session(project=f"-work{FORGED.replace('/', '')}")
    session.prompt(f"say {FORGED}")
    session.tool_result(session.tool_call(f"Bash{FORGED}", {"command": FORGED}), FORGED)
    session.record({"type": f"kind{FORGED}", "uuid": FORGED, "timestamp": FORGED, "sessionId": FORGED, "cwd": FORGED})
    session.reply("Done.", model=f"[/b]{FORGED}", message_id=FORGED)
    session.raw(f'{{"type": "user", "torn {FORGED}\n'.encode())
    home.history(FORGED)
    return home


def test_no_text_forges_a_line_in_the_log_of_a_scan(home: Home) -> None:
    with Sink(then=rejecting(lambda event: event["kind"] == "user_prompt", FORGED)) as sink:
        agent = Agent(home, sink)
        result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
        assert result.code == 3, result.stderr
        assert_tame(result)
        listed = agent.run("quarantine", "list", "--state", str(agent.state))
        assert "not wanted" not in listed.stdout
        assert len(listed.stdout.splitlines()) >= 3
        assert_tame(listed)
        for command in ("list --json", "status", "doctor", "preview"):
            words = ["quarantine", *command.split()] if command.startswith("list") else [command]
            places = ["--state", str(agent.state)] if words[0] in {"quarantine", "status"} else agent.places()
            assert_tame(agent.run(*words, *places), is_log=False)


def test_no_text_forges_a_line_of_the_report(home: Home) -> None:
    agent = Agent(home)
    assert agent.scan().code == 3
    report = agent.run("report", "--cost")
    assert report.code == 0, report.stderr
    assert "[/b]\\n" in report.stdout
    assert_tame(report)
    assert_tame(agent.run("report", "--json"))


class Watch:
    """Remembers what is opened and contacted while it is on; there is only one, as an audit hook cannot be removed."""

    def __init__(self) -> None:
        self.is_on = False
        self.opened: list[str] = []
        self.contacted: list[str] = []
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event == "open" and isinstance(arguments[0], str | bytes):
            self.opened.append(os.fsdecode(arguments[0]))
        elif event.startswith(("socket.connect", "socket.getaddrinfo", "subprocess.", "os.system", "os.exec")):
            self.contacted.append(f"{event} {arguments[1:]}")

    @contextmanager
    def on(self) -> Iterator[None]:
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False


WATCH = Watch()


def test_nothing_that_a_record_names_is_opened_or_fetched(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    bait = tmp_path / "bait.txt"
    bait.write_text("bait, and nobody's business")
    urls = ["http://127.0.0.1:9/bait", "https://bait.invalid/x.png", f"file://{bait}", str(bait), f"../../../..{bait}"]
    path = world.root / "projects" / "-work-a" / "s.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        for url in urls:
            image = {"type": "image", "source": {"type": "url", "url": url}}
            saved = f"<persisted-output>\nOutput saved to: {url}\n\nPreview (first 2KB):\nx\n</persisted-output>"
            result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": saved}
            record = {
                "type": "user",
                "cwd": url,
                "transcript_path": url,
                "message": {
                    "role": "user",
                    "content": [image, result, {"type": "text", "text": f"@{url} ![x]({url})"}],
                },
                "toolUseResult": {"persistedOutputPath": url, "file": {"filePath": url}, "fullPath": url},
                "snapshot": {"trackedFileBackups": {url: {"backupFileName": url}}},
            }
            file.write(json.dumps(record) + "\n")
    entries = [{"sessionId": "x", "fullPath": url, "projectPath": url} for url in urls]
    index = {"version": 1, "entries": entries, "originalPath": str(bait)}
    (path.parent / "sessions-index.json").write_text(json.dumps(index))
    meta = path.parent / "agent-a.meta.json"
    meta.write_text(json.dumps({"agentType": str(bait), "worktreePath": str(bait)}))
    (path.parent / "agent-a.jsonl").write_text('{"type":"user","message":{"role":"user","content":"x"}}\n')
    with WATCH.on():
        assert run(world)["delivered"] >= 2 * len(urls)
    assert WATCH.contacted == []
    assert WATCH.opened
    allowed = (str(world.root), world.home, sys.prefix, sys.base_prefix)
    strangers = [path for path in WATCH.opened if os.path.isabs(path) and not path.startswith(allowed)]
    assert strangers == []
    assert not any("bait" in path for path in WATCH.opened)
    assert not any(b"nobody's business" in body for body in world.sink.bodies)


def test_no_name_below_the_root_leads_outside(tmp_path: Path) -> None:
    """A source's name cannot be used to write or read elsewhere: the agent's own files have fixed names."""
    world = World(tmp_path)
    for name in ("..", "...", "-etc-passwd", "~", "$(touch x)", "%2e%2e"):
        directory = world.root / "projects" / f"{name}-x"
        directory.mkdir()
        (directory / f"{name}.jsonl").write_text('{"type":"user","message":{"role":"user","content":"<<m1>>"}}\n')
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(world.state_path.parent)}
    run(world)
    after = {path for path in tmp_path.rglob("*") if not path.is_relative_to(world.state_path.parent)}
    assert after == before
    assert {path.name.partition(".")[0] for path in world.state_path.parent.iterdir()} <= {"state", "quarantine"}
