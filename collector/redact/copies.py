"""Replaces found values: where they were found, and every other place of the event where they stand.

A value found beside its name in one field often stands bare in another, in another escaping, or in a key. Short
values are only replaced where they stand apart, and very short ones only where they were found: `abcd` is also in
`abcdefg`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote

from collector.redact.exempt import is_exempt
from collector.redact.marker import MARKER, marker
from collector.redact.segments import Piece

SHORTEST = 5
FREE = 9


class _Copy(NamedTuple):
    value: str
    rule: str
    text: str  # as it stands: the value, or an escaped form of it


class Copies:
    """The values found in an event, and the replacing of them."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def add(self, value: str, rule: str) -> None:
        """Remembers a found value."""
        self._values.setdefault(value, rule)

    def replace(self, event: Any, parts: list[Piece], marks: dict[int, list[Any]], key: bytes) -> list[Any]:
        """Puts markers over the marks and over every copy of their values; returns the findings."""
        from collector.redact.redactor import Finding

        forms = sorted(self._forms(), key=lambda copy: -len(copy.text))
        findings: list[Any] = []
        renamed: dict[int, tuple[dict[str, Any], dict[str, str]]] = {}
        for index, part in enumerate(parts):
            text = part.text[part.value_at :]
            own = [
                (m.start - part.value_at, m.end - part.value_at, m.rule, None)
                for m in marks.get(index, ())
                if m.start >= part.value_at
            ]
            exempt = not own and is_exempt(part.path, text)
            spans = own if exempt else _with_copies(text, own, forms)
            if spans:
                part.node[part.key] = _rewritten(text, spans, key)
                findings += [Finding(rule, part.path, start, end, text[start:end]) for start, end, rule, _ in spans]
        for node, path in _dicts(event):
            for name in node:
                spans = _with_copies(name, _key_marks(parts, marks, node, name), forms)
                if spans:
                    renamed.setdefault(id(node), (node, {}))[1][name] = _rewritten(name, spans, key)
                    findings += [
                        Finding(rule, (*path, name), start, end, name[start:end], True) for start, end, rule, _ in spans
                    ]
        for node, names in renamed.values():
            _rename(node, names)
        return findings

    def _forms(self) -> list[_Copy]:
        forms = []
        for value, rule in self._values.items():
            if len(value) < SHORTEST:
                continue
            once = json.dumps(value, ensure_ascii=False)[1:-1]
            texts = {value, once, json.dumps(once, ensure_ascii=False)[1:-1], quote(value, safe="")}
            if "\\" in value:
                texts |= _unescaped(value)
            forms += [_Copy(value, rule, text) for text in texts if len(text) >= SHORTEST]
        return forms


_Span = tuple[int, int, str, Any]


def _unescaped(value: str) -> set[str]:
    try:
        once = json.loads(f'"{value}"')
    except ValueError:
        return set()
    return {once} | (_unescaped(once) if "\\" in once and once != value else set())


def _stands_apart(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum() or before == "_" or after == "_")


def _is_free(value: str) -> bool:
    """Whether a value is long and odd enough to be replaced inside words too."""
    return len(value) >= FREE and not value.isalpha()


def _is_common(value: str) -> bool:
    """A short value that may well be an ordinary word or number somewhere else."""
    return len(value) < 8 and (value.isdigit() or value.isalpha())


def _with_copies(text: str, spans: list[_Span], forms: list[_Copy]) -> list[_Span]:
    """The spans and those of every copy, in order and apart from each other and from markers."""
    found = list(spans)
    taken: list[tuple[int, int]] | None = None
    for copy in forms:
        at = text.find(copy.text)
        if at < 0 or _is_common(copy.text):
            continue
        if taken is None:
            taken = [(start, end) for start, end, _, _ in found] + [m.span() for m in MARKER.finditer(text)]
        while at >= 0:
            end = at + len(copy.text)
            is_clear = all(end <= low or at >= high for low, high in taken)
            if is_clear and (_is_free(copy.text) or _stands_apart(text, at, end)):
                found.append((at, end, copy.rule, copy.value))
                taken.append((at, end))
            at = text.find(copy.text, end)
    return sorted(found)


def _rewritten(text: str, spans: list[_Span], key: bytes) -> str:
    out, at = [], 0
    for start, end, rule, value in spans:
        out += [text[at:start], marker(rule, value if value is not None else text[start:end], key)]
        at = end
    return "".join([*out, text[at:]])


def _key_marks(parts: list[Piece], marks: dict[int, list[Any]], node: dict[str, Any], name: str) -> list[_Span]:
    found = []
    for index, spans in marks.items():
        part = parts[index]
        if part.owns_key and part.node is node and part.key == name:
            found += [(m.start, min(m.end, part.value_at - 1), m.rule, None) for m in spans if m.start < part.value_at]
    return found


def _dicts(event: Any) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    nodes: list[tuple[Any, tuple[Any, ...]]] = [(event, ())]
    for node, path in nodes:
        items = node.items() if isinstance(node, dict) else enumerate(node)
        nodes += [(value, (*path, key)) for key, value in items if isinstance(value, dict | list)]
    return [(node, path) for node, path in nodes if isinstance(node, dict)]


def _rename(node: dict[str, Any], names: dict[str, str]) -> None:
    items = list(node.items())
    node.clear()
    for name, value in items:
        new = names.get(name, name)
        while new in node:
            new += "'"
        node[new] = value


_ = re
