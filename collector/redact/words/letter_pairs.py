"""Whether letters read like words: most pairs of neighbours are common ones in words, but few in random letters.

The pairs are the 200 most frequent ones in identifiers of code: 4 % of random strings pass for words, and 1 % of
identifiers do not.
"""

from __future__ import annotations

from itertools import pairwise

from collector.redact.lazy import regex

_FOLLOWING = {
    "a": "bcdgilmnprstuy", "b": "aeilou", "c": "aehiklortu", "d": "adeilos", "e": "acdefglmnpqrstvwxy",
    "f": "aefilo",
    "g": "einr", "h": "aeio", "i": "abcdefglmnoprstvz", "k": "ei", "l": "adeilostuvy", "m": "aeiop",
    "n": "acdefginostv",
    "o": "abcdgiklmnoprstuvw", "p": "aeiloprtu", "q": "u", "r": "acdeilmnorstuvy", "s": "acehiopstu",
    "t": "acehiorstuy", "u": "beilmnprst", "v": "aei", "w": "aeio", "x": "pt", "y": "p", "z": "e",
}  # fmt: skip
_COMMON = frozenset((first, second) for first, seconds in _FOLLOWING.items() for second in seconds)
_chunk = regex(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]{2}|[A-Z]{4,}")


def is_made_of_words(value: str) -> bool:
    """Whether most of a value is words, however joined and numbered: `0007_alter_validators`."""
    return share_of_words(value) >= 0.6


def share_of_words(value: str) -> float:
    """How much of a value is words."""
    words = sum(len(chunk) for chunk in _chunk.findall(value[:128]) if reads_like_words(chunk))
    return words / max(1, len(value[:128]))


def reads_like_words(letters: str, in_five: float = 3) -> bool:
    """Whether at least three (or `in_five`) in five pairs of letters are common in words."""
    lower = letters[:64].lower()
    pairs = len(lower) - 1
    return pairs < 1 or sum(map(_COMMON.__contains__, pairwise(lower))) * 5 >= pairs * in_five
