"""Secrets are found in the ways in which people usually meet them."""

from __future__ import annotations

import pytest

from collector.redact import Redactor
from collector.redact.rule import sample
from tests.redact.secrets import secret
from tests.redact.structures.usual import USUAL, wrapped

LONG = {
    "API_KEY": ("{A-Za-z0-9:48}", "{0-9a-f:64}", "{A-Za-z0-9+/:86}=="),
    "password": ("{A-Za-z0-9+/:43}=",),
    "token": ("ghp_{A-Za-z0-9:36}", "sk-ant-api03-{A-Za-z0-9_-:93}AA", "xoxb-{0-9:12}-{0-9:13}-{A-Za-z0-9:24}"),
}
WINDOW = 12  # characters of a value that no line may keep


@pytest.mark.parametrize("met", USUAL)
def test_a_secret_is_found_where_people_meet_it(redactor: Redactor, met: str) -> None:
    survived = []
    for template in USUAL[met].strip("\n").split("\n"):
        kinds = ("drawn",) if "¤¤" in template else ("signs", "drawn")
        for kind in kinds:
            value = secret(kind, 1)
            text = template.replace("¤¤", "¤").replace("¤", value).replace("¶", "\n")
            survived += [text] if value in redactor.text(text) else []
    assert survived == []


def test_each_line_of_settings_keeps_its_name(redactor: Redactor) -> None:
    values = {
        name: secret("drawn", seed) for seed, name in enumerate(("API_KEY", "DB_PASSWORD", "TOKEN_B", "APP_TOKEN2"))
    }
    text = "\n".join(f"{name}={value}" for name, value in values.items())
    after = redactor.text(text).split("\n")
    assert [line.partition("=")[0] for line in after] == list(values)
    assert all(value not in line for value, line in zip(values.values(), after, strict=True))


def test_a_secret_broken_over_lines_is_found(redactor: Redactor) -> None:
    survived = []
    for name, templates in LONG.items():
        for seed, template in enumerate(templates):
            value = sample(template, seed)
            pieces = {value[at : at + WINDOW] for at in range(len(value) - WINDOW + 1)}
            for way, text in wrapped(name, value, seed):
                after = redactor.text(text)
                survived += [(way, name, template)] if any(piece in after for piece in pieces) else []
    assert survived == []
