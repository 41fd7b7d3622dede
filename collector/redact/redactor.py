"""Finds the secrets of one event and puts a marker in the place of each, wherever it stands.

In: an event, or any JSON value. Out: the same without secrets, and how often each rule was needed. All strings are
scanned at once, and if that sees nothing, nothing else happens. Whatever goes wrong raises, and `seal` then withholds
the event (promise 5).
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
from collector.redact.all_rules import RULES
from collector.redact.copies import replace
from collector.redact.exempt import is_exempt
from collector.redact.findings import Finding, Mark, in_original
from collector.redact.marker import MARKER, outside_markers, shielded
from collector.redact.own_rules.load import Described, user_rules
from collector.redact.rule import Rule
from collector.redact.scan.engines import MARKERS, Engine, make_engine
from collector.redact.scan.matching import Matcher, TimeOut, Zones
from collector.redact.scan.segments import KeyBook, Segment, encode, gather, segments_of

ROUNDS = 4
MOST_FINDINGS = 10_000  # in one event; with more it is withheld, as it would take time and memory without end
BYTES_FOR_THE_TIME = 5_000_000  # that the time allowed is meant for; a longer event gets proportionally more
MOST_SECONDS = 200.0  # for one event, however long: systemd ends a service that is silent for five minutes
FIELD_RULE = "field"
WITHHELD = "withheld"  # seal counts under this name what no rule has found


class TooMany(Exception):
    """One event holds more secrets than anybody would have."""


@dataclass(frozen=True)
class Options:
    """What can be chosen: the markers' key, the engine, rules to leave out and to add, fields always withheld."""

    key: bytes
    engine: str = "auto"
    disabled: frozenset[str] = frozenset()
    rules: tuple[Described, ...] = ()
    fields: tuple[str, ...] = ()
    cache_dir: Path | None = None
    seconds: float = 20.0
    clock: Callable[[], float] = monotonic


class Redactor:
    """Redacts events. Make one and use it from any thread; it chooses the engine itself unless it is given one."""

    def __init__(self, options: Options, engine: Engine | None = None) -> None:
        self._options = options
        self.rules = chosen_rules(options)
        self._matchers = [Matcher(rule) for rule in self.rules]
        self._engine = engine or make_engine(options.engine, self.rules, options.cache_dir)
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
        zones = self._engine.zones(text)
        if not zones and not self._fields:
            return {}
        text, zones = self._shielded(text, zones)
        counts: dict[str, int] = {}
        for finding in self._redact(event, texts, text, zones):
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

    def reason(self, finding: Finding) -> str:
        """Why something was found, in one sentence without the value."""
        rule = next((rule for rule in self.rules if rule.id == finding.rule), None)
        if finding.rule == FIELD_RULE:
            reason = "the field is on the list of fields that are always withheld"
        elif rule is None:
            reason = "found by a rule that no longer exists"
        else:
            reason = rule.about or f"looks like {rule.provider}: {rule.pattern}"
            reason += f", near {' or '.join(rule.keywords)}" if rule.keywords else ""
            reason += ", and its check agrees" if rule.check else ""
            if rule.checksum and rule.checksum(finding.value):
                reason += "; its checksum is right, so this is certain"
        return f"{reason} (a copy of a value found elsewhere)" if finding.is_copy else reason

    def _scan(self, texts: list[str]) -> tuple[bytes, dict[int, Zones]]:
        """The text that rules see, and where they may match. What a marker already holds they never see again."""
        text = encode(texts)
        return self._shielded(text, self._engine.zones(text))

    def _shielded(self, text: bytes, zones: dict[int, Zones]) -> tuple[bytes, dict[int, Zones]]:
        if zones.pop(MARKERS, None) is not None:
            text = shielded(text)
            zones = self._engine.zones(text)
            zones.pop(MARKERS, None)
        return text, zones

    def _redact(self, event: Any, texts: list[str], text: bytes, zones: dict[int, Zones]) -> list[Finding]:
        """Redacts until nothing more is found, so that doing it twice changes nothing."""
        findings: list[Finding] = []
        seconds = self._options.seconds * (1 + len(text) / BYTES_FOR_THE_TIME)
        deadline = self._options.clock() + min(seconds, MOST_SECONDS)
        for number in range(ROUNDS):
            marks = self._marks(text, zones, texts, deadline) if zones else {}
            if not marks and not self._fields:
                break
            segments = segments_of(event, self._book)
            if len(segments) != len(texts):
                raise ValueError("the segments of an event are not those of its text")
            self._mark_fields(segments, marks)
            found = self._replace(event, segments, marks, deadline, number)
            if not found:
                break
            findings += found
            texts = gather(event, self._book)
            text, zones = self._scan(texts)
        return findings

    def _marks(self, text: bytes, zones: dict[int, Zones], texts: list[str], deadline: float) -> dict[int, list[Mark]]:
        """The spans to replace, per segment of the text."""
        starts = list(accumulate([len(segment) + 1 for segment in texts[:-1]], initial=0))
        folded = text.lower()
        found: dict[int, list[Mark]] = {}
        places: set[int] = set()
        for index in sorted(zones):
            matcher = self._matchers[index]
            for start, end in matcher.spans(text, folded, zones[index], starts, deadline):
                segment = bisect_right(starts, start) - 1
                places.add(start)
                if len(places) > MOST_FINDINGS:
                    raise TooMany(matcher.rule.id)
                first = starts[segment]
                for low, high in outside_markers(text, start, end):
                    found.setdefault(segment, []).append(Mark(low - first, high - first, matcher.rule.id))
        return found

    def _mark_fields(self, segments: list[Segment], marks: dict[int, list[Mark]]) -> None:
        """Marks the whole value of every field that is always withheld."""
        if not self._fields:
            return
        for index, segment in enumerate(segments):
            names = [str(key).lower() for key in segment.path]
            value = segment.text[segment.value_at :]
            if self._fields.intersection(names) and value and not MARKER.fullmatch(value):
                marks[index] = [Mark(segment.value_at, len(segment.text), FIELD_RULE)]

    def _replace(
        self, event: Any, segments: list[Segment], marks: dict[int, list[Mark]], deadline: float, number: int
    ) -> list[Finding]:
        def check() -> None:
            if self._options.clock() > deadline:
                raise TimeOut("copies")

        kept = {}
        for index, found in marks.items():
            segment = segments[index]
            if found[0].rule == FIELD_RULE or not is_exempt(segment.path, segment.text[segment.value_at :]):
                kept[index] = found
        return replace(event, segments, kept, self._options.key, check, number) if kept else []


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
