"""Checksums of public formats: right ones pass, wrong ones fail, and a token is redacted either way."""

from __future__ import annotations

from random import Random

import pytest

from collector.redact.formats import PROVIDER_RULES, checksums
from collector.redact.redactor import Redactor
from collector.redact.rule import sample

# Made-up tokens that were published with their checksums, in parts: (prefix, signed text, checksum).
PUBLISHED = [
    ("npm_", "qkJaB6MffYVzZXWqmcoF49yrUxP3wf", "0LsakP"),
    ("ghp_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"),
]


@pytest.mark.parametrize(("prefix", "body", "checksum"), PUBLISHED)
def test_published_tokens_of_githubs_kind_have_the_right_checksum(prefix: str, body: str, checksum: str) -> None:
    assert checksums.github(prefix + body + checksum)
    assert not checksums.github(prefix + body[::-1] + checksum)


def test_grafanas_checksum_is_written_lowest_byte_first() -> None:
    assert checksums.crc32_grafana("glsa_" + "yscW25imSKJIuav8zF37RZmnbiDvB05G") == "fcaaf58a"


def test_bech32_accepts_the_example_of_its_standard() -> None:
    assert checksums.bech32("A12UEL5L")
    assert not checksums.bech32("A12UEL5K")


def test_base58check_refuses_invalid_base58_and_wrong_checksums() -> None:
    whole = checksums.with_base58check(b"\x80" + Random(1).randbytes(32))
    assert checksums.base58check(whole)
    assert not checksums.base58check(whole[:-1] + "0")
    assert not checksums.base58check(whole[:-1] + ("2" if whole[-1] != "2" else "3"))


def test_a_stellar_seed_begins_with_s_and_is_refused_if_one_letter_differs() -> None:
    seed = checksums.with_stellar(Random(2).randbytes(32))
    assert seed[0] == "S"
    assert checksums.stellar(seed)
    assert not checksums.stellar(seed[:-1] + ("A" if seed[-1] != "A" else "B"))


def explained(redactor: Redactor, rule_id: str, text: str) -> str:
    """The reason given for what a rule found in a text."""
    return next(redactor.reason(finding) for finding in redactor.value(text)[1] if finding.rule == rule_id)


def test_only_a_finding_with_a_right_checksum_is_explained_as_certain(redactor: Redactor) -> None:
    signed = [rule for rule in PROVIDER_RULES if rule.checksum]
    assert len(signed) >= 7
    certain = "its checksum is right, so this is certain"
    for rule in signed:
        right = next(sample(template, 1) for template in rule.examples if callable(template))
        wrong = right[:-1] + ("2" if right[-1] != "2" else "3")
        assert certain in explained(redactor, rule.id, right), rule.id
        assert certain not in explained(redactor, rule.id, wrong), rule.id
    assert certain not in explained(redactor, "slack-token", sample("xoxb-{0-9:12}-{0-9:13}-{A-Za-z0-9:24}", 1))


def test_a_token_with_a_wrong_checksum_is_still_redacted(redactor: Redactor) -> None:
    for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"):
        token = prefix + "".join(Random(prefix).choices(checksums.BASE62, k=36))
        assert not checksums.github(token)
        assert token not in redactor.text(f"token {token}")


def test_text_that_is_not_a_token_never_has_a_right_checksum() -> None:
    """A finding may contain more than the token, because overlapping findings become one."""
    for rule in PROVIDER_RULES:
        for text in ("", "1", "_", "\udc80." * 20, "glsa_\udc80", "\u20ac" * 40):
            assert not (rule.checksum and rule.checksum(text)), (rule.id, text)
