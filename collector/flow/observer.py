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

    def waiting(self) -> None:
        """Nothing can be done until the sink answers: called every half second until it does."""

    def receipt(self, ledger: Ledger) -> None:
        """A receipt was committed; the ledger includes it."""


class Unobserved:
    """Nobody wants to know."""

    def alive(self) -> None:
        """Says nothing."""

    def waiting(self) -> None:
        """Says nothing."""

    def receipt(self, ledger: Ledger) -> None:
        """Says nothing."""


UNOBSERVED: Observer = Unobserved()
