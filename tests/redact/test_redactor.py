"""What a redactor removes from an event and what it leaves; redacting twice changes nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor
from collector.redact.marker import MARKER, marker
from collector.redact.words.names import word_set
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS
from tests.redactors import KEY

DRAWN = secret("drawn", 7)
PASSWORD_KEYS = word_set(
    """
    password Password DB_PASSWORD dbPassword db-password user.password passwd pwd passphrase client_secret clientSecret
    secret private_key SECRET_KEY secretAccessKey PGPASSWORD
    """
)
TOKEN_KEYS = word_set("token api_key apiKey x-api-key access_token GITHUB_TOKEN authorization")


def test_a_telling_key_is_enough_for_a_password(redactor: Redactor) -> None:
    survived = []
    for key in PASSWORD_KEYS:
        for value in ("hunter2", "Tr0ub4dor&3", "correcthorse", "p\u00e4ssw\u00f6rt9"):
            event = {"kind": "x", "attributes": {"deep": [{key: value}]}}
            redactor.event(event)
            survived += [(key, value)] if value in str(event) else []
    assert survived == []


def test_a_telling_key_is_enough_for_a_token(redactor: Redactor) -> None:
    survived = []
    for key in TOKEN_KEYS:
        event = {"attributes": {key: DRAWN}, "headers": [{key: [DRAWN[::-1]]}]}
        redactor.event(event)
        survived += [(key, value) for value in (DRAWN, DRAWN[::-1]) if value in str(event)]
    assert survived == []


HARMLESS_EVENTS: list[dict[str, Any]] = [
    {"usage": {"input_tokens": 12345, "output_tokens": 678, "cache_read_tokens": 0, "thinking_tokens": 4}},
    {"max_tokens": 4096, "token_count": 17, "tokens": 100, "preTokens": 155159},
    {"password": None, "token": True, "secret": ""},
    {"password": "********", "token": "<your-token>", "api_key": "${API_KEY}", "secret": "changeme"},
    {"token_type": "Bearer", "tokenUrl": "https://login.internal/token", "password_hint": "the usual one 1"},
    {"signature": secret("base64", 1) * 9, "type": "thinking"},
    {"session_id": secret("uuid", 1), "uuid": secret("uuid", 2), "parent_uuid": secret("uuid", 3)},
    {"message_id": "msg_01" + secret("drawn", 1)[:20] + "ab", "request_id": "req_01" + secret("drawn", 2)[:20]},
    {"tool": {"call_id": "toolu_01" + secret("drawn", 3)[:20], "ok": True}, "prompt_id": secret("uuid", 4)},
    {"cwd": "/home/dev/secret-project", "file": {"sha256": secret("hex", 5), "bytes": 12}},
    {"keys": {"password": {"type": "string"}, "token": {"type": "string", "description": "the token"}}},
]


def test_fields_that_only_sound_like_a_secret_stay(redactor: Redactor) -> None:
    events = copy.deepcopy(HARMLESS_EVENTS)
    assert [counts for event in events if (counts := redactor.event(event))] == []
    assert events == HARMLESS_EVENTS


def test_numbers_under_a_telling_key_are_withheld(redactor: Redactor) -> None:
    event = {"attributes": {"password": 83920174, "db_password": float("83920174550912833204"), "max_tokens": 1e30}}
    redactor.event(event)
    assert all(str(event["attributes"][name]).startswith("[REDACTED:") for name in ("password", "db_password"))
    assert event["attributes"]["max_tokens"] == 1e30


def test_a_name_in_a_sibling_field_applies_to_the_value(redactor: Redactor) -> None:
    event = {"env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "LEVEL", "value": "hunter3"}]}
    redactor.event(event)
    assert "hunter2" not in str(event)
    assert "hunter3" in str(event)


def test_a_secret_in_a_key_is_found(redactor: Redactor) -> None:
    event = {"attributes": {f"https://ci:{DRAWN}@git.internal/x.git": {"n": 1}}}
    redactor.event(event)
    assert DRAWN not in str(event)


def test_a_secret_in_a_key_is_found_beside_an_id(redactor: Redactor) -> None:
    value = secret("uuid", 9)
    event = {"attributes": {f"curl https://ci:{DRAWN}@git.internal/commit_id": value}}
    redactor.event(event)
    assert DRAWN not in str(event)
    assert list(event["attributes"].values()) == [value]


def test_an_id_is_not_replaced_where_an_id_belongs(redactor: Redactor) -> None:
    value = secret("uuid", 9)
    event = {"session_id": value, "text": f"api_key: {value}"}
    redactor.event(event)
    assert event["session_id"] == value
    assert value not in event["text"]


def test_equal_values_have_equal_markers_and_another_key_gives_others(redactor: Redactor) -> None:
    one = redactor.text("DB_PASSWORD=hunter22x")
    two = redactor.text('"password": "hunter22x"')
    assert MARKER.findall(one) == MARKER.findall(two) == [marker("named-secret", "hunter22x", KEY)]
    assert marker("named-secret", "hunter22x", b"other") != marker("named-secret", "hunter22x", KEY)


def test_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    for _, kinds, template in CONTEXTS:
        once = redactor.text(template.replace("@", secret(kinds[0], 3), 1))
        assert redactor.text(once) == once, template
        event = {"text": once, "password": once, "attributes": {once: [once]}}
        redactor.event(event)
        again = copy.deepcopy(event)
        assert redactor.event(again) == {}
        assert again == event


@pytest.mark.parametrize("separator", ["\x8f", "\x90", "\x91", "\xff", "\ud800", "\u2192"])
def test_odd_characters_in_a_text_hide_no_secret(redactor: Redactor, separator: str) -> None:
    event = {"text": f"{separator}a{separator} password={DRAWN}{separator} b", "token": DRAWN + separator + DRAWN}
    redactor.event(event)
    assert DRAWN not in event["text"]
    assert DRAWN not in event["token"]


def test_configured_fields_are_always_redacted() -> None:
    redactor = Redactor(Options(key=KEY, fields=("customer",), engine="python"))
    event = {"customer": "Jane", "deep": {"Customer": ["Jo", {"n": "Jim"}]}, "text": "fine"}
    assert redactor.event(event) == {"field": 3}
    assert [name for name in ("Jane", "Jo", "Jim") if name in str(event)] == []
    assert event["text"] == "fine"


def test_a_rule_can_be_disabled_by_its_id() -> None:
    redactor = Redactor(Options(key=KEY, disabled=frozenset({"named-secret"}), engine="python"))
    assert redactor.text("DB_PASSWORD=hunter22x") == "DB_PASSWORD=hunter22x"


def test_disabling_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="no-such-rule"):
        Redactor(Options(key=KEY, disabled=frozenset({"no-such-rule"}), engine="python"))
