"""A receipt: what a sink acknowledged, and the only thing that moves an offset."""

from __future__ import annotations

from typing import NamedTuple

from collector.flow.batch import Batch
from collector.flow.outcome import Quarantined


class Receipt(NamedTuple):
    """A batch whose fate is known: acknowledged, except for the events the sink refused."""

    batch: Batch
    refused: list[Quarantined]
    sent_bytes: int = 0
    duplicates: int = 0
