"""The two engines that say where a rule may match: hyperscan, or plain Python where there is no wheel for it.

In: a text. Out: for each rule that may match, its zones (see matching.py). The compiled database is cached in a file
named after the rules and the version of hyperscan (rule_cache.py); a damaged or foreign file only costs a compilation.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from collector.redact.lazy import regex
from collector.redact.marker import OPENING
from collector.redact.rule import AT_KEYS, WIDEST, Rule, sample
from collector.redact.scan import rule_cache
from collector.redact.scan.compiling import WITH_BEGIN, compile_patterns, compiled_elsewhere, hyperscan
from collector.redact.scan.literals import needles
from collector.redact.scan.matching import Zones, scan_pattern, scan_patterns, scan_widths, stretches
from collector.redact.scan.segments import KEY_END

End = tuple[int, int, int]  # a pattern, where it begins if the scanner can say so, and where it ends
MARKERS = -1
CANARIES = 8  # samples that a cached database must report before it is used
MOST_ENDS = 500  # matches one scan may report, plus one per 256 characters; few texts have as many
# Zones of one rule in one text: zones closer together than this allows are joined into one, which is wider and finds
# the same. A 60 MB text full of candidates had millions, and they took 4 GB.
MOST_ZONES = 100_000
SCANNED_AT_ONCE = 1 << 20
_key_end = KEY_END.encode("latin-1")
_key_places = regex(rb"[^\x91]\x91(?:[^\x90\x91]{1,160}\x91)*(?=[^\x91])")  # one key, or several in a row


class Engine(Protocol):
    """Says where rules may match: {index of the rule: zones}, with an entry for MARKERS if there may be markers."""

    name: str

    def zones(self, text: bytes) -> dict[int, Zones]:
        """The zones of every rule that may match somewhere."""


class Hyperscan:
    """One scan for all rules, with a scratch space per thread."""

    name = "hyperscan"

    def __init__(
        self, rules: Sequence[Rule], cache_dir: Path | None = None, preparing: Callable[[], None] = lambda: None
    ) -> None:
        self._rules = rules
        self._widths: dict[int, tuple[int, int]] = {}
        self._sharing: dict[str, list[int]] = {}  # the rules that share a pattern
        self._at_keys = _rules_at_keys(rules)
        for index, rule in enumerate(rules):
            if rule.trigger == AT_KEYS:
                continue
            for pattern in scan_patterns(rule):
                self._sharing.setdefault(pattern, []).append(index)
        # Looking for markers in the same scan is free; a search of its own would take 0.5 us.
        self._sharing.setdefault(re.escape(OPENING.decode()), []).append(MARKERS)
        self._indexes = list(self._sharing.values())
        self._with_begin = {at for at, pattern in enumerate(self._sharing) if pattern.startswith(WITH_BEGIN)}
        self._database = _database(list(self._sharing), rules, cache_dir, preparing)
        # How far from its beginning a match can end, and how far before it its keyword can begin. Users' own rules, the
        # ones without examples, may be wider than those of the table.
        widths = [scan_widths(rule)[1] for rule in rules if not rule.examples]
        self._widest = max(WIDEST, *widths, 0)
        self._reach = max((rule.reach + len(word) for rule in rules for word in rule.keywords), default=0)
        self._local = threading.local()

    def zones(self, text: bytes) -> dict[int, Zones]:
        """Scans once, and turns the ends of candidates into zones where matches may begin."""
        ends: list[End] = []
        most = MOST_ENDS + len(text) // 256
        try:
            self._scan(text, (ends, most))
            zones = self._merge(ends) if ends else {}
        except hyperscan.ScanTerminated:
            zones = self._zones_of_repeats(text)
        return zones | _zones_at_keys(text, self._at_keys) if _key_end in text else zones

    def _scan(self, text: bytes, into: tuple[list[End], int]) -> None:
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._local.scratch = hyperscan.Scratch(self._database)
        self._database.scan(text, match_event_handler=_collect, context=into, scratch=scratch)

    def _zones_of_repeats(self, text: bytes) -> dict[int, Zones]:
        """Scans a text full of candidates stretch by stretch, as such a text often repeats itself: a stretch that, with
        what surrounds it, equals an earlier one is not scanned again. Once the text turns out not to repeat, the rest
        is scanned in larger pieces."""
        scanned: dict[tuple[int, bytes], dict[int, Zones]] = {}
        found: dict[int, Zones] = {}
        gap = 1 + len(text) // MOST_ZONES
        low = 0
        for number, last in enumerate(stretches(text, 0, len(text) - 1)):
            start = max(0, low - self._reach)
            seen = (last - low, text[start : last + self._widest])
            if seen not in scanned:
                if len(scanned) > 16 + number // 4 or last + self._widest >= len(text):
                    break
                scanned[seen] = self._zones_within(seen[1])
            _add(found, scanned[seen], start, last, gap)
            low = last + 1
        for first in range(low, len(text), SCANNED_AT_ONCE):
            start, last = max(0, first - self._reach), first + SCANNED_AT_ONCE - 1
            _add(found, self._zones_within(text[start : last + self._widest]), start, last, gap)
        return found

    def _zones_within(self, text: bytes) -> dict[int, Zones]:
        ends: list[End] = []
        self._scan(text, (ends, sys.maxsize))
        return self._merge(ends)

    def _merge(self, ends: list[End]) -> dict[int, Zones]:
        by_pattern: dict[int, Zones] = {}
        for pattern, begin, end in ends:
            by_pattern.setdefault(pattern, []).append((begin, end))
        zones: dict[int, Zones] = {}
        for pattern, found in by_pattern.items():
            for rule in self._indexes[pattern]:
                more = _joined(sorted(found)) if pattern in self._with_begin else self._zones_of(rule, found)
                zones[rule] = _joined(sorted(zones[rule] + more)) if rule in zones else more
        return zones

    def _zones_of(self, rule: int, found: Zones) -> Zones:
        if rule == MARKERS:
            return []
        if rule not in self._widths:
            self._widths[rule] = scan_widths(self._rules[rule])
        return _zones(sorted(end for _, end in found), *self._widths[rule])


def _zones(ends: list[int], shortest: int, longest: int) -> Zones:
    """Where matches that end at these places may begin, given their shortest and longest length. Zones that touch are
    joined."""
    return _joined((end - longest, end - shortest) for end in ends)


def _joined(found: Iterable[tuple[int, int]]) -> Zones:
    zones: Zones = []
    for low, high in found:
        if zones and low <= zones[-1][1] + 1:
            zones[-1] = (zones[-1][0], max(high, zones[-1][1]))
        else:
            zones.append((max(0, low), high))
    return zones


def _add(found: dict[int, Zones], zones: dict[int, Zones], first: int, last: int, gap: int) -> None:
    """Adds the zones of a stretch. A match that begins after its last place belongs to the next stretch."""
    for rule, ranges in zones.items():
        known = found.setdefault(rule, [])
        for begin, end in ranges:
            low, high = first + begin, first + end
            if known and low <= known[-1][1] + gap:
                known[-1] = (known[-1][0], max(high, known[-1][1]))
            elif low <= last:
                known.append((low, high))


def _rules_at_keys(rules: Sequence[Rule]) -> list[tuple[int, Rule]]:
    return [(index, rule) for index, rule in enumerate(rules) if rule.trigger == AT_KEYS]


def _zones_at_keys(text: bytes, rules: list[tuple[int, Rule]]) -> dict[int, Zones]:
    """The zones of the rules for the values of telling keys, which are too rare and too small for a scanner to look
    for."""
    places = [(place.start() + 2, place.end()) for place in _key_places.finditer(text)]
    return (
        {index: _joined((first - rule.reach_back, last - 1) for first, last in places) for index, rule in rules}
        if places
        else {}
    )


def _collect(pattern: int, begin: int, end: int, _flags: int, into: tuple[list[End], int]) -> bool:
    """Notes one end; stops the scan when there are too many."""
    ends, most = into
    ends.append((pattern, begin, end))
    return len(ends) > most


class Python:
    """No scanner: a rule is searched for in the whole text if that contains one of its literals."""

    name = "python"

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._at_keys = _rules_at_keys(rules)
        self._everywhere: list[int] = []  # the rules without a known literal
        self._exact: dict[bytes, list[int]] = {}
        self._folded: dict[bytes, list[int]] = {}
        for index, rule in enumerate(rules):
            literals = () if rule.trigger == AT_KEYS else _needles(rule)
            is_folded = rule.folds or "(?i" in rule.pattern or bool(rule.keywords)
            for literal in literals:
                known = self._folded if is_folded else self._exact
                known.setdefault(literal.lower() if is_folded else literal, []).append(index)
            if not literals and rule.trigger != AT_KEYS:
                self._everywhere.append(index)

    def zones(self, text: bytes) -> dict[int, Zones]:
        """The whole text, for every rule that cannot be ruled out by its literals."""
        everywhere = [(0, len(text))]
        zones = dict.fromkeys(self._everywhere, everywhere)
        if OPENING in text:
            zones[MARKERS] = []
        for searched, known in ((text, self._exact), (text.lower(), self._folded)):
            for literal, rules in known.items():
                if literal in searched:
                    zones |= dict.fromkeys(rules, everywhere)
        return zones | _zones_at_keys(text, self._at_keys) if _key_end in text else zones


def _needles(rule: Rule) -> tuple[bytes, ...]:
    """Literals of which every text that the rule matches has at least one."""
    own = needles(rule.pattern)
    words = frozenset(rule.keywords)
    best = max((own, words), key=lambda found: min(map(len, found), default=0))
    return tuple(sorted(word.encode("latin-1") for word in best))


def make_engine(
    choice: str, rules: Sequence[Rule], cache_dir: Path | None = None, preparing: Callable[[], None] = lambda: None
) -> Engine:
    """The engine that was asked for; `auto` picks hyperscan if it can be imported."""
    if choice == "python" or (choice == "auto" and hyperscan is None):
        return Python(rules)
    if hyperscan is None:
        raise ModuleNotFoundError("hyperscan is not installed for this Python")
    return Hyperscan(rules, cache_dir, preparing)


def _database(patterns: list[str], rules: Sequence[Rule], cache_dir: Path | None, preparing: Callable[[], None]) -> Any:
    if cache_dir is None:
        preparing()
        return compile_patterns(patterns)
    key = hashlib.sha256("\0".join([hyperscan.__version__, _platform(), *patterns]).encode()).hexdigest()[:24]
    path = cache_dir / f"rules-{key}.hyperscan"
    if reason := rule_cache.danger(cache_dir):
        rule_cache.say_unused(cache_dir, reason)
    known = rule_cache.load(path, _canaries(patterns, rules))
    if known is not None:
        return known
    preparing()
    body = compiled_elsewhere(patterns) or hyperscan.dumpb(compile_patterns(patterns))
    rule_cache.save(path, body)
    return hyperscan.loadb(body, hyperscan.HS_MODE_BLOCK)


def _canaries(patterns: list[str], rules: Sequence[Rule]) -> list[rule_cache.Canary]:
    """Texts in which a sound database reports a pattern: a marker, and samples of rules from all over the table."""
    plain = [rule for rule in rules if rule.examples and not rule.keywords and rule.trigger != AT_KEYS]
    texts = {re.escape(OPENING.decode()): OPENING}
    for rule in plain[:: len(plain) // CANARIES + 1]:
        texts[scan_pattern(rule)] = sample(rule.examples[0], 0).encode("latin-1", "replace")
    return [(text, patterns.index(pattern)) for pattern, text in texts.items()]


def _platform() -> str:
    machine = os.uname() if hasattr(os, "uname") else None
    return f"{machine.sysname}-{machine.machine}" if machine else os.name
