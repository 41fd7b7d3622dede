"""The whole name of which a telling word is a part: `db_password` for `password`, `cache key` for `key`.

In: a text, and where in it the telling word stands. Out: the name, as it is written.
"""

from __future__ import annotations

import re

_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_spaced_name = re.compile(rb"(?i)(?:api|access|secret|auth|private|account|client|bot|master|encryption|signing) $")
_word_before = re.compile(rb"([A-Za-z]{2,20})[ \t]$")


def whole_name(text: bytes, begin: int, last: int, start: int) -> str:
    """The whole name of which the telling word is a part."""
    if text[begin] in b"?&\"'(,/ \n":
        return text[begin + 1 : last].decode("latin-1")
    at, low = begin, max(start, begin - 64)
    before = text[begin - 1] if begin > start else 0
    if before == 0x20:
        spaced = _spaced_name.search(text[low:begin])
        at = low + spaced.start() if spaced else begin
    elif before == 0x5C or before in _NAME:
        at = low + len(text[low:begin].rstrip(_NAME))
        if at > low and text[at - 1] == 0x5C and text[at : at + 1] in (b"n", b"r", b"t"):
            at += 1  # the n of an escaped newline
    return text[at:last].decode("latin-1")


def with_word_before(text: bytes, begin: int, start: int, name: str) -> str:
    """`key` alone says too little, as a `cache key` opens nothing: the word before is part of the name."""
    if name.lower() not in ("key", "keys"):
        return name
    word = _word_before.search(text[max(start, begin - 24) : begin])
    return f"{word[1].decode('latin-1')} {name}" if word else name
