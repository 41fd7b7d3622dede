"""Finds the secrets of one event and puts a marker in the place of each, wherever it stands.

In goes an event (any JSON object), out comes the same object without secrets, and how many of each rule there were.
One scan over all strings; nothing else happens where the scan sees nothing. Whatever goes wrong raises: `seal` then
withholds the event (promise 5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from time import monotonic
from typing import Any

from collector.errors import ConfigurationError
from collector.redact.copies import replace
from collector.redact.exempt import is_exempt
from collector.redact.findings import Finding, Mark, in_original
from collector.redact.marker import MARKER, MARKER_BYTES
from collector.redact.own_rules.load import Described, user_rules
from collector.redact.rule import Rule
from collector.redact.scan.engines import MARKERS, Engine, make_engine
from collector.redact.scan.matching import Matcher, TimeOut, Windows
from collector.redact.scan.segments import SHIELD, KeyBook, Piece, encode, gather, pieces
from collector.redact.table import RULES

ROUNDS = 4
MOST_FINDINGS = 10_000  # in one event: what holds more is withheld, as it would take memory and time without end
BYTES_FOR_THE_TIME = 5_000_000
MOST_SECONDS = 200.0  # for one event, however long: who says nothing for five minutes is ended by systemd
FIELD_RULE = "field"
WITHHELD = "withheld"  # what seal counts under this name, no rule has found


class TooMany(Exception):
    """One event holds more secrets than anybody would have."""


@dataclass(frozen=True)
class Options:
    """What can be chosen: the key of the markers, the engine, rules taken away and added, fields always withheld."""

    key: bytes
    engine: str = "auto"
    disabled: frozenset[str] = frozenset()
    rules: tuple[Described, ...] = ()
    fields: tuple[str, ...] = ()
    cache_dir: Path | None = None
    seconds: float = 20.0
    clock: Callable[[], float] = monotonic


class Redactor:
    """Redacts events; make one and use it from any thread."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.rules = chosen_rules(options)
        self._matchers = [Matcher(rule) for rule in self.rules]
        self._engine: Engine = make_engine(options.engine, self.rules, options.cache_dir)
        self._fields = frozenset(name.lower() for name in options.fields)
        self._book = KeyBook(frozenset(word for rule in self.rules for word in rule.keywords) | self._fields)

    @property
    def engine_name(self) -> str:
        """Which engine is at work: hyperscan or python."""
        return self._engine.name

    def event(self, event: dict[str, Any]) -> dict[str, int]:
        """Redacts an event in place; returns (and notes in the event) how often each rule was needed."""
        texts = gather(event, self._book)
        text = encode(texts)
        windows = self._engine.windows(text)
        if not windows and not self._fields:
            return {}
        text, windows = self._shielded(text, windows)
        counts: dict[str, int] = {}
        for finding in self._redact(event, texts, text, windows):
            counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if counts:
            before = event.get("redactions")
            event["redactions"] = {**(before if isinstance(before, dict) else {}), **counts}
        return counts

    def text(self, text: str) -> str:
        """One string, redacted."""
        redacted = self.value(text)[0]
        return str(redacted)

    def value(self, value: Any) -> tuple[Any, list[Finding]]:
        """Any JSON value, redacted in place, and what was found in it."""
        holder = [value]
        texts = gather(holder, self._book)
        findings = self._redact(holder, texts, *self._scan(texts))
        return holder[0], [Finding(found.rule, found.path[1:], *found[2:]) for found in in_original(findings)]

    def explain(self, text: str) -> list[tuple[Finding, str]]:
        """What would be found in a text, and why."""
        return [(finding, self.reason(finding)) for finding in self.value(text)[1]]

    def reason(self, finding: Finding) -> str:
        """Why something was found, in one sentence without the value."""
        rule = next((rule for rule in self.rules if rule.id == finding.rule), None)
        if finding.rule == FIELD_RULE:
            reason = "the field is on the list of fields that are always withheld"
        elif rule is None:
            reason = "by a rule that is gone"
        else:
            reason = rule.about or f"looks like {rule.provider}: {rule.pattern}"
            reason += f", near {' or '.join(rule.keywords)}" if rule.keywords else ""
            reason += ", and its check agrees" if rule.check else ""
            if rule.checksum and rule.checksum(finding.value):
                reason += "; its checksum is right, so this is certain"
        return f"{reason} (a copy of a value found elsewhere)" if finding.is_copy else reason

    def _scan(self, texts: list[str]) -> tuple[bytes, dict[int, Windows]]:
        """The text the rules see, and where they may match; what stands in a marker already they never see again."""
        text = encode(texts)
        return self._shielded(text, self._engine.windows(text))

    def _shielded(self, text: bytes, windows: dict[int, Windows]) -> tuple[bytes, dict[int, Windows]]:
        if windows.pop(MARKERS, None) is not None:
            text = MARKER_BYTES.sub(lambda found: b"[" + b"\x8f" * (len(found[0]) - 2) + b"]", text)
            windows = self._engine.windows(text)
            windows.pop(MARKERS, None)
        return text, windows

    def _redact(self, event: Any, texts: list[str], text: bytes, windows: dict[int, Windows]) -> list[Finding]:
        """Redacts until nothing is found any more, so that doing it twice changes nothing."""
        findings: list[Finding] = []
        seconds = self._options.seconds * (1 + len(text) / BYTES_FOR_THE_TIME)
        deadline = self._options.clock() + min(seconds, MOST_SECONDS)
        for number in range(ROUNDS):
            marks = self._marks(text, windows, texts, deadline) if windows else {}
            if not marks and not self._fields:
                break
            parts = pieces(event, self._book)
            if len(parts) != len(texts):
                raise ValueError("the pieces of an event are not those of its text")
            self._mark_fields(parts, marks)
            found = self._replace(event, parts, marks, deadline, number)
            if not found:
                break
            findings += found
            texts = gather(event, self._book)
            text, windows = self._scan(texts)
        return findings

    def _marks(
        self, text: bytes, windows: dict[int, Windows], texts: list[str], deadline: float
    ) -> dict[int, list[Mark]]:
        """The spans to replace, per piece of the text."""
        starts = list(accumulate([len(piece) + 1 for piece in texts[:-1]], initial=0))
        folded = text.lower()
        found: dict[int, list[Mark]] = {}
        places: set[int] = set()
        for index in sorted(windows):
            matcher = self._matchers[index]
            for start, end in matcher.spans(text, folded, windows[index], starts, deadline):
                piece = bisect_right(starts, start) - 1
                places.add(start)
                if len(places) > MOST_FINDINGS:
                    raise TooMany(matcher.rule.id)
                for low, high in _outside_markers(text, start, end):
                    found.setdefault(piece, []).append(Mark(low - starts[piece], high - starts[piece], matcher.rule.id))
        return found

    def _mark_fields(self, parts: list[Piece], marks: dict[int, list[Mark]]) -> None:
        """Marks the whole value of every field that is always withheld."""
        if not self._fields:
            return
        for index, part in enumerate(parts):
            names = [str(key).lower() for key in part.path]
            value = part.text[part.value_at :]
            if self._fields.intersection(names) and value and not MARKER.fullmatch(value):
                marks[index] = [Mark(part.value_at, len(part.text), FIELD_RULE)]

    def _replace(
        self, event: Any, parts: list[Piece], marks: dict[int, list[Mark]], deadline: float, number: int
    ) -> list[Finding]:
        def check() -> None:
            if self._options.clock() > deadline:
                raise TimeOut("copies")

        kept = {}
        for index, found in marks.items():
            part = parts[index]
            if found[0].rule == FIELD_RULE or not is_exempt(part.path, part.text[part.value_at :]):
                kept[index] = found
        return replace(event, parts, kept, self._options.key, check, number) if kept else []


def _outside_markers(text: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """A span without what stands in markers already."""
    if text.find(SHIELD, start, end) < 0:
        return [(start, end)]
    spans, at = [], start
    while (shield := text.find(b"[\x8f", at, end)) >= 0:
        if shield > at:
            spans.append((at, shield))
        at = text.find(b"]", shield, end) + 1 or end
    if at < end:
        spans.append((at, end))
    return spans


def chosen_rules(options: Options) -> tuple[Rule, ...]:
    """The table without the disabled rules and with the user's own."""
    known = {rule.id for rule in RULES}
    own = {rule.id for rule in options.rules}
    if unknown := options.disabled - known - own - {FIELD_RULE}:
        raise ConfigurationError(
            f"redaction.disable names no rule: {', '.join(sorted(unknown))}; "
            "`collector redact --explain` shows the ids of rules"
        )
    if taken := own & (known | {FIELD_RULE, WITHHELD}):
        raise ConfigurationError(
            f"redaction.rules uses the id of a built-in rule: {', '.join(sorted(taken))}. Give yours another one; "
            "redaction.disable leaves out the built-in one."
        )
    added = user_rules(options.rules, options.cache_dir)
    return tuple(rule for rule in (*RULES, *added) if rule.id not in options.disabled)
