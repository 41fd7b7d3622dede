"""What every story needs: a home, a sink and an agent; and prompts, where it is about what a sink says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
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
def prompts(home: Home) -> list[str]:
    """Twenty prompts to send; the one in the middle is what a picky sink dislikes."""
    session = home.session()
    texts = [f"prompt {number}" if number != 11 else "poison" for number in range(20)]
    for text in texts:
        session.prompt(text)
    return texts
