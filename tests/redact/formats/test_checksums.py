"""Checksums of public formats: right ones hold, wrong ones do not, and neither lets a token through."""

from __future__ import annotations

from random import Random

import pytest

from collector.redact.formats import PROVIDER_RULES, checksums
from collector.redact.redactor import Redactor
from collector.redact.rule import sample

RULES = {rule.id: rule for rule in PROVIDER_RULES}
# Made-up tokens that were published with their checksums, in two parts: (of whom, what is signed, checksum).
PUBLISHED = [
    ("npm_", "qkJaB6MffYVzZXWqmcoF49yrUxP3wf", "0LsakP"),
    ("ghp_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"),
]


@pytest.mark.parametrize(("prefix", "body", "checksum"), PUBLISHED)
def test_a_published_token_of_githubs_kind_has_the_right_checksum(prefix: str, body: str, checksum: str) -> None:
    assert checksums.github(prefix + body + checksum)
    assert not checksums.github(prefix + body[::-1] + checksum)


def test_grafanas_checksum_is_written_lowest_byte_first() -> None:
    assert checksums.crc32_grafana("glsa_" + "yscW25imSKJIuav8zF37RZmnbiDvB05G") == "fcaaf58a"


def test_bech32_knows_the_example_of_its_standard() -> None:
    assert checksums.bech32("A12UEL5L")
    assert not checksums.bech32("A12UEL5K")


def test_base58check_refuses_what_is_not_base58() -> None:
    whole = checksums.with_base58check(b"\x80" + Random(1).randbytes(32))
    assert checksums.base58check(whole)
    assert not checksums.base58check(whole[:-1] + "0")
    assert not checksums.base58check(whole[:-1] + ("2" if whole[-1] != "2" else "3"))


def test_stellars_seed_begins_with_s_and_is_refused_when_one_letter_differs() -> None:
    seed = checksums.with_stellar(Random(2).randbytes(32))
    assert seed[0] == "S"
    assert checksums.stellar(seed)
    assert not checksums.stellar(seed[:-1] + ("A" if seed[-1] != "A" else "B"))


@pytest.mark.parametrize("rule_id", sorted(checksums.CHECKSUMS))
def test_a_checksum_belongs_to_a_rule_that_has_an_example_of_it(rule_id: str) -> None:
    made = [sample(template, 1) for template in RULES[rule_id].examples if callable(template)]
    assert any(checksums.holds(rule_id, text.split()[-1].split("=")[-1]) for text in made)


def test_a_token_with_a_wrong_checksum_is_taken_out_all_the_same(redactor: Redactor) -> None:
    for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"):
        token = prefix + "".join(Random(prefix).choices(checksums.BASE62, k=36))
        assert not checksums.github(token)
        assert token not in redactor.text(f"token {token}")


def test_a_format_without_a_checksum_is_neither_right_nor_wrong() -> None:
    assert checksums.holds("slack-token", "anything") is None
