"""What the stories of the long run need: a home, a sink, the command, and a service whose time we hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Sink


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with an empty Claude config directory."""
    return Home(tmp_path)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A sink that takes everything until it is told otherwise."""
    with Sink() as sink:
        yield sink


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    """The command, bound to both."""
    return Agent(home, sink)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is told otherwise."""
    return Clock()


@pytest.fixture
def steps(home: Home, sink: Sink, clock: Clock) -> Iterator[Steps]:
    """A service, one step at a time."""
    with Steps(home, sink, clock) as steps:
        yield steps
