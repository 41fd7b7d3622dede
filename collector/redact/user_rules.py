"""Rules people add in their configuration, checked when they are loaded and refused with the reason.

A rule must compile in both engines, match something of bounded width, and stay within a time budget on input made to
hurt it. The tests of cost grow step by step and stop at the first step over the budget, so that checking a pattern
that explodes does not itself hang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any, Protocol

from collector.errors import ConfigurationError
from collector.redact.compiling import compile_patterns, hyperscan
from collector.redact.matching import Matcher, scan_pattern
from collector.redact.rule import Rule, width

WIDEST = 4096
BUDGET_SECONDS = 0.05  # for 64 kB: 1.3 MB/s, and only where a candidate was seen
LENGTHS = (*range(8, 34, 2), 48, 64, 96, 128, 256, 512, 1024, 4096, 16_384, 65_536)
_id = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_unsupported = {
    _constants.AT: "an anchor (^, $ or \\b)",
    _constants.ASSERT: "a lookaround",
    _constants.ASSERT_NOT: "a lookaround",
    _constants.GROUPREF: "a backreference",
    _constants.GROUPREF_EXISTS: "a conditional",
    _constants.ATOMIC_GROUP: "an atomic group",
    _constants.POSSESSIVE_REPEAT: "a possessive repetition",
}


class Described(Protocol):
    """A rule as a configuration describes it."""

    @property
    def id(self) -> str: ...
    @property
    def pattern(self) -> str: ...
    @property
    def keywords(self) -> Sequence[str]: ...


def user_rule(described: Described) -> Rule:
    """The rule that a configuration describes; raises with the reason where it cannot be used."""
    if isinstance(described, Rule):
        return described
    if not _id.fullmatch(described.id):
        raise ConfigurationError(
            f"redaction.rules: the id {described.id!r} is not made of a-z, 0-9, _, . and - (64 at most). "
            "Rename the rule."
        )
    reason = refusal(described.pattern)
    if reason:
        raise ConfigurationError(f"redaction.rules: the pattern of {described.id} {reason}")
    rule = Rule(
        id=described.id,
        provider="configuration",
        pattern=described.pattern,
        keywords=tuple(word.lower() for word in described.keywords if word),
        before="",
        after="",
    )
    if reason := _too_slow(rule) or _refused_by_scanner(rule):
        raise ConfigurationError(f"redaction.rules: the pattern of {described.id} {reason}")
    return rule


def refusal(pattern: str) -> str:
    """Why a pattern cannot be used; empty where it can."""
    try:
        re.compile(pattern.encode("latin-1"))
        parsed = _parser.parse(pattern)
    except (re.error, UnicodeEncodeError, OverflowError, RecursionError) as error:
        return f"does not compile: {error}. Correct it; it must be ASCII, in Python's syntax."
    shortest, longest = width(pattern)
    if shortest < 1:
        return "matches the empty text. Make at least one part of it required."
    if longest > WIDEST:
        return f"has no bounded width (at most {WIDEST} characters). Write {{1,200}} in place of * and +."
    groups = set(re.compile(pattern).groupindex)
    if groups - {"secret"}:
        return "has a named group other than `secret`. Only (?P<secret>...) has a meaning: what is to be replaced."
    for operation, _ in _items(parsed):
        if operation in _unsupported:
            return f"uses {_unsupported[operation]}, which the scanner does not know. Leave it out."
    return ""


def _items(sequence: Any) -> Iterator[tuple[Any, Any]]:
    """Every part of a parsed pattern, at any depth."""
    for operation, argument in sequence:
        yield operation, argument
        inner: list[Any] = []
        if operation is _constants.SUBPATTERN:
            inner = [argument[-1]]
        elif operation is _constants.BRANCH:
            inner = argument[1]
        elif operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            inner = [argument[2]]
        for part in inner:
            yield from _items(part)


def _letters(pattern: str) -> str:
    """Characters a pattern is made of: those that can make it hesitate."""
    letters: dict[str, None] = {}
    for operation, argument in _items(_parser.parse(pattern)):
        if operation is _constants.LITERAL:
            letters[chr(argument)] = None
        elif operation is _constants.IN:
            for kind, value in argument:
                if kind is _constants.LITERAL:
                    letters[chr(value)] = None
                elif kind is _constants.RANGE:
                    letters[chr(value[0])] = None
                elif kind is _constants.CATEGORY:
                    letters["a" if value is _constants.CATEGORY_WORD else "0"] = None
    return "".join(letters)[:24] + "a \n"


def _too_slow(rule: Rule) -> str:
    """Tries the pattern on runs of its own characters, longer and longer."""
    search = Matcher(rule).search
    letters = _letters(rule.pattern)
    literal = "".join(chr(a) for o, a in _items(_parser.parse(rule.pattern)) if o is _constants.LITERAL)[:64]
    units = [*letters, letters, literal or "a", literal + letters[0]]
    for length in LENGTHS:
        for unit in units:
            for end in ("\x00", ""):
                text = ((unit * (length // len(unit) + 1))[:length] + end).encode("latin-1", "replace")
                before = process_time()
                at = 0
                while (match := search(text, at)) and process_time() - before < BUDGET_SECONDS:
                    at = match.end()
                if process_time() - before > BUDGET_SECONDS:
                    return (
                        f"takes more than {BUDGET_SECONDS * 1000:.0f} ms on {length} characters of {unit[:8]!r}. "
                        "Avoid repetitions inside repetitions, and begin it with fixed characters."
                    )
    return ""


def _refused_by_scanner(rule: Rule) -> str:
    if hyperscan is None:
        return ""
    try:
        compile_patterns([scan_pattern(rule)])
    except hyperscan.error as error:
        return f"is refused by the scanner: {error}. Write it in a simpler form."
    return ""
