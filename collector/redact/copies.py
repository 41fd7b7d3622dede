"""Replaces found values, where they were found and everywhere else in the event.

A value found beside its name in one field often stands bare in another, escaped differently, or in a key. Short values
are replaced only where they stand apart, and very short ones only where they were found: `abcd` is also in `abcdefg`. A
word, a flag, a path or code is replaced only where it was found and where it fills a whole field. The cost grows with
the text plus the values, not with the text times the values.
"""

from __future__ import annotations

import contextlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from collector.redact.exempt import is_exempt
from collector.redact.findings import Finding, Mark, merged
from collector.redact.lazy import regex
from collector.redact.marker import MARKER, marker
from collector.redact.scan.segments import Segment
from collector.redact.words.distinctive import is_distinctive, is_plain_text

SHORTEST = 5
LONGEST_IN_URL = 8192
FREE = 9  # characters a value must have to be replaced inside words too
FEW = 400  # forms that are searched for one by one; more than that use an index
SAFE_IN_JAVASCRIPT = "!'()*~"
_not_in_names = regex(r"[^A-Za-z0-9]")
ESCAPED_IN_GO = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}

Marks = dict[int, list[Mark]]


class _Copy(NamedTuple):
    value: str
    rule: str
    text: str  # as it appears: the value, or an escaped form of it


def replace(
    event: Any,
    segments: list[Segment],
    marks: Marks,
    key: bytes,
    check: Callable[[], None] = lambda: None,
    number: int = 0,
    known: Mapping[str, str] = MappingProxyType({}),
) -> list[Finding]:
    """Puts markers over the marks and over every copy of their values; returns these as findings of round `number`.
    `check` is called for every string and raises if this takes too long. `known` are values found in earlier events,
    with their rules: only copies of those can be here."""
    copier = _Copier(segments, marks, key, known)
    findings: list[Finding] = []
    key_marks: dict[tuple[int, str], list[Mark]] = {}
    for index, segment in enumerate(segments):
        check()
        text = segment.text[segment.value_at :]
        own = []
        for mark in merged(marks.get(index, [])):
            if mark.start >= segment.value_at:
                own.append(Mark(mark.start - segment.value_at, mark.end - segment.value_at, mark.rule))
            elif segment.owns_key:
                found = Mark(mark.start, min(mark.end, len(segment.key)), mark.rule)
                key_marks.setdefault((id(segment.node), segment.key), []).append(found)
        if not own and is_exempt(segment.path, text):
            continue
        spans = copier.with_copies(text, own)
        if spans:
            segment.node[segment.key] = copier.rewritten(text, spans)
            findings += _findings(text, spans, segment.path, False, number)
    for node, path in _dicts(event):
        names: dict[str, str] = {}
        for name in node:
            check()
            spans = copier.with_copies(name, key_marks.get((id(node), name), []))
            if spans:
                names[name] = copier.rewritten(name, spans)
                findings += _findings(name, spans, (*path, name), True, number)
        if names:
            _rename(node, names)
    return findings


def _findings(text: str, spans: list[Mark], path: tuple[Any, ...], in_key: bool, number: int) -> Iterable[Finding]:
    for mark in spans:
        value = text[mark.start : mark.end]
        yield Finding(mark.rule, path, mark.start, mark.end, value, in_key, mark.is_copy, number)


