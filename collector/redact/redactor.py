"""Finds the secrets of one event and replaces each with a marker, wherever it stands.

In: an event, or any JSON value. Out: the same without secrets, and how many findings each rule had. All strings are
scanned at once, and if the scan sees nothing, no more is done. Any failure raises, and `seal` then withholds the event
(promise 5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, count
from operator import add
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

from collector.errors import ConfigurationError
from collector.redact.all_rules import RULES
from collector.redact.copies import replace
from collector.redact.disguises.pieces import DISGUISES
from collector.redact.disguises.view import View
from collector.redact.disguises.written import is_disguised, plain_view
from collector.redact.exempt import is_exempt
from collector.redact.findings import Finding, Mark, in_original
from collector.redact.marker import MARKER, outside_markers, shielded
from collector.redact.own_rules.load import Described, user_rules
from collector.redact.personal import PERSONAL_RULES
from collector.redact.rule import Rule
from collector.redact.scan.engines import MARKERS, Engine, make_engine
from collector.redact.scan.matching import Matcher, TimeOut, Zones, whole_token
from collector.redact.scan.segments import KeyBook, Segment, encode, gather, segments_of
from collector.redact.session.fields import FIELDS_OF_PAGES
from collector.redact.session.memory import NAMED, Found, Known, Sessions
from collector.redact.session.printed import secret_spans
from collector.redact.structures.identity import FIELDS as IDENTITY_FIELDS
from collector.redact.structures.identity import IDENTITY_IDS, IDENTITY_RULES, rules_of_names, stands_for_nobody
from collector.redact.words.labels import is_in_another_language

ROUNDS = 4
MOST_FINDINGS = 10_000  # in one event; one with more is withheld: it would take time and memory without end
MOST_VIEWS = 500  # of one kind of disguise in one event; any beyond that are not looked at
BYTES_FOR_THE_TIME = 5_000_000  # the size the allowed time is meant for; a longer event gets proportionally more
# Processor time for one event, however long: a machine that slept or was busy is not the event's fault. systemd ends a
# service that is silent for five minutes, so this is safe if the agent gets a third of a processor.
MOST_SECONDS = 100.0
FIELD_RULE = "field"
PRINTED_RULE = "printed-secret"
# Keys of what a tool printed or wrote.
OUTPUTS = frozenset(
    {"text", "stdout", "output", "result", "content", "value", "message", "file_text", "new_string", "old_string"}
)
SIGN_OF_A_PAGE = Rule("session", "fields-of-a-page", FIELDS_OF_PAGES)  # finds no secret: only the scan looks for it
WITHHELD = "withheld"  # seal counts withheld strings under this name, so no rule may have it


class TooMany(Exception):
    """One event holds more secrets than anybody would have."""


@dataclass(frozen=True)
class Options:
    """What can be chosen: the key for markers, the engine, rules to leave out and to add, fields that are always
    withheld, which personal data counts as secret, whether names of accounts and people do, and names that are always
    taken out, each as (rule id, name)."""

    key: bytes
    engine: str = "auto"
    disabled: frozenset[str] = frozenset()
    rules: tuple[Described, ...] = ()
    personal: tuple[str, ...] = ()  # families of personal data
    fields: tuple[str, ...] = ()
    identity: bool = False
    names: tuple[tuple[str, str], ...] = ()
    cache_dir: Path | None = None
    preparing: Callable[[], None] = lambda: None  # called before the rules are compiled, which takes seconds
    seconds: float = 20.0
    clock: Callable[[], float] = thread_time


class Scanned(NamedTuple):
    """The strings of an event, the text that rules see, where they may match, whether a string is disguised, and
    whether one may describe the fields of a page."""

    texts: list[str]
    text: bytes
    zones: dict[int, Zones]
    is_disguised: bool
    may_describe: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What earlier events of a session reveal about one: values to look for, and which of its results answer a call for
    a secret (by identity). `found` collects what the event itself reveals."""

    known: list[Known] = field(default_factory=list)
    answers: set[int] = field(default_factory=set)
    found: list[Found] = field(default_factory=list)

    def note(self, marks: dict[int, list[Mark]], texts: list[str]) -> None:
        """Collects what was found, each with the text just before it."""
        for index, found in marks.items():
            text = texts[index]
            self.found.extend(
                Found(mark.rule, text[mark.start : mark.end], text[max(0, mark.start - 100) : mark.start])
                for mark in found
                if mark.rule not in IDENTITY_IDS
            )


