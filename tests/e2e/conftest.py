"""Prompts for the tests of what a sink may answer."""

from __future__ import annotations

import pytest

from tests.build import Home


@pytest.fixture
def prompts(home: Home) -> list[str]:
    """Twenty prompts to send; one in the middle is the one that a picky sink refuses."""
    session = home.session()
    texts = [f"prompt {number}" if number != 11 else "poison" for number in range(20)]
    for text in texts:
        session.prompt(text)
    return texts
