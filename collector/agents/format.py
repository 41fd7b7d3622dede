"""The seam: everything that the house has to know about one coding agent whose files it reads.

A format is pure. It is asked where files lie, what they are, and what their records mean; it opens nothing, keeps
nothing, and knows neither sinks nor secrets. To read another agent, write one such package and add it to the registry.
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
    """How one coding agent writes, in the order in which the house asks: find, read, filter, understand."""

    name: str
    """What the state, the events (`client.name`) and the roots of the configuration call it: `claude_code`."""
    title: str
    """What a person calls it: `Claude Code`."""
    priorities: Mapping[int, tuple[str, str]]
    """What a person calls one source of each priority, and what several: `session`, `sessions`."""
    deleted_after_days: int
    """After how many days it deletes its own files, so that what is not sent by then is lost; 0 where it never does."""
    deletion_setting: tuple[str, str]
    """The JSON file below a root, and the key in it, by which a person sets these days; empty where there is none."""

    usual_roots: tuple[str, ...]
    """Where its files lie when nobody says otherwise; those that exist are read, else the first is waited for."""
    root_marks: frozenset[str]
    """Names of which it makes at least one in a root, and that are hardly found anywhere else."""
    root_variable: str
    """An environment variable that names its roots, separated by commas; empty where there is none."""
    watched: tuple[str, ...]
    """The directories below a root that are watched with all that is below them; the root itself is watched alone."""
    suffixes: tuple[str, ...]
    """How the names of its files end."""

    def enter(self, place: Place, name: str) -> Place | None:
        """What a directory of this name is; None where nothing in it is ever read."""

    def classify(self, place: Place, name: str) -> SourceKind | None:
        """What a file of this name is; None where it is never read."""

    def ids(self, place: Place, name: str, kind: SourceKind) -> tuple[str, str]:
        """The session and the subagent that a file is of, as far as its name says."""

    def companion(self, source: Source) -> str:
        """The name of a small JSON file beside a source that says more about it; empty where there is none."""

    def is_companion(self, name: str) -> bool:
        """Whether a file of this name is such a companion, and so is not counted among what is never read."""

    record_keys: frozenset[str]
    """Keys that a record has and an object inside of a record has not: they tell a torn line's whole records."""

    def is_stub(self, source: Source, record: Mapping[str, Any]) -> bool:
        """Whether a source that holds this one record holds nothing yet. It is looked at again when it grows."""

    def entries(self, source: Source, document: Any) -> Iterable[Any]:
        """What of a source that is one JSON document becomes an event each."""

    def key_of(self, directory: str) -> str:
        """What a project is called whose working directory is this one (`Source.project`)."""

    def is_key_of(self, project: str, directory: str) -> bool:
        """Whether a project of this name may be the one whose working directory is this. True in doubt."""

    def may_name(self, project: str, glob: str) -> bool:
        """Whether a project of this name may lie in a directory that a glob matches, or below one. True in doubt."""

    def directory_of(self, source: Source, record: Mapping[str, Any]) -> str:
        """Where a record happened; empty where it does not say."""

    def tells_since(self, source: Source, record: Mapping[str, Any]) -> str | None:
        """Since when what a record tells of has been going on (RFC 3339): empty where that is all of its source, None
        where it is its own moment alone."""

    def follows(self, record: Mapping[str, Any]) -> bool | None:
        """Whether a record comes after another of its conversation; None where it does not say. If the first of a file
        does, what was before it was taken out."""

    def session_of(self, source: Source, record: Mapping[str, Any]) -> str:
        """The session that a record of a file beside the transcripts is about; empty where it is about none."""

    def transcripts_of(self, session: str) -> str:
        """A glob below a root for the transcripts of a session; empty where no file is called so."""

    def anchor_after(self, before: Anchor, record: dict[str, Any]) -> Anchor:
        """What a record leaves for those after it: its own uuid and time, where it has them. Called for every line."""

    def normalizer(self, reading: Reading, frame: Frame) -> Normalizer:
        """What turns the lines of one open source into events, in their order. No JSON object makes it raise."""

    def example(self, secret: str, chance: random.Random, now: datetime) -> Mapping[str, bytes]:
        """A small, realistic root for `collector demo`: files by name, with this secret somewhere in them."""

    vocabulary: Vocabulary
    """The words that it writes itself: all that the metadata level keeps besides numbers and ids."""
    shapes: Mapping[str, re.Pattern[str]]
    """How ids and names of models look: all that is kept of an event whose text could not be redacted."""