class Redactor:
    """Redacts events. One instance serves any thread; it chooses the engine itself unless it is given one."""

    def __init__(self, options: Options, engine: Engine | None = None) -> None:
        self._options = options
        self.rules = chosen_rules(options)
        sought = (*self.rules, *(disguise.rule for disguise in DISGUISES), SIGN_OF_A_PAGE)
        self._matchers = [Matcher(rule) for rule in sought]
        self._engine = engine or make_engine(options.engine, sought, options.cache_dir, options.preparing)
        self._sign_of_a_page = len(sought) - 1
        self._fields = frozenset(name.lower() for name in options.fields)
        self._has_fields = bool(self._fields) or options.identity
        self._sessions = Sessions()
        self._book = KeyBook(frozenset(word for rule in self.rules for word in rule.keywords) | self._fields)

    @property
    def engine_name(self) -> str:
        """Which engine is at work: hyperscan or python."""
        return self._engine.name

    @property
    def key(self) -> bytes:
        """The key for markers."""
        return self._options.key

    def event(self, event: dict[str, Any]) -> dict[str, int]:
        """Redacts an event in place; returns (and notes in the event) how many findings each rule had. Events of one
        session must come in order: what one reveals (session/memory.py) applies to those after it."""
        session = self._sessions.of(event)
        scanned = self._scan(gather(event, self._book))
        known: list[Known] = []
        answers: list[dict[str, Any]] = []
        if session:
            known = session.standing_in(scanned.text)
            answers = session.answers(event)  # to calls of earlier events, so before this event's own are noted
            answers += session.note_calls(event, may_describe=scanned.may_describe)
            if PRINTED_RULE in self._options.disabled:
                answers = []
        if not (scanned.zones or scanned.is_disguised or self._has_fields or known or answers):
            return {}
        told = Told(known, {id(answer) for answer in answers})
        counts: dict[str, int] = {}
        for finding in self._redact(event, scanned, told):
            counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if session:
            session.note_values(told.found)
        if counts:
            before = event.get("redactions")
            event["redactions"] = {**(before if isinstance(before, dict) else {}), **counts}
        return counts

    def meet(self, source: str) -> bool:
        """Called once per reading of a source. Returns whether it is the first one, as far as this process remembers:
        then the events before a committed offset are to be shown again, so that nothing they reveal is missed."""
        return self._sessions.meet(source)

    def text(self, text: str) -> str:
        """One string, redacted."""
        redacted = self.value(text)[0]
        return str(redacted)

    def value(self, value: Any) -> tuple[Any, list[Finding]]:
        """Redacts any JSON value, in place if it is a container; returns it and what was found in it."""
        holder = [value]
        findings = self._redact(holder, self._scan(gather(holder, self._book)), Told())
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

    def _scan(self, texts: list[str]) -> Scanned:
        """Scans all strings at once. Rules never see the inside of a marker that is already there."""
        text, beyond = encode(texts)
        zones = self._engine.zones(text)
        if zones.pop(MARKERS, None) is not None:
            text = shielded(text)
            zones = self._engine.zones(text)
            zones.pop(MARKERS, None)
        may_describe = zones.pop(self._sign_of_a_page, None) is not None
        return Scanned(texts, text, zones, is_disguised(text, beyond), may_describe)

    def _redact(self, event: Any, scanned: Scanned, told: Told) -> list[Finding]:
        """Redacts until nothing more is found (at most ROUNDS times), so that doing it twice changes nothing."""
        findings: list[Finding] = []
        seconds = self._options.seconds * (1 + len(scanned.text) / BYTES_FOR_THE_TIME)
        deadline = self._options.clock() + min(seconds, MOST_SECONDS)
        for number in range(ROUNDS):
            marks = self._marks(scanned, deadline) if scanned.zones else {}
            self._mark_disguised(scanned, marks, deadline)
            is_told = number == 0 and (told.known or told.answers)
            if not marks and not self._has_fields and not is_told:
                break
            segments = segments_of(event, self._book)
            if len(segments) != len(scanned.texts):
                raise ValueError("the segments of an event are not those of its text")
            self._mark_fields(segments, marks)
            if is_told:
                _mark_answers(segments, marks, told.answers)
            told.note(marks, scanned.texts)
            found = self._replace(event, segments, marks, deadline, number, told.known if is_told else [])
            if not found:
                break
            findings += found
            scanned = self._scan(gather(event, self._book))
        return findings

    def _marks(self, scanned: Scanned, deadline: float) -> dict[int, list[Mark]]:
        """The spans to replace, per segment of the text."""
        texts, text, zones = scanned[:3]
        starts = _starts(texts)
        folded = text.lower()
        found: dict[int, list[Mark]] = {}
        places: set[int] = set()
        for index in sorted(zones):
            if index >= len(self.rules):  # a disguise, or the sign of a page
                break
            matcher = self._matchers[index]
            for start, end in matcher.spans(text, folded, zones[index], starts, deadline):
                segment = bisect_right(starts, start) - 1
                places.add(start)
                if len(places) > MOST_FINDINGS:
                    raise TooMany(matcher.rule.id)
                first = starts[segment]
                last = whole_token(text, start, end, first + len(texts[segment]))
                if matcher.rule.id in NAMED and is_in_another_language(texts[segment], start - first, last - first):
                    continue
                for low, high in outside_markers(text, start, last):
                    found.setdefault(segment, []).append(Mark(low - first, high - first, matcher.rule.id))
        return found

    def _mark_disguised(self, scanned: Scanned, marks: dict[int, list[Mark]], deadline: float) -> None:
        """Adds what rules find in the strings once their disguises are removed."""
        if not scanned.is_disguised and max(scanned.zones, default=0) < len(self.rules):
            return
        views = self._views(scanned, deadline)
        if not views:
            return
        for number, found in self._marks(self._scan([view.text for view in views]), deadline).items():
            view = views[number]
            for mark in found:
                start, end = view.original(mark.start, mark.end)
                if mark.rule in NAMED and is_in_another_language(scanned.texts[view.index], start, end):
                    continue
                marks.setdefault(view.index, []).append(Mark(start, end, mark.rule))

    def _views(self, scanned: Scanned, deadline: float) -> list[View]:
        """The disguised strings of an event, without their disguises."""
        texts, text, zones, is_any_written, _ = scanned
        views: list[View | None] = []
        if is_any_written:
            views += [plain_view(index, one) for index, one in enumerate(texts)]
        hidden = [index for index in zones if index >= len(self.rules)]
        starts = _starts(texts) if hidden else []
        for index in sorted(hidden):
            disguise = DISGUISES[index - len(self.rules)]
            spans = self._matchers[index].spans(text, text.lower(), zones[index], starts, deadline)
            for start, end in spans[:MOST_VIEWS]:
                segment = bisect_right(starts, start) - 1
                first = starts[segment]
                views.append(disguise.view(segment, texts[segment], start - first, end - first))
        return [view for view in views if view is not None]

    def _mark_fields(self, segments: list[Segment], marks: dict[int, list[Mark]]) -> None:
        """Marks the whole value of every field that is always withheld, or that names an account or a host."""
        if not self._has_fields:
            return
        for index, segment in enumerate(segments):
            names = [str(key).lower() for key in segment.path]
            value = segment.text[segment.value_at :]
            if not value or MARKER.fullmatch(value):
                continue
            if self._fields.intersection(names):
                marks[index] = [Mark(segment.value_at, len(segment.text), FIELD_RULE)]
            elif rule := self._named_by(segment.path, value):
                marks[index] = [Mark(segment.value_at, len(segment.text), rule)]

    def _named_by(self, path: tuple[Any, ...], value: str) -> str:
        """The rule of a field that names an account or a host; empty if it names nobody, or if that rule is off."""
        rule = IDENTITY_FIELDS.get(path, "") if self._options.identity else ""
        return "" if rule in self._options.disabled or stands_for_nobody(value) else rule

    def _replace(
        self,
        event: Any,
        segments: list[Segment],
        marks: dict[int, list[Mark]],
        deadline: float,
        number: int,
        known: list[Known],
    ) -> list[Finding]:
        """Replaces the marks of one round, and copies of known values; returns what was replaced."""

        def check() -> None:
            if self._options.clock() > deadline:
                raise TimeOut("copies")

        kept = {}
        for index, found in marks.items():
            segment = segments[index]
            if found[0].rule == FIELD_RULE or not is_exempt(segment.path, segment.text[segment.value_at :]):
                kept[index] = found
            elif in_key := [mark for mark in found if mark.end < segment.value_at]:  # only the value is an id
                kept[index] = in_key
        values = {one.value: one.rule for one in known}
        return replace(event, segments, kept, self._options.key, check, number, values) if kept or values else []


