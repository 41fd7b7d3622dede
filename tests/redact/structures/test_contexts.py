"""Secrets with a name, a header or a URL beside them are found; texts that only resemble them stay."""

from __future__ import annotations

import json

import pytest

from collector.redact import Redactor
from collector.redact.rule import Rule, sample
from collector.redact.table import STRUCTURAL_RULES
from tests.redact.harmless import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS

SEEDS = range(3)
KEY_END = "\x91"


def escaped(text: str, levels: int) -> str:
    """A text inside JSON inside JSON."""
    for _ in range(levels):
        text = json.dumps({"output": text})
    return text


def as_value(text: str) -> object:
    """A sample of a rule for keys says where the key ends."""
    name, mark, value = text.partition(KEY_END)
    return {name: value} if mark else text


@pytest.mark.parametrize("levels", [0, 1, 2])
@pytest.mark.parametrize("row", CONTEXTS, ids=lambda row: f"{row[0]}-{row[2][:40]}")
def test_a_secret_beside_its_name_is_found(
    redactor: Redactor, row: tuple[str, tuple[str, ...], str], levels: int
) -> None:
    _, kinds, template = row
    for kind in kinds:
        for seed in SEEDS:
            value = secret(kind, seed)
            redacted = redactor.text(escaped(template.replace("@", value, 1), levels))
            assert value not in redacted, f"{kind}: {redacted}"


@pytest.mark.parametrize("padding", [("", "y " * 3000), ("x " * 3000, "y " * 3000), ("x\n" * 3000, "")])
def test_a_secret_is_found_at_both_ends_and_in_the_middle_of_long_texts(
    redactor: Redactor, padding: tuple[str, str]
) -> None:
    before, after = padding
    for _, kinds, template in CONTEXTS:
        value = secret(kinds[0], 1)
        text = before + "\n" + template.replace("@", value, 1) + "\n" + after
        assert value not in redactor.text(text), template


@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: f"{row[0]}-{row[1][:40]}")
def test_what_is_no_secret_stays(redactor: Redactor, row: tuple[str, str]) -> None:
    for seed in SEEDS:
        for levels in (0, 1, 2):
            text = escaped(sample(row[1], seed), levels)
            assert redactor.text(text) == text


@pytest.mark.parametrize("rule", STRUCTURAL_RULES, ids=lambda rule: rule.id)
def test_every_structural_rule_finds_its_examples_and_leaves_its_near_misses(redactor: Redactor, rule: Rule) -> None:
    assert rule.examples
    assert rule.near_misses
    for seed in SEEDS:
        for template in rule.examples:
            rules = [finding.rule for finding in redactor.value(as_value(sample(template, seed)))[1]]
            assert rule.id in rules, template
        for template in rule.near_misses:
            rules = [finding.rule for finding in redactor.value(as_value(sample(template, seed)))[1]]
            assert rule.id not in rules, template


def test_every_rule_has_its_own_id(redactor: Redactor) -> None:
    ids = [rule.id for rule in redactor.rules]
    assert sorted(set(ids)) == sorted(ids)
