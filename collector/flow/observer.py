"""Observer: how a pass tells others how it is getting on. The parts get one when they are assembled.

All methods are called in the thread that runs the pass. So an observer needs no lock, and one that raises ends it.
"""

from __future__ import annotations

from typing import Protocol

from collector.flow.ledger import Ledger


class Observer(Protocol):
    """Told of a pass while it is under way."""

    def alive(self) -> None:
        """The pass is working: called between sources, and during whatever takes long without producing a receipt."""

    def preparing(self) -> None:
        """The rules of redaction are being compiled, which takes seconds; they are kept for the next start."""

    def waiting(self) -> None:
        """Nothing can be done until the sink answers: called every half second until it does."""

    def failing(self, tries: int, seconds_left: float) -> None:
        """What it waits for has failed so many times in a row, and is given up in so many seconds: called with it."""

    def receipt(self, ledger: Ledger) -> None:
        """A receipt was committed; the ledger includes it."""


class Unobserved:
    """Nobody wants to know."""

    def alive(self) -> None:
        """Says nothing."""

    def preparing(self) -> None:
        """Says nothing."""

    def waiting(self) -> None:
        """Says nothing."""

    def failing(self, tries: int, seconds_left: float) -> None:
        """Says nothing."""

    def receipt(self, ledger: Ledger) -> None:
        """Says nothing."""


UNOBSERVED: Observer = Unobserved()
