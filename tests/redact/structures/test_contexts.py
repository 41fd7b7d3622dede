"""Secrets next to a name, a header or a URL are found; texts that only resemble them stay."""

from __future__ import annotations

import json
from time import process_time

import pytest

from collector.redact import Redactor
from collector.redact.all_rules import STRUCTURAL_RULES
from collector.redact.rule import Rule, Sample, sample
from collector.redact.scan.segments import KEY_END
from tests.redact.harmless.templates import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS

SEEDS = range(3)
LEVELS = (0, 1, 2)  # of JSON in JSON


def escaped(text: str, levels: int) -> str:
    """A text wrapped in JSON this many times."""
    for _ in range(levels):
        text = json.dumps({"output": text})
    return text


def as_value(text: str) -> object:
    """A sample as the value to redact; in samples of rules for keys, a mark separates the key from the value."""
    name, mark, value = text.partition(KEY_END)
    return {name: value} if mark else text


@pytest.mark.parametrize("levels", LEVELS)
def test_a_secret_beside_its_name_is_found(redactor: Redactor, levels: int) -> None:
    assert [
        f"{name}, {kind}: {redacted}"
        for name, kinds, template in CONTEXTS
        for kind in kinds
        for seed in SEEDS
        if (value := secret(kind, seed))
        in (redacted := redactor.text(escaped(template.replace("@", value, 1), levels)))
    ] == []


@pytest.mark.parametrize("padding", [("", "y " * 3000), ("x " * 3000, "y " * 3000), ("x\n" * 3000, "")])
def test_a_secret_is_found_at_either_end_and_in_the_middle_of_a_long_text(
    redactor: Redactor, padding: tuple[str, str]
) -> None:
    before, after = padding
    survived = []
    for _, kinds, template in CONTEXTS:
        value = secret(kinds[0], 1)
        text = before + "\n" + template.replace("@", value, 1) + "\n" + after
        survived += [template] if value in redactor.text(text) else []
    assert survived == []


@pytest.mark.parametrize("levels", LEVELS)
def test_harmless_text_stays(redactor: Redactor, levels: int) -> None:
    texts = [(name, escaped(sample(template, seed), levels)) for name, template in HARMLESS for seed in SEEDS]
    assert [f"{name}: {text}" for name, text in texts if redactor.text(text) != text] == []


def test_every_structural_rule_finds_its_examples_and_leaves_its_near_misses(redactor: Redactor) -> None:
    def finds(rule: Rule, template: Sample, seed: int) -> bool:
        findings = redactor.value(as_value(sample(template, seed)))[1]
        return rule.id in {finding.rule for finding in findings}

    pairs = [(rule, template, seed) for rule in STRUCTURAL_RULES for template in rule.examples for seed in SEEDS]
    assert [(rule.id, template) for rule, template, seed in pairs if not finds(rule, template, seed)] == []
    pairs = [(rule, template, seed) for rule in STRUCTURAL_RULES for template in rule.near_misses for seed in SEEDS]
    assert [(rule.id, template) for rule, template, seed in pairs if finds(rule, template, seed)] == []
    assert [rule.id for rule in STRUCTURAL_RULES if not rule.examples or not rule.near_misses] == []


def test_every_rule_has_its_own_id(redactor: Redactor) -> None:
    ids = [rule.id for rule in redactor.rules]
    assert sorted(set(ids)) == sorted(ids)


def test_no_rule_takes_long_for_a_text_that_breaks_off_in_repetitions(redactor: Redactor) -> None:
    """A pattern that reads one character in two ways needs 2^n tries for n of them once the rest does not fit."""
    slow = []
    for rule in STRUCTURAL_RULES:
        for text in (sample(template, 1) for template in rule.examples):
            for place in range(1, len(text) + 1, 1 + len(text) // 8):
                for unit in ("\\", "\\ ", "'", '"', "\\n", " ", "a", "1", ",", "("):
                    before = process_time()
                    redactor.text(text[:place] + unit * 36 + "\n")
                    slow += [f"{rule.id}: {text[:place]} {unit}"] if process_time() - before > 1 else []
    assert slow == []
