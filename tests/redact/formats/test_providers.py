"""Every format finds its own tokens whole wherever they appear, and leaves alone what only looks like them.

One test per law; each lists all formats that break it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from time import process_time, thread_time

from collector.redact.formats import GIVE_WAY, PROVIDER_RULES
from collector.redact.formats.providers import PROVIDERS
from collector.redact.own_rules.load import refusal
from collector.redact.redactor import Redactor
from collector.redact.rule import Rule, sample
from collector.redact.scan.matching import Matcher
from tests.redact.formats.corpus import FRAMES, all_planted, harmless, near_misses
from tests.redact.secrets import secret

MATCHERS = {rule.id: Matcher(rule) for rule in PROVIDER_RULES}
BY_ID = {rule.id: rule for rule in PROVIDER_RULES}
# Here the secret is preceded by the word `bot` of a URL, not by a separator.
HEADED = {"telegram-bot-token"}


def found(rule: Rule, text: str) -> list[str]:
    """What one rule alone finds in a text."""
    blob = text.encode("latin-1", "replace")
    spans = MATCHERS[rule.id].spans(blob, blob.lower(), [(0, len(blob))], [0], thread_time() + 60)
    return [text[start:end] for start, end in spans]


def test_rows_are_sorted_by_provider() -> None:
    providers = [rule.provider.casefold() for rule in PROVIDERS]
    behind = zip(PROVIDERS, providers, sorted(providers), strict=True)
    assert [f"{rule.id} stands where {right!r} belongs" for rule, name, right in behind if name != right] == []


def test_every_format_has_its_own_id_and_is_used() -> None:
    ids = [rule.id for rule in PROVIDERS]
    assert [rule_id for rule_id in ids if ids.count(rule_id) > 1] == []
    assert [rule_id for rule_id in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule_id)] == []
    assert sorted(ids) == sorted(BY_ID)
    assert len(ids) > 570


def test_a_rule_that_gives_way_overlaps_with_the_one_it_gives_way_to() -> None:
    order = list(BY_ID)
    assert [pair for pair in GIVE_WAY.items() if order.index(pair[0]) < order.index(pair[1])] == []
    assert [pair for pair in GIVE_WAY.items() if not _overlap(*(BY_ID[rule_id] for rule_id in pair))] == []


def _overlap(one: Rule, other: Rule) -> bool:
    """Whether both find the same value in a sample of either."""
    templates = (*one.examples, *other.examples, *one.near_misses, *other.near_misses)
    texts = [f"//registry.acme.test/:_auth={secret('basic', 1)}"]  # no template gives a user and a password
    texts += [sample(template, seed) for template in templates for seed in range(40)]
    return any(set(found(one, text)) & set(found(other, text)) for text in texts)


def test_every_format_has_an_example_and_a_near_miss_and_works_in_both_engines() -> None:
    assert [rule.id for rule in PROVIDERS if not rule.examples or not rule.near_misses] == []
    assert [(rule.id, reason) for rule in PROVIDERS if (reason := refusal(rule.pattern))] == []


def test_an_example_is_found_whole_wherever_it_appears() -> None:
    assert [
        f"{one.rule.id}, {name}: {frame(one.text)[-300:]}"
        for one in all_planted()
        for name, frame in FRAMES.items()
        if found(one.rule, frame(one.text)) != [one.secret]
    ] == []


def test_a_find_begins_and_ends_where_the_token_does() -> None:
    cut = []
    for one in all_planted():
        before, _, behind = one.text.rpartition(one.secret)
        is_headed = before[-1:].isalnum() and one.rule.id not in HEADED
        cut += [f"{one.rule.id}: {one.text}"] if is_headed or behind[:1].isalnum() else []
    assert cut == []


def test_a_near_miss_stays() -> None:
    assert [
        f"{rule.id}, {name}: {text}"
        for rule in PROVIDERS
        for text in near_misses(rule)
        for name in ("bare", "assigned", "in JSON", "at the end of a sentence")
        if found(rule, FRAMES[name](text))
    ] == []


def test_a_token_slightly_longer_than_today_is_redacted_whole() -> None:
    grown = 0
    for rule, template, slot in _templates_that_end_in_a_token():
        if not found(rule, sample(template, 3))[0].endswith(sample(template, 3)[-3:]):
            continue
        text = sample(f"{template[: slot.start()]}{{{slot[1]}:{int(slot[2]) + 3}}}", 3)
        assert [text.endswith(value) for value in found(rule, text)] == [True], f"{rule.id}: {text}"
        grown += 1
    assert grown > 150


def _templates_that_end_in_a_token() -> Iterator[tuple[Rule, str, re.Match[str]]]:
    """The examples that end in a drawn part, for rules that allow three more characters there."""
    for rule in PROVIDER_RULES:
        open_end = re.search(r"\{\d+,(\d+)\}\)*\Z", rule.pattern)
        for template in rule.examples:
            slot = re.search(r"\{([^{}:]+):(\d+)\}\Z", template) if isinstance(template, str) else None
            if open_end and slot and not rule.folds and 12 < int(slot[2]) <= int(open_end[1]) - 3:
                yield rule, str(template), slot


def test_no_example_survives_redaction_and_both_engines_find_the_same(
    redactor: Redactor, python_redactor: Redactor
) -> None:
    different, survived = [], []
    for one in all_planted():
        texts = [FRAMES[name](one.text) for name in ("assigned", "in JSON in JSON")]
        results = [engine.value(list(texts)) for engine in (redactor, python_redactor)]
        different += [one.rule.id] if results[0] != results[1] else []
        survived += [one.rule.id] if one.secret in "\n".join(results[0][0]) else []
    assert (different, survived) == ([], [])


def test_no_provider_rule_touches_harmless_text() -> None:
    touched = [(rule.id, value) for text in harmless() for rule in PROVIDER_RULES for value in found(rule, text)]
    assert touched == []


def test_a_bare_hash_beside_a_providers_name_is_not_a_secret_of_any_provider() -> None:
    named = [rule for rule in PROVIDER_RULES if rule.folds]
    assert len(named) > 80
    touched = [
        (other.id, text)
        for rule in named
        for text in near_misses(rule)
        for other in PROVIDER_RULES
        if found(other, text)
    ]
    assert touched == []


def test_no_pattern_has_nested_repetitions() -> None:
    nested = [rule.id for rule in PROVIDER_RULES if _repeats_inside_repeats(rule.pattern)]
    assert nested == []


def test_hostile_text_is_searched_in_linear_time() -> None:
    """Searches 64 kB of what the patterns are made of, which would take an exploding pattern minutes."""
    chance = Random(1)
    units = ["A", "a", "0", "f", "/", "=", "-", "_", "eyJ", "sk-", "xox", "AKIA", "key=", "https://", "00D", "1/"]
    units += ["".join(chance.choices("abcdef0123456789-", k=97)), "".join(chance.choices("ABCabc012._-", k=89))]
    for unit in units:
        text = (unit * 65_536)[:65_536].encode()
        slowest = max(PROVIDER_RULES, key=lambda rule: _seconds(rule, text))
        assert _seconds(slowest, text) < 0.5, f"{slowest.id} on {unit}"


def _seconds(rule: Rule, text: bytes) -> float:
    before = process_time()
    MATCHERS[rule.id].spans(text, text.lower(), [(0, len(text))], [0], thread_time() + 60)
    return process_time() - before


def _repeats_inside_repeats(pattern: str) -> bool:
    """Whether a group with a variable repeat count contains another variable repetition."""
    group = r"\((?:\?:|\?P<\w+>)?(?:[^()\\]|\\.)*[{+*](?:[^()\\]|\\.)*\)(?:\*|\+|\{\d*,(?!1\})\d*\})"
    return bool(re.search(group, re.sub(r"\[(?:\\.|[^\]\\])*\]", "x", pattern)))
