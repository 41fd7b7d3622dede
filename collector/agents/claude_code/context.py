"""What the lines of one open source share: the constant fields of their events, and a small bounded memory.

The memory holds the names of recent tool calls and the hashes of recent texts, so that a text only counts as a copy if
its original was seen in this very pass. Forgetting loses nothing: a name is absent, or a copy is sent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from collector.agents.claude_code.identity import names_file
from collector.agents.claude_code.times import rfc3339
from collector.flow.frame import Frame
from collector.flow.line import Reading
from collector.flow.pseudonym import keyed_hash

FRAME = ("<system-reminder>", "</system-reminder>")
# What the companion of a subagent's transcript says, repeated on each of the subagent's events.
META_PLACES = (
    ("agent_type", "agentType"),
    ("agent_type", "spawnedAgentType"),  # of a teammate, whose `agentType` is its own name
    ("agent_description", "description"),
    ("agent_model", "model"),
    ("parent_agent_id", "parentAgentId"),
    ("parent_call_id", "toolUseId"),
    ("workflow_phase", "workflowPhase"),
)
MAX_CALLS = 512
MAX_SEEN = 4096
MAX_RENDERED = 32
MAX_RENDERED_LENGTH = 32_768


class Context:
    """Everything that `event` needs besides the line."""

    def __init__(self, reading: Reading, frame: Frame) -> None:
        source = reading.source
        self.reading = reading
        self.kind = source.kind.name
        self.frame = frame
        self.session_id = source.session_id
        self.agent_id = source.agent_id
        self.names_file = names_file(source)
        self.prefix = frame.envelope(source)
        for name, key in META_PLACES:
            if told := text_of(reading.meta, key):
                self.prefix[name] = told
        depth = reading.meta.get("spawnDepth")
        if type(depth) is int and depth >= 0:
            self.prefix["spawn_depth"] = depth
        self.calls: dict[str, str] = {}
        self.seen: dict[Any, None] = {}
        self.system_prompt: list[str] = []
        self.rendered: list[str] = []

    def remember_call(self, call_id: str, name: str) -> None:
        """Remembers which tool was called."""
        self.calls[call_id] = name
        if len(self.calls) > MAX_CALLS:
            del self.calls[next(iter(self.calls))]

    def remember(self, what: Any) -> None:
        """Remembers that something was seen: the hash of a text, or an id."""
        self.seen[what] = None
        if len(self.seen) > MAX_SEEN:
            del self.seen[next(iter(self.seen))]

    def remember_rendered(self, text: str) -> None:
        """Remembers an attachment as the model read it, because a later system message repeats it without its frame."""
        bare = text.strip()
        self.remember(hash(bare))
        if len(bare) <= MAX_RENDERED_LENGTH:
            self.rendered.append(bare.removeprefix(FRAME[0]).removesuffix(FRAME[1]).strip())
            del self.rendered[:-MAX_RENDERED]

    def key_hashes(self, values: dict[str, Any], *names: str) -> None:
        """Replaces hashes of text with keyed ones, which cannot be guessed but still join with each other."""
        for name in names:
            found = values.get(name)
            if type(found) is str:
                values[name] = keyed_hash(found, self.frame.key)
            elif type(found) is list:
                values[name] = [keyed_hash(one, self.frame.key) if type(one) is str else one for one in found]

    def time_of_file(self) -> str:
        """When the file was last written."""
        try:
            return rfc3339(datetime.fromtimestamp(self.reading.stamp.mtime_ns / 1e9, UTC))
        except (ValueError, OverflowError, OSError):
            return "1970-01-01T00:00:00.000Z"


def text_of(values: Any, key: str) -> str:
    """The string under a key, or an empty one."""
    value = values.get(key) if type(values) is dict else None
    return value if type(value) is str else ""
