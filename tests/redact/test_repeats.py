"""Texts that repeat one thing over and over: nothing hides in them, and their cost grows only with their length."""

from __future__ import annotations

import random
from time import process_time

import pytest

from collector.redact import Redactor
from collector.redact.rule import sample
from collector.redact.scan.matching import STRETCH
from tests.redact.secrets import secret

HEX = "0123456789abcdef0123456789abcdef01234567"
UNITS = [
    *("_pw:", "auth=", "secret:", " pw:", "<secret>", "<secret> ", "token: ", "jwt=", "?key=", "password|", "salt="),
    *("Authorization: Bearer ", "Cookie: a=", "password=", "many password=", "password is ", 'PASSWORD="'),
    *(f"key={HEX} ", f"key {HEX} ", '"password": "', "'password', ", "password={", "password=$", "passwordpassword="),
    *("-u a:b ", "curl -u ", "https://a:b@", "a:5432:a:a:", "requirepass ", "login a password ", "kind: Secret "),
    *("-----BEGIN", "-----BEGIN RSA PRIVATE " + "KEY-----\n", "eyJ", "[", "{", "\\", '"', " ", "\n", "a\x91"),
    *('private_key?="', "passphrase='x ", f"password: {HEX[:12]} ", f"https://a:{HEX[:9]}@b "),
    *("cookie=", f"_pw:{'x' * 600} ", "token: secret: password is ", "a=", "basic ", "echo a|", "mysql -p", "set -g a"),
]


def test_nothing_hides_among_repetitions(redactor: Redactor, python_redactor: Redactor) -> None:
    value = secret("drawn", 3)
    survived, different = [], []
    for unit in UNITS:
        many = unit * (6000 // len(unit))
        text = f"{many}\nDB_PASSWORD={value}\n{many}\nDB_PASSWORD={value[::-1]}\n"
        once, findings = redactor.value(text)
        survived += [unit] if value in once or value[::-1] in once else []
        different += [unit] if python_redactor.value(text) != (once, findings) else []
    assert (survived, different) == ([], [])


def test_a_secret_whose_end_comes_far_after_a_repetition_is_found(redactor: Redactor) -> None:
    """Sixty values that never end, and one that begins like them and ends after 740 characters."""
    value = "".join(random.Random(5).choices("abcdefghk9#", k=740))
    never = f'password="{value}{"#" * 300}\n{"-" * 60}\n'
    assert redactor.text(never * 60) == never * 60
    assert value not in redactor.text(f'{never * 60}password="{value}"\n')


def test_a_secret_late_in_a_repetitive_header_is_found(redactor: Redactor) -> None:
    """Cookie headers that are the same for 2,500 characters, sixty before and after one that ends with a secret."""
    value = secret("drawn", 3)
    header = "Cookie: " + "a=b; " * 500 + "visit="
    assert value not in redactor.text(f"{header}<id>\n" * 60 + f"{header}{value}\n" + f"{header}<id>\n" * 60)


@pytest.mark.parametrize("place", [8, 20, 31])
def test_a_secret_whose_name_comes_before_a_repetition_is_found(redactor: Redactor, place: int) -> None:
    """Each block ends with the start of the next value's name, which is a public key's and once a secret one's."""
    value, public, own = f"{7**34:029d}"[:29].replace("0", "f"), "public_acmecorporation", "acmeco_acmecorporation"
    unit = f'_key="{value}"\n' + public.rjust(64 - len(value) - 8)
    text = public.rjust(64) + unit * 512
    assert redactor.text(text) == text
    at = place * 512
    assert text[at:].startswith("_key=")
    assert value not in redactor.text(text[:at].removesuffix(public) + own + text[at:])


def test_a_secret_that_only_a_word_before_it_gives_away_is_found_wherever_it_stands(redactor: Redactor) -> None:
    """A text full of candidates is scanned in stretches: the word may be at the end of one, the secret in the next."""
    [rule] = (rule for rule in redactor.rules if rule.id == "ably-key")
    text = sample(rule.examples[0], 7)
    value = text.split()[-1]
    many = "password: string\n" * 400
    lines = {dots: f"{'.' * dots}\n{text}\n" for dots in range(STRETCH, STRETCH + 64, 3)}
    assert [dots for dots, line in lines.items() if value in redactor.text(f"{many}{line}{many}")] == []


def test_four_times_the_repetitions_take_four_times_as_long(redactor: Redactor) -> None:
    slow = []
    for unit in UNITS:
        short, long = (min(cost(redactor, (unit * size)[:size]) for _ in range(2)) for size in (32_768, 131_072))
        slow += [(unit, short, long)] if long >= 8 * short + 0.005 else []  # quadratic cost would give 16 times
    assert slow == []


def test_every_secret_of_a_repetition_is_found(redactor: Redactor) -> None:
    value = secret("drawn", 3)
    unit = f'const options = {{ password: "{value}", user: "deploy" }}\n'
    redacted, findings = redactor.value(unit * 500)
    assert value not in redacted
    assert len(findings) == 500
    assert not any(finding.is_copy for finding in findings)


def test_four_times_as_many_secrets_take_four_times_as_long(redactor: Redactor) -> None:
    chance = random.Random(7)
    values = ["".join(chance.choices(HEX + "ghijkmnp", k=24)) for _ in range(2000)]
    many = min(cost(redactor, [{"password": value} for value in values]) for _ in range(2))
    few = min(cost(redactor, [{"password": value} for value in values[:500]]) for _ in range(2))
    assert many < 8 * few + 0.005  # looking for every value in every string would give 16 times


def cost(redactor: Redactor, value: object) -> float:
    """The CPU seconds that redacting one value takes."""
    before = process_time()
    redactor.value(value)
    return process_time() - before
