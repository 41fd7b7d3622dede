"""The one gate out: nothing here becomes a `Sealed` or a `Quarantined` without having been redacted (promise 5).

`seal` takes an event and returns it redacted, reduced, cut to size and serialized. `to_quarantine` takes a line that
could not be parsed and returns a redacted text for the quarantine. Neither raises, except when memory runs out: what
cannot be redacted stays home.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from collector.flow import shorten
from collector.flow.line import Line
from collector.flow.outcome import Quarantined, Sealed
from collector.flow.pseudonym import keeps_its_id, keyed_id
from collector.redact.lazy import regex
from collector.redact.redactor import Redactor
from collector.redact.withhold import withheld

QUARANTINE_BYTES = 16_384
ADVICE = "`collector status` counts what is withheld. TooMany and TimeOut concern one event; report any other reason."
_LOOKED_AT = 1 << 20
_escape = regex(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_letters = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def seal(
    event: dict[str, Any],
    redactor: Redactor,
    max_bytes: int,
    shapes: Mapping[str, re.Pattern[str]] | None = None,
    reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Sealed:
    """Redacts an event, cuts it to `max_bytes` and serializes it. `shapes` says what its agent's ids look like.
    `reduced` removes what must stay home, after redaction has seen it: a command shows that its answer is a secret, and
    a prompt what a password is, even where commands and prompts stay home."""
    event_id, was_redacted = str(event.get("id", "")), "redactions" in event
    try:
        counts = redactor.event(event)
        if counts and not keeps_its_id(event, was_redacted=was_redacted):
            event["id"] = keyed_id(event_id, redactor.key)
        leaving = event if reduced is None else reduced(event)
        return Sealed(str(leaving.get("id", "")), shorten.fit(leaving, max_bytes), counts, time.time())
    except MemoryError:  # not this event's fault: it is read again once there is memory
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the text stays home
        from collector.log import place_of

        say_withheld(type(error).__name__, place_of(error))
        if not keeps_its_id(event, was_redacted=was_redacted):
            event_id = keyed_id(event_id, redactor.key)
        rest = withheld({**event, "id": event_id}, shapes or {})
        return Sealed(event_id, shorten.fit(rest, max_bytes), rest["redactions"], time.time())


@lru_cache
def say_withheld(reason: str, place: str) -> None:
    """Logs why text stays home, once for each reason and place: the same may happen to every event."""
    from collector.log import get_logger  # takes twice as long to import as all of redaction, and is rarely needed

    get_logger().warning("text withheld, it could not be redacted", reason=reason, place=place, advice=ADVICE)


def to_quarantine(line: Line, redactor: Redactor) -> Quarantined:
    """Redacts a line that could not be parsed, for the quarantine."""
    content = content_id(line.raw)
    source = line.reading.source.key
    try:
        payload = redactor.text(unescaped(line.raw[:_LOOKED_AT].decode("utf-8", "replace")))
        payload = shorten.shortened(payload, QUARANTINE_BYTES) if len(payload.encode()) > QUARANTINE_BYTES else payload
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        from collector.log import place_of

        say_withheld(type(error).__name__, place_of(error))
        payload = f"[withheld: {len(line.raw)} bytes]"
    return Quarantined(content, line.problem, source, line.offset, payload)


def content_id(raw: bytes) -> str:
    """The id of a line that is not a record: equal bytes have equal ids."""
    return hashlib.sha256(raw).hexdigest()[:32]


def unescaped(text: str) -> str:
    """Undoes JSON's escapes, so that rules see what they hide: a torn line cannot be parsed, but it can be read."""

    def letter(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape[1:], 16)) if escape[0] == "u" and len(escape) == 5 else _letters.get(escape, escape)

    halves = _escape.sub(letter, text)  # an emoji is escaped as two surrogates; one alone is not valid text
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
