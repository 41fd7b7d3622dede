"""All strings of an event as one text to scan, and the way back from that text into the event.

`gather` is the walk on the hot path, and it only collects. Each key is judged once and remembered; a key is put before
its value only if it says something about the value or is not made of plain words. Where something was found,
`segments_of` walks the event again in the same order and says where each segment of the text came from.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from collector.redact.words.asked import asks_for_a_secret
from collector.redact.words.described import telling_name
from collector.redact.words.names import Promise, is_file_name, promise

# Control characters that texts do not use; marker.SHIELD is another.
SEGMENT_END = "\x90"
KEY_END = "\x91"
MOST_KEYS = 20_000

PLAIN, TELLING, SIBLING, CONTEXT = range(4)

# The first characters decide which alternative applies, so that a long key is not tried over and over. A word has no
# capital but its first letter, and the words of camel case have four letters or more: one AWS key in twenty consists of
# letters with a digit at the end, and must be scanned.
_WORDS = r"[A-Z]?[a-z]{1,31}(?:[A-Z][a-z]{3,31})*(?:I[dD])?"
_PART = rf"(?:(?:{_WORDS}|[A-Z]{{1,12}})\d{{0,3}}|\d{{1,3}}[a-z]{{0,12}}|)"
_plain = re.compile(rf"{_PART}(?:[_./ -]{_PART})*")
_sibling_keys = frozenset(
    {"value", "Value", "default", "defaultValue", "default_value", "secretValue", "ParameterValue", "text"}
)
_name_keys = ("name", "Name", "key", "Key", "header", "variable", "id", "field", "env", "ParameterKey")
# What a call to fill in a form says about the field: {"element": "Password textbox", "text": ...}
_field_keys = ("element", "label", "placeholder", "selector", "locator", "target", "name", "field")
_scalars = frozenset({int, float, bool, type(None)})


class KeyBook:
    """What each key calls for: nothing, being put before its value, or a look at its siblings. Each is judged once."""

    def __init__(self, keywords: frozenset[str]) -> None:
        self.known: dict[str, int] = {}
        self._keywords = re.compile("|".join(map(re.escape, sorted(keywords))) or r"(?!)")

    def judge(self, key: str) -> int:
        """The verdict on a key, whether or not it is known yet."""
        verdict = self.known.get(key)
        if verdict is None:
            verdict = self._judge(key)
            if len(self.known) >= MOST_KEYS:
                self.known.clear()
            if len(key) <= 100:
                self.known[key] = verdict
        return verdict

    def _judge(self, key: str) -> int:
        if key in _sibling_keys:
            return SIBLING
        # The keys of a record may be file paths, which are new each time: `promise` would be slow on them.
        if not is_file_name(key) and promise(key) is not Promise.NOTHING:
            return TELLING
        if key[-1:] == "?" and asks_for_a_secret(key):  # a question, with its answer as the value
            return TELLING
        is_plain = len(key) <= 160 and _plain.fullmatch(key)
        return PLAIN if is_plain and not self._keywords.search(key.lower()) else CONTEXT


class Segment(NamedTuple):
    """One string of the event in the scanned text: a key, KEY_END and its value, or a value alone."""

    text: str
    node: Any  # the dict or list that holds the value
    key: Any  # its key or index there
    value_at: int  # where in `text` the value begins
    owns_key: bool  # whether the text before the value is its own key
    path: tuple[Any, ...]


def gather(event: Any, book: KeyBook) -> list[str]:
    """Every string of an event, keys included where they matter."""
    known = book.known
    found: list[str] = []
    add = found.append
    nodes: list[Any] = [event]
    push = nodes.append
    for node in nodes:  # grows while it is walked
        if type(node) is dict:
            for key, value in node.items():
                kind = type(value)
                try:
                    verdict = known[key]
                except KeyError:
                    verdict = book.judge(key)
                if verdict:
                    _tell(node, key, value, verdict, (add, push))
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
    """Handles types that JSON does not have: subclasses are read as what they are, anything else is an error (fail
    closed)."""
    if isinstance(value, str):
        add(str(value))
    elif isinstance(value, dict | list):
        push(value)
    elif not isinstance(value, int | float):
        raise TypeError(f"an event holds a {type(value).__name__}, which cannot be redacted")


def prefix_of(node: dict[str, Any], key: str, verdict: int) -> str:
    """What is put before a value: its key, the name a sibling gives it ({"name": "X", "value": ...}), or that of its
    field.

    A key that says nothing by itself is followed by two KEY_ENDs: it is only context, for rules with keywords.
    """
    if verdict == TELLING:
        return key + KEY_END
    if verdict == CONTEXT:
        return key + KEY_END + KEY_END
    for name_key in _name_keys if key != "text" else ():
        name = node.get(name_key)
        if type(name) is str and len(name) <= 100 and promise(name) is not Promise.NOTHING:
            return name + KEY_END
    for field_key in _field_keys:
        if field_key in node and type(field := node[field_key]) is str and (name := telling_name(field)):
            return name + KEY_END
    return ""


def _tell(node: dict[str, Any], key: str, value: Any, verdict: int, into: tuple[Any, Any]) -> None:
    """Adds the value of a key that says something about it."""
    add, push = into
    prefix = prefix_of(node, key, verdict)
    kind = type(value)
    if kind is str:
        add(prefix + value)
    elif verdict == TELLING and _is_whole_number(value):
        add(prefix + str(value))
    elif kind is list:
        add(prefix)
        _tell_items(prefix, value, into)
    else:
        add(prefix)
        if kind is dict:
            push(value)
        elif kind not in _scalars:
            _refuse(value, add, push)


def _is_whole_number(value: Any) -> bool:
    """A password may be a number; one of more than 19 digits has been parsed as a float."""
    return type(value) is int or (type(value) is float and 2**63 <= value < float("inf"))


def _tell_items(prefix: str, items: list[Any], into: tuple[Any, Any]) -> None:
    """Adds the strings of a list, each after the key of the list."""
    add, push = into
    for item in items:
        kind = type(item)
        if kind is str:
            add(prefix + item)
        elif kind is dict or kind is list:
            push(item)
        elif kind not in _scalars:
            _refuse(item, add, push)


def segments_of(event: Any, book: KeyBook) -> list[Segment]:
    """The same walk, with places: `[s.text for s in segments_of(e, b)] == gather(e, b)` for plain JSON."""
    found: list[Segment] = []
    nodes: list[tuple[Any, tuple[Any, ...]]] = [(event, ())]
    for node, path in nodes:
        is_dict = isinstance(node, dict)
        items: Any = node.items() if is_dict else enumerate(node)
        for key, value in items:
            verdict = book.judge(key) if is_dict else PLAIN
            name = prefix_of(node, key, verdict) if verdict else ""
            owns = verdict in (TELLING, CONTEXT)
            place = (*path, key)
            if isinstance(value, str) or (verdict == TELLING and _is_whole_number(value)):
                found.append(Segment(name + str(value), node, key, len(name), owns, place))
                continue
            if verdict:
                found.append(Segment(name, node, key, len(name), owns, place))
            if isinstance(value, list) and verdict:
                for index, item in enumerate(value):
                    if isinstance(item, str):
                        found.append(Segment(name + item, value, index, len(name), False, (*place, index)))
                    elif isinstance(item, dict | list):
                        nodes.append((item, (*place, index)))
            elif isinstance(value, dict | list):
                nodes.append((value, place))
    return found


def encode(texts: list[str]) -> tuple[bytes, str]:
    """All strings as one text with one byte per character, so that a place in it is a place in a string; and, if
    anything in them is beyond Latin-1, that text undecoded as well.

    Characters outside Latin-1 become `?`, lone surrogates too. A string that itself contains one of our control
    characters counts as two strings for the rules, in both engines alike.
    """
    whole = SEGMENT_END.join(texts)
    try:
        return whole.encode("latin-1"), ""
    except UnicodeEncodeError:
        return whole.encode("latin-1", "replace"), whole
