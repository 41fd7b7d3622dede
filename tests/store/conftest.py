"""A running embedded store and a client for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.store import EmbeddedStore
from tests.store.samples import Client


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the store's database will be."""
    return tmp_path / "store" / "events.db"


@pytest.fixture
def client(database: Path) -> Iterator[Client]:
    """A client of a store that runs for this test."""
    with EmbeddedStore(database) as store:
        client = Client.of(store, database)
        with client.http:
            yield client
