"""Promise 5: no secret leaves, in any field of any record; none reaches the state, the quarantine, the store or a log.

Every string of every record gets a made-up secret of its own, so that a leak shows where it came from. The secrets are
derived from hashes here: none of them has ever opened anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.agent import Agent, Result
from tests.agents.claude_code import samples
from tests.build import Home, Record, every_record
from tests.inside import Inside
from tests.sink import Answer, Sink, poison, rejecting

# Keys that decide how a record is read; their values are planted in a test of their own.
STRUCTURE = {"type", "subtype", "role", "operation", "timestamp"}


def letters(seed: str) -> str:
    """Sixteen letters and digits as in AWS keys, made from a seed."""
    return base64.b32encode(hashlib.sha256(seed.encode()).digest()).decode()[:16]


def mixed(seed: str) -> str:
    """A password that a generator could have made, made from a seed."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"password" + seed.encode()).digest()).decode()
    return "".join(letter for letter in digest if letter.isalnum())[:24]


SHAPES: dict[str, Callable[[str], tuple[str, str]]] = {
    "access key": lambda seed: (letters(seed), f"AKIA{letters(seed)}"),
    "assignment": lambda seed: (mixed(seed), f"DB_PASSWORD={mixed(seed)}"),
    "url": lambda seed: (mixed(seed), f"postgres://app:{mixed(seed)}@db.internal:5432/app"),
    "header": lambda seed: (mixed(seed), f"Authorization: Bearer {mixed(seed)}"),
}


class Planter:
    """Plants a different secret into every string; `places` tells which secret is where."""

    def __init__(self, shape: str) -> None:
        self.shape = SHAPES[shape]
        self.places: dict[str, str] = {}

    def secret(self, place: str) -> str:
        """The text to plant at a place."""
        core, text = self.shape(place)
        self.places[core] = place
        return text

    def plant(self, value: Any, place: str, left_alone: Iterable[str] = STRUCTURE) -> Any:
        """The value, with a secret in every string."""
        if isinstance(value, str):
            return f"{value} {self.secret(place)}"
        if isinstance(value, list):
            return [self.plant(item, f"{place}[{number}]", left_alone) for number, item in enumerate(value)]
        if isinstance(value, dict):
            return {
                key: item if key in left_alone else self.plant(item, f"{place}.{key}", left_alone)
                for key, item in value.items()
            }
        return value

    def assert_kept_home(self, result: Result, agent: Agent, sink: Sink | None) -> None:
        """Looks for every secret in everything that was sent, printed, or written outside the root."""
        found = {f"kept in {path.name}": data for path, data in agent.kept().items()}
        found |= {"stdout": result.stdout.encode(), "stderr": result.stderr.encode()}
        if sink is not None:
            found["posted"] = sink.raw_bytes
        leaks = [
            f"{place} ({where})"
            for where, data in found.items()
            for core, place in self.places.items()
            if core.encode() in data
        ]
        assert not leaks, f"{len(leaks)} of {len(self.places)} secrets leaked: {leaks[:40]}"


def named_records() -> Iterator[tuple[str, Record]]:
    yield from zip(samples.ALL_RECORDS, every_record(), strict=True)


def fill(home: Home, planter: Planter) -> None:
    """Fills a home with secrets in every source and every record type."""
    session = home.session()
    for name, record in named_records():
        session.record(planter.plant(record, name))
    agent = session.subagent(meta=planter.plant({"agentType": "Explore", "description": "look"}, "meta"))
    agent.user(f"Look for {planter.secret('subagent prompt')}")
    session.journal().records(planter.plant(line, name) for name, line in samples.JOURNAL_LINES.items())
    home.history().records(planter.plant(line, name) for name, line in samples.HISTORY_LINES.items())
    entries = [planter.plant(entry, name) for name, entry in samples.INDEX_ENTRIES.items()]
    index = {"version": 1, "entries": entries, "originalPath": planter.secret("index.originalPath")}
    (session.path.parent / "sessions-index.json").write_text(json.dumps(index))
    (home.root / "stats-cache.json").write_text(json.dumps(planter.plant(samples.STATS, "stats")))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_secret_in_any_field_of_any_record_leaves(home: Home, sink: Sink, agent: Agent, shape: str) -> None:
    planter = Planter(shape)
    fill(home, planter)
    result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
    assert result.code in {0, 3}, result.stderr
    assert len(sink.events) > len(samples.ALL_RECORDS) / 2
    assert sink.raw_bytes.count(b"[REDACTED:") > len(samples.ALL_RECORDS)
    planter.assert_kept_home(result, agent, sink)


