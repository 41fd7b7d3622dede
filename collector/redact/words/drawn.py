"""Whether a token was drawn at random, judged by nothing but its digits and its case.

That is enough after a telling prefix. Beside a mere name, where any word may stand, `values` looks much closer.
"""

from __future__ import annotations

from itertools import pairwise


def has_digit(secret: str) -> bool:
    """Whether it is neither a word nor an identifier: it has a digit, or its case changes more often than in words."""
    return any(character.isdigit() for character in secret) or _is_shuffled(secret)


def is_mixed(secret: str) -> bool:
    """Whether it has digits and letters of both cases, as nearly all random base62 has; without a digit, shuffled
    case."""
    return has_digit(secret) and secret.lower() != secret != secret.upper()


def has_digit_and_letter(secret: str) -> bool:
    """Whether it is neither a word nor a number."""
    return has_digit(secret) and any(character.isalpha() for character in secret)


def _is_shuffled(secret: str) -> bool:
    changes = sum(one.isupper() != two.isupper() for one, two in pairwise(secret))
    return len(secret) >= 12 and changes * 3 >= len(secret)
