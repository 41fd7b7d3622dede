"""How much senders may ask of the receiver: of one request, of all together, and of a connection that is silent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class ReceiverLimits(NamedTuple):
    """The bounds of one receiver. `body_bytes` holds for a body both before and after it is unpacked."""

    body_bytes: int = 16 * 2**20
    document_bytes: int = 4 * 2**20  # parsed at once: a line, or a whole array; small values take 20 times the memory
    events: int = 50_000
    waiting_bytes: int = 64 * 2**20  # bodies of all requests together that are not stored yet
    wait_seconds: float = 20.0  # that a body waits for its turn: senders give up after 30 s, and send it again
    seconds: float = 60.0  # for a body to arrive
    busy_seconds: float = 5.0  # that a batch waits for another process to release the database
    head_seconds: float = 10.0  # that a connection may take until the headers of its next request are complete
    connections: int = 128


class Keeping(NamedTuple):
    """How the store is kept: prices of one's own, and after how many days an event is removed (None: never)."""

    own_prices: Path | None = None
    retention_days: int | None = None


KEEP_ALL = Keeping()