class _Copier:
    """Every found value in every form it may take elsewhere, and its markers."""

    def __init__(self, segments: list[Segment], marks: Marks, key: bytes, known: Mapping[str, str]) -> None:
        self._key = key
        self._markers: dict[tuple[str, str], str] = {}
        values = dict(known)
        for index, found in marks.items():
            for mark in found:
                values.setdefault(segments[index].text[mark.start : mark.end], mark.rule)
        self._forms = _forms({value: rule for value, rule in values.items() if is_distinctive(value)})
        self._fields = {value: rule for value, rule in values.items() if is_plain_text(value)}

    def with_copies(self, text: str, marks: list[Mark]) -> list[Mark]:
        """The marks plus one for every copy, in order, overlapping neither each other nor markers. What was found in a
        text may be only part of a copy there."""
        if text in self._fields and not marks:
            return [Mark(0, len(text), self._fields[text], text, True)]
        found = list(marks)
        known = {(mark.start, mark.end) for mark in marks}
        taken = bytearray()
        for copy, place_from in self._standing_in(text):
            taken = taken or _taken(text)
            at = place_from(0)
            while at >= 0:
                end = at + len(copy.text)
                last_taken = taken.rfind(1, at, end)
                if last_taken < 0 and (_is_free(copy.text) or _stands_apart(text, at, end)):
                    if (at, end) not in known:
                        found.append(Mark(at, end, copy.rule, copy.value, True))
                    taken[at:end] = b"\1" * (end - at)
                    last_taken = end - 1
                at = place_from(max(at, last_taken) + 1)
        return merged(found)

    def rewritten(self, text: str, marks: list[Mark]) -> str:
        """The text with markers in place of the marks."""
        out: list[str] = []
        at = 0
        for mark in marks:
            same = (mark.rule, mark.value or text[mark.start : mark.end])
            if same not in self._markers:
                self._markers[same] = marker(*same, self._key)
            out += [text[at : mark.start], self._markers[same]]
            at = mark.end
        return "".join([*out, text[at:]])

    def _standing_in(self, text: str) -> Iterable[tuple[_Copy, Callable[[int], int]]]:
        """Each form that a text contains, longest first, with a function that finds it from a given place on."""
        if len(self._forms) <= min(FEW, len(text)):
            for copy in self._forms:
                if copy.text in text:
                    yield copy, partial(text.find, copy.text)
            return
        lengths, ranks = self._index
        places: dict[int, list[int]] = {}
        for at in range(len(text) - SHORTEST + 1):
            for length in lengths.get(text[at : at + SHORTEST], ()):
                if (form := text[at : at + length]) in ranks:
                    places.setdefault(ranks[form], []).append(at)
        for rank in sorted(places):
            yield self._forms[rank], partial(_next, places[rank])

    @cached_property
    def _index(self) -> tuple[dict[str, set[int]], dict[str, int]]:
        """The lengths of forms by their first letters, and the rank of each form among all."""
        lengths: dict[str, set[int]] = {}
        ranks: dict[str, int] = {}
        for rank, copy in enumerate(self._forms):
            lengths.setdefault(copy.text[:SHORTEST], set()).add(len(copy.text))
            ranks.setdefault(copy.text, rank)
        return lengths, ranks


def _next(places: list[int], at: int) -> int:
    """The first of the places at or after `at`; -1 if there is none."""
    index = bisect_left(places, at)
    return places[index] if index < len(places) else -1


def _forms(values: dict[str, str]) -> list[_Copy]:
    """Every value in every form it may take elsewhere, longest first. Overlapping marks are not joined yet: where a
    whole URL was found as well as the password in it, the password may stand elsewhere without the URL."""
    forms = []
    for value, rule in values.items():
        texts = _unescaped(value)
        for plain in list(texts):
            texts |= _escaped(plain) if not (plain.isalnum() and plain.isascii()) else set()
        forms += [_Copy(value, rule, text) for text in texts if len(value) >= SHORTEST and _can_be_copied(text)]
    return sorted(forms, key=lambda copy: (-len(copy.text), copy.text))


def _can_be_copied(text: str) -> bool:
    """Whether a form is too long to be just some word or number elsewhere."""
    return len(text) >= SHORTEST and not (len(text) < 8 and (text.isdigit() or text.isalpha()))


def _escaped(value: str) -> set[str]:
    """The value in a JSON string, as most tools write it, as ASCII-only tools do and as Go does; in such a string
    inside another; in a URL; and in a name made from a path."""
    as_is = json.dumps(value, ensure_ascii=False)[1:-1]
    once = {as_is, json.dumps(value)[1:-1], as_is.translate(ESCAPED_IN_GO)}
    twice = {json.dumps(text, ensure_ascii=False)[1:-1] for text in once}
    safe_signs = ("", SAFE_IN_JAVASCRIPT) if len(value) <= LONGEST_IN_URL else ()
    name = _not_in_names.sub("-", value)
    dashes = name.count("-")
    names = {name} if len(name) - dashes > max(SHORTEST, dashes) else set()  # or a line of dashes could be a copy
    return once | twice | names | {quote(value, safe=signs, errors="replace") for signs in safe_signs}


def _unescaped(value: str) -> set[str]:
    """The value, and what remains of it as each level of URL and JSON escapes is undone."""
    found = {value, unquote(value)} if "%" in value else {value}
    if "\\" in value:
        with contextlib.suppress(ValueError):
            found |= _unescaped(json.loads(f'"{value}"'))
    return found


def _stands_apart(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum() or before == "_" or after == "_")


def _is_free(value: str) -> bool:
    """Whether a value is long and odd enough to be replaced inside words too."""
    return len(value) >= FREE and not value.isalpha()


def _taken(text: str) -> bytearray:
    """One byte per character: 1 where a marker stands."""
    taken = bytearray(len(text))
    for found in MARKER.finditer(text):
        taken[found.start() : found.end()] = b"\1" * len(found[0])
    return taken


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
