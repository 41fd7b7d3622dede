"""Whatever surrounds a planted secret, it does not leak; redacting is idempotent; both engines agree."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.redact import Redactor
from collector.redact.formats import PROVIDER_RULES
from collector.redact.rule import sample
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS

relaxed = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
around = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    [
        "{",
        "\\",
        '\\"',
        "=",
        ": ",
        "password=",
        "-----BEGIN ",
        "[REDACTED:",
        "\x1b[31m",
        "\r\n",
        "\x90",
        "\x91",
        "http://",
        "x" * 5000,
    ]
)
levels = st.integers(0, 2)
seeds = st.integers(0, 10_000)
# These are on a line of their own, whatever surrounds them.
planted = st.builds(
    lambda row, seed: (row[2], secret(row[1][seed % len(row[1])], seed)), st.sampled_from(CONTEXTS), seeds
)
# Formats with a telling prefix, which need no name beside them.
tokens = st.builds(
    lambda rule, seed: sample(rule.examples[0], seed),
    st.sampled_from([r for r in PROVIDER_RULES if not r.locate]),
    seeds,
)


def nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps({"output": text}, ensure_ascii=False)
    return text


@relaxed
@given(planted, around, around, levels)
def test_a_planted_secret_does_not_leak(
    redactor: Redactor, row: tuple[str, str], before: str, after: str, depth: int
) -> None:
    template, value = row
    text = nested(f"{before}\n{template.replace('@', value, 1)}\n{after}", depth)
    event = {"text": text, "deep": [{"copy": value}]}
    redactor.event(event)
    assert value not in event["text"]
    assert value not in str(event["deep"])


@relaxed
@given(tokens, around, around, levels)
def test_a_planted_token_does_not_leak(redactor: Redactor, token: str, before: str, after: str, depth: int) -> None:
    assert token not in redactor.text(nested(f"{before}\n{token}\n{after}", depth))


@relaxed
@given(planted, around, around, levels)
def test_the_engines_agree_and_redacting_twice_changes_nothing(
    redactor: Redactor, python_redactor: Redactor, row: tuple[str, str], before: str, after: str, depth: int
) -> None:
    text = nested(before + row[0].replace("@", row[1], 1) + after, depth)
    once, findings = redactor.value(text)
    assert python_redactor.value(text) == (once, findings)
    assert redactor.text(once) == once


@relaxed
@given(
    st.recursive(
        around | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(around, inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_value_can_be_redacted_and_findings_give_their_true_place(redactor: Redactor, value: object) -> None:
    original = json.loads(json.dumps(value))
    _, findings = redactor.value(value)
    for finding in findings:
        part: object = original
        for step in finding.path[:-1] if finding.in_key else finding.path:
            part = part[step]  # type: ignore[index]
        text = str(finding.path[-1]) if finding.in_key else str(part)
        if finding.round == 0:
            assert text[finding.start : finding.end] == finding.value
