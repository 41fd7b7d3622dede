"""Normalizes records as if they came from a source, and checks every event against the published schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import orjson

from collector.agents.claude_code import places
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.dispatch import event
from collector.flow.anchor import HEAD
from collector.flow.capture import Capture, captured
from collector.flow.frame import Frame
from collector.flow.line import Line, Reading
from collector.flow.outcome import Skip
from collector.flow.source import Source, SourceKind, Stamp
from tests.agents.claude_code.sample_shapes import SESSION
from tests.flow.event_schema import json_schema
from tests.scopes import FORM, root_of

Record = dict[str, Any]

SCHEMA = jsonschema.Draft202012Validator(json_schema())
KEY = b"a key of the tests"
MTIME_NS = 1_772_359_200_123_000_000  # 2026-03-01T10:00:00.123Z


def context(
    kind: SourceKind = places.SESSION,
    *,
    session_id: str = SESSION,
    agent_id: str = "",
    meta: Record | None = None,
    level: str = "content",
    off: frozenset[str] = frozenset(),
    path: str = "~/.claude/projects/-work-app/session.jsonl",
    names_accounts: bool = False,
) -> Leveled:
    """The context of a freshly opened source."""
    source = Source(
        root=root_of("/home/dev/.claude", "main"),
        path=path,
        key=path,
        kind=kind,
        project="" if kind == places.HISTORY else "-work-app",
        session_id=session_id,
        agent_id=agent_id,
        stamp=Stamp(1000, MTIME_NS, 7),
    )
    reading = Reading(source, b"", source.stamp, meta or {})
    return Leveled(reading, Capture(level, off, key=KEY), names_accounts=names_accounts)


class Leveled(Context):
    """A context with the capture settings for its events, which the pipeline applies in the agent."""

    def __init__(self, reading: Reading, capture: Capture, *, names_accounts: bool) -> None:
        super().__init__(reading, Frame({"id": "machine-1", "name": "laptop"}, "dev", names_accounts=names_accounts))
        self.capture = capture
        self.anchor = HEAD


def outcome(record: Any, where: Context | None = None, offset: int = 0) -> Record | Skip:
    """What a record becomes: an event that conforms to the schema, or a skip."""
    where = where or context()
    given, anchor = copy_of(record), HEAD
    if isinstance(given, dict):
        anchor = FORM.anchor_after(where.anchor if isinstance(where, Leveled) else HEAD, given)
    if isinstance(where, Leveled):
        where.anchor = anchor
    made = event(Line(where.reading, offset, offset + 100, given, "", b"", b"", True, anchor), where)
    if isinstance(made, Skip):
        return made
    if isinstance(where, Leveled):
        made = captured(made, FORM.vocabulary, where.capture)
    problems = [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(made)]
    assert not problems, problems[:3]
    assert all(made.get(name, True) for name in ("text", "blocks"))  # absent rather than empty
    return made


def normalized(record: Any, where: Context | None = None, offset: int = 0) -> Record:
    """The event of a record that must not be skipped."""
    made = outcome(record, where, offset)
    assert not isinstance(made, Skip), made
    return made


def copy_of(record: Any) -> Any:
    """A deep copy, so that tests do not affect each other; a record nested too deep to copy is returned as it is."""
    try:
        return json.loads(json.dumps(record))
    except RecursionError:
        return record


def written(made: Record) -> str:
    """The event as JSON text."""
    return orjson.dumps(made).decode()
