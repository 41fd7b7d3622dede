"""Which sink it is: offsets, held files and quarantined events belong to one, and each names it in the same words.

A type and an address say where events go; a query is no part of it, because it may hold a token. `formerly` are
addresses that the same sink had before, as a person has said: what was kept under one of those is its own.
"""

from __future__ import annotations

from typing import NamedTuple


class SinkIdentity(NamedTuple):
    """A sink, as what is kept beside the state names it."""

    type: str
    address: str
    formerly: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its name in the quarantine and in the index of held files."""
        return f"{self.type} {self.address}".strip()

    def is_named(self, text: str) -> bool:
        """Whether a name means this sink. What names none was kept before sinks were told apart."""
        return text in ("", self.text) or text.partition(" ")[2] in self.formerly


NO_SINK = SinkIdentity("", "")
UNNAMED = "[sink]"  # what the one sink is called that has no name
