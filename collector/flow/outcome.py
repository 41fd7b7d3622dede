"""An outcome: what becomes of a line. It is delivered, skipped with a reason, or quarantined with a reason."""

from __future__ import annotations

from typing import Any, NamedTuple

from collector.flow.line import End, Line


class Skip(NamedTuple):
    """A line that gives no event, and why."""

    reason: str


class Sealed(NamedTuple):
    """A redacted, size-bounded, serialized event. Only `collector.redact.seal` writes a body (promise 5).

    `seen` is when the event was read, in seconds since 1970, for sinks that report it or that accept no old times. It
    stays the same however often the event is sent. `beside` is what the sink adds to it. What is sealed itself, such as
    a span, is sent before the event and settled on its own: no event is refused for it.
    """

    id: str
    body: bytes
    redactions: dict[str, int]
    seen: float = 0.0
    beside: tuple[Any, ...] = ()


class Quarantined(NamedTuple):
    """An entry for the quarantine: already redacted, with its reason and its place."""

    id: str
    reason: str
    source: str
    offset: int
    payload: str


Outcome = Sealed | Skip | Quarantined

# A line and its outcome. One is made for every line, so it is a plain tuple: 0.03 us, where a named one takes 0.3.
Item = tuple[Line | End, Outcome | None]