def _starts(texts: list[str]) -> list[int]:
    """Where each string begins in the joined text, which has one character between two strings."""
    return list(map(add, accumulate(map(len, texts[:-1]), initial=0), count()))


def _mark_answers(segments: list[Segment], marks: dict[int, list[Mark]], answers: set[int]) -> None:
    """Marks the secrets that commands were asked for, in the results that answer them: in their text, and in the copies
    tools keep."""
    for index, segment in enumerate(segments):
        if answers and _is_output(segment, answers):
            for start, end in secret_spans(segment.text[segment.value_at :]):
                mark = Mark(start + segment.value_at, end + segment.value_at, PRINTED_RULE)
                marks.setdefault(index, []).append(mark)


def _is_output(segment: Segment, answers: set[int]) -> bool:
    """Whether a string is the output of such a call: the text of its block, or a detail of its event."""
    name = next((part for part in reversed(segment.path) if isinstance(part, str)), "")
    return name in OUTPUTS and (id(segment.node) in answers or segment.path[0] in ("text", "tool"))


def chosen_rules(options: Options) -> tuple[Rule, ...]:
    """The table without the disabled rules, plus the user's own rules."""
    personal = [rule for family in options.personal for rule in PERSONAL_RULES[family]]
    every = [rule.id for rules in PERSONAL_RULES.values() for rule in rules]
    known = {rule.id for rule in RULES} | {PRINTED_RULE, *every} | IDENTITY_IDS
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
    named = (*IDENTITY_RULES, *rules_of_names(options.names)) if options.identity else rules_of_names(options.names)
    return tuple(rule for rule in (*RULES, *personal, *named, *added) if rule.id not in options.disabled)
