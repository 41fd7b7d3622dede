"""The two engines that say where a rule may match: hyperscan, and plain Python where its wheel is missing.

Both give windows per rule (see matching.py). The compiled database is cached in a file named after the rules and the
version of hyperscan (cached.py); a damaged or foreign file only costs a new compilation.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from collector.redact.marker import OPENING
from collector.redact.rule import AT_KEYS, WIDEST, Rule, sample
from collector.redact.scan import rule_cache
from collector.redact.scan.compiling import compile_patterns, compiled_elsewhere, hyperscan
from collector.redact.scan.literals import needles
from collector.redact.scan.matching import Windows, blocks, scan_pattern, scan_widths

MARKERS = -1
KEY_END = b"\x91"  # see segments.py
CANARIES = 8  # that a cached database must report before it is used
MOST_ENDS = 500  # that one scan of a text may give, and one more for every 256 characters; few texts give so many
_key_places = re.compile(rb"[^\x91]\x91(?:[^\x90\x91]{1,160}\x91)*(?=[^\x91])")  # of one key, or many in a row


class Engine(Protocol):
    """Says where rules may match: {index of the rule: windows}; MARKERS is among them where markers may be."""

    name: str

    def windows(self, text: bytes) -> dict[int, Windows]:
        """The windows of every rule that may match somewhere."""


class Hyperscan:
    """One scan for all rules; a scratch space per thread."""

    name = "hyperscan"

    def __init__(self, rules: Sequence[Rule], cache_dir: Path | None = None) -> None:
        self._rules = rules
        self._widths: dict[int, tuple[int, int]] = {}
        self._sharing: dict[str, list[int]] = {}  # the rules that one pattern stands for
        self._at_keys = _rules_at_keys(rules)
        for index, rule in enumerate(rules):
            if rule.trigger == AT_KEYS:
                continue
            self._sharing.setdefault(scan_pattern(rule), []).append(index)
        # Markers cost a scan nothing; a look of its own would be 0.5 us.
        self._sharing.setdefault(re.escape(OPENING.decode()), []).append(MARKERS)
        self._indexes = list(self._sharing.values())
        self._database = _database(list(self._sharing), rules, cache_dir)
        # How far an end can be from where the scanner, or the rule, begins.
        widths = [scan_widths(rule)[1] for rule in rules if not rule.examples]  # the user's: they may be wider
        reach = max((rule.reach + len(word) for rule in rules for word in rule.keywords), default=0)
        self._widest = max(WIDEST, *widths, 0) + reach
        self._local = threading.local()

    def windows(self, text: bytes) -> dict[int, Windows]:
        """Scans once, and turns the ends of the candidates into windows of begins."""
        ends: list[tuple[int, int]] = []
        most = MOST_ENDS + len(text) // 256
        try:
            self._scan(text, (ends, most))
            windows = self._merge(ends) if ends else {}
        except hyperscan.ScanTerminated:
            windows = self._windows_of_repeats(text)
        return windows | _windows_at_keys(text, self._at_keys) if KEY_END in text else windows

    def _scan(self, text: bytes, into: tuple[list[tuple[int, int]], int]) -> None:
        try:
            scratch = self._local.scratch
        except AttributeError:
            scratch = self._local.scratch = hyperscan.Scratch(self._database)
        self._database.scan(text, match_event_handler=_collect, context=into, scratch=scratch)

    def _windows_of_repeats(self, text: bytes) -> dict[int, Windows]:
        """Scans block by block a text that is full of candidates, for it may well repeat itself: then a block like one
        that was scanned, with what follows it, is not scanned again."""
        scanned: dict[tuple[int, bytes], dict[int, Windows]] = {}
        found: dict[int, Windows] = {}
        low = 0
        for number, last in enumerate(blocks(text, 0, len(text) - 1)):
            seen = (last - low, text[low : last + self._widest])
            does_not_repeat = len(scanned) > 16 + number // 4
            is_rest = seen not in scanned and (does_not_repeat or last + self._widest >= len(text))
            if seen not in scanned:
                ends: list[tuple[int, int]] = []
                self._scan(text[low:] if is_rest else seen[1], (ends, sys.maxsize))
                scanned[seen] = self._merge(ends)
            for rule, windows in scanned[seen].items():
                found.setdefault(rule, []).extend((low + begin, low + end) for begin, end in windows)
            if is_rest:
                break
            low = last + 1
        return {rule: _joined(sorted(windows)) for rule, windows in found.items()}

    def _merge(self, ends: list[tuple[int, int]]) -> dict[int, Windows]:
        by_pattern: dict[int, list[int]] = {}
        for pattern, end in ends:
            by_pattern.setdefault(pattern, []).append(end)
        return {
            rule: self._windows_of(rule, sorted(found))
            for pattern, found in by_pattern.items()
            for rule in self._indexes[pattern]
        }

    def _windows_of(self, rule: int, ends: list[int]) -> Windows:
        if rule == MARKERS:
            return []
        if rule not in self._widths:
            self._widths[rule] = scan_widths(self._rules[rule])
        return _windows(ends, *self._widths[rule])


def _windows(ends: list[int], shortest: int, longest: int) -> Windows:
    """Where matches may begin whose ends, at these distances, were seen; windows that touch are one."""
    return _joined((end - longest, end - shortest) for end in ends)


def _joined(found: Iterable[tuple[int, int]]) -> Windows:
    windows: Windows = []
    for low, high in found:
        if windows and low <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], max(high, windows[-1][1]))
        else:
            windows.append((max(0, low), high))
    return windows


def _rules_at_keys(rules: Sequence[Rule]) -> list[tuple[int, Rule]]:
    return [(index, rule) for index, rule in enumerate(rules) if rule.trigger == AT_KEYS]


def _windows_at_keys(text: bytes, rules: list[tuple[int, Rule]]) -> dict[int, Windows]:
    """The windows of the rules for the values of telling keys; too rare and too little for a scanner to look for."""
    places = [(place.start() + 2, place.end()) for place in _key_places.finditer(text)]
    return (
        {index: _joined((first - rule.reach_back, last - 1) for first, last in places) for index, rule in rules}
        if places
        else {}
    )


def _collect(rule: int, _begin: int, end: int, _flags: int, into: tuple[list[tuple[int, int]], int]) -> bool:
    """Notes one end; stops the scan where there are too many."""
    ends, most = into
    ends.append((rule, end))
    return len(ends) > most


class Python:
    """No scanner: every rule one of whose literals is in the text is searched everywhere."""

    name = "python"

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._at_keys = _rules_at_keys(rules)
        self._everywhere: list[int] = []  # the rules of which no literal is known
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

    def windows(self, text: bytes) -> dict[int, Windows]:
        """The whole text, for every rule that cannot be ruled out by its literals."""
        everywhere = [(0, len(text))]
        windows = dict.fromkeys(self._everywhere, everywhere)
        if OPENING in text:
            windows[MARKERS] = []
        for searched, known in ((text, self._exact), (text.lower(), self._folded)):
            for literal, rules in known.items():
                if literal in searched:
                    windows |= dict.fromkeys(rules, everywhere)
        return windows | _windows_at_keys(text, self._at_keys) if KEY_END in text else windows


def _needles(rule: Rule) -> tuple[bytes, ...]:
    """Literals one of which is in every text the rule matches in, if case does not matter to the rule in lower case."""
    own = needles(rule.pattern)
    words = frozenset(rule.keywords)
    best = max((own, words), key=lambda found: min(map(len, found), default=0))
    return tuple(sorted(word.encode("latin-1") for word in best))


def make_engine(choice: str, rules: Sequence[Rule], cache_dir: Path | None = None) -> Engine:
    """The engine asked for; `auto` takes hyperscan where it can be imported."""
    if choice == "python" or (choice == "auto" and hyperscan is None):
        return Python(rules)
    if hyperscan is None:
        raise ModuleNotFoundError("hyperscan is not installed for this Python")
    return Hyperscan(rules, cache_dir)


def _database(patterns: list[str], rules: Sequence[Rule], cache_dir: Path | None) -> Any:
    if cache_dir is None:
        return compile_patterns(patterns)
    key = hashlib.sha256("\0".join([hyperscan.__version__, _platform(), *patterns]).encode()).hexdigest()[:24]
    path = cache_dir / f"rules-{key}.hyperscan"
    if reason := rule_cache.danger(cache_dir):
        rule_cache.say_unused(cache_dir, reason)
    known = rule_cache.load(path, _canaries(patterns, rules))
    if known is not None:
        return known
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
