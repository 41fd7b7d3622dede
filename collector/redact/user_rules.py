"""Rules people add in their configuration, checked when they are loaded and refused with the reason.

A rule must compile in both engines, match something of bounded width, and stay within a time budget on input made to
hurt it (probing.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Protocol

from collector.errors import ConfigurationError
from collector.redact.compiling import compile_patterns, hyperscan
from collector.redact.matching import scan_pattern
from collector.redact.probing import too_slow
from collector.redact.rule import Rule, width

WIDEST = 4096
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
    if reason := too_slow(rule.pattern) or _refused_by_scanner(rule):
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


def _refused_by_scanner(rule: Rule) -> str:
    if hyperscan is None:
        return ""
    try:
        compile_patterns([scan_pattern(rule)])
    except hyperscan.error as error:
        return f"is refused by the scanner: {error}. Write it in a simpler form."
    return ""
