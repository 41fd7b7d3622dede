"""Cookie and Set-Cookie headers: the names and attributes stay, the values go."""

from __future__ import annotations

import re

from collector.redact.rule import Spans
from collector.redact.values import is_placeholder

SHORTEST = 8

# A pair, or an attribute without a value, and what separates it from the next.
_part = re.compile(
    rb"""\s*([!#$%&*+.^_|~0-9A-Za-z-]{1,100})(?:=(?:\\*")?([^\s;,"'\\\x91\x90]{0,4096})(?:\\*")?)?(?:[;,]|(?=[^;,])|\Z)"""
)
_attributes = frozenset([b"path", b"domain", b"expires", b"max-age", b"samesite", b"version", b"comment", b"priority"])


def cookie_spans(text: bytes, start: int, stop: int) -> Spans:
    """The spans of the cookie values from `start` on, and an empty one where the header ends."""
    spans: Spans = []
    at = start
    while at < stop and (part := _part.match(text, at, stop)):
        at = part.end()
        value = part[2]
        if value and len(value) >= SHORTEST and part[1].lower() not in _attributes and not value.startswith(b"[\x8f"):
            is_word = value.isalpha() and len(value) < 16
            if not is_word and not is_placeholder(value.decode("latin-1")):
                spans.append(part.span(2))
        if value is None and text[at - 1 : at] not in (b";", b","):
            break
    return [*spans, (at, at)]
