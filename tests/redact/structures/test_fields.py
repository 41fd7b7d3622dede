"""Two strings of one object: one describes a field, the other is what was typed into it."""

from __future__ import annotations

from typing import Any

import pytest

from collector.redact import Redactor
from collector.redact.words.described import telling_name
from tests.redact.secrets import secret

VALUE = secret("drawn", 21)
SECRET_FIELDS: list[dict[str, Any]] = [
    {"element": "Password textbox", "ref": "e25", "text": VALUE},
    {"element": "Passwort", "text": VALUE, "submit": True},
    {"selector": "#password", "value": VALUE},
    {"selector": "input[type=password]:nth-child(2)", "text": VALUE},
    {"selector": "form#login > input[name='new_password']", "value": VALUE},
    {"locator": "[data-testid=api-key-input]", "text": VALUE},
    {"placeholder": "Enter your password", "text": VALUE},
    {"label": "Password for ada", "value": VALUE, "uid": "1_3"},
    {"fields": [{"name": "User", "value": "ada"}, {"name": "Password field", "type": "textbox", "value": VALUE}]},
    {"containers": [{"env": [{"name": "DB_PASSWORD", "value": VALUE}]}]},
    {"containerDefinitions": [{"environment": [{"Name": "API_TOKEN", "Value": VALUE}]}]},
    {"ParameterKey": "DbPassword", "ParameterValue": VALUE},
]
OTHER_FIELDS: list[dict[str, Any]] = [
    {"element": "Search for password tips", "text": VALUE},
    {"element": "Forgot password link", "text": VALUE},
    {"element": "Token count", "text": VALUE},
    {"element": "Username or password", "text": VALUE},
    {"element": "Username textbox", "text": VALUE},
    {"element": "Password textbox", "text": "wrong"},
    {"element": "Password textbox", "text": "${PASSWORD}"},
    {"selector": "#password", "value": ""},
    {"type": "text", "text": "The password field is empty", "name": "Read"},
    {"name": "SECRETS_BACKEND", "value": VALUE},
]


@pytest.mark.parametrize("engine", ["redactor", "python_redactor"])
def test_text_typed_into_a_field_for_a_secret_is_redacted(engine: str, request: pytest.FixtureRequest) -> None:
    redactor: Redactor = request.getfixturevalue(engine)

    def redacted(given: dict[str, Any]) -> str:
        block = {"type": "tool_call", "call_id": "c", "name": "fill", "input": given}
        return str(redactor.value({"kind": "tool_call", "blocks": [block]})[0])

    assert [given for given in SECRET_FIELDS if VALUE in redacted(given)] == []
    assert [given for given in OTHER_FIELDS if "[REDACTED" in redacted(given)] == []


def test_a_description_is_judged_without_the_words_for_fields() -> None:
    assert telling_name("Your new password (required)") == "new_password"
    assert telling_name("x" * 90 + " password field") == ""
    assert telling_name("text box") == telling_name("") == ""
