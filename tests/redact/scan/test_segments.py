"""An event as the segments of one text."""

from __future__ import annotations

from typing import Any

import pytest

from collector.redact.scan.segments import CONTEXT, PLAIN, KeyBook, gather, segments_of


def test_both_walks_see_the_same_text() -> None:
    book = KeyBook(frozenset({"datadog"}))
    event: dict[str, Any] = {
        "a": ["x", {"token": ["y", 1, ["z"], {"b": "c"}]}, 5, None],
        "token": {"value": "v", "name": "API_TOKEN"},
        "password": 17,
        "k\u00fcrzel 99": 3.5,
        "datadog_x1": "w",
        "secret": True,
    }
    assert [segment.text for segment in segments_of(event, book)] == gather(event, book)


@pytest.mark.parametrize("key", ["sessionId", "modelUsage", "last_used", "claude-opus-4", "src/app/main.py", "HTTP"])
def test_a_key_of_plain_words_is_not_scanned(key: str) -> None:
    assert KeyBook(frozenset()).judge(key) == PLAIN


@pytest.mark.parametrize("key", ["AKIAQZXWVUTSRPNMLKJ7", "rzp_live_kQvTzPbLmXwRdN", "kQvTzPbL-mXwRdNhJ"])
def test_a_key_of_letters_that_are_no_words_is_scanned(key: str) -> None:
    assert KeyBook(frozenset()).judge(key) == CONTEXT
