"""Reads the rules that users add in their configuration, and refuses one that cannot be used, with the reason.

A rule must mean the same in both engines, match something of bounded width that is not just any text, and stay within a
time budget on input made to hurt it (trial.py). The cache directory remembers which rules have passed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Protocol

from collector import __version__
from collector.errors import ConfigurationError
from collector.redact.lazy import regex
from collector.redact.own_rules.trial import Trial, verdicts
from collector.redact.rule import Rule, width
from collector.redact.scan import rule_cache
from collector.redact.scan.compiling import hyperscan
from collector.redact.scan.matching import scan_pattern

WIDEST = 4096
TRIED = "rules-tried"
_id = regex(r"[a-z0-9][a-z0-9_.-]{0,63}")
_flags_first = regex(r"\A\(\?i\)(.*)", re.DOTALL)
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


def user_rules(described: Sequence[Described], cache_dir: Path | None) -> tuple[Rule, ...]:
    """The rules that a configuration describes; raises, with the reason, if one cannot be used."""
    rules = tuple(map(read_rule, described))
    for number, rule in enumerate(rules):
        if any(rule.id == other.id for other in rules[:number]):
            raise ConfigurationError(f"redaction.rules: there are two rules {rule.id}. Rename one.")
    _try([rule for rule, given in zip(rules, described, strict=True) if rule is not given], cache_dir)
    return rules


def read_rule(described: Described) -> Rule:
    """One rule, judged as far as reading it allows."""
    if isinstance(described, Rule):
        return described
    if not _id.fullmatch(described.id):
        raise ConfigurationError(
            f"redaction.rules: the id {described.id!r} is not made of a-z, 0-9, _, . and - (64 at most). "
            "Rename the rule."
        )
    pattern = _flags_first.sub(r"(?i:\1)", described.pattern)
    keywords = tuple(word.lower() for word in described.keywords if word)
    reason = unseen("".join(keywords)) or refusal(pattern)
    if reason:
        raise ConfigurationError(f"redaction.rules: the rule {described.id} {reason}")
    return Rule("configuration", described.id, pattern, keywords, before="", after="")


def _try(rules: list[Rule], cache_dir: Path | None) -> None:
    """Tries the rules that no earlier start has tried; raises, with the reason, if one cannot be used."""
    path = cache_dir / TRIED if cache_dir else None
    known = set(rule_cache.read(path).decode().split()) if path else set()
    trials = {rule: trial_of(rule) for rule in rules}
    names = {rule: name_of(trial) for rule, trial in trials.items()}
    new = [rule for rule in rules if names[rule] not in known]
    if not new:
        return
    found = verdicts([trials[rule] for rule in new])
    accepted = {names[rule] for rule, reason in zip(new, found, strict=False) if not reason}
    if path and accepted:
        rule_cache.save(path, "\n".join(sorted(accepted | known.intersection(names.values()))).encode())
    if found[-1]:
        raise ConfigurationError(f"redaction.rules: the rule {new[len(found) - 1].id} {found[-1]}")


def trial_of(rule: Rule) -> Trial:
    """What is to be tried of a rule."""
    return Trial(rule.pattern, scan_pattern(rule), "".join(rule.keywords[:1]))


def name_of(trial: Trial) -> str:
    """The name a trial is remembered by: a digest of everything its outcome depends on."""
    engine = hyperscan.__version__ if hyperscan else ""
    return hashlib.sha256("\0".join([__version__, sys.version, engine, *trial]).encode()).hexdigest()


def unseen(text: str) -> str:
    """Why a pattern or a keyword with these characters would never match; empty if rules can see them all."""
    char = next((char for char in text if char > "\xff" or char == "\0"), "")
    return (
        f"holds the character {char!r}, which no rule can see. Leave it out, or write . in its place." if char else ""
    )


def refusal(pattern: str) -> str:
    """Why a pattern cannot be used; empty if it can."""
    if reason := unseen(pattern):
        return reason
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # they point out what other engines read differently: [[:alpha:]]
            groups = re.compile(pattern.encode("latin-1")).groupindex
            parsed = _parser.parse(pattern)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError, ValueError) as error:
        return f"has a pattern that does not compile: {error}. Correct it; it must be in the syntax of Python's re."
    shortest, longest = width(pattern)
    if shortest < 1:
        return "matches the empty text. Make at least one part of its pattern required."
    if longest > WIDEST:
        return f"has no bounded width (at most {WIDEST} characters). Write {{1,200}} in place of * and +."
    if set(groups) - {"secret"}:
        return "has a named group other than `secret`. Only (?P<secret>...) has a meaning: what is to be replaced."
    if groups and not _always_holds(parsed, groups["secret"]):
        return "may match without its group `secret`. Let the group stand in every match, with one character at least."
    if parsed.state.flags not in (0, re.UNICODE):
        return "uses flags for all of its pattern. Only (?i:...) is known."
    for operation, argument in _items(parsed):
        if operation in _unsupported:
            return f"uses {_unsupported[operation]}, which the scanner does not know. Leave it out."
        if operation is _constants.SUBPATTERN and (argument[1] not in (0, re.IGNORECASE) or argument[2]):
            return "uses flags other than (?i:...), which the scanner does not know. Leave them out."
    return ""


def _always_holds(sequence: Any, group: int) -> bool:
    """Whether a group takes part in every match, with at least one character."""
    for operation, argument in sequence:
        if operation is _constants.SUBPATTERN:
            if argument[0] == group:
                return bool(argument[-1].getwidth()[0])
            inner = argument[-1]
        elif operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and argument[0]:
            inner = argument[2]
        else:
            continue
        if _always_holds(inner, group):
            return True
    return False


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
