"""Patterns are tried on hostile texts, in a process that the kernel ends if it takes too long; honest ones pass."""

from __future__ import annotations

import sys

import pytest

from collector.redact.all_rules import RULES
from collector.redact.own_rules import trial
from collector.redact.own_rules.trial import Trial
from tests.redact.own_rules.described import cpu_seconds


def reason(pattern: str) -> str:
    """The reason why the trial refuses a pattern, or an empty string."""
    return trial.verdicts([Trial(pattern, pattern)])[-1]


SLOW = {
    "optional in a repetition": r"(?:a?){60}a{60}",
    "a chain of optional characters": "x" + "a?" * 40 + "y",
    "a repetition in a repetition": r"key=(?:[a-z]{1,20}){1,20};",
    "branches that overlap, after a prefix": f"x(?:{'|'.join('a' * count for count in range(2, 12))}){{1,30}}y",
    "branches one after another": "x" + "(?:ab|aba|ba)" * 40 + "y",
    "branches that are two of another": r"(?:a|b|ab){1,40}c",
    "classes beside each other": r"[a-z]{1,500}[a-z0-9]{1,500}!",
    "classes beside each other, after a prefix": r"x[a-z]{1,500}[a-z0-9]{1,500}!",
    "classes that share a letter by folding": r"x:(?i:[A-Z]{1,400})[a-z]{1,400}(?i:[A-Z]{1,400})!",
    "a repetition that all but one character fit": r"<(?:[^>]{1,40}){1,40}!",
    "an escape that is a character as well": r'"(?:[^"\\]|\\.|[^"]){1,60}"',
    "an optional sign between repetitions": r"tok_(?:\w{1,20}-?){1,30}=",
}


@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_a_pattern_that_explodes_on_some_text_is_refused_within_seconds(pattern: str) -> None:
    began = cpu_seconds()
    refused = reason(pattern)
    assert refused.startswith("takes more than ")
    assert "Avoid repetitions" in refused
    assert cpu_seconds() - began < 5


HONEST = [
    r"TKT-(?P<secret>[0-9]{6,12})",
    r"(?:live|test)_[A-Za-z0-9]{24,64}",
    r"acme[-_](?:[a-z]{2,8}_){1,3}[0-9a-f]{32}",
    r"xox[baprs]-[0-9]{10,13}-[0-9]{10,13}-[A-Za-z0-9]{24,32}",
    r"eyJ[A-Za-z0-9_-]{10,500}\.[A-Za-z0-9_-]{10,500}\.[A-Za-z0-9_-]{10,500}",
    r"(?i:bearer) [A-Za-z0-9._~+/-]{20,400}=?",
    r"[A-Za-z0-9._-]{1,64}@corp\.example",
    r"(?:[0-9]{4}[ -]?){3}[0-9]{4}",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r'"password":\s{0,4}"(?P<secret>[^"]{1,200})"',
    *(rule.pattern for rule in RULES[::40] if not rule.trigger),
]


def test_an_honest_pattern_is_accepted_quickly() -> None:
    refused, slow = [], []
    for pattern in HONEST:
        began = cpu_seconds()
        refused += [(pattern, why)] if (why := reason(pattern)) else []
        slow += [pattern] if cpu_seconds() - began >= 1 else []
    assert (refused, slow) == ([], [])


@pytest.mark.parametrize("is_frozen", [True, False])
def test_if_no_process_can_be_started_a_risky_pattern_is_refused_untried(
    monkeypatch: pytest.MonkeyPatch, is_frozen: bool
) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    monkeypatch.setattr(sys, "executable", sys.executable if is_frozen else "/no/interpreter")
    began = cpu_seconds()
    assert "no process can be started" in reason(SLOW["optional in a repetition"])
    assert "takes more than" in reason(r"[a-z]{1,90}[a-z0-9]{1,90}!")
    assert reason(HONEST[0]) == ""
    assert cpu_seconds() - began < 2
