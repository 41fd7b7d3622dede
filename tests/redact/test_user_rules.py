"""Rules of one's own are checked when they are loaded, and refused with the reason."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor, probing
from collector.redact.table import RULES
from tests.redact.conftest import KEY

BUILT_IN = frozenset(rule.id for rule in RULES)


class UserRule(NamedTuple):
    id: str
    pattern: str
    keywords: list[str] = []  # noqa: RUF012


def with_rule(rule: UserRule, engine: str = "auto") -> Redactor:
    return Redactor(Options(key=KEY, rules=(rule,), disabled=BUILT_IN, engine=engine))


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
def test_a_rule_of_ones_own_is_used(engine: str) -> None:
    redactor = with_rule(UserRule("ticket", r"TKT-[0-9]{6}"), engine)
    assert redactor.text("see TKT-123456.").startswith("see [REDACTED:ticket:")


def test_a_group_says_what_is_replaced() -> None:
    redactor = with_rule(UserRule("ticket", r"ticket (?P<secret>[0-9]{6})"), "python")
    assert redactor.text("ticket 123456").startswith("ticket [REDACTED:ticket:")


def test_keywords_must_stand_near() -> None:
    redactor = with_rule(UserRule("badge", r"[A-Z]{4}[0-9]{4}", ["Badge"]), "python")
    assert redactor.text("ABCD1234") == "ABCD1234"
    assert "ABCD1234" not in redactor.text("badge: ABCD1234")
    event = {"badge_2": "ABCD1234"}
    redactor.event(event)
    assert event["badge_2"] != "ABCD1234"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (UserRule("x", r"("), "does not compile"),
        (UserRule("x", r"a+"), "bounded width"),
        (UserRule("x", r"a.*b"), "bounded width"),
        (UserRule("x", r"a?"), "matches the empty text"),
        (UserRule("x", r"(?<=a)b"), "lookaround"),
        (UserRule("x", r"^abc"), "an anchor"),
        (UserRule("x", r"(a)\1"), "backreference"),
        (UserRule("x", r"(?P<other>abc)"), "named group"),
        (UserRule("x", "\u20ac{3}"), "does not compile"),
        (UserRule("X y", r"abc"), "Rename the rule"),
        (UserRule("jwt", r"abc"), "built-in rule"),
        (UserRule("x", r"(?:a{1,30}){1,30}b"), "takes more than"),
        (UserRule("x", r"(?:x{1,60}x{1,60}){1,20}y"), "takes more than"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_with_the_reason(rule: UserRule, reason: str) -> None:
    began = cpu_seconds()
    with pytest.raises(ConfigurationError, match=reason):
        with_rule(rule)
    assert cpu_seconds() - began < 5


def cpu_seconds() -> float:
    """What this process and those it started have used up."""
    return sum(os.times()[:4])


@pytest.fixture
def untried() -> Iterator[None]:
    """No verdict is remembered, and none stays behind."""
    probing.too_slow.cache_clear()
    yield
    probing.too_slow.cache_clear()


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


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_a_rule_that_some_text_would_hurt_is_refused_within_seconds(pattern: str) -> None:
    began = cpu_seconds()
    with pytest.raises(ConfigurationError, match=r"the pattern of slow takes more than .* Avoid repetitions"):
        with_rule(UserRule("slow", pattern), "python")
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


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("pattern", HONEST)
def test_an_honest_rule_is_accepted_in_no_time(pattern: str) -> None:
    began = cpu_seconds()
    assert probing.too_slow(pattern) == ""
    assert cpu_seconds() - began < 1


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("is_frozen", [True, False])
def test_where_no_process_can_be_started_what_could_explode_is_refused_untried(
    monkeypatch: pytest.MonkeyPatch, is_frozen: bool
) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    monkeypatch.setattr(sys, "executable", sys.executable if is_frozen else "/no/interpreter")
    began = cpu_seconds()
    assert "no process can be started" in probing.too_slow(SLOW["optional in a repetition"])
    assert "takes more than" in probing.too_slow(r"[a-z]{1,90}[a-z0-9]{1,90}!")
    assert probing.too_slow(HONEST[0]) == ""
    assert cpu_seconds() - began < 2
