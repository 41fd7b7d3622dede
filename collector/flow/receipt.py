"""A receipt: what a sink acknowledged. Once a pass is reading, only receipts move offsets."""

from __future__ import annotations

from typing import NamedTuple

from collector.flow.batch import Batch
from collector.flow.outcome import Quarantined


class Receipt(NamedTuple):
    """A settled batch: acknowledged, except for the events that the sink refused."""

    batch: Batch
    refused: list[Quarantined]
    sent_bytes: int = 0
    duplicates: int = 0