def test_no_secret_reaches_the_embedded_store(home: Home) -> None:
    planter = Planter("access key")
    fill(home, planter)
    agent = Agent(home)
    result = agent.scan()
    assert result.code in {0, 3}, result.stderr
    assert any(b"[REDACTED:" in data for path, data in agent.kept().items() if ".db" in path.name)
    planter.assert_kept_home(result, agent, None)


@pytest.mark.parametrize("shape", ["access key", "assignment"])
def test_no_secret_in_a_structural_key_leaves(home: Home, sink: Sink, agent: Agent, shape: str) -> None:
    planter = Planter(shape)
    session = home.session()
    for name, record in named_records():
        session.record(planter.plant(record, name, left_alone=()))
    result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
    assert result.code in {0, 3}, result.stderr
    assert sink.events
    planter.assert_kept_home(result, agent, sink)


def test_no_secret_in_a_key_leaves(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("access key")
    session = home.session()
    session.record({"type": "a-type-of-tomorrow", "uuid": session.pen.uuid(), planter.secret("key"): {"x": 1}})
    session.tool_call("Mcp", {planter.secret("input key"): [{planter.secret("deep key"): True}]})
    backups = {f"/work/{planter.secret('path key')}.py": {"version": 1}}
    snapshot = {"messageId": "m", "trackedFileBackups": backups, "timestamp": session.pen.timestamp()}
    session.record({"type": "file-history-snapshot", "messageId": "m", "snapshot": snapshot})
    # Claude Code's own keys are converted to our spelling, which would turn these secrets into different texts.
    for kind in ("attachment", "system", "cost-state", "a-type-of-tomorrow"):
        inner = {planter.secret(f"{kind} inner"): 1}
        session.record({"type": kind, "attachment": inner, planter.secret(kind): "x", "modelUsage": {"m": inner}})
    session.tool_result(None, result={planter.secret("result key"): {"a": 1}, planter.secret("omitted"): "ok" * 50})
    result = agent.scan()
    assert result.code == 0, result.stderr
    planter.assert_kept_home(result, agent, sink)
    sent = re.sub("[^a-z0-9]", "", sink.raw_bytes.decode().lower())
    assert [place for core, place in planter.places.items() if core.lower() in sent] == []


def test_no_secret_leaves_as_a_key_that_looks_like_a_word(home: Home, sink: Sink) -> None:
    planter, session = Planter("access key"), home.session()
    for number in range(200):  # one in twenty is nothing but letters with digits at the end
        session.tool_call("Mcp", {planter.secret(f"key {number}"): {"lastUsed": "2026-03-01"}})
    agent = Inside(home, sink)
    planter.assert_kept_home(agent.scan(), agent, sink)


def test_no_secret_is_cut_before_it_is_found(home: Home, sink: Sink) -> None:
    session = home.session()
    token = f"ghp_{mixed('patch')}{mixed('cut')}"[:40]
    for before in range(49_930, 49_970, 4):
        lines = [*["+" + "x" * 98] * 499, "+" + "y " * ((before - 49_900) // 2) + token]
        hunk = {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 500, "lines": lines}
        session.tool_result(None, result={"filePath": "/work/app/a.py", "structuredPatch": [hunk]})
    assert Inside(home, sink).scan().ledger["delivered"] == 10
    assert all(event["tool"]["patch"] for event in sink.events)
    assert token[:12].encode() not in sink.raw_bytes


def test_no_secret_is_separated_from_the_text_that_gives_it_away(home: Home, sink: Sink) -> None:
    # An attachment's rendered text is sent without the lines that were sent before, and `-----BEGIN` is one of them.
    planter, session = Planter("assignment"), home.session()
    for number in range(3):
        lines = [
            base64.b64encode(hashlib.sha512(f"{number} {line}".encode()).digest()).decode()[:64] for line in range(9)
        ]
        planter.places |= dict.fromkeys(lines, f"key {number}")
        password = planter.secret(f"{number} password").partition("=")[2]
        name = "RSA PRIVATE " + "KEY"
        text = "\n".join(["Its key:", f"-----BEGIN {name}-----", *lines, f"-----END {name}-----", "Use it well."])
        for each in (text, f"Its password:\n{password}\nUse that well, too."):
            session.record({"type": "attachment", "attachment": {"type": "note"}, "rendered": [each]})
        # Some tools take and return lists of lines, where the key is split into its lines.
        session.tool_call("Write", {"path": "a", "lines": text.splitlines(keepends=True)})
        session.tool_result(None, result={"cells": [{"source": text.splitlines(), "outputs": [1, "ok"]}]})
    result = Inside(home, sink).scan()
    assert "Its password:" in str(sink.events)
    assert sink.raw_bytes.count(b"[REDACTED:private-key:") == 9
    planter.assert_kept_home(result, Inside(home, sink), sink)


def test_a_secret_known_only_by_its_key_stays_home(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("assignment")
    session = home.session()
    plain = {name: planter.secret(name).split("=")[1] for name in ("password", "api_key", "clientSecret", "authToken")}
    session.tool_call("Mcp", dict(plain))
    session.prompt(json.dumps(plain))
    session.prompt(json.dumps({"body": json.dumps(plain)}))
    session.prompt("\n".join(f"{name}: {value}" for name, value in plain.items()))
    result = agent.scan()
    assert len(sink.events) == 4
    planter.assert_kept_home(result, agent, sink)


def test_no_secret_of_a_broken_line_reaches_the_quarantine(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("access key")
    session = home.session()
    session.raw(f'{{"type":"user","message": oh {planter.secret("not json")}\n'.encode())
    session.raw(f"{planter.secret('bare text')}\n".encode())
    session.raw(f'["{planter.secret("a list")}"]\n'.encode())
    torn = session.unwritten(
        "user", message={"role": "user", "content": "x"}, first=planter.secret("torn") + " y" * 1000
    )
    session.half(torn)
    session.prompt("whole")
    result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
    assert result.ledger["quarantined"] >= 3
    planter.assert_kept_home(result, agent, sink)


def test_no_secret_of_a_refused_event_reaches_the_quarantine(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("access key")
    session = home.session()
    for number in range(6):
        session.prompt(f"prompt {number} {planter.secret(str(number))}")
    sink.answer(poison(lambda event: "prompt 3" in event["text"]))
    sink.then = poison(lambda event: "prompt 3" in event["text"])
    result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
    assert result.ledger["quarantined"] == 1
    planter.assert_kept_home(result, agent, sink)


@pytest.mark.parametrize(("status", "code"), [(401, 75), (400, 3), (307, 75), (503, 75)])
def test_secrets_in_a_sinks_answer_are_not_repeated(
    home: Home, sink: Sink, agent: Agent, status: int, code: int
) -> None:
    planter = Planter("access key")
    home.session().prompt("hello")
    said = planter.secret("answer")
    sink.then = Answer(status, {"Location": f"http://127.0.0.1:9/{said}", "X-Trace": said}, f"no: {said}".encode())
    result = agent.scan("--max-wait", "0.2", COLLECTOR_LOG__LEVEL="debug")
    assert result.code == code
    planter.assert_kept_home(result, agent, sink)


def test_a_token_in_the_path_of_a_sink_is_shown_nowhere(home: Home, sink: Sink) -> None:
    planter, session = Planter("assignment"), home.session()
    session.raw(b"torn\n")
    session.prompt("hello")
    token = planter.secret("path").partition("=")[2]
    url = f"http://127.0.0.1:{sink.port}/http/{token}"
    settings = {"COLLECTOR_SINK__URL": url, "COLLECTOR_SINK__FORMERLY": f"https://x.invalid/{token}"}
    agent = Inside(home, environment={**settings, "COLLECTOR_LOG__LEVEL": "debug"})
    echo = Answer(503, {"Location": f"/http/{token}"}, f"cannot POST /http/{token}".encode())
    for sink.then in (echo, Answer(307, echo.headers), Answer(400, body=echo.body)):
        planter.assert_kept_home(agent.scan("--max-wait", "0"), agent, None)
    for command in ("status", "doctor", "config show", "quarantine list", "agree"):
        places = agent.places()[2:] if command != "config show" else []
        planter.assert_kept_home(agent.run(*command.split(), *places), agent, None)
    known = json.loads(agent.state.read_text())["sink"]
    assert known["address"].startswith(f"http://127.0.0.1:{sink.port}/http/secret-")
    agent.state.write_text(agent.state.read_text().replace(known["address"], url))  # as an earlier version wrote it
    assert agent.scan().ledger["lines"] == 0


def test_the_reason_of_a_rejection_is_redacted(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("access key")
    home.session().prompt("hello")
    sink.then = rejecting(lambda event: True, f"contains {planter.secret('reason')}")
    result = agent.scan(COLLECTOR_LOG__LEVEL="debug")
    assert result.ledger["quarantined"] == 1
    planter.assert_kept_home(result, agent, sink)


def test_redaction_leaves_the_rest_of_the_text_intact(home: Home, sink: Sink, agent: Agent) -> None:
    planter = Planter("access key")
    home.session().prompt(f"Deploy with {planter.secret('prompt')} to the test stage")
    agent.scan()
    [event] = sink.events
    assert event["text"].startswith("Deploy with [REDACTED:")
    assert event["text"].endswith("] to the test stage")
    assert sum(event["redactions"].values()) == 1


@pytest.mark.parametrize("of", ["", "-of-01234567-89ab-4def-8123-456789abcdef"])
def test_words_of_the_prompt_in_the_name_of_a_plan_stay_here(home: Home, sink: Sink, of: str) -> None:
    slug, older = f"db-password-correct-horse-9-quiet-otter{of}", f"calm-dancing-otter{of}"
    plan, another = (f"{home.root}/plans/{name}.md" for name in (slug, older))
    session = home.session()
    session.prompt("DB_PASSWORD=correct-horse-9 is what I use", slug=slug)
    entered = {"type": "plan_mode", "planFilePath": plan}
    session.common("attachment", slug=slug, attachment=entered, rendered=[{"content": f"Write to {plan}."}])
    call = session.tool_call("Write", {"file_path": plan, "content": "# Plan"}, slug=slug)
    session.tool_result(call, f"File created at: {plan}", result={"filePath": plan}, slug=slug)
    session.prompt("An older version made up the name.", slug=older)
    agent = Inside(home, sink)
    agent.scan(COLLECTOR_CAPTURE__PROMPTS="false").assert_balanced()
    named = [event["slug"] for event in sink.events if "slug" in event]
    assert named == [f"quiet-otter{of}"] * 4 + [older]
    (result,) = [event for event in sink.events if event["kind"] == "tool_result"]
    assert result["tool"]["file"] == f"{home.root}/plans/quiet-otter{of}.md"
    # A service reads these in a later pass: they have no slug.
    session.record({"type": "file-history-delta", "messageId": "a", "trackingPath": plan})
    backups = {plan: {"version": 1}, another: {"version": 1}}
    session.record({"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": backups}})
    of_agent = plan.replace(".md", "-agent-a0123456789abcdef.md")
    session.record({"type": "api-request-blob", "message": {"role": "system", "content": f"The plan is {of_agent}."}})
    agent.scan().assert_balanced()
    *_, delta, snapshot, message = sink.events
    assert delta["attributes"]["tracking_path"] == f"{home.root}/plans/quiet-otter{of}.md"
    assert set(snapshot["attributes"]["files"]) == {f"{home.root}/plans/quiet-otter{of}.md", another}
    assert message["text"] == f"The plan is {home.root}/plans/quiet-otter{of}-agent-a0123456789abcdef.md."
    assert b"correct-horse" not in sink.raw_bytes


def test_a_prompt_of_one_word_stays_out_of_the_name_of_a_plan_too(home: Home, sink: Sink) -> None:
    session = home.session()
    for word, adjective in (("swordfish", "drifting"), ("tunafish", "quiet")):
        session.prompt(word, slug=f"{word}-{adjective}-otter")
        backups = {f"{home.root}/plans/{word}-{adjective}-otter.md": {"version": 1}}
        session.record({"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": backups}})
    Inside(home, sink).scan(COLLECTOR_CAPTURE__PROMPTS="false").assert_balanced()
    assert [event["slug"] for event in sink.events if "slug" in event] == ["drifting-otter", "quiet-otter"]
    assert b"fish" not in sink.raw_bytes
