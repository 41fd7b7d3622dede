"""Reads the fields and the time of a sealed event, for sinks whose receivers want some of these outside it as well.

In: a sealed event, and the clock policy of a sink. Out: its fields, and the time that the receiver should file it
under. Invariant: an event is read as it was sealed. Nothing is added here but the time of arrival, which is marked as
such.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from pydantic import Field

from collector.delivery.lenient_json import read
from collector.flow.outcome import Sealed
from collector.settings.section import Section

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400 * 10**9  # nanoseconds
# The time of arrival is rounded down to these steps, so that an event that is soon sent again makes the same row.
STEP = 600 * 10**9
FOREVER = 36_500.0


class ClockOptions(Section):
    """The clock policy of a sink whose engine drops old rows: what time they are filed under."""

    event_time_days: float = Field(
        default=FOREVER,
        ge=0,
        le=FOREVER,
        description="file events under their own time up to this age in days; older ones under the time of sending",
    )


def fields_of(event: Sealed) -> dict[str, Any]:
    """The event's fields. Half of a surrogate pair, which is not valid text, becomes U+FFFD."""
    fields = read(event.body)
    return fields if isinstance(fields, dict) else {}


def body_of(event: Sealed) -> bytes:
    """The event as it was sealed, except for half surrogate pairs, which are replaced: some receivers refuse them, and
    others then see nothing of the event."""
    return orjson.dumps(fields_of(event)) if b"\\ud" in event.body else event.body


def text_of(fields: dict[str, Any], *path: str) -> str:
    """One field as text; empty if it is missing or not text."""
    value: Any = fields
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def nanoseconds(time: Any) -> int | None:
    """A time in RFC 3339 as nanoseconds since 1970; None if it is none."""
    try:
        since = datetime.fromisoformat(time) - EPOCH
    except (TypeError, ValueError):
        return None
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def filing_time(fields: dict[str, Any], options: ClockOptions, now: float) -> tuple[int, bool]:
    """The time to file an event under, in nanoseconds since 1970, and whether it is the event's own.

    `now` is the current time in seconds. An event from the future keeps its own time: some clock is wrong, and that is
    not ours to judge.
    """
    happened, arrived = nanoseconds(fields.get("time")), int(now * 10**9)
    if happened is not None and arrived - happened <= options.event_time_days * DAY:
        return happened, True
    return arrived - arrived % STEP, False


def rfc3339(nanoseconds: int) -> str:
    """A time as text, in milliseconds."""
    moment = EPOCH + timedelta(microseconds=nanoseconds // 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
