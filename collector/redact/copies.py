"""Replaces found values: where they were found, and every other place of the event where they stand.

A value found beside its name in one field often stands bare in another, in another escaping, or in a key. Short
values are only replaced where they stand apart, and very short ones only where they were found: `abcd` is also in
`abcdefg`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from collector.redact.exempt import is_exempt
from collector.redact.findings import Finding, Mark, merged
from collector.redact.marker import MARKER, marker
from collector.redact.segments import Piece

SHORTEST = 5
LONGEST_IN_URL = 8192
FREE = 9

Marks = dict[int, list[Mark]]


class _Copy(NamedTuple):
    value: str
    rule: str
    text: str  # as it stands: the value, or an escaped form of it


def replace(
    event: Any, parts: list[Piece], marks: Marks, key: bytes, check: Callable[[], None] = lambda: None
) -> list[Finding]:
    """Puts markers over the marks and over every copy of their values; returns the findings. `check` is called for
    every string, as the time this takes grows with strings times values, and raises when there was enough of it."""
    forms = _forms(parts, marks)
    findings: list[Finding] = []
    key_marks: dict[tuple[int, str], list[Mark]] = {}
    for index, part in enumerate(parts):
        check()
        text = part.text[part.value_at :]
        own = []
        for mark in merged(marks.get(index, [])):
            if mark.start >= part.value_at:
                own.append(Mark(mark.start - part.value_at, mark.end - part.value_at, mark.rule))
            elif part.owns_key:
                found = Mark(mark.start, min(mark.end, len(part.key)), mark.rule)
                key_marks.setdefault((id(part.node), part.key), []).append(found)
        if not own and is_exempt(part.path, text):
            continue
        spans = _with_copies(text, own, forms)
        if spans:
            part.node[part.key] = _rewritten(text, spans, key)
            findings += [
                Finding(m.rule, part.path, m.start, m.end, text[m.start : m.end], False, m.is_copy) for m in spans
            ]
    return findings + _replace_in_keys(event, key_marks, forms, key, check)


def _replace_in_keys(
    event: Any,
    key_marks: dict[tuple[int, str], list[Mark]],
    forms: list[_Copy],
    key: bytes,
    check: Callable[[], None],
) -> list[Finding]:
    findings = []
    for node, path in _dicts(event):
        names: dict[str, str] = {}
        for name in node:
            check()
            spans = _with_copies(name, key_marks.get((id(node), name), []), forms)
            if spans:
                names[name] = _rewritten(name, spans, key)
                place = (*path, name)
                findings += [
                    Finding(m.rule, place, m.start, m.end, name[m.start : m.end], True, m.is_copy) for m in spans
                ]
        if names:
            _rename(node, names)
    return findings


def _forms(parts: list[Piece], marks: Marks) -> list[_Copy]:
    """Every found value in every way it may be written elsewhere, the longest first. Marks that overlap are not yet one
    here: the password of a URL that is a value itself stands elsewhere without the URL."""
    values: dict[str, str] = {}
    for index, found in marks.items():
        for mark in found:
            values.setdefault(parts[index].text[mark.start : mark.end], mark.rule)
    forms = []
    for value, rule in values.items():
        if len(value) < SHORTEST:
            continue
        once = json.dumps(value, ensure_ascii=False)[1:-1]
        texts = {value, once, json.dumps(once, ensure_ascii=False)[1:-1]}
        if not value.isalnum():
            texts |= _unescaped(value)
            if len(value) <= LONGEST_IN_URL:
                texts.add(quote(value, safe="", errors="replace"))
        forms += [_Copy(value, rule, text) for text in texts if len(text) >= SHORTEST]
    return sorted(forms, key=lambda copy: (-len(copy.text), copy.text))


def _unescaped(value: str) -> set[str]:
    """The value without one and without two levels of JSON's escapes, where it has them."""
    if "\\" not in value:
        return set()
    try:
        once = json.loads(f'"{value}"')
    except ValueError:
        return set()
    return {once} | _unescaped(once)


def _stands_apart(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum() or before == "_" or after == "_")


def _is_free(value: str) -> bool:
    """Whether a value is long and odd enough to be replaced inside words too."""
    return len(value) >= FREE and not value.isalpha()


def _is_ordinary(value: str) -> bool:
    """A short value that may well be a word or a number somewhere else."""
    return len(value) < 8 and (value.isdigit() or value.isalpha())


def _with_copies(text: str, marks: list[Mark], forms: list[_Copy]) -> list[Mark]:
    """The marks and those of every copy, in order, apart from each other and from markers."""
    found = list(marks)
    taken = bytearray()
    for copy in forms:
        at = text.find(copy.text)
        if at < 0 or _is_ordinary(copy.text):
            continue
        if not taken:
            taken = _taken(text, found)
        while at >= 0:
            end = at + len(copy.text)
            if 1 not in taken[at:end] and (_is_free(copy.text) or _stands_apart(text, at, end)):
                found.append(Mark(at, end, copy.rule, copy.value, True))
                taken[at:end] = b"\1" * (end - at)
            at = text.find(copy.text, end)
    return sorted(found)


def _taken(text: str, marks: list[Mark]) -> bytearray:
    """One byte a character: 1 where a mark or a marker stands."""
    taken = bytearray(len(text))
    for start, end in [(mark.start, mark.end) for mark in marks] + [m.span() for m in MARKER.finditer(text)]:
        taken[start:end] = b"\1" * (end - start)
    return taken


def _rewritten(text: str, marks: list[Mark], key: bytes) -> str:
    out: list[str] = []
    at = 0
    for mark in marks:
        out += [text[at : mark.start], marker(mark.rule, mark.value or text[mark.start : mark.end], key)]
        at = mark.end
    return "".join([*out, text[at:]])


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
