"""Cookie and Set-Cookie headers: the names and attributes stay, the values go."""

from __future__ import annotations

import re

from collector.redact.rule import Spans
from collector.redact.values import is_placeholder

SHORTEST = 8

_pair = re.compile(rb"""([!#$%&*+.^_|~0-9A-Za-z-]{1,100})=(?:\\*")?([^\s;,"'\\\xfe\xff]{1,4096})""")
_ATTRIBUTES = frozenset(b"path domain expires max-age samesite secure httponly version comment priority".split())


def cookie_spans(text: bytes, start: int, stop: int) -> Spans:
    """The spans of the cookie values between `start` and `stop`."""
    spans = []
    for pair in _pair.finditer(text, start, stop):
        value = pair[2]
        if pair[1].lower() in _ATTRIBUTES or len(value) < SHORTEST or value.startswith(b"[REDACTED:"):
            continue
        if not is_placeholder(value.decode("latin-1")) and not (value.isalpha() and len(value) < 16):
            spans.append(pair.span(2))
    return spans
