"""How much senders may ask of the receiver: in one request, in all together, and on a silent connection."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class ReceiverLimits(NamedTuple):
    """The limits of one receiver. `body_bytes` applies to a body both before and after it is unpacked."""

    body_bytes: int = 16 * 2**20
    document_bytes: int = 4 * 2**20  # parsed in one go: a line, or a whole array; small values take 20 times the memory
    events: int = 50_000
    waiting_bytes: int = 64 * 2**20  # bodies that are not stored yet, of all requests together
    wait_seconds: float = 20.0  # for a body to get its turn: senders give up after 30 s and send it again
    seconds: float = 60.0  # for a body to arrive
    busy_seconds: float = 5.0  # for another process to release the database
    head_seconds: float = 10.0  # for the headers of a connection's next request to be complete
    connections: int = 128


class Keeping(NamedTuple):
    """How the store is kept: the user's own prices, and after how many days an event is removed (None: never)."""

    own_prices: Path | None = None
    retention_days: int | None = None


KEEP_ALL = Keeping()
