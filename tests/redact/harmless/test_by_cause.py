"""Text that looks like a secret for some reason stays readable; real secrets in the same places do not."""

from __future__ import annotations

import json

import pytest

from collector.redact import Redactor
from tests.redact.harmless.beside import BESIDE, planted
from tests.redact.harmless.causes import CAUSES
from tests.redact.harmless.filling import filled
from tests.redact.harmless.outputs import OUTPUTS

LINES_OF_A_TEMPLATE = 5
SEEDS = range(4)


def lines_of(cause: str) -> list[str]:
    """The harmless lines of a cause, more than a hundred."""
    templates = CAUSES[cause].strip().splitlines()
    return [filled(template, seed) for template in templates for seed in range(LINES_OF_A_TEMPLATE)]


@pytest.mark.parametrize("cause", CAUSES)
def test_text_that_only_looks_like_a_secret_stays(redactor: Redactor, cause: str) -> None:
    lines = lines_of(cause)
    assert len(lines) > 150
    assert [(line, redacted) for line in lines if (redacted := redactor.text(line)) != line] == []


@pytest.mark.parametrize("cause", BESIDE)
def test_a_secret_in_the_same_place_is_found(redactor: Redactor, cause: str) -> None:
    survived = []
    for row in BESIDE[cause].strip().splitlines():
        for seed in SEEDS:
            text, value = planted(row, seed)
            for written in (text, json.dumps({"output": text})):
                survived += [written] if value in redactor.text(written) else []
    assert survived == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_whole_text_without_secrets_stays(redactor: Redactor, name: str) -> None:
    for seed in SEEDS:
        text = filled(OUTPUTS[name], seed)
        assert redactor.text(text).split("\n") == text.split("\n")


def test_every_cause_has_secrets_beside_it() -> None:
    assert set(BESIDE) == set(CAUSES)
