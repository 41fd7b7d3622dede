"""Observer: how a pass reports its progress. The parts get one when they are assembled.

All methods are called in the thread that runs the pass. So an observer needs no lock, and if one raises, the pass ends.
"""

from __future__ import annotations

from collector.flow.ledger import Ledger


class Observer:
    """Receives progress while a pass is under way. This one ignores it all."""

    def alive(self) -> None:
        """The pass is working: called between sources, and during long steps that produce no receipt."""

    def preparing(self) -> None:
        """The redaction rules are being compiled, which takes seconds; the result is cached for the next start."""

    def waiting(self) -> None:
        """Nothing can be done until the sink answers: called every half second until it does."""

    def failing(self, tries: int, seconds_left: float) -> None:
        """Called along with `waiting` while requests fail: `tries` in a row so far, giving up in `seconds_left`."""

    def receipt(self, ledger: Ledger) -> None:
        """A receipt was committed; the ledger includes it."""


UNOBSERVED = Observer()
