"""Shapes that several providers share, the samples that fill them, and what tells a random one from a word."""

from __future__ import annotations

import re
from itertools import pairwise

from collector.redact.rule import Spans

UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
A_UUID = "{0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}"
HEX32, AN_MD5 = "[0-9a-fA-F]{32}", "{0-9a-f:32}"
HEX40, A_SHA1 = "[0-9a-fA-F]{40}", "{0-9a-f:40}"
HEX64, A_SHA256 = "[0-9a-fA-F]{64}", "{0-9a-f:64}"
# A letter of base64 of either kind, as it is or in an URL's escape; other escapes end a token in an URL.
IN_URL = "(?:[A-Za-z0-9+/=_-]|%2[BbFf]|%3[Dd])"
# Directly before a token of base64's own letters neither of base64's signs may stand: image data is full of them.
NOT_IN_BASE64 = "0-9A-Za-z+/"
NOT_IN_A_NAME = "0-9A-Za-z_"
NOT_IN_A_SLUG = "0-9A-Za-z_-"


def has_digit(secret: str) -> bool:
    """No word or identifier: a digit is in it, or its case changes more often than in words."""
    return any(character.isdigit() for character in secret) or _is_shuffled(secret)


def is_mixed(secret: str) -> bool:
    """Digits and letters of both cases, as nearly all random base62 has; without a digit, shuffled case."""
    return has_digit(secret) and secret.lower() != secret != secret.upper()


def has_digit_and_letter(secret: str) -> bool:
    """Neither a word nor a number."""
    return has_digit(secret) and any(character.isalpha() for character in secret)


def _is_shuffled(secret: str) -> bool:
    changes = sum(one.isupper() != two.isupper() for one, two in pairwise(secret))
    return len(secret) >= 12 and changes * 3 >= len(secret)


def whole(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The match as it stands, for formats whose numbers begin with many zeros: base64's A, which looks like filler."""
    return [match.span()]
