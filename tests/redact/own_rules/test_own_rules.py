"""Rules of one's own are checked when they are loaded, and refused with the reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor
from collector.redact.own_rules import load, trial
from collector.redact.own_rules.trial import Trial
from collector.redact.scan import rule_cache
from collector.redact.table import RULES
from tests.redactors import KEY

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


def test_case_can_be_ignored_everywhere() -> None:
    for engine in ("hyperscan", "python"):
        assert "123456" not in with_rule(UserRule("ticket", r"(?i)tkt-[0-9]{6}"), engine).text("see TKT-123456.")


def test_letters_of_latin_1_can_be_looked_for() -> None:
    assert "1234" not in with_rule(UserRule("number", "Stra\u00dfe-[0-9]{4}")).text("Stra\u00dfe-1234")


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
        (UserRule("x", "\u20ac{3}"), "holds the character"),
        (UserRule("x", "ab\0cd"), "holds the character"),
        (UserRule("x", "[a-z]{4}", ["\u043f\u0430"]), "holds the character"),
        (UserRule("x", r"[[:digit:]]{6}"), "does not compile: Possible nested set"),
        (UserRule("x", r"a{,5}b"), "means something else to the scanner"),
        (UserRule("x", r"(?x)a b c"), "uses flags for all"),
        (UserRule("x", r"(?s:a.b)"), "uses flags other than"),
        (UserRule("x", r"(?P<secret>a{0,3})b"), "may match without its group"),
        (UserRule("x", r"(?P<secret>abc)|def"), "may match without its group"),
        (UserRule("x", r".{1,200}"), "matches most of any text"),
        (UserRule("X y", r"abc"), "Rename the rule"),
        (UserRule("jwt", r"abc"), "built-in rule"),
        (UserRule("withheld", r"abc"), "built-in rule"),
        (UserRule("x", r"(?:a{1,30}){1,30}b"), "takes more than"),
        (UserRule("x", r"(?:x{1,60}x{1,60}){1,20}y"), "takes more than"),
        (UserRule("x", r"(a{1,500}b{1,500}){1,4}"), "takes more than"),
        (UserRule("x", r"[a-z]{0,4000}x[0-9]{3}"), "takes more than"),
        (UserRule("x", r"(?:[a-z]|[0-9]){1,4000}", ["wanted"]), "takes more than"),
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


def reason(pattern: str) -> str:
    """Why the trial refuses a pattern."""
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
def test_a_rule_that_some_text_would_hurt_is_refused_within_seconds(pattern: str) -> None:
    began = cpu_seconds()
    with pytest.raises(ConfigurationError, match=r"the rule slow takes more than .* Avoid repetitions"):
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


@pytest.mark.parametrize("pattern", HONEST)
def test_an_honest_rule_is_accepted_in_no_time(pattern: str) -> None:
    began = cpu_seconds()
    assert reason(pattern) == ""
    assert cpu_seconds() - began < 1


@pytest.mark.parametrize("is_frozen", [True, False])
def test_where_no_process_can_be_started_what_could_explode_is_refused_untried(
    monkeypatch: pytest.MonkeyPatch, is_frozen: bool
) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    monkeypatch.setattr(sys, "executable", sys.executable if is_frozen else "/no/interpreter")
    began = cpu_seconds()
    assert "no process can be started" in reason(SLOW["optional in a repetition"])
    assert "takes more than" in reason(r"[a-z]{1,90}[a-z0-9]{1,90}!")
    assert reason(HONEST[0]) == ""
    assert cpu_seconds() - began < 2


def tickets(count: int) -> tuple[UserRule, ...]:
    return tuple(UserRule(f"ticket-{number}", rf"T{number:03}-[0-9]{{6}}") for number in range(count))


def test_two_rules_of_one_id_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two rules ticket-1"):
        Redactor(Options(key=KEY, rules=(*tickets(2), UserRule("ticket-1", "abc")), disabled=BUILT_IN))


def test_hundreds_of_rules_are_tried_once_and_in_one_process(tmp_path: Path) -> None:
    options = Options(key=KEY, rules=tickets(100), disabled=BUILT_IN, cache_dir=tmp_path / "cache", engine="python")
    began = cpu_seconds()
    assert "T077-123456" not in Redactor(options).text("T077-123456")
    assert cpu_seconds() - began < 5
    began = cpu_seconds()
    assert "T077-123456" not in Redactor(options).text("T077-123456")
    assert cpu_seconds() - began < 0.5


def test_a_rule_is_refused_at_every_start_and_named_among_others(tmp_path: Path) -> None:
    rules = (*tickets(3), UserRule("slow", SLOW["branches that are two of another"]), *tickets(5)[3:])
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="the rule slow takes more than"):
            Redactor(Options(key=KEY, rules=rules, disabled=BUILT_IN, cache_dir=tmp_path / "cache"))


def test_what_others_can_write_is_not_believed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    slow = UserRule("slow", SLOW["branches that are two of another"])
    Redactor(Options(key=KEY, rules=tickets(1), disabled=BUILT_IN, cache_dir=cache, engine="python"))
    rule = load.read_rule(slow)
    rule_cache.save(cache / load.TRIED, load.name_of(load.trial_of(rule)).encode())
    Redactor(Options(key=KEY, rules=(slow,), disabled=BUILT_IN, cache_dir=cache, engine="python"))
    (cache / load.TRIED).chmod(0o666)
    with pytest.raises(ConfigurationError, match="takes more than"):
        Redactor(Options(key=KEY, rules=(slow,), disabled=BUILT_IN, cache_dir=cache, engine="python"))
