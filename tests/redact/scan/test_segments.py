"""An event as the segments of one text."""

from __future__ import annotations

from typing import Any

from collector.redact.scan.segments import KeyBook, gather, segments_of


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
