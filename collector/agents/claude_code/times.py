"""Converts times, in any of the formats that Claude Code writes, to RFC 3339 in UTC with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

SECONDS_END = 100_000_000_000  # as seconds this is the year 5138, as milliseconds 1973


def moment(value: Any) -> str:
    """The time that a value represents; empty if it represents none."""
    if type(value) is str:
        return from_text(value)
    if type(value) is int or type(value) is float:
        return from_number(value)
    return ""


def from_text(text: str) -> str:
    """From ISO 8601. A text already in our format is returned as it is (the usual case, 0.3 us)."""
    if len(text) > 40:
        return ""
    try:
        when = datetime.fromisoformat(text)
        if len(text) == 24 and text[23] == "Z" and text[19] == "." and text[10] == "T" and text[7] == "-":
            return text
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return rfc3339(when.astimezone(UTC))
    except (ValueError, OverflowError):
        return ""


def from_number(number: float) -> str:
    """From seconds or milliseconds since 1970."""
    try:
        seconds = number / 1000 if abs(number) >= SECONDS_END else number
        return rfc3339(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def rfc3339(when: datetime) -> str:
    """Formats a time in UTC the way we write it."""
    return when.isoformat(timespec="milliseconds")[:23] + "Z"
