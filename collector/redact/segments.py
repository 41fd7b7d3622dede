"""All strings of an event as one text to scan, and the way back from that text into the event.

`gather` is the walk of the hot path: it only collects. Keys are judged once and remembered; only a key that tells
something about its value, or that is not a plain word, is put before it. Where something was found, `pieces` walks the
event again, in the same order, and says where each part of the text came from.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from collector.redact.names import Promise, promise

PIECE_END = "\xff"
KEY_END = "\xfe"
SHIELD = b"\xfd"
MOST_KEYS = 20_000

PLAIN, TELLING, SIBLING = 0, 1, 2

_plain_key = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,39}\d?\Z")
_sibling_keys = frozenset({"value", "Value", "default", "defaultValue", "default_value", "content", "secretValue"})
_name_keys = ("name", "Name", "key", "Key", "header", "variable", "id", "field", "env")
_scalars = frozenset({int, float, bool, type(None)})
_reserved = re.compile("[\xfd\xfe\xff]")
_stand_ins = str.maketrans("\xfd\xfe\xff", "yyy")


class KeyBook(dict[str, int]):
    """What each key asks for: nothing, to stand before its value, or to look at its sibling. Judged once a key."""

    def __init__(self, keywords: frozenset[str]) -> None:
        super().__init__()
        self._keywords = re.compile("|".join(map(re.escape, sorted(keywords))) or r"(?!)")

    def __missing__(self, key: str) -> int:
        verdict = self._judge(key)
        if len(self) >= MOST_KEYS:
            self.clear()
        if len(key) <= 100:
            self[key] = verdict
        return verdict

    def _judge(self, key: str) -> int:
        if key in _sibling_keys:
            return SIBLING
        if not _plain_key.match(key) or promise(key) is not Promise.NOTHING or self._keywords.search(key.lower()):
            return TELLING
        return PLAIN


class Piece(NamedTuple):
    """A part of the scanned text: a key, KEY_END and its value, or a value alone."""

    text: str
    node: Any  # the dict or list that holds the value
    key: Any  # its key or index there
    value_at: int  # where in `text` the value begins
    owns_key: bool  # whether the part before is the key itself
    path: tuple[Any, ...]


def gather(event: Any, book: KeyBook) -> list[str]:
    """Every string of an event, keys included where they matter."""
    found: list[str] = []
    add = found.append
    nodes: list[Any] = [event]
    push = nodes.append
    for node in nodes:  # grows while it is walked
        if type(node) is dict:
            for key, value in node.items():
                kind = type(value)
                if book[key]:
                    _tell(node, key, value, book[key], add, push)
                elif kind is str:
                    add(value)
                elif kind is dict or kind is list:
                    push(value)
                elif kind not in _scalars:
                    _refuse(value, add, push)
        else:
            for value in node:
                kind = type(value)
                if kind is str:
                    add(value)
                elif kind is dict or kind is list:
                    push(value)
                elif kind not in _scalars:
                    _refuse(value, add, push)
    return found


def _refuse(value: Any, add: Any, push: Any) -> None:
    """Kinds of value that JSON does not have: strings in disguise are read, the rest is a fault (fail closed)."""
    if isinstance(value, str):
        add(str(value))
    elif isinstance(value, dict | list):
        push(value)
    elif not isinstance(value, int | float):
        raise TypeError(f"an event holds a {type(value).__name__}, which cannot be redacted")


def name_before(node: dict[str, Any], key: str, verdict: int) -> str:
    """The name that is put before a value: its key, or what a sibling calls it ({"name": "X", "value": ...})."""
    if verdict == TELLING:
        return key
    for name_key in _name_keys:
        name = node.get(name_key)
        if type(name) is str and len(name) <= 100 and promise(name) is not Promise.NOTHING:
            return name
    return ""


def _tell(node: dict[str, Any], key: str, value: Any, verdict: int, add: Any, push: Any) -> None:
    """Adds the value of a key that says something about it."""
    name = name_before(node, key, verdict) + KEY_END
    kind = type(value)
    if kind is str:
        add(name + value)
    elif kind is int:
        add(name + str(value))
    elif kind is list:
        add(name)
        for item in value:
            if type(item) is str:
                add(name + item)
            elif type(item) is dict or type(item) is list:
                push(item)
            elif type(item) not in _scalars:
                _refuse(item, add, push)
    else:
        add(name)
        if kind is dict:
            push(value)
        elif kind not in _scalars:
            _refuse(value, add, push)


def pieces(event: Any, book: KeyBook) -> list[Piece]:
    """The same walk with places: `[p.text for p in pieces(e, b)] == gather(e, b)` for plain JSON."""
    found: list[Piece] = []
    nodes: list[tuple[Any, tuple[Any, ...]]] = [(event, ())]
    for node, path in nodes:
        is_dict = isinstance(node, dict)
        items: Any = node.items() if is_dict else enumerate(node)
        for key, value in items:
            verdict = book[key] if is_dict else PLAIN
            name = name_before(node, key, verdict) + KEY_END if verdict else ""
            owns = verdict == TELLING
            place = (*path, key)
            if isinstance(value, str) or (type(value) is int and verdict):
                found.append(Piece(name + str(value), node, key, len(name), owns, place))
                continue
            if verdict:
                found.append(Piece(name, node, key, len(name), owns, place))
            if isinstance(value, list) and verdict:
                for index, item in enumerate(value):
                    if isinstance(item, str):
                        found.append(Piece(name + item, value, index, len(name), False, (*place, index)))
                    elif isinstance(item, dict | list):
                        nodes.append((item, (*place, index)))
            elif isinstance(value, dict | list):
                nodes.append((value, place))
    return found


def encode(texts: list[str]) -> bytes:
    """One byte a character, so that places in the scanned text are places in the strings.

    Characters outside Latin-1 become `?`, lone surrogates too. The three bytes with a meaning here are kept out.
    """
    joined = PIECE_END.join(texts)
    blob = joined.encode("latin-1", "replace")
    if SHIELD in blob or blob.count(0xFF) != len(texts) - 1 or (0xFE in blob and _has_reserved(texts)):
        texts = [_without_reserved(text) for text in texts]
        blob = PIECE_END.join(texts).encode("latin-1", "replace")
    return blob


def _has_reserved(texts: list[str]) -> bool:
    return any(text.count(KEY_END) > 1 or (KEY_END in text and not _key_first.match(text)) for text in texts)


_key_first = re.compile(r"[^\xfe]{0,400}\xfe")


def _without_reserved(text: str) -> str:
    """Keeps the first KEY_END, which ends a key; every other reserved character becomes a letter."""
    if not _reserved.search(text):
        return text
    name, mark, value = text.partition(KEY_END)
    return name.translate(_stand_ins) + mark + value.translate(_stand_ins)
