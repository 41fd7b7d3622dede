"""What a view is given, and what it raises if there is nothing to show."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.store.pages.chosen import Chosen
from collector.store.prices import PriceTable

Local = Callable[[], Sequence[Any]]


class NotThere(Exception):
    """What was asked for is not in the store."""


class NotUnderstood(Exception):
    """What was asked for makes no sense; the message says why."""


class Site(NamedTuple):
    """What all pages share. `local` gives what is known about this machine's own agent; None at a receiver."""

    database: Path
    prices: PriceTable | None = None
    local: Local | None = None
    retention_days: int | None = None


class Asked(NamedTuple):
    """The store, the choice, and what all pages share."""

    connection: sqlite3.Connection
    chosen: Chosen
    site: Site
