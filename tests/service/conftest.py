"""Fixtures for the service tests: a service whose clock the test controls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Sink


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until the test moves it."""
    return Clock()


@pytest.fixture
def steps(home: Home, sink: Sink, clock: Clock) -> Iterator[Steps]:
    """A service that is run one step at a time."""
    with Steps(home, sink, clock) as steps:
        yield steps
