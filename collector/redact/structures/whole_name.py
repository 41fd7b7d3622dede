"""The whole name that a telling word is part of: `db_password` for `password`, `cache key` for `key`.

In: a text, and where in it the telling word stands. Out: the name as it is written, and what it promises. The same few
names come up again and again, so each is judged once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from collector.redact.lazy import regex
from collector.redact.words.names import Promise, promise

_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_OPENING = b"?&\"'(,/ \n"  # some telling words begin with one of these, but no name does
_IN_FRONT = tuple(b"api access secret auth private account client bot master encryption signing".split())
_SPACED = tuple(word + b" " for word in _IN_FRONT)
_WIDEST_SPACED = max(map(len, _SPACED))
_word_before = regex(rb"([A-Za-z]{2,20})(?:[ \t]|\](?:\r?\n|\\{1,3}n))$")  # `cache key`, or `key` in the section [api]
_digits = regex(rb"[0-9A-F]{2}|[0-9a-f]{2}")
_compound = regex("[A-Za-z][_.-][A-Za-z]")


class Name(NamedTuple):
    """A name, and what it says about the value beside it."""

    text: str
    promised: Promise
    is_constant: bool  # DB_PASSWORD
    is_compound: bool  # db_password, db.password


def whole_name(text: bytes, begin: int, last: int, start: int) -> Name:
    """The whole name that the telling word is part of."""
    opening = text[begin]
    if opening in _OPENING:
        name = _said(text[begin + 1 : last])
        is_parameter = opening in b"?&" and name.text.lower() == "key"
        return name._replace(promised=Promise.OWNED) if is_parameter else _with_word_before(text, begin, start, name)
    at = begin
    before = text[begin - 1] if begin > start else 0
    if before == 0x20:
        said = text[max(start, begin - _WIDEST_SPACED) : begin].lower()
        if said.endswith(_SPACED):
            at -= next(len(word) for word in _SPACED if said.endswith(word))
    elif before == 0x5C or before in _NAME:
        low = max(start, begin - 64)
        at = low + len(text[low:begin].rstrip(_NAME))
        if at > low and text[at - 1] == 0x5C and text[at : at + 1] in (b"n", b"r", b"t"):
            at += 1  # the n of an escaped newline
        elif at > low and text[at - 1] == 0x25 and _digits.match(text, at, begin):
            at += 2  # an escaped sign in a URL: %22apiKey
    return _with_word_before(text, begin, start, _said(text[at:last]))


@lru_cache(maxsize=5_000)
def _said(name: bytes) -> Name:
    text = name.decode("latin-1")
    return Name(text, promise(text), text.upper() == text, bool(_compound.search(text)))


def _with_word_before(text: bytes, begin: int, start: int, name: Name) -> Name:
    """`key` alone says too little, as a `cache key` opens nothing: what it promises depends on the word before it."""
    if len(name.text) > 4 or name.text.lower() not in ("key", "keys"):
        return name
    word = _word_before.search(text[max(start, begin - 24) : begin])
    return name._replace(promised=promise(f"{word[1].decode('latin-1')} {name.text}")) if word else name
