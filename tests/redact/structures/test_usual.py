"""Secrets are found in the forms in which people usually come across them."""

from __future__ import annotations

import itertools
import json

import pytest

from collector.redact import Redactor
from collector.redact.rule import sample
from tests.redact.secrets import secret
from tests.redact.structures.in_programs import IN_PROGRAMS
from tests.redact.structures.in_their_place import IN_THEIR_PLACE
from tests.redact.structures.usual import USUAL, wrapped

LONG = {
    "API_KEY": ("{A-Za-z0-9:48}", "{0-9a-f:64}", "{A-Za-z0-9+/:86}=="),
    "password": ("{A-Za-z0-9+/:43}=",),
    "token": ("ghp_{A-Za-z0-9:36}", "sk-ant-api03-{A-Za-z0-9_-:93}AA", "xoxb-{0-9:12}-{0-9:13}-{A-Za-z0-9:24}"),
}
WINDOW = 12  # characters of a value that no line may keep


MET = USUAL | IN_PROGRAMS | IN_THEIR_PLACE


@pytest.mark.parametrize("met", MET)
def test_a_secret_is_found_where_people_come_across_it(redactor: Redactor, met: str) -> None:
    survived = []
    for template in MET[met].strip("\n").split("\n"):
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


@pytest.mark.parametrize("size", [150, 400, 900, 2600])
@pytest.mark.parametrize(
    "template",
    [
        "log in with ada / ¤",
        "creds: bob ¤",
        "my password for the server is ¤",
        "Jeton: ¤",
        "here is the key ¤",
        "token ¤",
        "curl -u ada:¤ https://api.internal",
        "redis-cli -a ¤ ping",
        "identified by '¤'",
        "heroku config:set ACME_KEY=¤",
        "gh secret set DEPLOY --body ¤",
    ],
)
def test_nothing_remains_of_a_token_longer_than_a_rule_reads(redactor: Redactor, template: str, size: int) -> None:
    value = sample(f"{{A-Za-z0-9:{size}}}", size)
    assert value[-WINDOW:] not in redactor.text(template.replace("¤", value))


def test_every_item_of_a_list_is_found(redactor: Redactor) -> None:
    values = [secret("drawn", seed) for seed in range(3)]
    for frame, quote in itertools.product(("api_keys:\n  - @", "tokens:\n- @", '{"x": "secrets:\\n  - @"}'), ("", '"')):
        if quote and frame.startswith("{"):
            continue
        item = "\\n  - " if frame.startswith("{") else "\n" + frame.split("\n")[1].removesuffix("@")
        text = frame.replace("@", item.join(f"{quote}{value}{quote}" for value in values)) + "\nother: 1"
        after = redactor.text(text)
        assert [value for value in values if value in after] == [], text
        assert "other: 1" in after


def test_both_passwords_in_a_sentence_about_a_change_are_redacted(redactor: Redactor) -> None:
    old, new = secret("drawn", 1), secret("drawn", 2)
    after = redactor.text(f"I changed the password from {old} to {new}, please look.")
    assert old not in after
    assert new not in after
    assert after.endswith(", please look.")


def test_the_rest_of_a_url_after_its_credentials_stays(redactor: Redactor) -> None:
    after = redactor.text(f"git remote add x https://x-access-token:{secret('drawn', 3)}@git.acme.test/team/api.git")
    assert after.endswith("@git.acme.test/team/api.git")


def test_a_number_in_json_ends_before_the_brackets(redactor: Redactor) -> None:
    text = json.dumps({"users": [{"DB_PASSWORD": 12345678}, {"name": "ada", "password": secret("drawn", 4)}]})
    for written in (text, text.replace(" ", ""), json.dumps({"output": text.replace(" ", "")})):
        after = redactor.text(written)
        assert secret("drawn", 4) not in after
        assert "ada" in json.dumps(json.loads(after))


def test_a_word_of_another_language_is_a_password_in_an_environment(redactor: Redactor) -> None:
    assert "größenwahn" not in redactor.text("export DB_PASSWORD=größenwahn")
    assert "żółwik" not in redactor.text('DB_PASSWORD="żółwik"')
