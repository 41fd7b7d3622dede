"""Cookie and Set-Cookie headers: the names and attributes stay, the values go."""

from __future__ import annotations

from collector.redact.lazy import regex
from collector.redact.marker import SHIELDED
from collector.redact.rule import Spans
from collector.redact.words.code import is_code_word, is_program, looks_like_code
from collector.redact.words.labels import is_joined
from collector.redact.words.placeholders import is_placeholder

SHORTEST = 8

# A pair, or an attribute without a value, and what separates it from the next.
_part = regex(
    rb"""[ \t]{0,99}([!#$%*+.^_|~0-9A-Za-z-]{1,100})(?:=(?:\\*")?([^\s;,"'\\\x91\x90]{0,4096})(?:\\*")?)?([;,]?)"""
)
_attributes = frozenset([b"path", b"domain", b"expires", b"max-age", b"samesite", b"version", b"comment", b"priority"])


def cookie_spans(text: bytes, start: int, stop: int) -> Spans:
    """The spans of the cookie values from `start` on, and an empty one at the end of the header."""
    spans: Spans = []
    at = start
    while at < stop and (part := _part.match(text, at, stop)):
        at = part.end()
        value = part[2]
        if (
            value
            and len(value) >= SHORTEST
            and (value[:1] != b"/" or len(value) > 20)
            and part[1].lower() not in _attributes
            and part[1] != value  # an argument of the same name
            and not value.startswith(SHIELDED)
        ):
            decoded = value.decode("latin-1")
            is_word = (len(value) < 16 and (value.isalpha() or is_code_word(decoded))) or is_joined(decoded)
            if not is_word and not is_placeholder(decoded) and not is_program(decoded) and not looks_like_code(decoded):
                spans.append(part.span(2))
        if not part[3]:
            break
    return [*spans, (at, at)]
