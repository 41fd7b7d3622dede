"""Rules of one's own are checked when they are loaded, and refused with the reason."""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor
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
    began = process_time()
    with pytest.raises(ConfigurationError, match=reason):
        with_rule(rule)
    assert process_time() - began < 5
