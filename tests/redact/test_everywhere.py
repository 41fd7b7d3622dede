"""A found value leaves an event everywhere: values, keys, lists, copies, escapes; ids stay; twice changes nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from collector.errors import ConfigurationError
from collector.redact import Options, Redactor
from collector.redact.marker import MARKER, marker
from collector.redact.scan.segments import KeyBook, gather, segments_of
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS
from tests.redactors import KEY

DRAWN = secret("drawn", 7)
CHOSEN = secret("chosen", 7)


def text_of(event: dict[str, Any]) -> str:
    return orjson.dumps(event).decode()


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "Password",
        "DB_PASSWORD",
        "dbPassword",
        "db-password",
        "user.password",
        "passwd",
        "pwd",
        "passphrase",
        "client_secret",
        "clientSecret",
        "secret",
        "private_key",
        "SECRET_KEY",
        "secretAccessKey",
        "PGPASSWORD",
    ],
)
@pytest.mark.parametrize("value", ["hunter2", "Tr0ub4dor&3", "correcthorse", "p\u00e4ssw\u00f6rt9"])
def test_a_telling_key_is_enough_for_a_password(redactor: Redactor, key: str, value: str) -> None:
    event = {"kind": "x", "attributes": {"deep": [{key: value}]}}
    redactor.event(event)
    assert value not in str(event)


@pytest.mark.parametrize(
    "key", ["token", "api_key", "apiKey", "x-api-key", "access_token", "GITHUB_TOKEN", "authorization"]
)
def test_a_telling_key_is_enough_for_a_token(redactor: Redactor, key: str) -> None:
    event = {"attributes": {key: DRAWN}, "headers": [{key: [DRAWN[::-1]]}]}
    redactor.event(event)
    assert DRAWN not in str(event)
    assert DRAWN[::-1] not in str(event)


@pytest.mark.parametrize(
    "harmless",
    [
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
    ],
)
def test_what_only_sounds_like_a_secret_stays(redactor: Redactor, harmless: dict[str, Any]) -> None:
    event = copy.deepcopy(harmless)
    assert redactor.event(event) == {}
    assert event == harmless


def test_numbers_under_a_telling_key_are_withheld(redactor: Redactor) -> None:
    event = {"attributes": {"password": 83920174, "db_password": float("83920174550912833204"), "max_tokens": 1e30}}
    redactor.event(event)
    assert all(str(event["attributes"][name]).startswith("[REDACTED:") for name in ("password", "db_password"))
    assert event["attributes"]["max_tokens"] == 1e30


def test_a_sibling_names_the_value(redactor: Redactor) -> None:
    event = {"env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "LEVEL", "value": "hunter3"}]}
    redactor.event(event)
    assert "hunter2" not in str(event)
    assert "hunter3" in str(event)


def test_a_secret_in_a_key_is_found(redactor: Redactor) -> None:
    event = {"attributes": {f"https://ci:{DRAWN}@git.internal/x.git": {"n": 1}}}
    redactor.event(event)
    assert DRAWN not in str(event)


def test_every_copy_goes_also_where_nothing_tells(redactor: Redactor) -> None:
    event: dict[str, Any] = {
        "text": f"DB_PASSWORD={CHOSEN}",
        "blocks": [{"input": {"command": f"echo {CHOSEN}x"}}, f"bare {CHOSEN}"],
        "attributes": {CHOSEN: 1, "deep": {"path": f"/tmp/{CHOSEN}/x"}},
    }
    counts = redactor.event(event)
    assert CHOSEN not in str(event)
    assert counts == {"named-secret": 5}
    assert event["redactions"] == counts


@pytest.mark.parametrize("value", ['pa"ss\\w0rd9', "p&ss w=rd9?", "l1ne\tt4b", "p\u00e4ssw\u00f6rd9", "p!ss#<w0rd>"])
def test_copies_in_another_escaping_go_too(redactor: Redactor, value: str) -> None:
    go = value.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    forms = [value, go, quote(value, safe=""), quote(value, safe="!'()*~")]
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        forms += [once, json.dumps(once, ensure_ascii=False)[1:-1]]
    event: dict[str, Any] = {"attributes": {"password": value}, "copies": [f"note: {form} end" for form in forms]}
    redactor.event(event)
    for form, copied in zip(forms, event["copies"], strict=True):
        assert MARKER.sub("*", copied) == "note: * end", form


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://x-access-token:@@git.internal/team/app.git",
        "http --auth admin:@ GET host",
        "APP_KEY=base64:@",
    ],
)
def test_a_copy_goes_too_where_what_was_found_is_more_than_the_secret(redactor: Redactor, text: str) -> None:
    laravel = secret("base64", 7)[:43] + "="
    value = laravel if "base64" in text else DRAWN
    event = {"text": text.replace("@", value, 1), "output": f"see {value} again"}
    redactor.event(event)
    assert value not in text_of(event)


def test_short_values_are_not_cut_out_of_words(redactor: Redactor) -> None:
    event: dict[str, Any] = {"attributes": {"password": "cat42"}, "text": "concat42s and cat42 and scat421"}
    redactor.event(event)
    assert event["text"].startswith("concat42s and [REDACTED:")
    assert event["text"].endswith("and scat421")


def test_an_id_is_not_replaced_where_an_id_belongs(redactor: Redactor) -> None:
    value = secret("uuid", 9)
    event = {"session_id": value, "text": f"api_key: {value}"}
    redactor.event(event)
    assert event["session_id"] == value
    assert value not in event["text"]


def test_equal_values_have_equal_markers_and_other_keys_make_others(redactor: Redactor) -> None:
    one = redactor.text("DB_PASSWORD=hunter22x")
    two = redactor.text('"password": "hunter22x"')
    assert MARKER.findall(one) == MARKER.findall(two) == [marker("named-secret", "hunter22x", KEY)]
    assert marker("named-secret", "hunter22x", b"other") != marker("named-secret", "hunter22x", KEY)


@pytest.mark.parametrize("escaped", [quote, lambda value: json.dumps(value)[1:-1]], ids=["in a URL", "in JSON"])
def test_a_plain_copy_goes_where_the_secret_was_found_in_an_escaping(
    redactor: Redactor, escaped: Callable[[str], str]
) -> None:
    value = 'W1nt"er\\f#lcon77'
    event = {"text": f'https://h.test/?password={escaped(value)} "password": "{escaped(value)}"'}
    event |= {"plain": f"see {value} end", "url": f"https://h.test/{quote(value)}"}
    redactor.event(event)
    assert MARKER.sub("*", event["plain"] + event["url"]) == "see * endhttps://h.test/*"


def test_a_copy_goes_as_a_whole_where_only_a_part_of_it_was_found(redactor: Redactor) -> None:
    value = f"{CHOSEN}&{DRAWN}"
    event = {"password": value, "url": f"https://h.test/?password={quote(value)}"}
    redactor.event(event)
    assert MARKER.sub("*", event["url"]) == "https://h.test/?password=*"


def test_a_secret_has_one_marker_in_whatever_escaping_it_is_found(redactor: Redactor) -> None:
    value = 'Wi"n\\ter%99&\u00fc' + CHOSEN
    once = json.dumps({"password": value})
    query = quote(value, safe="")
    event = {"password": value, "once": once, "twice": json.dumps([once]), "url": f"https://h.test/?password={query}"}
    redactor.event(event)
    assert len({found[0][-13:] for found in MARKER.finditer(text_of(event))}) == 1
    assert len(MARKER.findall(text_of(event))) == 4


def test_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    for _, kinds, template in CONTEXTS:
        once = redactor.text(template.replace("@", secret(kinds[0], 3), 1))
        assert redactor.text(once) == once, template
        event = {"text": once, "password": once, "attributes": {once: [once]}}
        redactor.event(event)
        again = copy.deepcopy(event)
        assert redactor.event(again) == {}
        assert again == event


def test_both_walks_see_the_same_text() -> None:
    book = KeyBook(frozenset({"datadog"}))
    event: dict[str, Any] = {
        "a": ["x", {"token": ["y", 1, ["z"], {"b": "c"}]}, 5, None],
        "token": {"value": "v", "name": "API_TOKEN"},
        "password": 17,
        "k\u00fcrzel 99": 3.5,
        "datadog_x1": "w",
        "secret": True,
    }
    assert [segment.text for segment in segments_of(event, book)] == gather(event, book)


@pytest.mark.parametrize("separator", ["\x8f", "\x90", "\x91", "\xff", "\ud800", "\u2192"])
def test_odd_characters_in_a_text_hide_nothing(redactor: Redactor, separator: str) -> None:
    event = {"text": f"{separator}a{separator} password={DRAWN}{separator} b", "token": DRAWN + separator + DRAWN}
    redactor.event(event)
    assert DRAWN not in event["text"]
    assert DRAWN not in event["token"]


def test_fields_on_the_list_are_always_withheld() -> None:
    redactor = Redactor(Options(key=KEY, fields=("customer",), engine="python"))
    event = {"customer": "Jane", "deep": {"Customer": ["Jo", {"n": "Jim"}]}, "text": "fine"}
    assert redactor.event(event) == {"field": 3}
    assert [name for name in ("Jane", "Jo", "Jim") if name in str(event)] == []
    assert event["text"] == "fine"


def test_a_rule_can_be_disabled_by_its_id() -> None:
    redactor = Redactor(Options(key=KEY, disabled=frozenset({"named-secret"}), engine="python"))
    assert redactor.text("DB_PASSWORD=hunter22x") == "DB_PASSWORD=hunter22x"


def test_disabling_what_is_no_rule_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="no-such-rule"):
        Redactor(Options(key=KEY, disabled=frozenset({"no-such-rule"}), engine="python"))
