"""Every copy of a found value is redacted, wherever it is and however it is escaped; what only resembles one stays."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from collector.redact import Redactor
from collector.redact.copies import FEW
from collector.redact.marker import MARKER
from tests.redact.secrets import secret

DRAWN = secret("drawn", 7)
CHOSEN = secret("chosen", 7)


def text_of(event: dict[str, Any]) -> str:
    return orjson.dumps(event).decode()


def test_every_copy_is_redacted_even_where_nothing_gives_it_away(redactor: Redactor) -> None:
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
def test_copies_escaped_differently_are_redacted_too(redactor: Redactor, value: str) -> None:
    go = value.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    forms = [value, go, quote(value, safe=""), quote(value, safe="!'()*~")]
    forms.append(re.sub("[^A-Za-z0-9]", "-", value))  # as in a project's name
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
def test_a_copy_is_redacted_even_if_the_find_was_longer_than_the_secret(redactor: Redactor, text: str) -> None:
    laravel = secret("base64", 7)[:43] + "="
    value = laravel if "base64" in text else DRAWN
    event = {"text": text.replace("@", value, 1), "output": f"see {value} again"}
    redactor.event(event)
    assert value not in text_of(event)


def test_text_of_little_more_than_dashes_is_not_a_copy(redactor: Redactor) -> None:
    event: dict[str, Any] = {"attributes": {"password": "pw#!9?-_@!k"}, "text": "pw#!9?-_@!k and pw--9-----k"}
    redactor.event(event)
    assert MARKER.sub("*", event["text"]) == "* and pw--9-----k"


def test_short_values_are_not_cut_out_of_words(redactor: Redactor) -> None:
    event: dict[str, Any] = {"attributes": {"password": "cat42"}, "text": "concat42s and cat42 and scat421"}
    redactor.event(event)
    assert event["text"].startswith("concat42s and [REDACTED:")
    assert event["text"].endswith("and scat421")


@pytest.mark.parametrize("escaped", [quote, lambda value: json.dumps(value)[1:-1]], ids=["in a URL", "in JSON"])
def test_a_plain_copy_is_redacted_if_the_secret_was_found_escaped(
    redactor: Redactor, escaped: Callable[[str], str]
) -> None:
    value = 'W1nt"er\\f#lcon77'
    event = {"text": f'https://h.test/?password={escaped(value)} "password": "{escaped(value)}"'}
    event |= {"plain": f"see {value} end", "url": f"https://h.test/{quote(value)}"}
    redactor.event(event)
    assert MARKER.sub("*", event["plain"] + event["url"]) == "see * endhttps://h.test/*"


def test_a_copy_is_redacted_whole_even_if_only_part_of_it_was_found(redactor: Redactor) -> None:
    value = f"{CHOSEN}&{DRAWN}"
    event = {"password": value, "url": f"https://h.test/?password={quote(value)}"}
    redactor.event(event)
    assert MARKER.sub("*", event["url"]) == "https://h.test/?password=*"


def test_a_secret_has_one_marker_however_it_is_escaped(redactor: Redactor) -> None:
    value = 'Wi"n\\ter%99&\u00fc' + CHOSEN
    once = json.dumps({"password": value})
    query = quote(value, safe="")
    event = {"password": value, "once": once, "twice": json.dumps([once]), "url": f"https://h.test/?password={query}"}
    redactor.event(event)
    assert len({found[0][-13:] for found in MARKER.finditer(text_of(event))}) == 1
    assert len(MARKER.findall(text_of(event))) == 4


def test_copies_of_many_values_are_found_like_those_of_few(redactor: Redactor) -> None:
    """Copies of more than FEW values are found by another method, which must find the same copies."""
    values = [secret("drawn", seed) + "!" for seed in range(12)] + ["c1ac1ac1a", "1bbb11cbbcc1", "abc12"]
    text = "".join(f"PASSWORD={value}\n" for value in values) + "".join(values)
    text += " abc12x abc12 c1bbb11cbbcc1ac1ac1ac1ac1ac1a"
    value = [text, [*values], {values[0]: values[1]}]
    others = [{"password": secret("drawn", seed)} for seed in range(1000, 1000 + FEW)]
    few = redactor.value(copy.deepcopy(value))
    many = redactor.value([*copy.deepcopy(value), others])
    assert many[0][:3] == few[0]
    assert [finding for finding in many[1] if finding.path[0] != 3] == few[1]
    assert not any(value in str(few[0]) for value in values[:12])
    assert re.search(r" c\[[^]]*\]a\[[^]]*\]c1ac1a$", few[0][0]), "a copy begins where another one could not be"
