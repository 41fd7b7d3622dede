"""The functions that rows of the table use for what a pattern cannot express.

A `check` is given the secret and may reject it; a `locate` says which spans of a match are the secret (see rule.Rule).
"""

from __future__ import annotations

import re
from base64 import b64decode

from collector.redact.lazy import regex
from collector.redact.rule import Spans
from collector.redact.words.drawn import has_digit, has_digit_and_letter, is_mixed
from collector.redact.words.letter_pairs import share_of_words

_attribute = regex(r"[a-z_]\w*(?:\.[a-z_]\w*)+|(?:[a-z0-9]+_)+[a-z]+")
_escape = regex(rb"\\(?:[nrt]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|[\[;]\d{1,3}m|%[0-9A-Fa-f]{2}")


def is_access_key(secret: str) -> bool:
    """Whether this is not a word: exactly as long as an AWS key id (one in 28 of those has no digit), or with a
    digit."""
    return len(secret) == 20 or has_digit(secret)


def is_hugging_face(secret: str) -> bool:
    """Whether this is as long as Hugging Face's tokens, which are all letters, or has a digit: names in code begin with
    hf_ too."""
    return len(secret.rpartition("_")[2]) == 34 or has_digit(secret)


def is_drawn(secret: str) -> bool:
    """Whether this is neither a name in code of just that length nor a uuid of zeros."""
    return has_digit(secret) and len(set(secret)) >= 6


def is_drawn_throughout(secret: str) -> bool:
    """Whether this is random, and not base64 of a file, where the same few letters come again and again."""
    threes = {secret[at : at + 3] for at in range(len(secret) - 2)}
    return is_mixed(secret) and len(set(secret[:150])) >= 40 and len(threes) >= 0.9 * (len(secret) - 2)


def is_no_zeros(secret: str) -> bool:
    """Whether this is random, and not base64 of a file, which is full of zeros: they become A."""
    return is_mixed(secret) and "AAAAAA" not in secret


def is_no_test(secret: str) -> bool:
    """Whether this is random, and not the name of a test: many of those begin with `test_`."""
    return is_mixed(secret) and share_of_words(secret.partition("_")[2]) < 0.5


def is_npm_credential(secret: str) -> bool:
    """Neither a word nor a name in code: `self.registry2_password`, `sha256_password`."""
    return has_digit_and_letter(secret) and not _attribute.fullmatch(secret)


def is_user_and_password(secret: str) -> bool:
    """base64 of `user:password`."""
    try:
        user, _, password = b64decode(secret, validate=True).decode("ascii").partition(":")
    except ValueError:
        return False
    return bool(user and password) and (user + password).isprintable()


def whole(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The match as it stands, for formats whose numbers begin with many zeros: base64's A, which looks like filler."""
    return [match.span()]


def by_somebody(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """A token nobody would write, if it is not a publishable key; without the n of an escaped newline before it."""
    first = match.start()
    if text[first - 1 : first] == b"\\" and text[first : first + 1] in (b"n", b"r", b"t"):
        first += 1
    is_public = text[first : first + 2] in (b"pk", b"pu")
    return [(first, match.end())] if not is_public and is_mixed(match[0].rpartition(b"_")[2].decode("latin-1")) else []


def login_code(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """A code and a state, both drawn from letters of either case and digits: not two hashes, nor a page and its
    anchor."""
    first = match.start()
    if escape := _escape.match(text, max(0, first - 1)):  # all but its first character is in the alphabet
        first = escape.end()
    code, state = text[first : match.end()].decode("latin-1").split("#")
    is_drawn = len(code) >= 40 and all(is_mixed(part) and any(map(str.isdigit, part)) for part in (code, state))
    return [(first, match.end())] if is_drawn else []
