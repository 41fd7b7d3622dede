"""A running receiver, and a client for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.samples import Client, serving


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the store's database will be."""
    return tmp_path / "store" / "events.db"


@pytest.fixture
def client(database: Path) -> Iterator[Client]:
    """A client of a receiver that runs for this test and requires a token."""
    with serving(database, "a token") as client:
        yield client
