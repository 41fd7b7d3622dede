"""What the stories of the long run need: a service whose time we hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Sink


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is told otherwise."""
    return Clock()


@pytest.fixture
def steps(home: Home, sink: Sink, clock: Clock) -> Iterator[Steps]:
    """A service, one step at a time."""
    with Steps(home, sink, clock) as steps:
        yield steps
