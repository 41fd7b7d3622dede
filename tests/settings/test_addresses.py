"""Addresses are shown without the parts that may be secret."""

from __future__ import annotations

import pytest

from collector.settings.addresses import tokens_in, told

TOKEN = "Zq4Vn-C4dhaV2q9_eT7Lm3Xb8KpR5s="


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://sink.invalid/v1/events?key=x", "https://sink.invalid/v1/events"),
        ("https://ada:pass@sink.invalid/", "https://sink.invalid/"),
        (f"https://sink.invalid/receiver/v1/{TOKEN}/", "https://sink.invalid/receiver/v1/secret-"),
        ("https://sink.invalid/bulk/0b1c2d3e-4f50-4a61-8b72-9c83ad94be05/tag", "https://sink.invalid/bulk/secret-"),
        ("https://sink.invalid/bulk/0B1C2D3E4F504A618B729C83AD94BE05", "https://sink.invalid/bulk/secret-"),
        ("https://sink.invalid/api/organizations/claude-code-events-2026", None),
        ("https://sink.invalid/opentelemetry.proto.collector.logs.v1", None),
        ("http://[::1]:4318", None),
        ("engine", None),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url: str, expected: str | None) -> None:
    said = told(url)
    if expected is None or not expected.endswith("secret-"):
        assert said == (expected or url)
        return
    assert said.startswith(expected)
    assert not [token for token in tokens_in(url) if token in said]
    assert told(said) == said
    assert told(url.replace("9", "8")) != said
