"""Confirms with `re` what an engine saw, and says exactly which spans are secret.

An engine gives zones: ranges of places where a match may begin. However wide they are, they contain every place where
one does begin, and after a match the search always resumes at the same place: so both engines have identical findings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from time import thread_time
from typing import Any

from collector.redact.lazy import regex
from collector.redact.rule import Locate, Rule, Spans, width
from collector.redact.scan.beginnings import Beginning, beginning, compiled, parsed
from collector.redact.scan.compiling import WITH_BEGIN
from collector.redact.words.placeholders import is_filler

Zones = list[tuple[int, int]]
_Read = dict[object, tuple[int, Spans]]  # how far a stretch was read and what it holds, both counted from its end
STRETCH = 512  # characters of a long zone that are searched together
MOST_READ = 2_000  # stretches remembered; a text with more distinct ones hardly repeats itself
UNTIMED = 32  # zones between two looks at the clock, each of which costs 0.4 us
FEW_PLACES = 8  # remaining places that are tried one by one if a match begins with something short
NARROW = 64  # and if it does not
SHORTEST_CUT = 60  # characters of a secret that may be the beginning of a longer one
FEW = 50  # zones in which a rule with a `locate` may be searched for without stretches

_boundary_escapes = (
    rb"(?<=\\[nrtbfv0])|(?<=\\x[0-9a-fA-F]{2})|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2})"
    rb"|(?<=\[\dm)|(?<=\[\d\dm)|(?<=;\dm)|(?<=;\d\dm)"
)
_rest_of_token = regex(rb"(?<=[A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9+/=_.~%-]*")
_open_end = regex(r"\{([1-9]\d*),\d+\}(\)*)\Z")


class TimeOut(Exception):
    """Redacting one event took too long."""


class Matcher:
    """A rule made ready to search. Its pattern is compiled when it is first needed: most never are."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.group: str | int = "secret" if "(?P<secret>" in rule.pattern else 0
        self.first: str | int = "first" if "(?P<first>" in rule.pattern else 0
        self.folds = rule.folds
        self.keywords = tuple(word.lower().encode("latin-1") for word in rule.keywords)

    @cached_property
    def search(self) -> Callable[..., re.Match[bytes] | None]:
        """Finds the pattern where nothing forbidden follows it."""
        return self._compiled.search

    @cached_property
    def match(self) -> Callable[..., re.Match[bytes] | None]:
        """Matches the pattern at one place only."""
        return self._compiled.match

    @cached_property
    def _parts(self) -> Any:
        after = f"(?![{self.rule.after}])" if self.rule.after else ""
        return parsed(f"(?:{self.rule.pattern}){after}")

    @cached_property
    def _compiled(self) -> re.Pattern[bytes]:
        return compiled(self._parts)

    @cached_property
    def beginning(self) -> Beginning | None:
        """What every match begins with, if that is short."""
        return beginning(self._parts)

    @cached_property
    def tried(self) -> int:
        """How many remaining places are faster to try one by one than to search."""
        return FEW_PLACES if self.beginning else NARROW

    @cached_property
    def before(self) -> Callable[[bytes, int], re.Match[bytes] | None] | None:
        """Says whether a match may begin at a place; None if it may begin anywhere."""
        return _before(self.rule.before)

    @cached_property
    def widest(self) -> int:
        """The length of the longest match."""
        return int(self._parts.getwidth()[1])

    def spans(self, text: bytes, folded: bytes, zones: Zones, starts: list[int], deadline: float) -> Spans:
        """The secrets this rule finds in the zones. `starts` is where each segment of the text begins; `folded` is the
        text in lower case."""
        texts = (text, folded if self.folds else text)
        widest = STRETCH if len(zones) <= FEW or not self.rule.locate else -1
        segments = len(starts)
        found: Spans = []
        read: _Read = {}
        at = 0
        for number, (low, high) in enumerate(zones, 1):
            if low > at:
                at = low
            index = bisect_right(starts, at) - 1
            while index < segments and (start := starts[index]) <= high:
                index += 1
                stop = starts[index] - 1 if index < segments else len(text)
                if start > at:
                    at = start
                if high - at <= widest:
                    at = self._in_segment(texts, at, high, start, stop, found)
                    continue
                for last in stretches(text, at, min(high, stop)):
                    at = self._in_stretch(texts, at, last, (start, stop), found, read)
                    _check_time(deadline, self.rule.id)
            if number % UNTIMED == 0:
                _check_time(deadline, self.rule.id)
        return found

    def _in_stretch(
        self,
        texts: tuple[bytes, bytes],
        at: int,
        last: int,
        segment: tuple[int, int],
        found: Spans,
        read: _Read,
    ) -> int:
        """Searches part of a zone. If it equals a part that was read before, including all the context that matters, it
        holds the same: a text that repeats itself a thousand times is read once."""
        if not self.rule.sight or at > last:
            return self._in_segment(texts, at, last, *segment, found)
        before, after = self.rule.sight
        low = max(segment[0], at - before)
        seen = (at - low, last - at, texts[0][low : min(segment[1], last + after)])
        if seen in read:
            end, spans = read[seen]
            found += [(last + low, last + high) for low, high in spans]
            return last + end
        known = len(found)
        end = self._in_segment(texts, at, last, *segment, found)
        spans = [(low - last, high - last) for low, high in found[known:]]
        if end + self.rule.beyond <= last + after and len(read) < MOST_READ:
            read[seen] = (end - last, spans)
        return end

    def _in_segment(self, texts: tuple[bytes, bytes], at: int, high: int, start: int, stop: int, found: Spans) -> int:
        """Adds what is found in matches that begin between two places; returns the place to continue from."""
        text, searched = texts
        match_at, accept, tried, first = self.match, self.accept, self.tried, self.first
        if high > stop:
            high = stop
        limit = high + self.widest + 1
        if limit > stop:
            limit = stop
        while at <= high:
            match = match_at(searched, at, limit)
            if not match:
                at = at + 1 if high - at < tried else self._next_place(searched, at + 1, high, limit)
            elif spans := accept(text, match, start, stop):
                at = spans[-1][1] if len(spans) == 1 else max(end for _, end in spans)
                found += [span for span in spans if span[0] < span[1]]
            else:  # continue inside the rejected match: the next one may begin there
                at = max(at + 1, match.start(first))
        return at

    def _next_place(self, searched: bytes, at: int, high: int, limit: int) -> int:
        """The next place where a match may begin; past `high` if there is none."""
        if self.beginning:  # a search for the whole pattern would read on to `limit`
            found = self.beginning.pattern.search(searched, at, min(limit, high + self.beginning.widest))
        else:
            found = self.search(searched, at, limit)
        return found.start() if found else high + 1

    @cached_property
    def accept(self) -> Locate:
        """Which spans of a match are secret."""
        is_sure = not self.rule.before and not self.rule.keywords
        return self.rule.locate if is_sure and self.rule.locate else self._accept

    def _accept(self, text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
        if self.before and match.start() > start and not self.before(text, match.start()):
            return []
        if self.keywords and not self._has_keyword(text[max(start, match.start() - self.rule.reach) : match.start()]):
            return []
        if self.rule.locate:
            return self.rule.locate(text, match, start, stop)
        secret = text[match.start(self.group) : match.end(self.group)].decode("latin-1")
        if is_filler(secret) or (self.rule.check and not self.rule.check(secret)):
            return []
        return [match.span(self.group)]

    def _has_keyword(self, before: bytes) -> bool:
        lower = before.lower()
        return any(word in lower for word in self.keywords)


def stretches(text: bytes, low: int, high: int) -> Iterator[int]:
    """Where the stretches of a long zone end. Each begins like the one before it if possible, so that they are equal
    where the text repeats itself."""
    while high - low > STRETCH:
        repeated = text.find(text[low : low + 16], low + STRETCH, low + 2 * STRETCH)
        low = repeated if repeated >= 0 else low + STRETCH
        yield min(low - 1, high)
    yield high


def whole_token(text: bytes, start: int, end: int, stop: int) -> int:
    """Where a token ends of which a rule took a part: every rule reads only so far, and tokens may be longer."""
    if end - start >= SHORTEST_CUT and (rest := _rest_of_token.match(text, end, stop)):
        return rest.end()
    return end


def _check_time(deadline: float, rule: str) -> None:
    if thread_time() > deadline:
        raise TimeOut(rule)


def _before(inside: str) -> Callable[[bytes, int], re.Match[bytes] | None] | None:
    if not inside:
        return None
    return re.compile(b"(?<![" + inside.encode("latin-1") + b"])|" + _boundary_escapes).match


def trimmed(pattern: str) -> str:
    """The pattern with its last repetition cut to its minimum, so that the scanner reports one end and not hundreds."""
    return _open_end.sub(lambda found: f"{{{found[1]}}}{found[2]}", pattern)


def scan_patterns(rule: Rule) -> list[str]:
    """What the scanner looks for: everything the rule matches begins with one of them."""
    near = [f"{WITH_BEGIN}(?i:{rule.near})" if rule.folds else WITH_BEGIN + rule.near] if rule.near else []
    return [scan_pattern(rule), *near]


def scan_pattern(rule: Rule) -> str:
    """The first of those patterns: with a keyword before it, if the rule has any."""
    pattern = rule.trigger or trimmed(rule.pattern)
    pattern = f"(?i:{pattern})" if rule.folds else pattern
    if not rule.keywords:
        return pattern
    words = "|".join(re.escape(word) for word in rule.keywords)
    return rf"(?i:{words})[\s\S]{{0,{rule.reach}}}(?:{pattern})"


def scan_widths(rule: Rule) -> tuple[int, int]:
    """The shortest and the longest distance from the start of a match to the end the scanner reports."""
    shortest, longest = width(rule.trigger or trimmed(rule.pattern))
    return (1, rule.reach_back) if rule.reach_back else (shortest, longest)
