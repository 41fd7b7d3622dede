"""A user's own rules are checked when they are loaded, and refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor
from collector.redact.all_rules import RULES
from collector.redact.own_rules import load
from collector.redact.scan import rule_cache
from tests.redact.own_rules.described import UserRule, cpu_seconds
from tests.redactors import KEY

BUILT_IN = frozenset(rule.id for rule in RULES)


def with_rule(rule: UserRule, engine: str = "auto") -> Redactor:
    return Redactor(Options(key=KEY, rules=(rule,), disabled=BUILT_IN, engine=engine))


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
def test_a_users_own_rule_is_used(engine: str) -> None:
    redactor = with_rule(UserRule("ticket", r"TKT-[0-9]{6}"), engine)
    assert redactor.text("see TKT-123456.").startswith("see [REDACTED:ticket:")


def test_a_group_says_what_is_replaced() -> None:
    redactor = with_rule(UserRule("ticket", r"ticket (?P<secret>[0-9]{6})"), "python")
    assert redactor.text("ticket 123456").startswith("ticket [REDACTED:ticket:")


def test_keywords_must_be_nearby() -> None:
    redactor = with_rule(UserRule("badge", r"[A-Z]{4}[0-9]{4}", ["Badge"]), "python")
    assert redactor.text("ABCD1234") == "ABCD1234"
    assert "ABCD1234" not in redactor.text("badge: ABCD1234")
    event = {"badge_2": "ABCD1234"}
    redactor.event(event)
    assert event["badge_2"] != "ABCD1234"


def test_case_can_be_ignored_everywhere() -> None:
    for engine in ("hyperscan", "python"):
        assert "123456" not in with_rule(UserRule("ticket", r"(?i)tkt-[0-9]{6}"), engine).text("see TKT-123456.")


def test_patterns_may_contain_latin_1_letters() -> None:
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


SLOW = r"(?:a|b|ab){1,40}c"


def tickets(count: int) -> tuple[UserRule, ...]:
    return tuple(UserRule(f"ticket-{number}", rf"T{number:03}-[0-9]{{6}}") for number in range(count))


def test_two_rules_with_one_id_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two rules ticket-1"):
        Redactor(Options(key=KEY, rules=(*tickets(2), UserRule("ticket-1", "abc")), disabled=BUILT_IN))


def test_a_hundred_rules_are_tried_once_and_in_one_process(tmp_path: Path) -> None:
    options = Options(key=KEY, rules=tickets(100), disabled=BUILT_IN, cache_dir=tmp_path / "cache", engine="python")
    began = cpu_seconds()
    assert "T077-123456" not in Redactor(options).text("T077-123456")
    assert cpu_seconds() - began < 5
    began = cpu_seconds()
    assert "T077-123456" not in Redactor(options).text("T077-123456")
    assert cpu_seconds() - began < 0.5


def test_a_rule_is_refused_at_every_start_and_named_among_others(tmp_path: Path) -> None:
    rules = (*tickets(3), UserRule("slow", SLOW), *tickets(5)[3:])
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="the rule slow takes more than"):
            Redactor(Options(key=KEY, rules=rules, disabled=BUILT_IN, cache_dir=tmp_path / "cache"))


def test_a_trial_cache_that_others_can_write_is_not_trusted(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    slow = UserRule("slow", SLOW)
    Redactor(Options(key=KEY, rules=tickets(1), disabled=BUILT_IN, cache_dir=cache, engine="python"))
    rule = load.read_rule(slow)
    rule_cache.save(cache / load.TRIED, load.name_of(load.trial_of(rule)).encode())
    Redactor(Options(key=KEY, rules=(slow,), disabled=BUILT_IN, cache_dir=cache, engine="python"))
    (cache / load.TRIED).chmod(0o666)
    with pytest.raises(ConfigurationError, match="takes more than"):
        Redactor(Options(key=KEY, rules=(slow,), disabled=BUILT_IN, cache_dir=cache, engine="python"))
