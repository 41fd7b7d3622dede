"""The seam: everything the rest of the code has to know about one coding agent whose files it reads.

A format is pure. It says where files are, what they are, and what their records mean; it opens nothing, stores nothing,
and knows neither sinks nor secrets. To read another agent, write a package like this and add it to the registry.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from collector.flow.anchor import Anchor
from collector.flow.frame import Frame
from collector.flow.line import Line, Reading
from collector.flow.outcome import Skip
from collector.flow.source import Place, Source, SourceKind
from collector.flow.vocabulary import Vocabulary

Normalizer = Callable[[Line], "dict[str, Any] | Skip"]


class AgentFormat(Protocol):
    """How one coding agent writes its files, in the order it matters: find, read, filter, understand."""

    name: str
    """Its name in the state, in events (`client.name`) and in configured roots: `claude_code`."""
    title: str
    """Its name for people: `Claude Code`."""
    priorities: Mapping[int, tuple[str, str]]
    """The name for people of the sources of each priority, singular and plural: `session`, `sessions`."""
    deleted_after_days: int
    """After how many days it deletes its own files, losing whatever is not sent by then; 0 if it never does."""
    deletion_setting: tuple[str, str]
    """The JSON file below a root, and the key in it, that set these days; empty if there is no such setting."""

    usual_roots: tuple[str, ...]
    """Where its files are by default. Those that exist are read; if none does, we wait for the first."""
    root_marks: frozenset[str]
    """Names that are hardly found elsewhere; it creates at least one of them in a root."""
    root_variable: str
    """The environment variable that lists its roots, separated by commas; empty if there is none."""
    watched: tuple[str, ...]
    """The directories below a root to watch recursively; the root itself is watched non-recursively."""
    suffixes: tuple[str, ...]
    """The suffixes of its files."""

    def enter(self, place: Place, name: str) -> Place | None:
        """The place of a directory with this name; None if nothing in it is ever read."""

    def classify(self, place: Place, name: str) -> SourceKind | None:
        """The kind of a file with this name; None if it is never read."""

    def ids(self, place: Place, name: str, kind: SourceKind) -> tuple[str, str]:
        """The session and the subagent that a file belongs to, as far as its name says."""

    def companion(self, source: Source) -> str:
        """The name of the small JSON file beside a source that says more about it; empty if there is none."""

    def is_companion(self, name: str) -> bool:
        """Whether a file with this name is such a companion, and so not counted among files that are never read."""

    record_keys: frozenset[str]
    """Keys that a record has but an object inside one does not: they identify whole records in a torn line."""

    def is_stub(self, source: Source, record: Mapping[str, Any]) -> bool:
        """Whether a source with only this record is still empty in effect. It is read once it changes."""

    def entries(self, source: Source, document: Any) -> Iterable[Any]:
        """The parts of a source that is one JSON document; each becomes an event."""

    def key_of(self, directory: str) -> str:
        """The name of the project that has this working directory (`Source.project`)."""

    def is_key_of(self, project: str, directory: str) -> bool:
        """Whether a project with this name may be the one that has this working directory. True if in doubt."""

    def may_name(self, project: str, glob: str) -> bool:
        """Whether a project with this name may be in, or below, a directory that the glob matches. True if in doubt."""

    def directory_of(self, source: Source, record: Mapping[str, Any]) -> str:
        """The directory where a record happened; empty if it does not say."""

    def tells_since(self, source: Source, record: Mapping[str, Any]) -> str | None:
        """When the events that a record tells of began (RFC 3339). Empty if it covers all of its source, None if it
        covers only its own moment."""

    def follows(self, record: Mapping[str, Any]) -> bool | None:
        """Whether a record follows another in its conversation; None if it does not say. If the first record of a file
        does, what came before it was cut off."""

    def session_of(self, source: Source, record: Mapping[str, Any]) -> str:
        """The session that a record of a file beside the transcripts is about; empty if none."""

    def transcripts_of(self, session: str) -> str:
        """A glob, relative to a root, for the transcripts of a session; empty if no file can have such a name."""

    def anchor_after(self, before: Anchor, record: dict[str, Any]) -> Anchor:
        """The anchor after a record, with the record's own uuid and time if it has them. Called for every line."""

    def normalizer(self, reading: Reading, frame: Frame) -> Normalizer:
        """A function that turns the lines of one open source, in order, into events. No JSON object makes it raise."""

    def example(self, secret: str, chance: random.Random, now: datetime) -> Mapping[str, bytes]:
        """A small, realistic root for `collector demo`: files by name, with this secret somewhere in them."""

    vocabulary: Vocabulary
    """The words that the agent itself writes: all that the metadata level keeps besides numbers and ids."""
    shapes: Mapping[str, re.Pattern[str]]
    """The shapes of ids and model names: all that is kept of an event whose text could not be redacted."""
