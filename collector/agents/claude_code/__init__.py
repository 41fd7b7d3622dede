"""Claude Code: where its files are (places, projects) and what their records mean (dispatch and its handlers).

To teach it a new record type, write a handler beside the ones it resembles (message, attachment, request, bookkeeping,
side_files) and enter it in the table of dispatch.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.agents.claude_code import places, projects
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.dispatch import event
from collector.agents.claude_code.example import example
from collector.agents.claude_code.identity import anchor_after
from collector.agents.claude_code.side_files import index_entries
from collector.agents.claude_code.vocabulary import VOCABULARY
from collector.agents.format import Normalizer
from collector.flow.frame import Frame
from collector.flow.line import Reading
from collector.flow.source import Source

WARMUP = ("Warmup", [{"type": "text", "text": "Warmup"}])


class ClaudeCode:
    """The format of Claude Code. `AgentFormat` explains each member."""

    name = "claude_code"
    title = "Claude Code"
    priorities: Mapping[int, tuple[str, str]] = {
        0: ("session", "sessions"),
        1: ("subagent", "subagents"),
        2: ("prompt history", "prompt histories"),
        3: ("stats cache", "stats caches"),
    }
    deleted_after_days = 30
    deletion_setting = ("settings.json", "cleanupPeriodDays")
    usual_roots: tuple[str, ...] = ("~/.claude", "~/.config/claude")
    root_marks = frozenset(
        {
            *("projects", "history.jsonl", "stats-cache.json", "todos", "statsig", "shell-snapshots", "file-history"),
            *("session-env", ".credentials.json", ".claude.json"),
        }
    )  # not settings.json: projects have one in their own .claude too
    root_variable = "CLAUDE_CONFIG_DIR"
    watched: tuple[str, ...] = (places.PROJECTS,)
    suffixes: tuple[str, ...] = (".jsonl", ".json")
    record_keys = frozenset(
        {"parentUuid", "uuid", "sessionId", "timestamp", "leafUuid", "messageId", "agentId", "display"}
    )
    vocabulary = VOCABULARY
    shapes: Mapping[str, re.Pattern[str]] = {
        "id": re.compile(
            r"[0-9a-fA-F]{7,64}|[0-9a-fA-F-]{36}|(?:msg|req|toolu|srvtoolu)_[A-Za-z0-9]{6,40}|a[0-9a-f]{6,16}"
        ),
        "model": re.compile(r"claude-[a-z0-9.-]{3,40}|<synthetic>"),
    }

    enter = staticmethod(places.enter)
    classify = staticmethod(places.classify)
    ids = staticmethod(places.ids)
    companion = staticmethod(places.companion)
    is_companion = staticmethod(places.is_companion)
    key_of = staticmethod(projects.key_of)
    is_key_of = staticmethod(projects.is_key_of)
    may_name = staticmethod(projects.may_name)
    directory_of = staticmethod(projects.directory_of)
    follows = staticmethod(projects.follows)
    session_of = staticmethod(projects.session_of)
    tells_since = staticmethod(projects.tells_since)
    transcripts_of = staticmethod(projects.transcripts_of)
    anchor_after = staticmethod(anchor_after)
    example = staticmethod(example)

    def is_stub(self, source: Source, record: Mapping[str, Any]) -> bool:
        """A subagent that was started in advance: a single user record that says Warmup."""
        message = record.get("message")
        content = message.get("content") if type(message) is dict else None
        return source.kind == places.SUBAGENT and record.get("type") == "user" and content in WARMUP

    def entries(self, source: Source, document: Any) -> Iterator[Any]:
        """Every entry of a session index; statistics are one entry."""
        if source.kind == places.SESSION_INDEX and isinstance(document, dict):
            yield from index_entries(document)
        else:
            yield {"entries": document} if isinstance(document, list) else document

    def normalizer(self, reading: Reading, frame: Frame) -> Normalizer:
        """Turns the lines of one open source into events, with a small memory of earlier lines."""
        context = Context(reading, frame)
        return lambda line: event(line, context)  # takes a third of the time of a partial with a keyword
