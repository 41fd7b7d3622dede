"""Personal data: each rule finds its own kind, leaves alone what only looks like it, and is off unless switched on."""

from __future__ import annotations

import functools
import json

import pytest

from collector.errors import ConfigurationError
from collector.redact.all_rules import RULES
from collector.redact.own_rules.load import refusal
from collector.redact.personal import PERSONAL_RULES
from collector.redact.personal.contacts import is_number
from collector.redact.personal.digits import iso7064_11_10, luhn, mod97, verhoeff
from collector.redact.redactor import Options, Redactor
from collector.redact.rule import Rule, sample
from collector.settings.options import RedactionSettings
from tests.redact.formats.corpus import harmless
from tests.redact.harmless.causes import CAUSES
from tests.redact.harmless.filling import filled
from tests.redactors import CACHE, KEY, every_rule

SEEDS = range(12)
ALL = [rule for rules in PERSONAL_RULES.values() for rule in rules]
OTHERS = frozenset(rule.id for rule in RULES)

# Text that developers' transcripts are full of.
HARMLESS = """
    commit 4111a2b3c4d5e6f708192a3b4c5d6e7f80910111
    "timestamp": 1772359200123, "duration_ns": 1772359200123456789
    {"id": 4539148803436467, "offset": 5105105105105100}x
    2026-03-01T10:00:00.123Z 12:34:56 00:01:02:03
    @@ -1,7 +1,9 @@ def main():
    +1234567
    +12 34 56 78 90 12
    +20240101 20240102
    +    0.1 0.2 0.3 0.4
    matrix: +1 200 300 4000
    numpy==1.26.4.1 torch>=2.1.0.0 v10.20.30.40
    Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/120.0.6099.71 Safari/537.36
    Version 16.0.17328.20068 of the package; assembly version 93.2.11.4
    bind 0.0.0.0:8080, listen 127.0.0.1, subnet 10.20.0.0/16, gateway 192.168.178.1, dns 8.8.8.8
    curl http://203.0.113.9/ from the documentation
    ::1 fe80::1 2001:db8::8a2e:370:7334 std::vector a::b::c ab:cd:ef
    SHA256:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99
    uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301
    git clone git@github.com:acme/app.git && npm i @types/node@20.11.5 logo@2x.png
    Co-authored-by: noreply@anthropic.com
    author = "dev@example.com"; user@localhost; root@web01; systemctl status user@1000.service
    /home/runner/work/app /Users/Shared/x /home/$USER /home/user/app ~/work C:\\Users\\Public\\Desktop
    my-home-page-app -home-runner-work-app
    DE89 is not an account, and neither is GB00WEST or US12 ABCD
    ticket 219-09-9999 is about part 078-05-1120
    order 123456789 of 12345678901, 999.999.999-99 left
    total 12345678A, 85.07.30-033.00, key 811228-98745
    11010519991231002 steps of 440514999991
    """


@functools.cache
def personal(engine: str = "auto") -> Redactor:
    """A redactor with nothing but these rules."""
    chosen = Options(
        KEY, engine, disabled=OTHERS, personal=tuple(PERSONAL_RULES), cache_dir=CACHE / "personal", seconds=120
    )
    return Redactor(chosen)


def found(text: str, engine: str = "auto") -> list[str]:
    return [finding.rule for finding in personal(engine).value(text)[1]]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_rule_finds_its_samples_and_no_near_miss(rule: Rule) -> None:
    for template in rule.examples:
        for seed in SEEDS:
            text = sample(template, seed)
            for frame in ("{}", "see {}, and then", '"{}"', "x = '{}'\n", "({})"):
                written = frame.format(text)
                assert rule.id in found(written), written
                assert rule.id in found(json.dumps({"text": written})), written
    for template in rule.near_misses:
        for seed in SEEDS:
            assert rule.id not in found(sample(template, seed)), sample(template, seed)


def test_both_engines_find_the_same() -> None:
    texts = [sample(template, 3) for rule in ALL for template in (*rule.examples, *rule.near_misses)]
    together = "\n".join([*texts, *HARMLESS.splitlines()])
    assert personal("python").text(together) == personal().text(together)
    assert personal().text(personal().text(together)) == personal().text(together)


def test_common_text_of_transcripts_stays_as_it_is() -> None:
    wrong = [(line.strip(), rules) for line in HARMLESS.splitlines() if (rules := found(line))]
    assert wrong == []
    lines = [
        filled(template, seed)
        for cause in CAUSES.values()
        for template in cause.strip().splitlines()
        for seed in (0, 1)
    ]
    # These lines contain home directories, which that rule rightly finds.
    wrong = [(line, rules) for line in [*lines, *harmless()[:-3]] if set(rules := found(line)) - {"account-in-path"}]
    assert wrong == []


def test_personal_data_is_not_redacted_unless_requested() -> None:
    texts = [sample(template, 5) for rule in ALL for template in rule.examples]
    assert [text for text in texts if every_rule().text(text) != text] == []
    only = Redactor(Options(KEY, "python", disabled=OTHERS, personal=("card",), cache_dir=CACHE / "personal"))
    assert {finding.rule for finding in only.value("\n".join(texts))[1]} == {"card-number", "card-number-bare"}


def test_an_unknown_rule_is_refused_and_a_rule_can_be_disabled() -> None:
    assert list(PERSONAL_RULES) == list(RedactionSettings.model_fields["personal"].annotation.__args__[0].__args__)  # type: ignore[union-attr]
    chosen = Options(
        KEY, "python", disabled=OTHERS | {"personal-email"}, personal=("email",), cache_dir=CACHE / "personal"
    )
    assert Redactor(chosen).text("write to jane.roe@acme.io") == "write to jane.roe@acme.io"
    with pytest.raises(ConfigurationError, match="names no rule"):
        Redactor(Options(KEY, "python", disabled=frozenset({"email-addres"})))


def test_every_personal_rule_has_its_own_id_and_stays_within_the_limits_for_users_rules() -> None:
    ids = [rule.id for rule in ALL]
    assert len(set(ids)) == len(ids)
    assert not OTHERS & set(ids)
    assert [rule.id for rule in ALL if refusal(rule.pattern)] == []


def test_check_digits() -> None:
    """Published examples, split into pieces."""
    assert luhn("7992739" + "8713")
    assert not luhn("7992739" + "8710")
    assert mod97("GB82" + "WEST12345698765432")
    assert verhoeff("236" + "3")
    assert not verhoeff("236" + "4")
    assert iso7064_11_10("86095" + "742719")


@pytest.mark.parametrize(
    ("number", "is_one"),
    [("+1 (212) 555-0123", True), ("+49 (0)30 901820", True), ("+49 12", False), ("+999 1234567", False)],
)
def test_a_phone_number_has_the_digits_of_its_country(number: str, is_one: bool) -> None:
    assert is_number(number) is is_one
