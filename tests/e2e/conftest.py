"""What stories about what a sink says of prompts need: some prompts."""

from __future__ import annotations

import pytest

from tests.build import Home


@pytest.fixture
def prompts(home: Home) -> list[str]:
    """Twenty prompts to send; the one in the middle is what a picky sink dislikes."""
    session = home.session()
    texts = [f"prompt {number}" if number != 11 else "poison" for number in range(20)]
    for text in texts:
        session.prompt(text)
    return texts
