"""A secret that a person is asked for, and gives without another word: `What is the password of the database?`, `X`.

In: a question, and its answer. Out: whether the one asks for a secret, and whether the other is one.
"""

from __future__ import annotations

import re
from typing import Any

from collector.redact.lazy import regex
from collector.redact.words.names import Promise
from collector.redact.words.values import Notation, is_secret

_END = 240  # characters at the end of a text, where the question is
SHORTEST, LONGEST = 6, 400
_NAMES = ("pass", "token", "key", "secret", "credential")  # most texts have none of them
_NOUN = r"(?:password|passphrase|passcode|token|(?:api|access|secret|license)[ -]?key|secret|credentials?)"
_asks = regex(
    r"(?i)\b(?:(?:what(?:'s| is| are)|paste|provide|give me|send(?: me)?|share|enter|type(?: in)?|tell me|need)\s+"
    r"(?:me\s+)?(?:the|your|a|an|that|its|their)\s+(?:[\w-]+\s+){0,4}?"
    rf"{_NOUN}|(?:what|which)\s+(?:[\w-]+\s+){{0,3}}?{_NOUN}(?=\s(?:should|do|does|did|shall|would|can|to)\b))"
    r"(?:\s(?:should|do|does|did|shall|would|can|for|of|to|from|in|on|at|here|below|so|again|please|that|which|you|we|used|now)\b[^.?!\n]{0,80}|,[^.?!\n]{0,60})?"
    r"[.?!:]?\W{0,4}\Z"
)
_name_or_place = regex(
    r"[\w.-]+\.[a-z]{2,4}|.*/.*\.\w+|https?://.*|v?\d+(?:\.\d+)+|(?-i:[a-z]+|[A-Z]+)[-_]?\d{1,2}", re.IGNORECASE
)


def asks_for_a_secret(text: Any) -> bool:
    """Whether a text ends by asking for a secret."""
    if not isinstance(text, str):
        return False
    end = text[-_END:]
    return any(map(end.lower().__contains__, _NAMES)) and _asks.search(end) is not None


def is_one_secret(text: Any) -> bool:
    """Whether an answer is one piece that nobody would write as a word, and not the name of a file."""
    value = text.strip() if isinstance(text, str) else ""
    is_piece = SHORTEST <= len(value) <= LONGEST and not any(map(str.isspace, value))
    return is_piece and not _name_or_place.fullmatch(value) and is_secret(value, Promise.PASSWORD, Notation.BARE)
