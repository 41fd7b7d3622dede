"""Sinks: how one kind of receiver is spoken to.

A sink renders events to a request and reads an answer to a verdict; it does no I/O, knows nothing of retries and
offsets, and is therefore tested with values alone. Everything else about delivery is in deliver.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from collector.flow.outcome import Sealed


class Request(NamedTuple):
    """What is POSTed, before compression."""

    body: bytes
    headers: dict[str, str]


class Answer(NamedTuple):
    """What came back; a body beyond a bound is cut."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """Stored, except for the events named in `rejected` (id -> reason)."""

    rejected: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Not stored, and the same request may work later; `after` seconds if the sink said so."""

    reason: str
    after: float | None = None
    may_be_poison: bool = False


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Not stored; a smaller request would be."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Not stored because of something in the body."""

    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """Not stored, and nothing will be until a person acts; `advice` says how."""

    reason: str
    advice: str


Verdict = Accepted | Retry | TooLarge | Refused | Halt


class Sink(Protocol):
    """One kind of receiver."""

    def render(self, events: Sequence[Sealed]) -> Request:
        """The request that carries these events."""

    def classify(self, answer: Answer) -> Verdict:
        """What an answer means for the events it answers."""
