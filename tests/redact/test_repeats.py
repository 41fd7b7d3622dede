"""Texts made of one thing over and over: nothing hides among them, and what they cost grows with their length alone."""

from __future__ import annotations

from time import process_time

import pytest

from collector.redact import Redactor
from tests.redact.secrets import secret

HEX = "0123456789abcdef0123456789abcdef01234567"
UNITS = [
    *("_pw:", "auth=", "secret:", " pw:", "<secret>", "<secret> ", "token: ", "jwt=", "?key=", "password|", "salt="),
    *("Authorization: Bearer ", "Cookie: a=", "password=", "many password=", "password is ", 'PASSWORD="'),
    *(f"key={HEX} ", f"key {HEX} ", '"password": "', "'password', ", "password={", "password=$", "passwordpassword="),
    *("-u a:b ", "curl -u ", "https://a:b@", "a:5432:a:a:", "requirepass ", "login a password ", "kind: Secret "),
    *("-----BEGIN", "-----BEGIN RSA PRIVATE " + "KEY-----\n", "eyJ", "[", "{", "\\", '"', " ", "\n", "a\x91"),
    *(f"_pw:{'x' * 600} ", "token: secret: password is ", "a=", "basic ", "echo a|", "mysql -p", "set -g a"),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_nothing_hides_among_repetitions(redactor: Redactor, python_redactor: Redactor, unit: str) -> None:
    value = secret("drawn", 3)
    many = unit * (6000 // len(unit))
    text = f"{many}\nDB_PASSWORD={value}\n{many}\nDB_PASSWORD={value[::-1]}\n"
    once, findings = redactor.value(text)
    assert value not in once
    assert value[::-1] not in once
    assert python_redactor.value(text) == (once, findings)


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_four_times_the_repetitions_take_four_times_as_long(redactor: Redactor, unit: str) -> None:
    short, long = (min(cost(redactor, (unit * size)[:size]) for _ in range(2)) for size in (32_768, 131_072))
    assert long < 8 * short + 0.005  # were it quadratic, 16 times


def cost(redactor: Redactor, text: str) -> float:
    """The CPU seconds one text takes."""
    before = process_time()
    redactor.value(text)
    return process_time() - before
