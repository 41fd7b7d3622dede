"""Sends sequences with the command itself, each as a session in one pass, and looks at what a scripted sink gets."""

from __future__ import annotations

import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.agent import Agent
from tests.build import Home
from tests.redact.blind.counting import Counted, Key
from tests.redact.blind.drawing import Item
from tests.sink import Sink


def count_sequences(items: list[Item]) -> dict[Key, Counted]:
    """Counts what happened to sequences; single texts are ignored."""
    sequences = {str(uuid.uuid5(uuid.NAMESPACE_URL, item["id"])): item for item in items if "sequence" in item}
    arrived = _arrived(sequences)
    counted: defaultdict[Key, Counted] = defaultdict(Counted)
    for session, item in sequences.items():
        texts, secrets = arrived[session], item["secrets"]
        row = Counted(secrets=len(secrets))
        row.found = sum(not any(secret in text for text in texts) for secret in secrets)
        if item["kind"] == "harmless":
            lines = lines_of(item)
            row.lines = len(lines)
            row.touched = sum(not any(line in text for text in texts) for line in lines)
        counted[item["kind"], item["class"]].add(row)
    return dict(counted)


def lines_of(item: Item) -> list[str]:
    """All lines of a single text, or the non-blank lines of a sequence."""
    if "text" in item:
        return str(item["text"]).split("\n")
    shown = "\n".join(f"{step['command']}\n{step['result']}" for step in item["sequence"])
    return [line for line in shown.split("\n") if line.strip()]


def _arrived(sequences: dict[str, Item]) -> dict[str, list[str]]:
    """Every string in the events that arrived, by session."""
    with tempfile.TemporaryDirectory(prefix="collector-blind-") as folder, Sink() as sink:
        home = Home(Path(folder), seed=11)
        for session, item in sequences.items():
            _write(home, session, item)
        result = Agent(home, sink).scan("--max-wait", "60")
        if result.code:
            raise SystemExit(f"collector scan ended with {result.code}: {result.stderr}")
        strings: defaultdict[str, list[str]] = defaultdict(list)
        for event in sink.events:
            own = list(_strings(event))
            for session in set(own) & set(sequences):
                strings[session] += own
    if missing := set(sequences) - set(strings):
        raise SystemExit(f"of {len(missing)} sessions nothing arrived")
    return strings


def _write(home: Home, session: str, item: Item) -> None:
    transcript = home.session(session_id=session)
    transcript.prompt("Please go on.")
    waiting = []
    for step in item["sequence"]:
        given = {"command": step["command"], "description": "Run it"}
        call = transcript.reply([{"type": "tool_use", "id": step["call_id"], "name": "Bash", "input": given}])
        if item.get("interleaved"):
            waiting.append((call, step["result"]))
        else:
            transcript.tool_result(call, step["result"])
    for call, result in reversed(waiting):
        transcript.tool_result(call, result)
    transcript.reply("Done.")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
