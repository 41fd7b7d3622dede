"""The identity of a sink: offsets, held files and quarantined events belong to one, and all refer to it the same way.

A type and an address say where events go; the query is left out, because it may contain a token. `formerly` lists
addresses that a person says the same sink had before: what was kept under one of those belongs to it too.
"""

from __future__ import annotations

from typing import NamedTuple


class SinkIdentity(NamedTuple):
    """A sink, as the state and the files beside it refer to it."""

    type: str
    address: str
    formerly: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its name in the quarantine and in the index of held files."""
        return f"{self.type} {self.address}".strip()

    def is_named(self, text: str) -> bool:
        """Whether a name means this sink. An empty name dates from before sinks were told apart."""
        return text in ("", self.text) or text.partition(" ")[2] in self.formerly


NO_SINK = SinkIdentity("", "")
UNNAMED = "[sink]"  # the name of the one sink that has none
